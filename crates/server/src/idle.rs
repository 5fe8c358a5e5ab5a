//! For a process that has the API but does not serve: it performs nothing and knows no secrets.

use std::sync::Arc;

use semel_act::{Failure, FailureClass, Outcome, Perform, Performing, Secrets, Task, Trace};

/// Performs nothing and knows no secrets. What is started waits for a server.
#[derive(Clone, Copy, Debug)]
pub struct Idle;

impl Perform for Idle {
    fn perform<'a>(&'a self, _: &'a Task, _: &'a dyn Trace) -> Performing<'a> {
        Box::pin(std::future::ready(Outcome::Failed(Failure {
            class: FailureClass::NeverSent,
            message: "this process performs nothing; a server does".to_owned(),
            retry_after: None,
            answer: None,
        })))
    }
}

impl Secrets for Idle {
    fn secret(&self, _: &str) -> Option<Arc<str>> {
        None
    }
}
