//! What people write without Semel on PostgreSQL: one transaction for each claim, on as many
//! connections as the server likes.

use std::sync::Arc;

use anyhow::{Context as _, ensure};
use semel_store::store::random_bytes;
use tokio_postgres::{Client, NoTls};

use super::ledger::{input, key};
use super::load::{Bounds, Measured, run};

/// The usual size of a connection pool.
pub(super) const CONNECTIONS: usize = 32;

const TABLE: &str = "CREATE SCHEMA IF NOT EXISTS semel_bench_by_hand;
    DROP TABLE IF EXISTS semel_bench_by_hand.claims;
    CREATE TABLE semel_bench_by_hand.claims (scope text NOT NULL, key text NOT NULL, token bytea NOT NULL,
        input text, state text NOT NULL, claimed_at timestamptz NOT NULL DEFAULT now(),
        lease_until timestamptz NOT NULL, PRIMARY KEY (scope, key))";
const CLAIM: &str =
    "INSERT INTO semel_bench_by_hand.claims (scope, key, token, input, state, lease_until)
    VALUES ($1, $2, $3, $4, 'claimed', now() + interval '1 hour') ON CONFLICT DO NOTHING";

async fn connect(url: &str) -> anyhow::Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls)
        .await
        .context("connecting to PostgreSQL")?;
    tokio::spawn(connection);
    Ok(client)
}

/// Drops what the bench makes in a database, before and after.
pub(super) async fn clean_up(url: &str, schemas: &[String]) -> anyhow::Result<()> {
    let admin = connect(url).await?;
    for schema in schemas {
        let drop = format!("DROP SCHEMA IF EXISTS {schema} CASCADE");
        admin.batch_execute(&drop).await?;
    }
    Ok(())
}

/// Claims in one transaction each, over [`CONNECTIONS`] connections.
pub(super) async fn measure(url: &str, bounds: Bounds) -> anyhow::Result<Measured> {
    let admin = connect(url).await?;
    admin.batch_execute(TABLE).await?;
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        let client = connect(url).await?;
        let claim = client.prepare(CLAIM).await?;
        clients.push((Arc::new(client), claim));
    }
    let measured = run(CONNECTIONS, bounds, 0, |caller| {
        let (client, claim) = clients[caller].clone();
        move |number| {
            let (client, claim) = (Arc::clone(&client), claim.clone());
            async move {
                let token = random_bytes::<16>();
                let values = (key(number), input(number));
                let rows = client
                    .execute(&claim, &[&"bench", &values.0, &&token[..], &values.1])
                    .await?;
                ensure!(rows == 1, "a fresh key was taken");
                Ok(())
            }
        }
    })
    .await?;
    admin
        .batch_execute("DROP SCHEMA semel_bench_by_hand CASCADE")
        .await?;
    Ok(measured)
}
