//! Members of what has a known shape.

use crate::codes::C006;
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Action, Step};
use crate::near::nearest;

/// The members of a root name.
pub(super) fn of_root(root: &str) -> &'static [&'static str] {
    match root {
        "run" => &["id", "key", "flow"],
        "schedule" => &["time", "date"],
        "step" => &["id", "key"],
        "failure" => &["step", "message"],
        "request" => &["headers"],
        _ => &[],
    }
}

/// What is wrong with `steps.<id>.<members>`, the id first.
pub(super) fn of_step(step: &Step, members: &[(&str, Span)]) -> Option<Diagnostic> {
    let id = &step.id.it;
    let (member, span) = *members.get(1)?;
    if !["result", "status"].contains(&member) {
        let title = format!("the step `{id}` has no member `{member}`");
        let found = Diagnostic::error(C006, span, title, "unknown member");
        return Some(match nearest(member, ["result", "status"]) {
            Some(near) => found.help(format!("did you mean `steps.{id}.{near}`?")),
            None => found.help(format!("what it answered is under steps.{id}.result")),
        });
    }
    let (below, span) = *members.get(2)?;
    if member == "status" {
        let title = format!("`steps.{id}.status` is text and has no members");
        let found = Diagnostic::error(C006, span, title, "unknown member");
        return Some(found.help("it is done, skipped, failed or open"));
    }
    let known = known_result(step)?;
    if known.contains(&below) {
        return None;
    }
    let title = format!("the result of `{id}` has no member `{below}`");
    let found = Diagnostic::error(C006, span, title, "unknown member");
    Some(match nearest(below, known.iter().copied()) {
        Some(near) => found.help(format!("did you mean `steps.{id}.result.{near}`?")),
        None if known.is_empty() => {
            found.help("it has no result: refer to a step inside it, or give it a `result`")
        }
        None => found.help(format!("there are: {}", known.join(", "))),
    })
}

/// The members of a step's result, where the file alone says them.
fn known_result(step: &Step) -> Option<Vec<&str>> {
    if step.result.is_some() {
        return None;
    }
    match &step.action {
        Action::Set(members) => Some(members.iter().map(|(name, _)| name.it.as_str()).collect()),
        Action::ForEach(_) => Some(vec!["count", "reused"]),
        Action::Emit { .. } => Some(vec!["receivers"]),
        Action::Approve(_) => Some(vec!["approved", "by", "note"]),
        Action::Switch { .. } | Action::Parallel(_) | Action::Lock { .. } => Some(Vec::new()),
        Action::Act(_)
        | Action::Ensure(_)
        | Action::Call { .. }
        | Action::Stop { .. }
        | Action::Fail { .. }
        | Action::Wait(_) => None,
    }
}
