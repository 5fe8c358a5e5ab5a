//! Sealed secrets in memory.

use std::collections::BTreeMap;

use semel_ledger::Time;

use crate::secret::{Sealed, SecretChange};

/// Every secret, by name.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    pub(super) all: BTreeMap<Box<str>, Sealed>,
    /// Grows with every change.
    pub(super) revision: i64,
}

impl Secrets {
    pub(super) fn change(&mut self, change: SecretChange, now: Time) -> bool {
        let changed = match change {
            SecretChange::Set {
                name,
                key,
                bytes,
                by,
                first,
            } => {
                let sealed = Sealed {
                    name: name.clone(),
                    key,
                    bytes,
                    changed_at: now,
                    by,
                };
                let free = !first || !self.all.contains_key(&name);
                if free {
                    self.all.insert(name, sealed);
                }
                free
            }
            SecretChange::Remove { name } => self.all.remove(&name).is_some(),
            SecretChange::Reseal {
                name,
                was,
                key,
                becomes,
            } => {
                let found = self.all.get_mut(&name).filter(|it| it.bytes == was);
                found
                    .map(|sealed| (sealed.key, sealed.bytes) = (key, becomes))
                    .is_some()
            }
        };
        self.revision += i64::from(changed);
        changed
    }
}
