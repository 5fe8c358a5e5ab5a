//! Waiting for an event: whether it could be found among all that come.
//!
//! Owns the code `C015`.

use crate::codes::C015;
use crate::diagnostic::Diagnostic;
use crate::model::{Action, Step, Wait};

/// A `match` that says of no member of the event what it must be.
pub(super) fn check_wait(step: &Step) -> Option<Diagnostic> {
    let Action::Wait(Wait::ForEvent(it)) = &step.action else {
        return None;
    };
    if it.link().is_some() {
        return None;
    }
    let title = "`match` does not say by which member the event is found";
    let label = "no part of it that must hold is `incoming.MEMBER == something of this run`";
    let found = Diagnostic::error(C015, it.matches.span, title, label);
    Some(
        found
            .help("compare one member of the event with something of this run: incoming.order == event.order")
            .help("further conditions follow with &&: they are asked of what was found"),
    )
}
