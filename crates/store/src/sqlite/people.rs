//! People, sessions and invitations: small tables, seldom written.

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};
use semel_ledger::Time;

use super::{Sqlite, row};
use crate::access::Role;
use crate::error::StoreError;
use crate::person::{Invitation, Person, PersonChange, Session};

const PERSON: &str = "people.name, people.role, people.password, people.created_at, \
                      people.changed_at";

impl Sqlite {
    pub(crate) async fn people(&self) -> Result<Vec<Person>, StoreError> {
        self.ask_at_length(all).await
    }

    pub(crate) async fn person(&self, name: &str) -> Result<Option<Person>, StoreError> {
        let name: Box<str> = name.into();
        self.ask_at_length(move |connection| one(connection, &name))
            .await
    }

    pub(crate) async fn session(
        &self,
        hash: [u8; 32],
    ) -> Result<Option<(Session, Person)>, StoreError> {
        self.ask_at_length(move |connection| session(connection, &hash))
            .await
    }

    pub(crate) async fn invitation(
        &self,
        hash: [u8; 32],
    ) -> Result<Option<Invitation>, StoreError> {
        self.ask_at_length(move |connection| invitation(connection, &hash))
            .await
    }
}

fn execute(
    connection: &Connection,
    sql: &str,
    parameters: &[&dyn ToSql],
) -> rusqlite::Result<bool> {
    let changed = connection.prepare_cached(sql)?.execute(parameters)?;
    Ok(changed > 0)
}

fn exists(connection: &Connection, sql: &str, parameters: &[&dyn ToSql]) -> rusqlite::Result<bool> {
    connection.prepare_cached(sql)?.exists(parameters)
}

pub(super) fn change(
    connection: &Connection,
    change: &PersonChange,
    now: Time,
) -> rusqlite::Result<bool> {
    match change {
        PersonChange::Add {
            name,
            role,
            password,
        } => add(connection, name, *role, password.as_deref(), now),
        PersonChange::Role { name, role } => {
            const SQL: &str = "UPDATE people SET role = ?, changed_at = ? WHERE name = ?";
            execute(connection, SQL, params![role.name(), now.0, name])
        }
        PersonChange::Password { name, password } => set(connection, name, password, now),
        PersonChange::Remove { name } => {
            end_all(connection, name)?;
            execute(
                connection,
                "DELETE FROM people WHERE name = ?",
                params![name],
            )
        }
        PersonChange::Invite(invitation) => invite(connection, invitation),
        PersonChange::Accept {
            hash,
            name,
            password,
        } => accept(connection, hash, (name, password), now),
        PersonChange::LogIn { session, password } => {
            const SQL: &str = "INSERT OR IGNORE INTO sessions (hash, person, created_at, until)
                SELECT ?, name, ?, ? FROM people WHERE name = ? AND password = ?";
            let Session {
                hash,
                person,
                created_at,
                until,
            } = session;
            let given = params![hash, created_at.0, until.0, person, password];
            execute(connection, SQL, given)
        }
        PersonChange::Extend { hash, until } => {
            const SQL: &str = "UPDATE sessions SET until = ? WHERE hash = ?";
            execute(connection, SQL, params![until.0, hash])
        }
        PersonChange::LogOut { hash } => execute(
            connection,
            "DELETE FROM sessions WHERE hash = ?",
            params![hash],
        ),
        PersonChange::Sweep => {
            let now = params![now.0];
            let sessions = execute(connection, "DELETE FROM sessions WHERE until <= ?", now)?;
            let links = execute(connection, "DELETE FROM invitations WHERE until <= ?", now)?;
            Ok(sessions || links)
        }
    }
}

fn add(
    connection: &Connection,
    name: &str,
    role: Role,
    password: Option<&str>,
    now: Time,
) -> rusqlite::Result<bool> {
    const SQL: &str = "INSERT OR IGNORE INTO people (name, role, password, created_at, changed_at)
        VALUES (?1, ?2, ?3, ?4, ?4)";
    execute(connection, SQL, params![name, role.name(), password, now.0])
}

fn set(connection: &Connection, name: &str, password: &str, now: Time) -> rusqlite::Result<bool> {
    const SQL: &str = "UPDATE people SET password = ?, changed_at = ? WHERE name = ?";
    end_all(connection, name)?;
    execute(connection, SQL, params![password, now.0, name])
}

fn end_all(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    execute(
        connection,
        "DELETE FROM sessions WHERE person = ?",
        params![name],
    )?;
    execute(
        connection,
        "DELETE FROM invitations WHERE person = ?",
        params![name],
    )?;
    Ok(())
}

fn nobody(connection: &Connection) -> rusqlite::Result<bool> {
    exists(connection, "SELECT 1 FROM people", &[]).map(|any| !any)
}

fn invite(connection: &Connection, invitation: &Invitation) -> rusqlite::Result<bool> {
    let Invitation {
        hash,
        person,
        until,
    } = invitation;
    let fits = match person {
        Some(name) => exists(
            connection,
            "SELECT 1 FROM people WHERE name = ?",
            params![name],
        )?,
        None => nobody(connection)?,
    };
    if fits {
        const SQL: &str =
            "INSERT OR REPLACE INTO invitations (hash, person, until) VALUES (?, ?, ?)";
        execute(connection, SQL, params![hash, person, until.0])?;
    }
    Ok(fits)
}

fn accept(
    connection: &Connection,
    hash: &[u8; 32],
    (name, password): (&str, &str),
    now: Time,
) -> rusqlite::Result<bool> {
    let found = invitation(connection, hash)?.filter(|it| it.until > now);
    match found.map(|invitation| invitation.person) {
        Some(None) if nobody(connection)? => {
            execute(connection, "DELETE FROM invitations", &[])?;
            add(connection, name, Role::Admin, Some(password), now)
        }
        Some(Some(person)) if *person == *name => set(connection, name, password, now),
        _ => Ok(false),
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Person> {
    Ok(Person {
        name: row.get(0)?,
        // A role that only a later version knows lets one look.
        role: Role::named(row.get_ref(1)?.as_str()?).unwrap_or(Role::Viewer),
        password: row::text(row, 2)?,
        created_at: Time(row.get(3)?),
        changed_at: Time(row.get(4)?),
    })
}

/// All, by name.
fn all(connection: &Connection) -> rusqlite::Result<Vec<Person>> {
    let sql = format!("SELECT {PERSON} FROM people ORDER BY name");
    let mut all = connection.prepare_cached(&sql)?;
    all.query_map([], read)?.collect()
}

fn one(connection: &Connection, name: &str) -> rusqlite::Result<Option<Person>> {
    let sql = format!("SELECT {PERSON} FROM people WHERE name = ?");
    let mut one = connection.prepare_cached(&sql)?;
    one.query_row([name], read).optional()
}

fn session(
    connection: &Connection,
    hash: &[u8; 32],
) -> rusqlite::Result<Option<(Session, Person)>> {
    let sql = format!(
        "SELECT {PERSON}, sessions.created_at, sessions.until FROM sessions
         JOIN people ON people.name = sessions.person WHERE hash = ?"
    );
    let read = |row: &Row<'_>| {
        let person = read(row)?;
        let session = Session {
            hash: *hash,
            person: person.name.clone(),
            created_at: Time(row.get(5)?),
            until: Time(row.get(6)?),
        };
        Ok((session, person))
    };
    let mut one = connection.prepare_cached(&sql)?;
    one.query_row([hash], read).optional()
}

fn invitation(connection: &Connection, hash: &[u8; 32]) -> rusqlite::Result<Option<Invitation>> {
    const SQL: &str = "SELECT person, until FROM invitations WHERE hash = ?";
    let read = |row: &Row<'_>| {
        Ok(Invitation {
            hash: *hash,
            person: row::text(row, 0)?,
            until: Time(row.get(1)?),
        })
    };
    let mut one = connection.prepare_cached(SQL)?;
    one.query_row([hash], read).optional()
}
