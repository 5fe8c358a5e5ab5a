//! MySQL and MariaDB.
//!
//! Owns sessions, the forms that need more than one statement here ([`forms`]), what the server's
//! errors say about the effect ([`fault`]) and how values go in and come back ([`values`]). Many
//! statements commit by themselves here; only those that are known not to are taken as part of a
//! transaction. Tables without transactions (MyISAM) keep what the server says it has undone.

mod fault;
mod forms;
mod values;

use std::collections::HashSet;
use std::time::Duration;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Opts, OptsBuilder, Params, SslOpts};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use semel_ledger::EffectId;
use tokio::time::timeout;

use super::build::{self, Dialect};
use super::fault::Fault;
use super::plan::{Plan, Statement, Work};
use super::receipts::{self, Claim, Database, not_made, receipts_sql};
use super::rows::{Found, Gather, Room};
use super::session::{Access, Door, Session};
use super::words;
use fault::{DUPLICATE, NO_TABLE, code, of, of_commit, unreachable};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

const DIALECT: Dialect = Dialect {
    quote: '`',
    place: |_| "?".to_owned(),
};

/// Instants are instants, values are never cut to fit, and rows that are not there are not locked.
const SETUP: &str = "SET time_zone = '+00:00', autocommit = 1, \
                     sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')";
const ISOLATION: &str = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";

/// A MySQL or MariaDB server.
pub(super) struct Mysql {
    opts: Opts,
}

impl Mysql {
    pub(super) fn new(opts: Opts, encrypt: bool, roots: &[CertificateDer<'static>]) -> Mysql {
        let opts = OptsBuilder::from_opts(opts).ssl_opts(encrypt.then(|| trusted(roots)));
        Mysql { opts: opts.into() }
    }
}

/// Whom to believe: whom the system believes, and these.
fn trusted(roots: &[CertificateDer<'static>]) -> SslOpts {
    let native = rustls_native_certs::load_native_certs().certs;
    // The driver refuses all of them if it cannot read one.
    let readable = |it: &CertificateDer<'static>| RootCertStore::empty().add(it.clone()).is_ok();
    let certificates = native.into_iter().chain(roots.iter().cloned());
    let certificates = certificates.filter(readable).map(|it| it.to_vec().into());
    SslOpts::default()
        .with_disable_built_in_roots(true)
        .with_root_certs(certificates.collect())
}

/// Sets a session up; the server's version.
async fn set_up(conn: &mut Conn) -> Result<Option<String>, mysql_async::Error> {
    conn.query_drop(SETUP).await?;
    conn.query_drop(ISOLATION).await?;
    conn.query_first("SELECT VERSION()").await
}

impl Door for Mysql {
    type Session = MysqlSession;

    async fn open(&self, password: Option<&str>) -> Result<MysqlSession, Fault> {
        let opts = match password {
            Some(password) => OptsBuilder::from_opts(self.opts.clone())
                .pass(Some(password))
                .into(),
            None => self.opts.clone(),
        };
        let connected = timeout(CONNECT, Conn::new(opts)).await;
        let connected = connected.map_err(|_| {
            Fault::unreachable("cannot connect to MySQL or MariaDB: no answer in time")
        })?;
        let mut conn = connected.map_err(|error| unreachable(&error))?;
        let version = set_up(&mut conn).await;
        let version = version.map_err(|error| unreachable(&error))?;
        Ok(MysqlSession {
            conn,
            is_mariadb: version.is_some_and(|it| it.contains("MariaDB")),
            unique: HashSet::new(),
        })
    }

    fn commits_itself(&self, word: &str) -> bool {
        !words::stays_inside(word)
    }
}

/// An open session.
pub(super) struct MysqlSession {
    conn: Conn,
    is_mariadb: bool,
    /// Columns that are known to be unique, with their table.
    unique: HashSet<String>,
}

impl MysqlSession {
    async fn batch(&mut self, sql: &str) -> Result<(), Fault> {
        self.conn.query_drop(sql).await.map_err(|error| of(&error))
    }

    /// Runs a statement and reads its rows.
    async fn run(&mut self, sql: &Statement, room: Room) -> Result<Found, mysql_async::Error> {
        let bound = values::all(&sql.params).map_err(fault::carried)?;
        let prepared = self.conn.prep(sql.sql.as_str()).await?;
        let params = match bound.len() {
            0 => Params::Empty,
            _ => Params::Positional(bound),
        };
        let mut result = self.conn.exec_iter(&prepared, params).await?;
        let columns = result.columns().unwrap_or_default();
        let names: Vec<_> = columns.iter().map(|it| it.name_str()).collect();
        let gather = Gather::new(names.iter().map(AsRef::as_ref), room);
        let mut gather = gather.map_err(fault::carried)?;
        while let Some(row) = result.next().await? {
            let values = values::row(&row, &columns).map_err(fault::carried)?;
            gather.push(values).map_err(fault::carried)?;
        }
        let changed = result.affected_rows();
        result.drop_result().await?;
        let rows = gather.rows();
        if columns.is_empty() {
            return Ok(Found {
                rows: None,
                count: changed,
            });
        }
        Ok(Found {
            count: rows.len() as u64,
            rows: Some(rows),
        })
    }
}

impl Session for MysqlSession {
    async fn begin(&mut self, access: Access, left: Duration) -> Result<(), Fault> {
        if self.is_mariadb {
            // The server ends by itself what nobody waits for any more.
            let seconds = left.as_secs_f64();
            let limit = format!("SET max_statement_time = {seconds:.3}");
            self.batch(&limit).await?;
        }
        self.batch(match access {
            Access::Read => "START TRANSACTION READ ONLY",
            Access::Write => "START TRANSACTION READ WRITE",
        })
        .await
    }

    async fn claim(&mut self, effect: &EffectId) -> Result<Claim, Fault> {
        let id = receipts::id(effect);
        let claimed = self.conn.exec_drop(
            "INSERT INTO semel_receipts (id, scope, effect_key) VALUES (?, ?, ?)",
            (&id, effect.scope.as_str(), effect.key.as_str()),
        );
        match claimed.await {
            Ok(()) => return Ok(Claim::New),
            Err(error) => match code(&error) {
                Some(NO_TABLE) => return Ok(Claim::NoTable),
                Some(DUPLICATE) => {}
                _ => return Err(of(&error)),
            },
        }
        let recall = "SELECT result FROM semel_receipts WHERE id = ?";
        let result = self.conn.exec_first(recall, (&id,)).await;
        let result: Option<Option<String>> = result.map_err(|error| of(&error))?;
        result
            .flatten()
            .map(Claim::Recorded)
            .ok_or_else(receipts::no_result)
    }

    async fn make_table(&mut self) -> Result<(), Fault> {
        let made = self.batch(receipts_sql(Database::Mysql)).await;
        made.map_err(|fault| Fault::new(fault.kind, not_made(Database::Mysql, &fault.message)))
    }

    async fn prepare(&mut self, plan: &Plan) -> Result<(), Fault> {
        let sql = match &plan.work {
            Work::Query(sql) | Work::Run(sql) => sql,
            Work::Upsert(row) | Work::Insert(row) => return self.check_unique(row).await,
            Work::Update(_) => return Ok(()),
        };
        let prepared = self.conn.prep(sql.sql.as_str()).await;
        let prepared = prepared.map_err(|error| of(&error))?;
        let (places, given) = (usize::from(prepared.num_params()), sql.params.len());
        if places == given {
            return Ok(());
        }
        Err(Fault::wrong(format!(
            "the SQL has {places} placeholders, and there are {given} `params`"
        )))
    }

    async fn carry_out(&mut self, plan: &Plan) -> Result<Found, Fault> {
        match &plan.work {
            Work::Query(sql) | Work::Run(sql) => {
                let found = self.run(sql, plan.room).await;
                found.map_err(|error| of(&error))
            }
            Work::Upsert(row) => self.upsert(row, plan.room).await,
            Work::Insert(row) => self.insert_if_absent(row, plan.room).await,
            Work::Update(update) => {
                let sql = build::update(update, DIALECT);
                let found = self.run(&sql, plan.room).await;
                found.map_err(|error| of(&error))
            }
        }
    }

    async fn record(&mut self, effect: &EffectId, result: &str) -> Result<(), Fault> {
        let sql = "UPDATE semel_receipts SET result = ? WHERE id = ?";
        let recorded = self.conn.exec_drop(sql, (result, receipts::id(effect)));
        recorded.await.map_err(|error| of(&error))?;
        match self.conn.affected_rows() {
            1 => Ok(()),
            _ => Err(receipts::no_mark()),
        }
    }

    async fn commit(&mut self) -> Result<(), Fault> {
        let committed = self.conn.query_drop("COMMIT").await;
        committed.map_err(|error| of_commit(&error))
    }

    async fn rollback(&mut self) -> Result<(), Fault> {
        self.batch("ROLLBACK").await
    }
}
