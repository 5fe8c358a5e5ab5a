//! Secrets by name, and how they are kept from coming back.
//!
//! Owns the set of secrets that is in force at one moment ([`SecretSet`]) and taking them out of
//! what the world says ([`Redactor`]). Where the values come from is said by whoever is asked for
//! them ([`Secrets`]).
//!
//! The invariant: what was put into a request and what is taken out of its answer are of one set.

mod forms;
mod redact;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

pub use redact::{LEAST_BYTES, Redactor};

/// Where the values of secrets come from.
pub trait Secrets: Send + Sync {
    /// All secrets as they are at this moment.
    fn now(&self) -> SecretSet;

    /// The secret of that name.
    fn secret(&self, name: &str) -> Option<Arc<str>> {
        self.now().get(name).cloned()
    }
}

/// Secrets that belong together. Cheap to clone.
#[derive(Clone, Default)]
pub struct SecretSet(Arc<Members>);

#[derive(Default)]
struct Members {
    values: BTreeMap<Arc<str>, Arc<str>>,
    /// Made when it is first needed.
    redactor: OnceLock<Redactor>,
}

impl std::fmt::Debug for SecretSet {
    /// Names only.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.values.keys()).finish()
    }
}

impl SecretSet {
    /// The secret of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<str>> {
        self.0.values.get(name)
    }

    /// Every name with its value, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>)> {
        self.0.values.iter()
    }

    /// Both sets in one; where a name is in both, this set's value counts.
    #[must_use]
    pub fn over(&self, other: &SecretSet) -> SecretSet {
        let all = other.iter().chain(self.iter());
        all.map(|(name, value)| (Arc::clone(name), Arc::clone(value)))
            .collect()
    }

    /// Whether it is the very same set, and not only an equal one.
    #[must_use]
    pub fn is(&self, other: &SecretSet) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Takes these secrets out of texts and values.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        self.0
            .redactor
            .get_or_init(|| Redactor::new(self.0.values.iter()))
    }
}

impl<N: Into<Arc<str>>, V: Into<Arc<str>>> FromIterator<(N, V)> for SecretSet {
    fn from_iter<T: IntoIterator<Item = (N, V)>>(secrets: T) -> SecretSet {
        let values = secrets
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        SecretSet(Arc::new(Members {
            values: values.collect(),
            redactor: OnceLock::new(),
        }))
    }
}

impl Secrets for SecretSet {
    fn now(&self) -> SecretSet {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_set_counts_over_another() {
        let outer = SecretSet::from_iter([("A", "outer a"), ("B", "outer b")]);
        let inner = SecretSet::from_iter([("A", "inner a"), ("C", "inner c")]);
        let both = outer.over(&inner);
        let of = |name| both.get(name).map(AsRef::as_ref);
        assert_eq!(of("A"), Some("outer a"));
        assert_eq!(of("B"), Some("outer b"));
        assert_eq!(of("C"), Some("inner c"));
        assert!(both.is(&both.now()) && !both.is(&outer.over(&inner)));
        let shown = format!("{both:?}");
        assert_eq!(shown, r#"{"A", "B", "C"}"#);
    }
}
