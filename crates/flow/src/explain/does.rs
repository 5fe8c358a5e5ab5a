//! What a step does.

use crate::graph::act_words;
use crate::model::{Act, Action, Approve, Class, Heard, Kind, Step, Wait};
use crate::written::template;

/// What a step does, as a sentence.
pub(super) fn does(step: &Step) -> String {
    let said = action(step);
    match &step.when {
        Some(when) => {
            let mut letters = said.chars();
            let first = letters.next().map(|c| c.to_lowercase().to_string());
            let rest = letters.as_str();
            format!("If `{}`: {}{rest}", when.source, first.unwrap_or_default())
        }
        None => said,
    }
}

fn action(step: &Step) -> String {
    match &step.action {
        Action::Act(act) => one(act),
        Action::Ensure(ensure) => {
            let update = ensure.update.as_ref();
            let update = update.map_or_else(String::new, |it| {
                format!("; if it is there, it is changed with {}", call(&it.act))
            });
            format!(
                "Looks whether it is there with {}; if not, it is made with {}{update}.",
                call(&ensure.find.act),
                call(&ensure.create.act)
            )
        }
        Action::Set(members) => {
            let names: Vec<_> = members.iter().map(|(name, _)| name.it.as_str()).collect();
            format!("Works out {}.", names.join(", "))
        }
        Action::Switch { cases, otherwise } => {
            let cases: Vec<_> = cases
                .iter()
                .map(|it| format!("`{}`", it.when.source))
                .collect();
            let otherwise = if otherwise.is_empty() {
                "; if none, nothing is done"
            } else {
                "; if none, what stands under `else`"
            };
            format!(
                "Does the steps of the first that is true: {}{otherwise}.",
                cases.join(", ")
            )
        }
        Action::ForEach(each) => format!(
            "Does its steps for each {} in `{}`, {} at a time. Items with the same key `{}` are the same work.",
            each.name,
            each.items.source,
            each.parallel,
            template(&each.key)
        ),
        Action::Parallel(branches) => {
            let names: Vec<_> = branches.iter().map(|it| it.id.it.as_str()).collect();
            format!("Does these side by side: {}.", names.join(", "))
        }
        Action::Call { flow, .. } => format!("Runs the flow {} and waits for its result.", flow.it),
        Action::Emit { event, .. } => format!("Tells other flows: {}.", event.it),
        Action::Lock { name, .. } => format!(
            "Does its steps while no other run, of any flow, holds `{}`.",
            template(name)
        ),
        Action::Stop { .. } => "Ends the run as done.".to_owned(),
        Action::Fail { message } => format!("Ends the run as failed: {}.", template(message)),
        Action::Wait(wait) => waits(wait),
        Action::Approve(approve) => asks(approve),
    }
}

/// One call, as a sentence.
fn one(act: &Act) -> String {
    let call = call(act);
    match (act.kind, act.class()) {
        (Kind::Http, _) => format!("Sends {call}."),
        (Kind::Sql, Class::Read) => format!("Asks a database: {call}."),
        (Kind::Sql, _) => format!("Changes a database: {call}."),
        (Kind::Email, _) => format!("Sends a mail {call}."),
        (Kind::Notify, _) => format!("Sends a message to {call}."),
        (Kind::Exec, _) => format!("Runs {call} on the server."),
        (Kind::Ssh, _) => format!("Runs a command on {call}."),
        (Kind::Kv, Class::Read) => format!("Reads a kept value: {call}."),
        (Kind::Kv, _) => format!("Keeps a value: {call}."),
        (Kind::Ai, _) => format!("Asks the model {call}."),
        (Kind::Other(name), _) => format!("Does {name}."),
    }
}

/// One call in few words.
pub(super) fn call(act: &Act) -> String {
    act_words(act)
}

fn waits(wait: &Wait) -> String {
    match wait {
        Wait::For(span) => format!("Waits for {span}."),
        Wait::Until(until) => format!("Waits until `{}`.", until.source),
        Wait::Callback(patience) => format!(
            "Waits until somebody calls back, {} at the most.",
            patience.timeout
        ),
        Wait::ForEvent(it) => {
            let of = match &it.of {
                Heard::Flow(flow) => format!("an event of the flow {}", flow.it),
                Heard::Event(event) => format!("the event {}", event.it),
            };
            let (matches, timeout) = (&it.matches.source, it.patience.timeout);
            format!("Waits for {of} with `{matches}`, {timeout} at the most.")
        }
    }
}

fn asks(approve: &Approve) -> String {
    let people = |by: &[crate::diagnostic::Spanned<String>]| {
        let names: Vec<_> = by.iter().map(|one| one.it.as_str()).collect();
        names.join(", ")
    };
    let first = &approve.first;
    let silence = |yes: bool| if yes { "counts as yes" } else { "counts as no" };
    let then = match &approve.escalate {
        Some(next) => format!(
            "asks {}, whose silence for {} {}",
            people(&next.by),
            next.timeout,
            silence(next.silence_approves)
        ),
        None => silence(first.silence_approves).to_owned(),
    };
    format!(
        "Asks {} and waits for {} yes; silence for {} {then}.",
        people(&first.by),
        approve.needed,
        first.timeout
    )
}
