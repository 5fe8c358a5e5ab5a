//! What every request shares.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use semel_act::Perform;
use semel_engine::Engine;
use semel_engine::token::Links;
use semel_ledger::Millis;
use semel_store::{Store, StoreError};
use tokio::sync::{Mutex, watch};

use crate::auth::Registry;
use crate::budget::Budget;
use crate::hooks::door::Doors;
use crate::metrics::Metrics;
use crate::people::Logins;
use crate::shadow::Shadowing;
use crate::tls::Tls;
use crate::vault::Vault;

/// How a server behaves. The default suits one machine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long an effect protects when the claim does not say.
    pub remember: Millis,
    /// The longest JSON body, in bytes, before and after decompression.
    pub max_body: usize,
    /// No bearer token is asked for: the caller is this very process.
    pub trusted: bool,
    /// What this node calls itself among others on the same store.
    pub node: String,
    /// How many connections may be open; the next one waits to be accepted.
    pub max_connections: usize,
    /// How long the head of a request may take to arrive, and how long a connection may idle.
    pub head_timeout: Duration,
    /// How long the body of a request may take to arrive.
    pub body_timeout: Duration,
    /// How long requests in flight may take to end when the server stops; after them the acts of
    /// runs have as long again.
    pub drain: Duration,
    /// How many runs this node works on at a time.
    pub runs: usize,
    /// The data directory: where the flight recorder and the key of signed proofs lie. Without one
    /// a kill leaves more unknown, and nothing can be signed.
    pub data: Option<PathBuf>,
    /// Lists of persons, by the name of the group: who may decide what waits for `group:NAME`.
    pub groups: BTreeMap<String, Vec<String>>,
    /// Where the world reaches this server; links begin with it.
    pub public_url: String,
    /// Connections are encrypted with this, if it is there.
    pub tls: Option<Arc<Tls>>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            remember: Millis::days(30),
            max_body: 1024 * 1024,
            trusted: false,
            node: format!("semel-{}", std::process::id()),
            max_connections: 2048,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            runs: 1024,
            data: None,
            groups: BTreeMap::new(),
            public_url: "http://127.0.0.1:7351".to_owned(),
            tls: None,
        }
    }
}

/// How many bytes of bodies are held at once.
const BODIES: usize = 256 * 1024 * 1024;

/// What every request shares: the store, the engine, who may call, what is counted, the limits.
#[derive(Debug)]
pub struct App {
    pub(crate) store: Arc<Store>,
    pub(crate) settings: Settings,
    pub(crate) engine: Engine,
    pub(crate) doors: Doors,
    pub(crate) vault: Arc<Vault>,
    pub(crate) registry: Registry,
    pub(crate) logins: Logins,
    pub(crate) metrics: Metrics,
    pub(crate) bodies: Budget,
    /// Held while it is decided what is live, so that two deploys cannot take one path.
    pub(crate) deploying: Mutex<()>,
    /// Answers that go on for long end when this turns true.
    pub(crate) stopping: watch::Sender<bool>,
}

impl App {
    /// Makes the server's shared state and reads which tokens are valid. Steps act through
    /// `perform`; who sends to a hook is recognised with the secrets of `vault`. Until it is served, nothing is
    /// performed: what is started waits.
    ///
    /// # Errors
    /// [`StoreError`] if the tokens cannot be read.
    pub async fn new(
        store: Arc<Store>,
        settings: Settings,
        perform: Arc<dyn Perform>,
        vault: Arc<Vault>,
    ) -> Result<Arc<App>, StoreError> {
        let registry = Registry::default();
        registry.refresh(&store).await?;
        let engine = semel_engine::Settings {
            runs: settings.runs,
            remember: settings.remember,
            drain: settings.drain,
            directory: settings.data.clone(),
            groups: settings.groups.clone(),
            links: Links::new(&settings.public_url, Arc::clone(&vault) as _),
            ..semel_engine::Settings::default()
        };
        let perform = Arc::new(Shadowing::new(perform, &store));
        Ok(Arc::new(App {
            engine: Engine::new(Arc::clone(&store), perform, engine),
            store,
            settings,
            doors: Doors::new(Arc::clone(&vault)),
            vault,
            registry,
            logins: Logins::default(),
            metrics: Metrics::new(),
            bodies: Budget::new(BODIES),
            deploying: Mutex::new(()),
            stopping: watch::Sender::new(false),
        }))
    }

    /// How links to runs are made and read, and who is in which group.
    pub(crate) fn links(&self) -> &Links {
        &self.engine.settings().links
    }

    /// The store underneath.
    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The engine that works on runs.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}
