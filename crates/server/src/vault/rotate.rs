//! Another key for everything that is sealed.
//!
//! Three steps: the new key is written down beside the old ones; every secret is sealed again; the
//! old keys are dropped. Whenever this is interrupted, the keys that are written down open
//! everything that is stored, and the next rotation finishes the work.

use semel_store::secret::SecretChange;
use semel_store::{Answer, Change, Store};

use super::keys::{self, Keys};
use super::{Vault, VaultError, is_shared};

/// How often secrets that others set meanwhile are looked for.
const ROUNDS: usize = 10;

/// What a rotation has done.
#[derive(Debug)]
pub(crate) struct Rotated {
    /// How many secrets were sealed again.
    pub(crate) resealed: usize,
    /// What the key is called that seals from now on.
    pub(crate) key: [u8; 8],
}

impl Vault {
    /// Seals everything again: with a new key if our own file keeps them, else with the first of
    /// those that are given.
    pub(crate) async fn rotate(&self, store: &Store) -> Result<Rotated, VaultError> {
        let changing = self.changing.lock().await;
        let keys = self.begin(store).await?;
        let resealed = self.reseal(store, &keys).await?;
        self.finish(&keys)?;
        drop(changing);
        self.read_again(store).await;
        Ok(Rotated {
            resealed,
            key: keys.newest().id(),
        })
    }

    /// Writes a new key down, before anything is sealed with it.
    pub(super) async fn begin(&self, store: &Store) -> Result<Keys, VaultError> {
        let old = self.source.read()?;
        let sealed = store.secrets().await?;
        let Some(path) = self.source.own_file() else {
            let keys = old.ok_or_else(|| self.source.missing())?;
            let newest = keys.newest().id();
            if keys.len() == 1 && sealed.iter().all(|it| it.key == newest) {
                return Err(VaultError::NoNewKey);
            }
            return Ok(keys);
        };
        if is_shared(store).await? {
            return Err(VaultError::Shared);
        }
        // What cannot be opened now could not be sealed again, so nothing is begun.
        for it in &sealed {
            self.source.open(old.as_ref(), it)?;
        }
        let keys = Keys::with_new(old);
        keys::replace(path, &keys)?;
        Ok(keys)
    }

    /// Seals again whatever is sealed with another key than the newest.
    pub(super) async fn reseal(&self, store: &Store, keys: &Keys) -> Result<usize, VaultError> {
        let newest = keys.newest();
        let mut resealed = 0;
        for _ in 0..ROUNDS {
            let mut old = store.secrets().await?;
            old.retain(|sealed| sealed.key != newest.id());
            if old.is_empty() {
                return Ok(resealed);
            }
            let mut changes = Vec::with_capacity(old.len());
            for sealed in old {
                let value = self.source.open(Some(keys), &sealed)?;
                let becomes = newest.seal(&sealed.name, &value);
                let name = sealed.name;
                let too_long = || VaultError::TooLong { name: name.clone() };
                changes.push(Change::Secret(SecretChange::Reseal {
                    becomes: becomes.ok_or_else(too_long)?,
                    name,
                    was: sealed.bytes,
                    key: newest.id(),
                }));
            }
            let answers = store.commit(changes).await?;
            let done = |answer: &&Answer| matches!(answer, Answer::Secret(true));
            resealed += answers.iter().filter(done).count();
        }
        Err(VaultError::Restless)
    }

    /// Drops the old keys from our own file: nothing is sealed with them any more.
    pub(super) fn finish(&self, keys: &Keys) -> Result<(), VaultError> {
        if let Some(path) = self.source.own_file() {
            keys::replace(path, &keys.newest_alone())?;
        }
        Ok(())
    }
}
