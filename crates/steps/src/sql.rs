//! `sql`: one statement in a database, and what is known about it afterwards.
//!
//! Owns the fields of the step ([`plan`]), the databases it can speak to and the course through
//! them ([`course`]). A connection is one that an operator configured ([`place`]); there are no
//! others. The invariant: what the file says is one statement in a transaction of ours, values are
//! bound, and no value ever becomes part of SQL.

mod build;
mod course;
mod fault;
mod fields;
mod mysql;
mod names;
mod place;
mod plan;
mod pool;
mod postgres;
mod receipts;
mod rows;
mod session;
mod sqlite;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::CertificateDer;
use semel_act::{Outcome, Secrets, Task, Trace};
use semel_flow::Value;
use semel_flow::value::Piece;

use course::Course;
use fault::Fault;
use place::Place;
use plan::Plan;
use pool::Pool;
use session::Door;

use crate::secrets::{Filler, Redactor};

pub use place::{Connection, ConnectionError, Connections};
pub use receipts::{Database, receipts_sql};

/// Performs `sql` tasks.
pub(crate) struct Sql {
    databases: BTreeMap<String, Reached>,
    secrets: Arc<dyn Secrets>,
}

/// A configured database.
struct Reached {
    /// The name of the secret with the password.
    password: Option<String>,
    door: AnyDoor,
}

/// The databases there are.
enum AnyDoor {
    Postgres(Box<Gate<postgres::Postgres>>),
    Mysql(Box<Gate<mysql::Mysql>>),
    Sqlite(Box<Gate<sqlite::Sqlite>>),
}

/// A database and the sessions with it.
struct Gate<D: Door> {
    door: D,
    pool: Pool<D::Session>,
}

impl<D: Door> Gate<D> {
    fn new(door: D, sessions: usize) -> Gate<D> {
        Gate {
            door,
            pool: Pool::new(sessions),
        }
    }
}

impl Sql {
    /// Ready to perform; connects to nothing yet.
    pub(crate) fn new(
        connections: Connections,
        secrets: Arc<dyn Secrets>,
        roots: &[CertificateDer<'static>],
    ) -> Sql {
        let reached = |connection: Connection| {
            let sessions = connection.sessions;
            let door = match connection.place {
                Place::Postgres(config) => {
                    let door = postgres::Postgres::new(*config, roots.to_vec());
                    AnyDoor::Postgres(Box::new(Gate::new(door, sessions)))
                }
                Place::Mysql { opts, encrypt } => {
                    let door = mysql::Mysql::new(*opts, encrypt, roots);
                    AnyDoor::Mysql(Box::new(Gate::new(door, sessions)))
                }
                Place::Sqlite(path) => {
                    AnyDoor::Sqlite(Box::new(Gate::new(sqlite::Sqlite::new(path), sessions)))
                }
            };
            Reached {
                password: connection.password,
                door,
            }
        };
        let databases = connections
            .into_iter()
            .map(|(name, connection)| (name, reached(connection)));
        Sql {
            databases: databases.collect(),
            secrets,
        }
    }

    /// Performs a task once.
    pub(crate) async fn perform(&self, task: &Task, trace: &dyn Trace) -> Outcome {
        let filler = Filler::new(&*self.secrets);
        let read = self.read(task, &filler);
        let (plan, reached, password) = match read {
            Ok(read) => read,
            Err(fault) => return fault.outcome(),
        };
        let way = Way {
            plan,
            password,
            redactor: filler.redactor(),
            trace,
            timeout: Duration::from_millis(task.timeout.0),
        };
        match &reached.door {
            AnyDoor::Postgres(gate) => Box::pin(way.through(gate)).await,
            AnyDoor::Mysql(gate) => Box::pin(way.through(gate)).await,
            AnyDoor::Sqlite(gate) => Box::pin(way.through(gate)).await,
        }
    }

    /// What is to be done, where, and with which password.
    fn read(
        &self,
        task: &Task,
        filler: &Filler,
    ) -> Result<(Plan, &Reached, Option<String>), Fault> {
        let plan = plan::read(task, filler).map_err(|error| Fault::wrong(error.to_string()))?;
        let reached = self.databases.get(&plan.on).ok_or_else(|| {
            let names: Vec<_> = self.databases.keys().map(String::as_str).collect();
            let there = match names.as_slice() {
                [] => "none is configured".to_owned(),
                names => format!("configured are: {}", names.join(", ")),
            };
            Fault::wrong(format!("there is no connection `{}`; {there}", plan.on))
        })?;
        let password = reached.password.as_deref().map(|name| {
            let value = filler.text(&[Piece::Secret(name.into())]);
            value.map_err(|error| Fault::wrong(format!("connection `{}`: {error}", plan.on)))
        });
        let password = password.transpose()?;
        Ok((plan, reached, password))
    }
}

/// A step that knows its database.
struct Way<'t> {
    plan: Plan,
    password: Option<String>,
    redactor: Redactor,
    trace: &'t dyn Trace,
    timeout: Duration,
}

impl Way<'_> {
    async fn through<D: Door>(self, gate: &Gate<D>) -> Outcome {
        let course = Course {
            door: &gate.door,
            pool: &gate.pool,
            password: self.password,
            plan: self.plan,
            redactor: self.redactor,
            trace: self.trace,
            timeout: self.timeout,
        };
        course.perform().await
    }
}

/// A value that may stand for bytes.
enum Bytes {
    /// `{base64: …}`
    Are(Vec<u8>),
    /// The same, but it is not base64.
    Broken,
    /// Any other value.
    AreNot,
}

impl Bytes {
    fn of(value: &Value) -> Bytes {
        let Value::Map(members) = value else {
            return Bytes::AreNot;
        };
        match (members.len(), value.get("base64")) {
            (1, Some(Value::Text(text))) => match STANDARD.decode(text.as_bytes()) {
                Ok(bytes) => Bytes::Are(bytes),
                Err(_) => Bytes::Broken,
            },
            _ => Bytes::AreNot,
        }
    }

    /// Said of a broken one.
    fn broken() -> Fault {
        Fault::wrong("a value of `params` is `{base64: …}`, and that is not base64")
    }
}
