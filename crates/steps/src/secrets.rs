//! Secrets: where they come from, where they are put in, and how they are kept from coming back.
//!
//! A task names its secrets; their values are put in when bytes are made ([`fill`]) and taken out
//! of everything that comes back ([`taken_out`]). A kind of step that shortens what came back takes
//! them out before that: half a secret is not recognised.

mod env;
mod fill;

use semel_act::{Performing, Secrets};

pub use env::{EnvSecrets, SecretsError};
pub(crate) use fill::{Filler, MissingSecret, is_sealed};
pub(crate) use semel_act::Redactor;

/// What a task comes to, without any secret: of those that were in force when it began, and of
/// those that are when it has ended.
pub(crate) fn taken_out<'a>(
    secrets: &'a dyn Secrets,
    performing: Performing<'a>,
) -> Performing<'a> {
    let before = secrets.now();
    Box::pin(async move {
        let outcome = before.redactor().outcome(performing.await);
        let after = secrets.now();
        if after.is(&before) {
            outcome
        } else {
            after.redactor().outcome(outcome)
        }
    })
}
