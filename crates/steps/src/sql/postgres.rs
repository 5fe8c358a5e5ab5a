//! PostgreSQL.
//!
//! Owns sessions, what the server's errors say about the effect ([`fault`]), how values are bound
//! ([`params`]) and how they come back ([`values`]). The server itself ends a statement or a
//! transaction that takes longer than the step may.

mod fault;
mod numeric;
mod params;
mod time;
mod values;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use rustls::pki_types::CertificateDer;
use semel_ledger::EffectId;
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Column, Config, Error, Statement as Prepared};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::build::{self, Dialect};
use super::fault::Fault;
use super::plan::{Plan, Statement, Work};
use super::receipts::{self, Claim, Database, not_made, receipts_sql};
use super::rows::{Found, Gather};
use super::session::{Access, Door, Session};
use crate::outgoing::encryption;
use fault::{of, of_begin, unreachable};
use params::Bound;

/// How long a connection may take if the address says nothing.
const CONNECT: Duration = Duration::from_secs(10);
/// How many statements a session remembers.
const REMEMBERED: usize = 64;

const DIALECT: Dialect = Dialect {
    quote: '"',
    place: |number| format!("${number}"),
};

const CLAIM: &str = "INSERT INTO semel_receipts (id, scope, effect_key) VALUES ($1, $2, $3) \
                     ON CONFLICT (id) DO NOTHING";
const RECALL: &str = "SELECT result FROM semel_receipts WHERE id = $1";
const RECORD: &str = "UPDATE semel_receipts SET result = $2 WHERE id = $1";

/// A PostgreSQL server.
pub(super) struct Postgres {
    config: Config,
    roots: Vec<CertificateDer<'static>>,
    /// Made when first needed: reading the system's certificates takes a while.
    tls: OnceLock<MakeRustlsConnect>,
}

impl Postgres {
    pub(super) fn new(mut config: Config, roots: Vec<CertificateDer<'static>>) -> Postgres {
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.keepalives_idle(Duration::from_secs(30));
        Postgres {
            config,
            roots,
            tls: OnceLock::new(),
        }
    }
}

impl Door for Postgres {
    type Session = PostgresSession;

    async fn open(&self, password: Option<&str>) -> Result<PostgresSession, Fault> {
        let tls = self
            .tls
            .get_or_init(|| MakeRustlsConnect::new(encryption(&self.roots)));
        let mut config = self.config.clone();
        if let Some(password) = password {
            config.password(password);
        }
        let (client, connection) = config
            .connect(tls.clone())
            .await
            .map_err(|error| unreachable(&error))?;
        // Its errors are the callers' too: every call on the client ends with one.
        let task = tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(PostgresSession {
            client,
            task,
            remembered: HashMap::new(),
        })
    }

    /// What cannot be undone is refused by PostgreSQL inside a transaction.
    fn commits_itself(&self, _: &str) -> bool {
        false
    }
}

/// An open session.
pub(super) struct PostgresSession {
    client: Client,
    task: JoinHandle<()>,
    remembered: HashMap<String, Prepared>,
}

impl Drop for PostgresSession {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl PostgresSession {
    async fn prepared(&mut self, sql: &str) -> Result<Prepared, Error> {
        if let Some(prepared) = self.remembered.get(sql) {
            return Ok(prepared.clone());
        }
        let prepared = self.client.prepare(sql).await?;
        if self.remembered.len() == REMEMBERED {
            self.remembered.clear();
        }
        self.remembered.insert(sql.to_owned(), prepared.clone());
        Ok(prepared)
    }

    /// Runs one of our own statements.
    async fn execute(&mut self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64, Error> {
        let prepared = self.prepared(sql).await?;
        self.client.execute(&prepared, values).await
    }
}

impl Session for PostgresSession {
    async fn begin(&mut self, access: Access, left: Duration) -> Result<(), Fault> {
        let access = match access {
            Access::Read => "READ ONLY",
            Access::Write => "READ WRITE",
        };
        let millis = left.as_millis().clamp(1, 2_147_483_647);
        // If the client is gone without a word, the transaction must not hold its locks for ever.
        let sql = format!(
            "BEGIN {access}; SET LOCAL statement_timeout = {millis}; \
             SET LOCAL idle_in_transaction_session_timeout = {millis}"
        );
        self.client
            .batch_execute(&sql)
            .await
            .map_err(|error| of_begin(&error))
    }

    async fn claim(&mut self, effect: &EffectId) -> Result<Claim, Fault> {
        let id = receipts::id(effect);
        let (scope, key) = (effect.scope.as_str(), effect.key.as_str());
        match self.execute(CLAIM, &[&id, &scope, &key]).await {
            Ok(1) => return Ok(Claim::New),
            Ok(_) => {}
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {
                return Ok(Claim::NoTable);
            }
            Err(error) => return Err(of(&error)),
        }
        let recall = self.prepared(RECALL).await.map_err(|error| of(&error))?;
        let row = self
            .client
            .query_opt(&recall, &[&id])
            .await
            .map_err(|error| of(&error))?;
        let result: Option<String> = match row {
            Some(row) => row.try_get(0).map_err(|error| of(&error))?,
            None => None,
        };
        result.map(Claim::Recorded).ok_or_else(receipts::no_result)
    }

    async fn make_table(&mut self) -> Result<(), Fault> {
        let made = self.client.batch_execute(receipts_sql(Database::Postgres));
        let Err(error) = made.await else {
            return Ok(());
        };
        // Two that make it at the same moment: one of them is told that its type is there.
        let there = [SqlState::UNIQUE_VIOLATION, SqlState::DUPLICATE_TABLE];
        if error.code().is_some_and(|code| there.contains(code)) {
            return Ok(());
        }
        let fault = of(&error);
        let message = not_made(Database::Postgres, &fault.message);
        Err(Fault::new(fault.kind, message))
    }

    async fn prepare(&mut self, plan: &Plan) -> Result<(), Fault> {
        let sql = sql(&plan.work);
        let prepared = self
            .prepared(&sql.as_ref().sql)
            .await
            .map_err(|error| of(&error))?;
        let (places, given) = (prepared.params().len(), sql.as_ref().params.len());
        if places != given {
            return Err(Fault::wrong(format!(
                "the SQL has {places} placeholders, and there are {given} `params`"
            )));
        }
        for column in prepared.columns() {
            values::check(column)?;
        }
        Ok(())
    }

    async fn carry_out(&mut self, plan: &Plan) -> Result<Found, Fault> {
        let sql = sql(&plan.work);
        let sql = sql.as_ref();
        let prepared = self.prepared(&sql.sql).await.map_err(|error| of(&error))?;
        let columns = prepared.columns();
        let mut gather = Gather::new(columns.iter().map(Column::name), plan.room)?;
        let bound = Bound::all(&sql.params, prepared.params())?;
        let stream = self
            .client
            .query_raw(&prepared, bound)
            .await
            .map_err(|error| of(&error))?;
        let mut stream = pin!(stream);
        while let Some(row) = stream.try_next().await.map_err(|error| of(&error))? {
            gather.push(values::row(&row, &gather)?)?;
        }
        let count = stream.rows_affected().unwrap_or(0);
        Ok(Found {
            rows: (!columns.is_empty()).then(|| gather.rows()),
            count,
        })
    }

    async fn record(&mut self, effect: &EffectId, result: &str) -> Result<(), Fault> {
        let id = receipts::id(effect);
        match self
            .execute(RECORD, &[&id, &result])
            .await
            .map_err(|error| of(&error))?
        {
            1 => Ok(()),
            _ => Err(receipts::no_mark()),
        }
    }

    async fn commit(&mut self) -> Result<(), Fault> {
        self.client
            .batch_execute("COMMIT")
            .await
            .map_err(|error| of(&error))
    }

    async fn rollback(&mut self) -> Result<(), Fault> {
        self.client
            .batch_execute("ROLLBACK")
            .await
            .map_err(|error| of(&error))
    }
}

/// The file's SQL, or ours.
enum Sql<'p> {
    Theirs(&'p Statement),
    Ours(Statement),
}

impl Sql<'_> {
    fn as_ref(&self) -> &Statement {
        match self {
            Sql::Theirs(statement) => statement,
            Sql::Ours(statement) => statement,
        }
    }
}

fn sql(work: &Work) -> Sql<'_> {
    match work {
        Work::Query(statement) | Work::Run(statement) => Sql::Theirs(statement),
        Work::Upsert(row) => Sql::Ours(build::upsert(row, DIALECT)),
        Work::Insert(row) => Sql::Ours(build::insert_if_absent(row, DIALECT)),
        Work::Update(update) => Sql::Ours(build::update(update, DIALECT)),
    }
}
