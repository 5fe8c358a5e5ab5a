//! `semel serve`: the server's process around the server.
//!
//! Owns the order of a start: nothing is served before the directory is ours, the port is ours,
//! the database is sound and the token is safe; and the end on a signal. Leaves requests and
//! duties to `semel-server`.

mod banner;
mod folder;
mod models;
mod places;
mod steps;
mod tls;
mod token;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use semel_server::{App, ServeError, Settings, SetupLink, Vault};
use semel_store::lock::DataLock;
use semel_store::{Location, Options, Store};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::Context;
use crate::client::served_url;
use crate::config::{Config, Flags, Name, parent, redacted};
use crate::failure::{Failure, refused};
use crate::files;
use folder::Folder;

/// Serve the API, take triggers and run flows
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Serve {
    /// Address to listen on; port 0 takes a free one [SEMEL_LISTEN; default: 127.0.0.1:7351]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Certificate chain (PEM) to encrypt connections with; read again at SIGHUP [SEMEL_TLS_CERT]
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<String>,
    /// The key of that certificate (PEM) [SEMEL_TLS_KEY]
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,
    /// Where the world reaches this server; links that flows hand out begin with it [SEMEL_PUBLIC_URL; default: the address]
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// How long an effect protects if its claim does not say [SEMEL_REMEMBER; default: 30d]
    #[arg(long, value_name = "SPAN")]
    remember: Option<String>,
    /// How long inputs, results and receipts are kept in full [SEMEL_KEEP; default: 30d]
    #[arg(long, value_name = "SPAN")]
    keep: Option<String>,
    /// Folder of flow files (*.yaml, *.yml) that are deployed at the start [SEMEL_FLOWS]
    #[arg(long, value_name = "DIR")]
    flows: Option<String>,
    /// Deploy files of the folder again when they change; one with errors leaves what is live as it is
    #[arg(long)]
    watch: bool,
    /// How many runs are worked on at a time [SEMEL_RUNS; default: 1024]
    #[arg(long, value_name = "N")]
    runs: Option<String>,
    /// How long requests, and then acts of runs, may take to end at a stop [SEMEL_DRAIN; default: 30s]
    #[arg(long, value_name = "SPAN")]
    drain: Option<String>,
    /// What to log: error, warn, info, debug, trace [SEMEL_LOG; default: info]
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
    /// Log as JSON lines
    #[arg(long)]
    log_json: bool,
}

const AFTER_HELP: &str = "\
EXAMPLE
  semel serve --data /var/lib/semel
  semel serve --data /var/lib/semel --flows flows --watch
  semel serve --data /var/lib/semel --listen 0.0.0.0:7351 --remember 90d
  SEMEL_STORE_FILE=/run/secrets/store semel serve --data /var/lib/semel";

impl Serve {
    pub(super) fn flags(&self) -> Flags {
        let flag =
            |name, flag, value: &Option<String>| value.clone().map(|value| (name, flag, value));
        [
            flag(Name::Listen, "--listen", &self.listen),
            flag(Name::TlsCert, "--tls-cert", &self.tls_cert),
            flag(Name::TlsKey, "--tls-key", &self.tls_key),
            flag(Name::PublicUrl, "--public-url", &self.public_url),
            flag(Name::Remember, "--remember", &self.remember),
            flag(Name::Keep, "--keep", &self.keep),
            flag(Name::Log, "--log", &self.log),
            flag(Name::Flows, "--flows", &self.flows),
            flag(Name::Runs, "--runs", &self.runs),
            flag(Name::Drain, "--drain", &self.drain),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// The folder of flows, if one was named.
    fn folder(&self, config: &Config) -> anyhow::Result<Option<PathBuf>> {
        let folder = config.text(Name::Flows).map(PathBuf::from);
        if self.watch && folder.is_none() {
            return Err(Failure::usage("--watch needs a folder to watch")
                .fix("semel serve --flows DIR --watch")
                .into());
        }
        Ok(folder)
    }

    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let config = &context.config;
        start_log(config.text(Name::Log).unwrap_or("info"), self.log_json)?;
        let (data, location) = (config.data()?, config.location()?);
        let flows = self.folder(config)?;
        let (steps, vault) = steps::steps(config, &data)?;
        let mut settings = settings(config, &data)?;
        let tls = tls::load(config)?;
        settings.tls.clone_from(&tls);
        let options = Options {
            keep: config.span(Name::Keep)?,
            ..Options::default()
        };
        files::make_private_dir(&data)?;
        token::check(&data)?;
        let mut locks = lock(&data, &location)?;
        let listener = listen(config.text(Name::Listen).unwrap_or_default()).await?;
        let address = listener.local_addr()?;
        let here = served_url(address, settings.tls.is_some());
        settings.public_url = config.public_url()?.unwrap_or(here);
        let public_url = settings.public_url.clone();
        let store = Store::open(&location, options).await.map_err(refused)?;
        let store = Arc::new(store);
        let token = token::provide(&store, &data).await?;
        open_secrets(&vault, &store).await?;
        let (perform, known) = (Arc::new(steps), Arc::clone(&vault));
        let app = App::new(Arc::clone(&store), settings, perform, known).await?;
        let folder = flows.map(|path| Folder::new(path, &app, vault));
        if let Some(folder) = &folder {
            folder.deploy().await?;
        }
        let stop = stop_signal()?;
        let certificate = tls.as_ref().map(|tls| tls.certificate().to_owned());
        announce(&mut locks, address, certificate.as_deref(), &data)?;
        let setup = semel_server::setup_link(&store, &public_url).await?;
        tell(context, (address, tls.is_some()), &data, (token, setup))?;
        let reloading = tls.map(tls::reloaded).transpose()?.map(tokio::spawn);
        let watched = folder.filter(|_| self.watch).map(Folder::watch);
        let watching = watched.map(tokio::spawn);
        let served = semel_server::serve(app, listener, stop).await;
        for task in [watching, reloading].into_iter().flatten() {
            task.abort();
        }
        for lock in &mut locks {
            let _ = lock.announce("");
        }
        served.map_err(ended)?;
        say!("semel: stopped");
        Ok(0)
    }
}

/// A server that cannot open its secrets would fail its runs: it does not start.
async fn open_secrets(vault: &Vault, store: &Store) -> anyhow::Result<()> {
    let Err(error) = vault.refresh(store).await else {
        return Ok(());
    };
    let fix = error.fix();
    let why = crate::failure::chain(&error.into());
    let failure = Failure::failed(format!("nothing is served: {why}"));
    Err(match fix {
        Some(fix) => failure.fix(fix).into(),
        None => failure.into(),
    })
}

/// Tells visitors of the directory where to go.
fn announce(
    locks: &mut [DataLock],
    address: SocketAddr,
    certificate: Option<&Path>,
    data: &Path,
) -> anyhow::Result<()> {
    for lock in locks {
        lock.announce(&notice(Some(address), certificate))
            .with_context(|| format!("cannot write to {}", data.display()))?;
    }
    Ok(())
}

/// Tells the person at the terminal, and a script that asks, where to go.
fn tell(
    context: &Context,
    (address, tls): (SocketAddr, bool),
    data: &Path,
    (token, setup): (token::TokenFile, Option<SetupLink>),
) -> anyhow::Result<()> {
    let store = match context.config.text(Name::Store) {
        Some(address) => redacted(address),
        None => format!("sqlite:{}", data.join("semel.db").display()),
    };
    let shown = banner::Banner {
        address,
        tls,
        data,
        store: &store,
        token,
        setup,
    };
    if context.json {
        Context::print_json(&shown.document())?;
    }
    shown.print();
    Ok(())
}

/// How many runs one node may be told to work on at a time.
const MOST_RUNS: usize = 1_000_000;

fn settings(config: &Config, data: &Path) -> anyhow::Result<Settings> {
    Ok(Settings {
        remember: config.span(Name::Remember)?,
        runs: config.count(Name::Runs, MOST_RUNS)?,
        drain: Duration::from_millis(config.span(Name::Drain)?.0),
        data: Some(data.to_owned()),
        groups: config.members(),
        ..Settings::default()
    })
}

/// Takes the data directory, and the database's if that is another.
fn lock(data: &Path, location: &Location) -> anyhow::Result<Vec<DataLock>> {
    let mut directories: Vec<PathBuf> = vec![data.to_owned()];
    if let Location::Sqlite(database) = location {
        let directory = parent(database);
        files::make_private_dir(&directory)?;
        files::claim_private(database)?;
        if directory.canonicalize()? != data.canonicalize()? {
            directories.push(directory);
        }
    }
    let take =
        |directory: &PathBuf| DataLock::serve(directory, &notice(None, None)).map_err(refused);
    directories.iter().map(take).collect()
}

/// What visitors find in the lock file. Without an address the server is still starting.
fn notice(listen: Option<SocketAddr>, certificate: Option<&Path>) -> String {
    let pid = std::process::id();
    match listen {
        Some(listen) => match certificate {
            Some(certificate) => {
                serde_json::json!({"pid": pid, "listen": listen, "certificate": certificate})
            }
            None => serde_json::json!({"pid": pid, "listen": listen}),
        }
        .to_string(),
        None => serde_json::json!({"pid": pid}).to_string(),
    }
}

async fn listen(address: &str) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address).await.map_err(|error| {
        let message = format!("cannot listen on {address}: {error}");
        match error.kind() {
            std::io::ErrorKind::AddrInUse => Failure::failed(message).fix(
                "stop what listens there, or choose another port with --listen 127.0.0.1:PORT (0 takes a free one)",
            ),
            std::io::ErrorKind::InvalidInput => {
                Failure::usage(message).fix("write HOST:PORT, such as 127.0.0.1:7351")
            }
            _ => Failure::failed(message),
        }
    })?;
    Ok(listener)
}

fn ended(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::StoreFailed => Failure::failed(
            "the store failed: what was acknowledged is on disk, and nothing more is promised",
        )
        .fix("look at the disk, then start semel again: it recovers from what is on disk")
        .into(),
        other => other.into(),
    }
}

/// Ready at the first SIGTERM or SIGINT; a second one ends the process at once.
fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        let mut next = async move || {
            tokio::select! {
                _ = terminate.recv() => 15,
                _ = interrupt.recv() => 2,
            }
        };
        next().await;
        say!("semel: stopping; once more to stop at once");
        tokio::spawn(async move {
            let number = next().await;
            std::process::exit(128 + number);
        });
    })
}

fn start_log(level: &str, json: bool) -> anyhow::Result<()> {
    let wrong = |why: &str| {
        Failure::usage(format!("log {level:?} is not a level{why}"))
            .fix("write error, warn, info, debug or trace")
    };
    // A single word that is no level would be taken as the name of a part that logs nothing.
    let is_level = |word: &str| word.parse::<tracing::level_filters::LevelFilter>().is_ok();
    if !level
        .split(',')
        .all(|word| word.contains('=') || is_level(word))
    {
        return Err(wrong("").into());
    }
    let filter = tracing_subscriber::EnvFilter::try_new(level)
        .map_err(|error| wrong(&format!(": {error}")))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // It would panic where stderr is closed.
        .log_internal_errors(false)
        .with_ansi(false);
    if json {
        builder.json().init();
    } else {
        builder.with_target(false).init();
    }
    Ok(())
}
