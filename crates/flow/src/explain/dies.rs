//! What happens when the process dies at a step.

use super::does::call;
use crate::check::window;
use crate::model::{Act, Action, Class, Kind, OnUnknown, Step, Wait};
use crate::written;

/// What happens, as a sentence; `run` is the key of the run around the step.
pub(super) fn dies(step: &Step, run: &str) -> String {
    match &step.action {
        Action::Act(act) if act.kind == Kind::Kv && step.class() != Class::Read => {
            "The value is written in the same commit as the record of it: it is there once, or not yet.".to_owned()
        }
        Action::Act(act) => acting(step, act, run),
        Action::Ensure(ensure) => format!(
            "It is looked for again, {} after it may have been made at the earliest, and made only if it is not there.",
            ensure.settle
        ),
        Action::Set(_) | Action::Switch { .. } => {
            "It touches nothing: it is worked out again, from what is written down.".to_owned()
        }
        Action::ForEach(_) => {
            "Each item is a run of its own: those that are done stay done, the others go on where they were.".to_owned()
        }
        Action::Parallel(_) => "Each branch goes on where it was.".to_owned(),
        Action::Call { .. } => {
            "The called run has a key that follows from this one: it is found again, not started twice.".to_owned()
        }
        Action::Emit { .. } => {
            "The event exists if and only if this step is recorded as done: never twice, never lost.".to_owned()
        }
        Action::Lock { .. } => "The lock stays with this run until it is done with it.".to_owned(),
        Action::Stop { .. } | Action::Fail { .. } => "The run ends the same way.".to_owned(),
        Action::Wait(wait) => waiting(wait).to_owned(),
        Action::Approve(_) => {
            "The request is kept, and so is every answer: nobody is asked twice about the same.".to_owned()
        }
    }
}

fn waiting(wait: &Wait) -> &'static str {
    match wait {
        Wait::For(_) | Wait::Until(_) => "The time is written down: it goes on when that has come.",
        Wait::Callback(_) => {
            "The address stays the same, and the first call to it counts, whenever it comes."
        }
        Wait::ForEvent(_) => {
            "What is waited for is written down: an event that comes meanwhile is found."
        }
    }
}

fn acting(step: &Step, act: &Act, run: &str) -> String {
    match step.class() {
        Class::Pure => "It is worked out again.".to_owned(),
        Class::Read => "It is asked again: that changes nothing.".to_owned(),
        Class::Set => "It is done again: a repeat leaves things as they are.".to_owned(),
        Class::Keyed | Class::Guarded => {
            let key = written::step_key(step, run);
            let unknown = capital(&unknown(step, act));
            format!("It may have happened. {unknown} Its key is `{key}`.")
        }
    }
}

/// What happens when it may have happened.
fn unknown(step: &Step, act: &Act) -> String {
    let rule = step.on_unknown.as_ref().map(|rule| rule.it);
    let then = match (rule, step.class()) {
        (Some(OnUnknown::Skip), _) => {
            "it is taken as done, though it may not have happened.".to_owned()
        }
        (Some(OnUnknown::Ask), _) => asks(),
        (_, Class::Keyed) => keyed(act),
        (_, _) if step.rule() == OnUnknown::Retry && act.kind == Kind::Ai => {
            "it is asked again, and paid for again; nobody sees the first answer.".to_owned()
        }
        (_, _) if step.rule() == OnUnknown::Retry => {
            "it is done again, so it may happen twice.".to_owned()
        }
        (..) => asks(),
    };
    match &step.lookup {
        Some(lookup) => format!(
            "it is looked up with {}{}; if it is there it counts as done, if it is not it is done again. If that cannot tell, {then}",
            call(&lookup.probe.act),
            match lookup.settle.0 {
                0 => String::new(),
                _ => format!(", {} later", lookup.settle),
            }
        ),
        None => then,
    }
}

fn asks() -> String {
    "nobody can know, so it is not repeated: the run waits, and a person decides.".to_owned()
}

fn keyed(act: &Act) -> String {
    match (act.kind, window(act)) {
        (_, Some((header, window))) => format!(
            "it is sent again with the same `{header}`, and the destination drops the repeat for {window}; later than that a person is asked."
        ),
        (Kind::Sql, None) => {
            "the receipt that was written in the same transaction tells whether it happened."
                .to_owned()
        }
        (_, None) => {
            "it is sent again with the same key, and the destination drops the repeat.".to_owned()
        }
    }
}

/// The sentence with its first letter large.
fn capital(sentence: &str) -> String {
    let mut signs = sentence.chars();
    let first = signs.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), signs.as_str())
}
