//! `sql` steps beside the same transaction by hand, on the same database, one after the other.
//!
//! Measures the step itself, without a run around it: what the receipt costs is its second row.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use semel_act::{Outcome, Perform as _, SecretSet, Task, Untraced};
use semel_flow::Value;
use semel_flow::diagnostic::Span;
use semel_flow::model::{Act, Class, Kind, Tree};
use semel_ledger::{Key, Millis, Scope};
use semel_steps::{Connection, Steps};
use serde::Serialize;
use tokio::sync::Mutex;
use tokio_postgres::NoTls;

use super::load::{Bounds, Measured, run};

/// The sessions that a connection has if nothing is said.
const SESSIONS: usize = 8;
const SCHEMA: &str = "semel_bench_sql";

/// One way to write a row.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SqlLine {
    pub(super) database: &'static str,
    pub(super) work: &'static str,
    #[serde(flatten)]
    pub(super) measured: Measured,
    /// Of the transaction by hand.
    pub(super) ratio: f64,
}

/// Where rows are written.
pub(super) enum Place {
    Postgres(String),
    Sqlite(String),
}

impl Place {
    /// Makes an empty table there.
    pub(super) async fn new(postgres: Option<&str>, directory: &Path) -> anyhow::Result<Place> {
        let table = "(id bigint PRIMARY KEY, note text NOT NULL)";
        if let Some(url) = postgres {
            let mark = if url.contains('?') { '&' } else { '?' };
            let place = format!("{url}{mark}options=-c%20search_path%3D{SCHEMA}");
            let admin = connect(&place).await?;
            let sql = format!(
                "DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA}; CREATE TABLE rows_by_step {table}"
            );
            admin.batch_execute(&sql).await?;
            return Ok(Place::Postgres(place));
        }
        let path = directory.join("sql.db");
        let made = rusqlite::Connection::open(&path)?;
        made.execute_batch(&format!(
            "PRAGMA journal_mode = WAL; CREATE TABLE rows_by_step {table}"
        ))?;
        Ok(Place::Sqlite(path.display().to_string()))
    }

    fn name(&self) -> &'static str {
        match self {
            Place::Postgres(_) => "postgres",
            Place::Sqlite(_) => "sqlite",
        }
    }

    /// SQLite has one writer; more would only wait for each other.
    fn callers(&self) -> usize {
        match self {
            Place::Postgres(_) => SESSIONS,
            Place::Sqlite(_) => 1,
        }
    }

    /// The transaction by hand, then the step without and with a receipt.
    pub(super) async fn measure(&self, bounds: Bounds) -> anyhow::Result<Vec<SqlLine>> {
        let by_hand = self.by_hand(bounds, 1 << 40).await?;
        let plain = self.by_step(bounds, 1 << 41, false).await?;
        let receipt = self.by_step(bounds, 1 << 42, true).await?;
        let line = |work, measured: Measured| SqlLine {
            database: self.name(),
            work,
            ratio: measured.per_second / by_hand.per_second,
            measured,
        };
        Ok(vec![
            line("sql by hand", by_hand.clone()),
            line("sql", plain),
            line("sql, receipt", receipt),
        ])
    }

    async fn by_hand(&self, bounds: Bounds, first: u64) -> anyhow::Result<Measured> {
        match self {
            Place::Postgres(url) => {
                let mut clients = Vec::new();
                for _ in 0..SESSIONS {
                    clients.push(Arc::new(Mutex::new(connect(url).await?)));
                }
                run(SESSIONS, bounds, first, |caller| {
                    let client = Arc::clone(&clients[caller]);
                    move |number| {
                        let client = Arc::clone(&client);
                        async move {
                            let mut client = client.lock().await;
                            by_hand_there(&mut client, number).await
                        }
                    }
                })
                .await
            }
            Place::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path)?;
                connection.execute_batch("PRAGMA synchronous = FULL")?;
                let connection = Arc::new(std::sync::Mutex::new(connection));
                run(1, bounds, first, |_| {
                    let connection = Arc::clone(&connection);
                    move |number| {
                        let connection = Arc::clone(&connection);
                        async move { by_hand_here(&connection, number) }
                    }
                })
                .await
            }
        }
    }

    async fn by_step(&self, bounds: Bounds, first: u64, receipt: bool) -> anyhow::Result<Measured> {
        let url = match self {
            Place::Postgres(url) => url.clone(),
            Place::Sqlite(path) => format!("sqlite:{path}"),
        };
        let mut settings = semel_steps::Settings::new(Arc::new(SecretSet::default()));
        let connection = Connection::parse(&url, None).context("the bench's database")?;
        settings.connections.insert("bench".to_owned(), connection);
        let steps = Arc::new(Steps::new(settings));
        let insert = match self {
            Place::Postgres(_) => "INSERT INTO rows_by_step (id, note) VALUES ($1, $2)",
            Place::Sqlite(_) => "INSERT INTO rows_by_step (id, note) VALUES (?, ?)",
        };
        run(self.callers(), bounds, first, |_| {
            let steps = Arc::clone(&steps);
            move |number| {
                let steps = Arc::clone(&steps);
                async move {
                    let task = task(insert, number, receipt)?;
                    match steps.perform(&task, &Untraced).await {
                        Outcome::Done(_) => Ok(()),
                        other => bail!("a row was not written: {other:?}"),
                    }
                }
            }
        })
        .await
    }

    /// Takes away what was made.
    pub(super) async fn clean_up(self) -> anyhow::Result<()> {
        if let Place::Postgres(url) = self {
            let drop = format!("DROP SCHEMA {SCHEMA} CASCADE");
            connect(&url).await?.batch_execute(&drop).await?;
        }
        Ok(())
    }
}

async fn connect(url: &str) -> anyhow::Result<tokio_postgres::Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls)
        .await
        .context("connecting to PostgreSQL")?;
    tokio::spawn(connection);
    Ok(client)
}

async fn by_hand_there(client: &mut tokio_postgres::Client, number: u64) -> anyhow::Result<()> {
    let transaction = client.transaction().await?;
    let id = i64::try_from(number)?;
    let insert = "INSERT INTO rows_by_step (id, note) VALUES ($1, $2)";
    transaction.execute(insert, &[&id, &"note"]).await?;
    Ok(transaction.commit().await?)
}

fn by_hand_here(
    connection: &std::sync::Mutex<rusqlite::Connection>,
    number: u64,
) -> anyhow::Result<()> {
    let Ok(mut connection) = connection.lock() else {
        bail!("another caller panicked");
    };
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let id = i64::try_from(number)?;
    transaction
        .prepare_cached("INSERT INTO rows_by_step (id, note) VALUES (?, ?)")?
        .execute((id, "note"))?;
    Ok(transaction.commit()?)
}

fn task(insert: &str, number: u64, receipt: bool) -> anyhow::Result<Task> {
    let params = vec![Value::Int(i64::try_from(number)?), Value::text("note")];
    let input = Value::map([
        ("on", Value::text("bench")),
        ("run", Value::text(insert)),
        ("params", Value::list(params)),
        ("receipt", Value::Bool(receipt)),
    ]);
    Ok(Task {
        act: Arc::new(Act {
            kind: Kind::Sql,
            input: Tree::Null,
            exprs: std::collections::BTreeMap::new(),
            span: Span::default(),
            shadow: None,
        }),
        input,
        class: if receipt {
            Class::Keyed
        } else {
            Class::Guarded
        },
        scope: Some(Scope::new("bench/sql")?),
        key: Some(Key::from_parts(&[format!("row-{number}")])?),
        attempt: 1,
        timeout: Millis::seconds(30),
    })
}
