//! Several nodes on one store in memory, for simulations.

use std::sync::Arc;

use super::{Backend, Context, Store};
use crate::gate::Gate;
use crate::seen::Seen;

impl Store {
    /// Another node's handle on the same store in memory, with its own gate; `None` for every other
    /// store, which is opened by its address.
    #[must_use]
    pub fn beside(&self, gate: Option<Arc<dyn Gate>>) -> Option<Store> {
        let Backend::Memory(memory) = &self.backend else {
            return None;
        };
        let context = Arc::new(Context::new(Arc::clone(&self.context.clock), Seen::small()));
        let memory = Box::new(memory.beside(Arc::clone(&context)));
        let backend = Backend::Memory(memory);
        Some(Store::of(backend, context, self.keep, gate))
    }
}
