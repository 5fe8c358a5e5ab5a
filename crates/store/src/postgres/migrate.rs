//! Bringing the schema up to date, and refusing databases that cannot keep the promise.
//!
//! Migrations only go forward, all in one transaction. Two nodes that start at once wait for each
//! other on a lock that ends with the transaction, so nothing stays locked if one of them dies.

use semel_ledger::Time;
use tokio_postgres::Client;

use super::connect::Address;
use super::refused;
use crate::clock::Clock;
use crate::error::OpenError;

/// Every migration, oldest first; its place is its number.
const MIGRATIONS: [(&str, &str); 6] = [
    ("ledger", include_str!("migrations/0001_ledger.sql")),
    ("runs", include_str!("migrations/0002_runs.sql")),
    ("secrets", include_str!("migrations/0003_secrets.sql")),
    ("kv", include_str!("migrations/0004_kv.sql")),
    ("listeners", include_str!("migrations/0005_listeners.sql")),
    ("people", include_str!("migrations/0006_people.sql")),
];

/// The newest schema that is known.
fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

const OLDEST_SERVER: i32 = 13;

/// Checks that what PostgreSQL calls committed is on its disk, and that it is new enough.
pub(super) async fn check_server(client: &Client) -> Result<(), OpenError> {
    let row = client
        .query_one(
            "SELECT current_setting('server_version_num')::int, current_setting('server_version'), \
                    current_setting('fsync'), current_setting('full_page_writes')",
            &[],
        )
        .await
        .map_err(refused)?;
    if row.get::<_, i32>(0) / 10_000 < OLDEST_SERVER {
        return Err(OpenError::TooOld {
            software: "PostgreSQL",
            found: row.get(1),
            needed: "13",
        });
    }
    for (column, setting) in [(2, "fsync"), (3, "full_page_writes")] {
        let found: String = row.get(column);
        if found != "on" {
            return Err(OpenError::NotDurable {
                setting,
                found,
                needed: "on",
            });
        }
    }
    Ok(())
}

/// Makes or updates the schema.
pub(super) async fn migrate(client: &mut Client, address: &Address) -> Result<(), OpenError> {
    let schema = address.schema();
    let transaction = client.transaction().await.map_err(refused)?;
    transaction
        .execute(
            "SELECT pg_advisory_xact_lock(hashtext('semel migrations'), hashtext($1))",
            &[&schema],
        )
        .await
        .map_err(refused)?;
    // Asked first: a user who may not create schemas can still use one made for it.
    let row = transaction
        .query_one(
            "SELECT to_regnamespace($1) IS NULL, to_regclass($1 || '.migrations') IS NULL",
            &[&schema],
        )
        .await
        .map_err(refused)?;
    if row.get(0) {
        let create = format!("CREATE SCHEMA {schema}");
        transaction.batch_execute(&create).await.map_err(refused)?;
    }
    if row.get(1) {
        let create = "CREATE TABLE migrations \
                      (version bigint PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL)";
        transaction.batch_execute(create).await.map_err(refused)?;
    }
    let found: i64 = transaction
        .query_one("SELECT coalesce(max(version), 0) FROM migrations", &[])
        .await
        .map_err(refused)?
        .get(0);
    let known = known();
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    for (version, (name, sql)) in (1i64..).zip(MIGRATIONS).filter(|(v, _)| *v > found) {
        transaction.batch_execute(sql).await.map_err(refused)?;
        transaction
            .execute(
                "INSERT INTO migrations VALUES ($1, $2, now())",
                &[&version, &name],
            )
            .await
            .map_err(refused)?;
    }
    transaction.commit().await.map_err(refused)
}

/// How far the database's clock is ahead of ours, taken in the middle of the question.
pub(super) async fn clock_ahead(
    client: &Client,
    clock: &dyn Clock,
) -> Result<i64, tokio_postgres::Error> {
    let Time(before) = clock.now();
    let row = client
        .query_one(
            "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
            &[],
        )
        .await?;
    let Time(after) = clock.now();
    Ok(row.get::<_, i64>(0) - (before + (after - before) / 2))
}
