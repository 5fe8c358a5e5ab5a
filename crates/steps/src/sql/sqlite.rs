//! SQLite.
//!
//! Owns sessions on a file and how values go in and come back ([`values`]). SQLite blocks its
//! caller, so each piece of work has a thread of the runtime for as long as it takes; whoever stops
//! waiting interrupts it. COMMIT is a piece by itself: what was given up before is rolled back.

mod fault;
mod values;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, InterruptHandle, OpenFlags, OptionalExtension as _};
use semel_ledger::EffectId;

use super::build::{self, Dialect};
use super::fault::Fault;
use super::plan::{Plan, Statement, Work};
use super::receipts::{self, Claim, Database, not_made, receipts_sql};
use super::rows::{Found, Gather, Room};
use super::session::{Access, Door, Session};
use fault::{of, of_commit, stopped, told};

const DIALECT: Dialect = Dialect {
    // A name in double quotes that is no column would be taken as text.
    quote: '`',
    place: |number| format!("?{number}"),
};

/// A file.
pub(super) struct Sqlite {
    path: PathBuf,
}

impl Sqlite {
    pub(super) fn new(path: PathBuf) -> Sqlite {
        Sqlite { path }
    }
}

impl Door for Sqlite {
    type Session = SqliteSession;

    async fn open(&self, _: Option<&str>) -> Result<SqliteSession, Fault> {
        let path = self.path.clone();
        let opened = tokio::task::spawn_blocking(move || open(&path)).await;
        let connection = opened.map_err(|_| stopped())?.map_err(|error| {
            let path = self.path.display();
            Fault::unreachable(format!("cannot open {path}: {}", told(&error)))
        })?;
        let interrupt = connection.get_interrupt_handle();
        Ok(SqliteSession {
            connection: Some(connection),
            interrupt: Arc::new(interrupt),
        })
    }

    fn commits_itself(&self, _: &str) -> bool {
        false
    }
}

/// A file that is not there is not made: a misspelt path would look like an empty database.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Opening reads nothing; a file that is no database is noticed here.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// An open file. Without a connection, the last piece of work was given up.
pub(super) struct SqliteSession {
    connection: Option<Connection>,
    interrupt: Arc<InterruptHandle>,
}

/// Interrupts what its owner no longer waits for.
struct Waiting(Option<Arc<InterruptHandle>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(interrupt) = &self.0 {
            interrupt.interrupt();
        }
    }
}

impl SqliteSession {
    /// Does a piece of work on a thread where it may block.
    async fn with<T, F>(&mut self, work: F) -> Result<T, Fault>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
    {
        let mut connection = self.connection.take().ok_or_else(stopped)?;
        let mut waiting = Waiting(Some(Arc::clone(&self.interrupt)));
        let worked = tokio::task::spawn_blocking(move || {
            let worked = work(&mut connection);
            (connection, worked)
        });
        let (connection, worked) = worked.await.map_err(|_| stopped())?;
        waiting.0 = None;
        self.connection = Some(connection);
        worked
    }

    async fn batch(&mut self, sql: &'static str) -> Result<(), Fault> {
        self.with(move |it| it.execute_batch(sql).map_err(|error| of(&error)))
            .await
    }
}

impl Session for SqliteSession {
    async fn begin(&mut self, access: Access, left: Duration) -> Result<(), Fault> {
        self.with(move |connection| {
            let begun = connection.busy_timeout(left).and_then(|()| {
                connection.pragma_update(None, "query_only", access == Access::Read)?;
                // Whoever will write takes the lock first, and is never told half-way that it is busy.
                connection.execute_batch(match access {
                    Access::Read => "BEGIN",
                    Access::Write => "BEGIN IMMEDIATE",
                })
            });
            begun.map_err(|error| of(&error))
        })
        .await
    }

    async fn claim(&mut self, effect: &EffectId) -> Result<Claim, Fault> {
        let effect = effect.clone();
        self.with(move |connection| match claim(connection, &effect) {
            Ok(claim) => claim,
            Err(error) if told(&error).contains("no such table") => Ok(Claim::NoTable),
            Err(error) => Err(of(&error)),
        })
        .await
    }

    async fn make_table(&mut self) -> Result<(), Fault> {
        let made = self.batch(receipts_sql(Database::Sqlite)).await;
        made.map_err(|fault| Fault::new(fault.kind, not_made(Database::Sqlite, &fault.message)))
    }

    async fn prepare(&mut self, plan: &Plan) -> Result<(), Fault> {
        let sql = statement(&plan.work);
        self.with(move |connection| {
            guarded(connection, |connection| {
                let prepared = connection.prepare(&sql.sql).map_err(|error| of(&error))?;
                values::places(&prepared, sql.params.len()).map(|_| ())
            })
        })
        .await
    }

    async fn carry_out(&mut self, plan: &Plan) -> Result<Found, Fault> {
        let sql = statement(&plan.work);
        let room = plan.room;
        self.with(move |connection| guarded(connection, |connection| run(connection, &sql, room)))
            .await
    }

    async fn record(&mut self, effect: &EffectId, result: &str) -> Result<(), Fault> {
        let (id, result) = (receipts::id(effect), result.to_owned());
        self.with(move |connection| {
            let sql = "UPDATE semel_receipts SET result = ?2 WHERE id = ?1";
            match connection.execute(sql, [&id, &result]) {
                Ok(1) => Ok(()),
                Ok(_) => Err(receipts::no_mark()),
                Err(error) => Err(of(&error)),
            }
        })
        .await
    }

    async fn commit(&mut self) -> Result<(), Fault> {
        self.with(|connection| {
            let committed = connection.execute_batch("COMMIT");
            committed.map_err(|error| of_commit(connection, &error))
        })
        .await
    }

    async fn rollback(&mut self) -> Result<(), Fault> {
        self.with(|connection| {
            // Some errors have ended the transaction already.
            if connection.is_autocommit() {
                return Ok(());
            }
            let rolled_back = connection.execute_batch("ROLLBACK");
            rolled_back.map_err(|error| of(&error))
        })
        .await
    }
}

fn claim(connection: &Connection, effect: &EffectId) -> rusqlite::Result<Result<Claim, Fault>> {
    let id = receipts::id(effect);
    let claimed = connection.execute(
        "INSERT INTO semel_receipts (id, scope, effect_key) VALUES (?1, ?2, ?3) \
         ON CONFLICT (id) DO NOTHING",
        [&*id, effect.scope.as_str(), effect.key.as_str()],
    )?;
    if claimed == 1 {
        return Ok(Ok(Claim::New));
    }
    let sql = "SELECT result FROM semel_receipts WHERE id = ?1";
    let result = connection.query_row(sql, [&id], |row| row.get::<_, Option<String>>(0));
    let result = result.optional()?.flatten();
    Ok(result.map(Claim::Recorded).ok_or_else(receipts::no_result))
}

/// Runs the file's SQL with what would reach beyond its transaction and its file switched off.
fn guarded<T>(
    connection: &mut Connection,
    work: impl FnOnce(&mut Connection) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let guard = connection.authorizer(Some(allows));
    guard.map_err(|error| of(&error))?;
    let worked = work(connection);
    let open: Option<fn(AuthContext<'_>) -> Authorization> = None;
    connection.authorizer(open).map_err(|error| of(&error))?;
    worked
}

fn allows(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Transaction { .. }
        | AuthAction::Savepoint { .. }
        | AuthAction::Attach { .. }
        | AuthAction::Detach { .. }
        | AuthAction::Pragma { .. } => Authorization::Deny,
        _ => Authorization::Allow,
    }
}

fn run(connection: &Connection, sql: &Statement, room: Room) -> Result<Found, Fault> {
    let of = |error: rusqlite::Error| of(&error);
    let mut prepared = connection.prepare(&sql.sql).map_err(of)?;
    let places = values::places(&prepared, sql.params.len())?;
    for (place, value) in places {
        let value = values::bound(&sql.params[value])?;
        prepared.raw_bind_parameter(place, value).map_err(of)?;
    }
    let returns = prepared.column_count() > 0;
    let reads = prepared.readonly();
    let types = values::types(&prepared);
    let mut gather = Gather::new(types.iter().map(|(name, _)| name.as_str()), room)?;
    let before = connection.total_changes();
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next().map_err(of)? {
        gather.push(values::row(row, &types)?)?;
    }
    drop(rows);
    let rows = gather.rows();
    let count = match (reads, connection.total_changes() > before) {
        (true, _) => rows.len() as u64,
        (false, true) => connection.changes(),
        (false, false) => 0,
    };
    Ok(Found {
        rows: returns.then_some(rows),
        count,
    })
}

fn statement(work: &Work) -> Statement {
    match work {
        Work::Query(statement) | Work::Run(statement) => Statement {
            sql: statement.sql.clone(),
            params: statement.params.clone(),
        },
        Work::Upsert(row) => build::upsert(row, DIALECT),
        Work::Insert(row) => build::insert_if_absent(row, DIALECT),
        Work::Update(update) => build::update(update, DIALECT),
    }
}
