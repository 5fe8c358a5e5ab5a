//! People, sessions and invitations: few rows, changed one at a time inside the batch's transaction.

use semel_ledger::Time;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::Postgres;
use super::columns::text;
use super::connect::Session as Line;
use super::row::{Reader, Unreadable};
use crate::access::Role;
use crate::error::StoreError;
use crate::person::{Invitation, Person, PersonChange, Session};

const PERSON: &str = "people.name, people.role, people.password, people.created_at, \
                      people.changed_at";

impl Postgres {
    pub(crate) async fn people(&self) -> Result<Vec<Person>, StoreError> {
        let sql = format!("SELECT {PERSON} FROM people ORDER BY name COLLATE \"C\"");
        let rows = self.questions.ask(&sql, &[]).await?;
        let people = rows.iter().map(|row| read(&mut Reader::new(row)));
        Ok(people.collect::<Result<_, _>>()?)
    }

    pub(crate) async fn person(&self, name: &str) -> Result<Option<Person>, StoreError> {
        let sql = format!("SELECT {PERSON} FROM people WHERE name = $1");
        let rows = self.questions.ask(&sql, &[&text(name)]).await?;
        let person = rows.first().map(|row| read(&mut Reader::new(row)));
        Ok(person.transpose()?)
    }

    pub(crate) async fn session(
        &self,
        hash: [u8; 32],
    ) -> Result<Option<(Session, Person)>, StoreError> {
        let sql = format!(
            "SELECT {PERSON}, sessions.created_at, sessions.until FROM sessions \
             JOIN people ON people.name = sessions.person WHERE hash = $1"
        );
        let rows = self.questions.ask(&sql, &[&hash.as_slice()]).await?;
        let read = |row: &Row| {
            let mut reader = Reader::new(row);
            let person = read(&mut reader)?;
            let session = Session {
                hash,
                person: person.name.clone(),
                created_at: reader.time()?,
                until: reader.time()?,
            };
            Ok::<_, Unreadable>((session, person))
        };
        Ok(rows.first().map(read).transpose()?)
    }

    pub(crate) async fn invitation(
        &self,
        hash: [u8; 32],
    ) -> Result<Option<Invitation>, StoreError> {
        let rows = self.questions.ask(INVITATION, &[&hash.as_slice()]).await?;
        let read = |row: &Row| invitation(row, hash);
        Ok(rows.first().map(read).transpose()?)
    }
}

const INVITATION: &str = "SELECT person, until FROM invitations WHERE hash = $1";

fn invitation(row: &Row, hash: [u8; 32]) -> Result<Invitation, Unreadable> {
    let mut reader = Reader::new(row);
    Ok(Invitation {
        hash,
        person: reader.next()?,
        until: reader.time()?,
    })
}

fn read(reader: &mut Reader<'_>) -> Result<Person, Unreadable> {
    Ok(Person {
        name: reader.next()?,
        // A role that only a later version knows lets one look.
        role: Role::named(reader.next()?).unwrap_or(Role::Viewer),
        password: reader.next()?,
        created_at: reader.time()?,
        changed_at: reader.time()?,
    })
}

async fn execute(line: &Line, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<bool, Error> {
    Ok(line.execute(sql, values).await? > 0)
}

pub(super) async fn change(line: &Line, change: &PersonChange, now: Time) -> Result<bool, Error> {
    line.execute("SELECT FROM people_lock FOR UPDATE", &[])
        .await?;
    match change {
        PersonChange::Add {
            name,
            role,
            password,
        } => add(line, name, *role, password.as_deref(), now).await,
        PersonChange::Role { name, role } => {
            let sql = "UPDATE people SET role = $2, changed_at = $3 WHERE name = $1";
            execute(line, sql, &[&text(name), &role.name(), &now.0]).await
        }
        PersonChange::Password { name, password } => set(line, name, password, now).await,
        PersonChange::Remove { name } => {
            end_all(line, name).await?;
            execute(line, "DELETE FROM people WHERE name = $1", &[&text(name)]).await
        }
        PersonChange::Invite(invitation) => invite(line, invitation).await,
        PersonChange::Accept {
            hash,
            name,
            password,
        } => accept(line, *hash, (name, password), now).await,
        PersonChange::LogIn { session, password } => log_in(line, session, password).await,
        PersonChange::Extend { hash, until } => {
            let sql = "UPDATE sessions SET until = $2 WHERE hash = $1";
            execute(line, sql, &[&hash.as_slice(), &until.0]).await
        }
        PersonChange::LogOut { hash } => {
            let sql = "DELETE FROM sessions WHERE hash = $1";
            execute(line, sql, &[&hash.as_slice()]).await
        }
        PersonChange::Sweep => {
            let now: &[&(dyn ToSql + Sync)] = &[&now.0];
            let sessions = execute(line, "DELETE FROM sessions WHERE until <= $1", now).await?;
            let links = execute(line, "DELETE FROM invitations WHERE until <= $1", now).await?;
            Ok(sessions || links)
        }
    }
}

async fn log_in(line: &Line, session: &Session, password: &str) -> Result<bool, Error> {
    let sql = "INSERT INTO sessions (hash, person, created_at, until) \
               SELECT $1, name, $2, $3 FROM people WHERE name = $4 AND password = $5 \
               ON CONFLICT (hash) DO NOTHING";
    let Session {
        hash,
        person,
        created_at,
        until,
    } = session;
    let (hash, person, password) = (hash.as_slice(), text(person), text(password));
    let values: [&(dyn ToSql + Sync); 5] = [&hash, &created_at.0, &until.0, &person, &password];
    execute(line, sql, &values).await
}

async fn add(
    line: &Line,
    name: &str,
    role: Role,
    password: Option<&str>,
    now: Time,
) -> Result<bool, Error> {
    let sql = "INSERT INTO people (name, role, password, created_at, changed_at) \
               VALUES ($1, $2, $3, $4, $4) ON CONFLICT (name) DO NOTHING";
    let (name, password) = (text(name), password.map(text));
    execute(line, sql, &[&name, &role.name(), &password, &now.0]).await
}

async fn set(line: &Line, name: &str, password: &str, now: Time) -> Result<bool, Error> {
    end_all(line, name).await?;
    let sql = "UPDATE people SET password = $2, changed_at = $3 WHERE name = $1";
    execute(line, sql, &[&text(name), &text(password), &now.0]).await
}

async fn end_all(line: &Line, name: &str) -> Result<(), Error> {
    let name = text(name);
    execute(line, "DELETE FROM sessions WHERE person = $1", &[&name]).await?;
    execute(line, "DELETE FROM invitations WHERE person = $1", &[&name]).await?;
    Ok(())
}

async fn nobody(line: &Line) -> Result<bool, Error> {
    let row = line
        .query_one("SELECT NOT EXISTS (SELECT FROM people)", &[])
        .await?;
    row.try_get(0)
}

async fn invite(line: &Line, invitation: &Invitation) -> Result<bool, Error> {
    let Invitation {
        hash,
        person,
        until,
    } = invitation;
    let person = person.as_deref().map(text);
    let fits = match &person {
        Some(name) => {
            let sql = "SELECT EXISTS (SELECT FROM people WHERE name = $1)";
            line.query_one(sql, &[name]).await?.try_get(0)?
        }
        None => nobody(line).await?,
    };
    if fits {
        let sql = "INSERT INTO invitations (hash, person, until) VALUES ($1, $2, $3) \
                   ON CONFLICT (hash) DO UPDATE SET (person, until) = ($2, $3)";
        execute(line, sql, &[&hash.as_slice(), &person, &until.0]).await?;
    }
    Ok(fits)
}

async fn accept(
    line: &Line,
    hash: [u8; 32],
    (name, password): (&str, &str),
    now: Time,
) -> Result<bool, Error> {
    let row = line.query_opt(INVITATION, &[&hash.as_slice()]).await?;
    let found = row.and_then(|row| invitation(&row, hash).ok());
    match found
        .filter(|it| it.until > now)
        .map(|invitation| invitation.person)
    {
        Some(None) if nobody(line).await? => {
            execute(line, "DELETE FROM invitations", &[]).await?;
            add(line, name, Role::Admin, Some(password), now).await
        }
        Some(Some(person)) if *person == *name => set(line, name, password, now).await,
        _ => Ok(false),
    }
}
