//! What every request shares.

use std::sync::Arc;
use std::time::Duration;

use semel_ledger::Millis;
use semel_store::{Store, StoreError};

use crate::auth::Registry;
use crate::budget::Budget;
use crate::metrics::Metrics;

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
    /// How long requests in flight may take to end when the server stops.
    pub drain: Duration,
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
        }
    }
}

/// How many bytes of bodies are held at once.
const BODIES: usize = 256 * 1024 * 1024;

/// What every request shares: the store, who may call, what is counted, the limits.
#[derive(Debug)]
pub struct App {
    pub(crate) store: Arc<Store>,
    pub(crate) settings: Settings,
    pub(crate) registry: Registry,
    pub(crate) metrics: Metrics,
    pub(crate) bodies: Budget,
}

impl App {
    /// Makes the server's shared state and reads which tokens are valid.
    ///
    /// # Errors
    /// [`StoreError`] if the tokens cannot be read.
    pub async fn new(store: Arc<Store>, settings: Settings) -> Result<Arc<App>, StoreError> {
        let registry = Registry::default();
        registry.refresh(&store).await?;
        Ok(Arc::new(App {
            store,
            settings,
            registry,
            metrics: Metrics::new(),
            bodies: Budget::new(BODIES),
        }))
    }

    /// The store underneath.
    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }
}
