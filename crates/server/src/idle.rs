//! For a process that has the API but does not serve: it performs nothing.

use semel_act::{Failure, FailureClass, Outcome, Perform, Performing, Task, Trace};

/// Performs nothing. What is started waits for a server.
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
