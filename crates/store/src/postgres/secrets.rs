//! Sealed secrets: few rows, changed one at a time inside the batch's transaction.

use semel_ledger::Time;
use tokio_postgres::{Error, Row};

use super::Postgres;
use super::columns::text;
use super::connect::Session;
use super::row::{Reader, Unreadable};
use crate::error::StoreError;
use crate::secret::{Sealed, SecretChange};

impl Postgres {
    pub(crate) async fn secrets(&self) -> Result<Vec<Sealed>, StoreError> {
        let sql = "SELECT name, key, sealed, changed_at, \"by\" FROM secrets \
                   ORDER BY name COLLATE \"C\"";
        let rows = self.questions.ask(sql, &[]).await?;
        Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
    }

    pub(crate) async fn secrets_revision(&self) -> Result<i64, StoreError> {
        let sql = "SELECT number FROM secrets_revision";
        let rows = self.questions.ask(sql, &[]).await?;
        let number = rows.first().map(|row| Reader::new(row).next());
        Ok(number.transpose()?.unwrap_or_default())
    }
}

fn read(row: &Row) -> Result<Sealed, Unreadable> {
    let mut reader = Reader::new(row);
    Ok(Sealed {
        name: reader.next()?,
        key: reader.hash()?,
        bytes: reader.next()?,
        changed_at: reader.time()?,
        by: reader.next()?,
    })
}

pub(super) async fn change(
    session: &Session,
    change: &SecretChange,
    now: Time,
) -> Result<bool, Error> {
    // One after the other, so that no two changes wait for each other's rows.
    session
        .execute("SELECT FROM secrets_revision FOR UPDATE", &[])
        .await?;
    let changed = match change {
        SecretChange::Set {
            name,
            key,
            bytes,
            by,
            first,
        } => {
            let first_only = "INSERT INTO secrets (name, key, sealed, changed_at, \"by\") \
                              VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO NOTHING";
            let set = "INSERT INTO secrets (name, key, sealed, changed_at, \"by\") \
                       VALUES ($1, $2, $3, $4, $5) ON CONFLICT (name) DO UPDATE \
                       SET (key, sealed, changed_at, \"by\") = \
                           (EXCLUDED.key, EXCLUDED.sealed, EXCLUDED.changed_at, EXCLUDED.\"by\")";
            let (name, by, key) = (text(name), by.as_deref().map(text), key.as_slice());
            session
                .execute(
                    if *first { first_only } else { set },
                    &[&name, &key, bytes, &now.0, &by],
                )
                .await?
        }
        SecretChange::Remove { name } => {
            let remove = "DELETE FROM secrets WHERE name = $1";
            session.execute(remove, &[&text(name)]).await?
        }
        SecretChange::Reseal {
            name,
            was,
            key,
            becomes,
        } => {
            let reseal = "UPDATE secrets SET key = $3, sealed = $4 WHERE name = $1 AND sealed = $2";
            let (name, key) = (text(name), key.as_slice());
            session
                .execute(reseal, &[&name, was, &key, becomes])
                .await?
        }
    };
    if changed > 0 {
        let count = "UPDATE secrets_revision SET number = number + 1";
        session.execute(count, &[]).await?;
    }
    Ok(changed > 0)
}
