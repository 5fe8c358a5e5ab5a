//! Reaching PostgreSQL: the address, TLS, and a session set up the way the ledger needs it.
//!
//! Leaves to the callers what to do when a session ends. A session that is dropped is closed.
//!
//! As everywhere with PostgreSQL, `sslmode=prefer` (the default) and `require` encrypt without
//! asking who the server is, unless `sslrootcert` names a certificate; `verify-ca` and
//! `verify-full` both check certificate and host name, by the system's roots if none is named.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_postgres::config::{SslMode, TargetSessionAttrs};
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::{self, Trust};
use crate::error::OpenError;

/// How long callers wait for a database that has gone away.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// How long one connection attempt may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// What a session is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    /// Everything by key, by prepared statements.
    ByKey,
    /// Whatever people ask.
    Questions,
}

/// Where the database is and how to get in.
pub(super) struct Address {
    config: Config,
    tls: MakeRustlsConnect,
    schema: String,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The driver leaves out the password.
        f.debug_struct("Address")
            .field("config", &self.config)
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

/// Why a parameter of the address is refused.
#[derive(Debug, thiserror::Error)]
enum ParameterError {
    #[error("semel_schema={0:?} is no schema name; use letters a-z, digits and _")]
    Schema(String),
}

impl Address {
    /// Reads `postgres://…`; `semel_schema` and what concerns certificates is ours, the rest is
    /// the driver's.
    pub(super) fn parse(url: &str) -> Result<Address, OpenError> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut schema = "semel".to_owned();
        let mut trust = Trust::default();
        let mut rest = Vec::new();
        for parameter in query.split('&').filter(|p| !p.is_empty()) {
            match parameter.split_once('=') {
                Some(("semel_schema", name)) => name.clone_into(&mut schema),
                Some(("sslrootcert", path)) => trust.root = Some(path.into()),
                Some(("sslmode", "verify-ca" | "verify-full")) => {
                    trust.verify = true;
                    rest.push("sslmode=require");
                }
                _ => rest.push(parameter),
            }
        }
        let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if schema.is_empty() || schema.len() > 63 || !schema.bytes().all(word) {
            return Err(OpenError::Database {
                source: ParameterError::Schema(schema).into(),
            });
        }
        let mut config: Config = format!("{base}?{}", rest.join("&"))
            .parse()
            .map_err(super::refused)?;
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.keepalives_idle(Duration::from_secs(30));
        if config.get_application_name().is_none() {
            config.application_name("semel");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        let encrypted = config.get_ssl_mode() != SslMode::Disable;
        let tls = tls::connector(&trust, encrypted)?;
        Ok(Address {
            config,
            tls,
            schema,
        })
    }

    /// The schema that everything lives in.
    pub(super) fn schema(&self) -> &str {
        &self.schema
    }

    /// Opens one session.
    pub(super) async fn connect(&self, purpose: Purpose) -> Result<Session, tokio_postgres::Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to PostgreSQL ended");
            }
        });
        let session = Session { client, task };
        session.batch_execute(&self.settings(purpose)).await?;
        Ok(session)
    }

    fn settings(&self, purpose: Purpose) -> String {
        let schema = &self.schema;
        // A transaction whose client vanished must not hold its locks for long; an
        // administrator's stronger synchronous_commit is left as it is.
        let common = format!(
            "SET search_path = {schema}; \
             SET idle_in_transaction_session_timeout = '10s'; \
             SELECT set_config('synchronous_commit', 'on', false) \
              WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');"
        );
        match purpose {
            // Plans are made while the ledger is small and must be right when it is large.
            Purpose::ByKey => format!(
                "{common} SET plan_cache_mode = force_generic_plan; SET jit = off; \
                 SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;"
            ),
            Purpose::Questions => common,
        }
    }
}

/// An open session.
#[derive(Debug)]
pub(super) struct Session {
    client: Client,
    task: JoinHandle<()>,
}

impl Deref for Session {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// How long somebody goes on trying to reach the database, and when they try again.
///
/// Patience counts from when the database went away, not from each call: callers that come when
/// it has been gone for long get one attempt and their answer.
#[derive(Debug, Default)]
pub(super) struct Outage {
    since: Option<Instant>,
    pause: Duration,
}

impl Outage {
    /// It answers again.
    pub(super) fn over(&mut self) {
        *self = Outage::default();
    }

    /// Waits before the next attempt; false if there should be none.
    pub(super) async fn wait(&mut self) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() >= PATIENCE {
            return false;
        }
        self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        tokio::time::sleep(self.pause).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_parameters_are_taken_out_of_the_address() {
        let address = Address::parse(
            "postgres://me:pw@db.example/ledger?semel_schema=t_1&sslmode=disable&connect_timeout=3",
        )
        .expect("address");
        assert_eq!(address.schema(), "t_1");
        assert_eq!(address.config.get_dbname(), Some("ledger"));
        assert_eq!(address.config.get_ssl_mode(), SslMode::Disable);
        assert!(!format!("{address:?}").contains("pw"));
    }

    #[test]
    fn a_schema_that_could_break_out_is_refused() {
        for name in ["", "A", "a-b", "a\"b", "a;b", &"x".repeat(64)] {
            let url = format!("postgres://me@db.example/l?semel_schema={name}");
            assert!(Address::parse(&url).is_err(), "{name}");
        }
    }
}
