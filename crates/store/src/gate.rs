//! A place to stand around every commit: for simulations that let a node die there.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

/// Passes, or never does.
pub type Passing<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Stands around every commit of one handle on a store.
pub trait Gate: Debug + Send + Sync {
    /// Before it is written. If it never passes, nothing was.
    fn before(&self) -> Passing<'_>;

    /// After it is durable. If it never passes, nobody hears of it.
    fn after(&self) -> Passing<'_>;
}
