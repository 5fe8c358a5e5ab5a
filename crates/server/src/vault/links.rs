//! The key that links to runs are signed with: a sealed value like any secret, under a name that no flow can say.
//!
//! So it is outside the database's reach, the same on every node, sealed again by a rotation, and taken out of what
//! the world says. It is made when it is first needed, and never replaced: links that were handed out stay good.

use semel_act::Secrets as _;
use semel_engine::token::{LinkKeys, TokenKey};
use semel_store::Store;
use semel_store::blob::{hex, unhex};
use semel_store::store::random_bytes;

use super::{Vault, VaultError};

/// Secrets of flows have no space in their names.
pub(crate) const NAME: &str = "semel links";

impl LinkKeys for Vault {
    fn link_key(&self) -> Option<TokenKey> {
        let secret: [u8; 32] = unhex(self.now().get(NAME)?)?;
        Some(TokenKey::new(&secret))
    }
}

impl Vault {
    /// Makes the key if there is none.
    ///
    /// # Errors
    /// [`VaultError`] if it cannot be sealed or read back.
    pub async fn ready_links(&self, store: &Store) -> Result<(), VaultError> {
        if self.link_key().is_some() {
            return Ok(());
        }
        // Another node may have made it a moment ago.
        self.refresh(store).await?;
        if self.link_key().is_none() {
            let secret: [u8; 32] = random_bytes();
            self.put(store, NAME, &hex(&secret), "semel", true).await?;
            self.refresh(store).await?;
        }
        Ok(())
    }
}
