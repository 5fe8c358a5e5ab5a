//! The secrets in force on this node: those of the environment, and those that are sealed in the
//! store.
//!
//! Owns opening what is sealed, sealing what is set, and noticing what other nodes changed. The
//! database never sees a value, and the keys never see the database. Where both have a secret, the
//! environment's counts: what the operator of this very process says goes before what anybody with a
//! token says.
//!
//! The invariants: nothing is sealed with a key that is not safely written down; a secret that cannot
//! be opened any more keeps the value that it had here, and is told of, until it can.

mod keys;
mod links;
mod rotate;
mod seal;

use std::sync::{Arc, PoisonError, RwLock};

use semel_act::{SecretSet, Secrets};
use semel_store::blob::hex;
use semel_store::secret::{Sealed, SecretChange};
use semel_store::{Answer, Change, Store, StoreError};
use tokio::sync::Mutex;

use keys::Keys;
pub use keys::{KeyError, KeySource};
pub(crate) use links::NAME as LINKS;

/// Why secrets cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The keys cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A secret is sealed with a key that is not here.
    #[error("the secret {name} is sealed with the key {key}, which is not here")]
    Strange {
        /// Which.
        name: Box<str>,
        /// What the key is called.
        key: String,
    },
    /// What is sealed is not what was sealed.
    #[error("the secret {name} cannot be opened: what is stored was changed by somebody")]
    Changed {
        /// Which.
        name: Box<str>,
    },
    /// Other nodes would not have the key.
    #[error("other nodes serve this store, and would not have a key that is made here")]
    Shared,
    /// There is no key to change to.
    #[error("there is no new key to seal with: the first key here has sealed every secret already")]
    NoNewKey,
    /// Somebody kept sealing with an old key.
    #[error(
        "secrets were set with an old key again and again while they were sealed with the new one"
    )]
    Restless,
    /// It has no end.
    #[error("the secret {name} is too long to be sealed")]
    TooLong {
        /// Which.
        name: Box<str>,
    },
    /// The store could not.
    #[error("the store could not")]
    Store(#[from] StoreError),
}

impl VaultError {
    /// What to do about it.
    #[must_use]
    pub fn fix(&self) -> Option<&'static str> {
        match self {
            VaultError::Key(KeyError::Missing { .. }) | VaultError::Strange { .. } => Some(
                "bring the key back (secrets.key of the data directory, SEMEL_SECRETS_KEY or SEMEL_SECRETS_KEY_FILE; several nodes need the same), or remove the secret with semel secrets rm and set it again",
            ),
            VaultError::Changed { .. } => Some("set it again: semel secrets set NAME"),
            VaultError::Shared => Some(
                "give every node the same keys with SEMEL_SECRETS_KEY_FILE, the new one first, and start them again",
            ),
            VaultError::NoNewKey => Some(
                "put a new key before the old one in SEMEL_SECRETS_KEY or its file (openssl rand -hex 32 makes one), on every node; rotate; then take the old one out",
            ),
            VaultError::Restless => {
                Some("put the new key before the old one on every node, then rotate once more")
            }
            VaultError::Key(_) | VaultError::TooLong { .. } | VaultError::Store(_) => None,
        }
    }
}

/// The secrets in force.
pub struct Vault {
    environment: Arc<dyn Secrets>,
    source: KeySource,
    force: RwLock<Force>,
    /// Held while keys or secrets are changed here.
    changing: Mutex<()>,
    /// Held while they are read, so that what is older never takes the place of what is newer.
    reading: Mutex<()>,
}

#[derive(Default)]
struct Force {
    /// What was last read from the store, if all of it could be opened.
    revision: Option<i64>,
    sealed: SecretSet,
    /// The environment's, as they were when both were put together.
    outer: SecretSet,
    both: SecretSet,
}

impl std::fmt::Debug for Vault {
    /// Says nothing about the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vault").finish_non_exhaustive()
    }
}

impl Secrets for Vault {
    fn now(&self) -> SecretSet {
        let outer = self.environment.now();
        let force = self.force.read().unwrap_or_else(PoisonError::into_inner);
        if force.outer.is(&outer) {
            return force.both.clone();
        }
        drop(force);
        self.update(|force| {
            force.both = outer.over(&force.sealed);
            force.outer = outer;
            force.both.clone()
        })
    }
}

impl Vault {
    /// With the environment's secrets alone, until the store is read.
    #[must_use]
    pub fn new(environment: Arc<dyn Secrets>, source: KeySource) -> Vault {
        Vault {
            environment,
            source,
            force: RwLock::default(),
            changing: Mutex::new(()),
            reading: Mutex::new(()),
        }
    }

    /// Only these secrets; none can be sealed.
    #[must_use]
    pub fn of(secrets: Arc<dyn Secrets>) -> Vault {
        Vault::new(secrets, KeySource::none())
    }

    fn update<T>(&self, change: impl FnOnce(&mut Force) -> T) -> T {
        let mut force = self.force.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut force)
    }

    /// The names that the environment has.
    pub(crate) fn environment(&self) -> SecretSet {
        self.environment.now()
    }

    /// Brings what is in the store into force, if it has changed or could not be opened before.
    ///
    /// # Errors
    /// [`VaultError`] if something cannot be opened; everything else is in force then.
    pub async fn refresh(&self, store: &Store) -> Result<(), VaultError> {
        let _one = self.reading.lock().await;
        // Before the secrets: what changes in between is read once more the next time.
        let revision = store.secrets_revision().await?;
        let (known, former) = self.update(|force| (force.revision, force.sealed.clone()));
        if known == Some(revision) {
            return Ok(());
        }
        let (keys, all) = (self.source.read()?, store.secrets().await?);
        let mut trouble = None;
        let mut values: Vec<(Box<str>, Arc<str>)> = Vec::with_capacity(all.len());
        for sealed in all {
            match self.source.open(keys.as_ref(), &sealed) {
                Ok(value) => values.push((sealed.name, value.into())),
                Err(error) => {
                    let kept = former.get(&sealed.name).cloned();
                    values.extend(kept.map(|value| (sealed.name, value)));
                    trouble = Some(error);
                }
            }
        }
        let sealed: SecretSet = values.into_iter().collect();
        self.update(|force| {
            force.both = force.outer.over(&sealed);
            force.sealed = sealed;
            force.revision = trouble.is_none().then_some(revision);
        });
        trouble.map_or(Ok(()), Err)
    }

    /// Seals a value and keeps it, under a new key if there is none yet.
    pub(crate) async fn set(
        &self,
        store: &Store,
        name: &str,
        value: &str,
        by: &str,
    ) -> Result<(), VaultError> {
        self.put(store, name, value, by, false).await?;
        self.read_again(store).await;
        Ok(())
    }

    /// Seals a value and writes it; `first`: only if there is none.
    async fn put(
        &self,
        store: &Store,
        name: &str,
        value: &str,
        by: &str,
        first: bool,
    ) -> Result<(), VaultError> {
        let _one = self.changing.lock().await;
        let mut others = store.secrets().await?;
        others.retain(|sealed| *sealed.name != *name);
        let keys = match self.source.read()? {
            Some(keys) => keys,
            None => self.first_key(store, &others).await?,
        };
        // A key that does not open the others is not the one that the other nodes have.
        let stranger = others.iter().find(|it| keys.find(it.key).is_none());
        if let Some(stranger) = stranger {
            return Err(strange(stranger));
        }
        let key = keys.newest();
        let bytes = key.seal(name, value);
        let change = SecretChange::Set {
            name: name.into(),
            key: key.id(),
            bytes: bytes.ok_or_else(|| VaultError::TooLong { name: name.into() })?,
            by: Some(by.into()),
            first,
        };
        store.commit(vec![Change::Secret(change)]).await?;
        Ok(())
    }

    /// Makes our own file of keys, if it is to be ours and nothing is sealed with a lost one.
    async fn first_key(&self, store: &Store, sealed: &[Sealed]) -> Result<Keys, VaultError> {
        let Some(path) = self.source.own_file().filter(|_| sealed.is_empty()) else {
            return Err(self.source.missing().into());
        };
        if is_shared(store).await? {
            return Err(VaultError::Shared);
        }
        Ok(keys::make(path)?)
    }

    /// Forgets a sealed secret; false if there is none.
    pub(crate) async fn remove(&self, store: &Store, name: &str) -> Result<bool, VaultError> {
        let change = SecretChange::Remove { name: name.into() };
        let answers = store.commit(vec![Change::Secret(change)]).await?;
        self.read_again(store).await;
        Ok(matches!(answers.as_slice(), [Answer::Secret(true)]))
    }

    /// Brings a change that is written into force here. If that fails it comes into force a little
    /// later, as on other nodes; the answer must not say that nothing was written.
    async fn read_again(&self, store: &Store) {
        if let Err(error) = self.refresh(store).await {
            tracing::warn!(%error, "secrets could not be read again after a change");
        }
    }
}

fn strange(sealed: &Sealed) -> VaultError {
    VaultError::Strange {
        name: sealed.name.clone(),
        key: hex(&sealed.key),
    }
}

/// Whether other nodes serve the store at this moment.
async fn is_shared(store: &Store) -> Result<bool, StoreError> {
    if store.kind() != "postgres" {
        return Ok(false);
    }
    let (now, own) = (store.now(), store.member().map(|member| member.node));
    let nodes = store.nodes().await?;
    let mut others = nodes.iter().filter(|node| Some(node.node) != own);
    Ok(others.any(|node| !node.fenced && node.lease_until > now))
}

#[cfg(test)]
mod tests;
