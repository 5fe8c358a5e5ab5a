//! How every command reaches the ledger: one HTTP API, spoken over two transports.
//!
//! Owns finding the ledger (a server by address, a database by address, or a data directory that
//! a server may or may not own) and asking it. Over the network and in this very process it is the
//! same router, so there is one code path and one JSON shape.
//!
//! The invariant: a data directory's file is opened only under its lock, and the lock is held
//! no longer than a [`Session`] lives, so that a server can start at any time.

mod address;
mod answer;
mod embedded;
mod events;
mod pinned;
mod remote;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use semel_ledger::Millis;
use semel_server::KeySource;
use semel_store::Location;
use semel_store::lock::{DataLock, Visit};

use crate::config::{Config, Name, Origin, Secret, parent, redacted};
use crate::failure::{Failure, refused};
use crate::keys;

pub(crate) use address::{Query, base_url, guard, ledger, segment, served_url};
pub(crate) use answer::{Answer, Call, IDEMPOTENCY_KEY, LAST_EVENT, Unreachable, or_null};
use embedded::{Embedded, Opening};
pub(crate) use events::{Event, Events};
use remote::Remote;

/// How long a server that has the directory but does not answer yet (or any more) is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether a command may make a ledger where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It only looks, so there must be something to look at.
    Existing,
    /// It writes, and may start a new ledger.
    Create,
}

/// Where the ledger is, as the user said.
#[derive(Debug)]
enum Target {
    Server {
        url: String,
        token: Option<Secret>,
    },
    Postgres(String),
    Data {
        data: PathBuf,
        database: PathBuf,
        token: Option<Secret>,
    },
}

/// A way to the ledger. Cheap to keep; holds nothing open.
#[derive(Debug)]
pub(crate) struct Client {
    target: Target,
    remember: Millis,
    keep: Millis,
    /// What opens and seals secrets if the ledger is opened in this process.
    keys: KeySource,
    /// Where the world reaches the server, if that was said.
    public_url: Option<String>,
    /// Who is in which group, if the ledger is opened in this process.
    groups: BTreeMap<String, Vec<String>>,
}

/// A ledger that is within reach for a few calls.
#[derive(Debug)]
pub(crate) enum Session {
    Remote(Remote),
    Embedded(Box<Embedded>),
}

impl Client {
    pub(crate) fn new(config: &Config) -> anyhow::Result<Client> {
        let target = match config.text(Name::Server) {
            Some(url) => Target::Server {
                url: url.trim_end_matches('/').to_owned(),
                token: config.token()?,
            },
            None => match config.location()? {
                Location::Postgres(url) => Target::Postgres(url),
                Location::Memory => {
                    return Err(Failure::usage("a store in memory ends with its process")
                        .fix("use memory: with semel serve only, and reach it with --server URL")
                        .into());
                }
                Location::Sqlite(database) => Target::Data {
                    data: config.data()?,
                    database,
                    token: config.token()?,
                },
            },
        };
        let keys = keys::source(match (&target, config.data()) {
            (Target::Data { data, .. }, _) => KeySource::own(data),
            // A key that is made here would be missing where the servers are.
            (Target::Postgres(_), Ok(data)) => KeySource::of_another(&data),
            _ => KeySource::none(),
        })?;
        Ok(Client {
            target,
            keys,
            public_url: config.public_url()?,
            groups: config.members(),
            remember: config.span(Name::Remember)?,
            keep: keep(config)?,
        })
    }

    /// The flags with which another command reaches the same ledger.
    pub(crate) fn flags(&self) -> String {
        match &self.target {
            Target::Server { url, .. } => format!("--server {}", quoted(url)),
            Target::Postgres(url) => format!("--store {}", quoted(&redacted(url))),
            Target::Data { data, database, .. } => {
                let usual = data.join("semel.db") == *database;
                let store = (!usual).then(|| format!("sqlite:{}", database.display()));
                match store {
                    None => format!("--data {}", quoted(&data.to_string_lossy())),
                    Some(store) => format!("--store {}", quoted(&store)),
                }
            }
        }
    }

    /// Asks one question.
    pub(crate) async fn ask(&self, access: Access, call: Call) -> anyhow::Result<Answer> {
        let session = self.connect(access).await?;
        let answer = session.send(call).await?;
        session.close().await?;
        Ok(answer)
    }

    /// Gets hold of the ledger.
    pub(crate) async fn connect(&self, access: Access) -> anyhow::Result<Session> {
        match &self.target {
            Target::Server { url, token } => Ok(Session::Remote(Remote::new(url, token.clone())?)),
            Target::Postgres(url) => {
                let location = Location::Postgres(url.clone());
                let embedded = Embedded::open(&location, self.opening(None, None)).await?;
                Ok(Session::Embedded(Box::new(embedded)))
            }
            Target::Data {
                data,
                database,
                token,
            } => {
                if access == Access::Existing && !database.exists() {
                    let shown = database.display();
                    return Err(Failure::failed(format!("there is no ledger at {shown} yet"))
                        .fix("name another with --data DIR, or start one: semel serve, semel once")
                        .into());
                }
                crate::files::make_private_dir(&parent(database))?;
                crate::files::claim_private(database)?;
                self.visit(data, database, token.as_ref()).await
            }
        }
    }

    fn opening(&self, lock: Option<DataLock>, data: Option<PathBuf>) -> Opening {
        Opening {
            lock,
            data,
            remember: self.remember,
            keep: self.keep,
            keys: self.keys.clone(),
            public_url: self.public_url.clone(),
            groups: self.groups.clone(),
        }
    }

    /// Looks in at a data directory: opens its file if no server has it, else goes to the server.
    async fn visit(
        &self,
        data: &std::path::Path,
        database: &std::path::Path,
        token: Option<&Secret>,
    ) -> anyhow::Result<Session> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let notice = match DataLock::visit(&parent(database)).map_err(refused)? {
                Visit::Free(lock) => {
                    let location = Location::Sqlite(database.to_owned());
                    let opening = self.opening(Some(lock), Some(data.to_owned()));
                    let embedded = Embedded::open(&location, opening).await?;
                    return Ok(Session::Embedded(Box::new(embedded)));
                }
                Visit::Served(notice) => notice,
            };
            // A server that starts has no address yet; one that stops no longer answers.
            if let Some((url, certificate)) = address::of_notice(&notice) {
                let token = match token {
                    Some(token) => token.clone(),
                    None => Secret::read(&data.join("token")).context(
                        "a server owns this data directory, and its token is needed to ask it",
                    )?,
                };
                let remote = match certificate {
                    Some(certificate) => Remote::pinned(&url, Some(token), &certificate)?,
                    None => Remote::new(&url, Some(token))?,
                };
                if remote.is_ready().await {
                    return Ok(Session::Remote(remote));
                }
            }
            if Instant::now() > deadline {
                let shown = data.display();
                let message = format!("a server owns {shown} but does not answer ({notice})");
                return Err(anyhow::Error::new(Unreachable(message)));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// How long a visitor lets inputs and results be kept. A server may have been told to keep them
/// longer than the default, so without a word of our own only what is forgotten goes.
fn keep(config: &Config) -> anyhow::Result<Millis> {
    match config.setting(Name::Keep) {
        Some(setting) if setting.origin != Origin::Default => config.span(Name::Keep),
        _ => Ok(semel_ledger::time::LONGEST),
    }
}

impl Session {
    /// Asks. A refusal is an answer; an error means that nothing is known of what happened.
    pub(crate) async fn send(&self, call: Call) -> anyhow::Result<Answer> {
        match self {
            Session::Remote(remote) => remote.send(call).await,
            Session::Embedded(embedded) => embedded.send(call).await,
        }
    }

    /// Asks for something that goes on, and follows it.
    pub(crate) async fn follow(&self, call: Call) -> anyhow::Result<Events> {
        let (status, body) = match self {
            Session::Remote(remote) => remote.open(call).await?,
            Session::Embedded(embedded) => embedded.open_answer(call).await?,
        };
        Events::begin(status, body).await
    }

    /// Whether nobody else can work on the ledger as long as this lives.
    pub(crate) fn is_alone(&self) -> bool {
        match self {
            Session::Remote(_) => false,
            Session::Embedded(embedded) => embedded.is_alone(),
        }
    }

    /// Lets go of the ledger, with all that waits written.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        match self {
            Session::Remote(_) => Ok(()),
            Session::Embedded(embedded) => embedded.close().await,
        }
    }
}

/// A word as a shell reads it back.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=@+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // What must not be shown as it is can still be written out for the shell.
    let written = |word| crate::term::escaped(word, |c| format!("\\U{:08x}", u32::from(c)));
    if written(word) == word {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let word = word.replace('\\', "\\\\").replace('\'', "\\'");
    format!("$'{}'", written(&word))
}
