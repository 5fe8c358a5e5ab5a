//! Links with which somebody chooses a password: `/setup/…`, good once and for a day.

use std::sync::Arc;

use semel_ledger::{Millis, Time};
use semel_store::blob::{hex, unhex};
use semel_store::person::{Invitation, PersonChange};
use semel_store::store::random_bytes;
use semel_store::{Store, StoreError};

/// How long a link is good.
const GOOD_FOR: Millis = Millis::days(1);

/// A link with which a password is chosen.
#[derive(Clone)]
pub struct SetupLink {
    /// Whoever has it can use it.
    pub url: String,
    /// When it ends.
    pub until: Time,
}

impl std::fmt::Debug for SetupLink {
    /// Without the link itself.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetupLink")
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// Makes a link with which the first admin chooses a name and a password; `None` if anybody has an account.
///
/// # Errors
/// [`StoreError`] if it could not be written.
pub async fn setup_link(
    store: &Arc<Store>,
    public_url: &str,
) -> Result<Option<SetupLink>, StoreError> {
    make(store, public_url, None).await
}

/// Makes a link for a person, or for the first one; `None` if they are not there, or anybody is.
pub(crate) async fn make(
    store: &Store,
    public_url: &str,
    person: Option<&str>,
) -> Result<Option<SetupLink>, StoreError> {
    let secret: [u8; 32] = random_bytes();
    let until = store.now().after(GOOD_FOR);
    let change = PersonChange::Invite(Invitation {
        hash: hash_of(&secret),
        person: person.map(Into::into),
        until,
    });
    let made = store.change_person(change).await?;
    let base = public_url.trim_end_matches('/');
    let url = format!("{base}/setup/{}", hex(&secret));
    Ok(made.then_some(SetupLink { url, until }))
}

/// What is kept of a link that ends so.
pub(crate) fn hash(token: &str) -> Option<[u8; 32]> {
    unhex::<32>(token).map(|secret| hash_of(&secret))
}

fn hash_of(secret: &[u8; 32]) -> [u8; 32] {
    blake3::derive_key("semel setup link", secret)
}
