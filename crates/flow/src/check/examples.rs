//! Examples: whether they show what they are meant to show.
//!
//! Owns the codes `C020` to `C022`. An event that starts nothing is only useless; one without a key, or an answer
//! that no step can get, would make a proof stumble over the example instead of the flow.

use semel_ledger::Time;

use super::index::Index;
use super::reads::{Due, reads_of};
use crate::codes::{C002, C006, C020, C021, C022};
use crate::diagnostic::{Diagnostic, Span, Spanned};
use crate::expr::{Expr, Names, Template};
use crate::model::{Act, Action, Example, Flow, Step, Tree, Trigger};
use crate::near::nearest;
use crate::value::Value;

/// What is wrong with the examples of a flow.
pub(super) fn check_examples(flow: &Flow, index: &Index<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for example in &flow.examples.events {
        found.extend(unwanted(flow, example));
        found.extend(unkeyed(flow, example));
    }
    for (id, answer) in &flow.examples.answers {
        match index.get(&id.it) {
            Some(at) => found.extend(unfit(flow, at.step, id, answer)),
            None => found.push(unknown(index, id)),
        }
    }
    found
}

/// What the flow's own expressions see of an example.
struct Seen<'a> {
    flow: &'a Flow,
    roots: Vec<(&'a str, Value)>,
}

impl<'a> Seen<'a> {
    fn event(flow: &'a Flow, example: &Example) -> Seen<'a> {
        let headers = example.headers.iter();
        let headers = headers.map(|(name, text)| (&**name, Value::text(text)));
        let request = Value::map([("headers", Value::map(headers.collect::<Vec<_>>()))]);
        let event = &example.event.it;
        let roots = vec![
            ("event", event.clone()),
            ("item", event.clone()),
            ("request", request),
            ("schedule", planned()),
        ];
        Seen { flow, roots }
    }
}

/// A moment that schedules stand for; every one has both names.
fn planned() -> Value {
    Value::map([
        ("time", Value::text("2026-01-05T09:00:00Z")),
        ("date", Value::text("2026-01-05")),
    ])
}

impl Names for Seen<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        let found = self.roots.iter().find(|(root, _)| *root == name);
        found.map(|(_, value)| value.clone())
    }

    fn defined(&self, name: &str) -> Option<&Expr> {
        let mut lets = self.flow.lets.iter();
        lets.find(|(given, _)| given.it == name).map(|(_, it)| it)
    }

    fn now(&self) -> Time {
        Time(0)
    }

    fn random(&self) -> [u8; 16] {
        [0; 16]
    }
}

/// An event that no trigger of the flow would take.
fn unwanted(flow: &Flow, example: &Example) -> Option<Diagnostic> {
    let names = Seen::event(flow, example);
    let mut turned_away = None;
    for trigger in &flow.triggers {
        let filter = match trigger {
            Trigger::Webhook(hook) => hook.filter.as_ref(),
            Trigger::Event { filter, .. } => filter.as_ref(),
            Trigger::Schedule(_) | Trigger::Sync(_) => None,
        };
        let filter = filter?;
        let why = match filter.holds(&names) {
            Ok(true) => return None,
            Ok(false) => "this is false for it".to_owned(),
            Err(error) => error.message,
        };
        turned_away.get_or_insert((filter.span, why));
    }
    let (filter, why) = turned_away?;
    let title = format!("the example `{}` starts no run", example.name);
    let label = "the filter does not let it pass";
    let found = Diagnostic::warning(C020, example.event.span, title, label).also(filter, why);
    Some(found.help("a proof starts the run all the same; a real event like this would be ignored"))
}

/// An event that gives no key.
fn unkeyed(flow: &Flow, example: &Example) -> Option<Diagnostic> {
    let names = Seen::event(flow, example);
    let syncs = flow.triggers.iter().filter_map(|trigger| match trigger {
        Trigger::Sync(sync) => Some(&sync.key),
        _ => None,
    });
    let fault = |key: &Template| key.key(&names).err().map(|fault| (key.span, fault));
    let (key, fault) = flow.key.iter().chain(syncs).find_map(fault)?;
    let title = format!(
        "the example `{}` lacks what the key is made of",
        example.name
    );
    let found = Diagnostic::error(C021, example.event.span, title, fault.to_string());
    let help = "give the example what a real event has there";
    Some(found.also(key, "the key").help(help))
}

fn unknown(index: &Index<'_>, id: &Spanned<String>) -> Diagnostic {
    let title = format!("there is no step `{}`", id.it);
    let found = Diagnostic::error(C002, id.span, title, "an answer for an unknown step");
    match nearest(&id.it, index.ids()) {
        Some(near) => found.help(format!("did you mean `{near}`?")),
        None => found,
    }
}

/// An answer that the step cannot get.
fn unfit(
    flow: &Flow,
    step: &Step,
    id: &Spanned<String>,
    answer: &Spanned<Value>,
) -> Option<Diagnostic> {
    let (act, result) = match &step.action {
        Action::Act(act) => (act, step.result.as_ref()),
        Action::Ensure(ensure) => (&ensure.create.act, ensure.create.result.as_ref()),
        _ => {
            let title = format!("`{}` gets no answer", id.it);
            let label = "it calls no destination";
            return Some(Diagnostic::error(C022, id.span, title, label));
        }
    };
    misnamed(act, answer)
        .or_else(|| refused(act, answer))
        .or_else(|| unread(flow, result?, answer))
}

fn misnamed(act: &Act, answer: &Spanned<Value>) -> Option<Diagnostic> {
    let Value::Map(members) = &answer.it else {
        return None;
    };
    let known = act.answer_names();
    let wrong = members.keys().find(|name| !known.contains(&&***name))?;
    let title = format!("an answer here has no `{wrong}`");
    let label = format!("it has {}", known.join(", "));
    let found = Diagnostic::error(C006, answer.span, title, label);
    Some(match nearest(wrong, known.iter().copied()) {
        Some(near) => found.help(format!("did you mean `{near}`?")),
        None if known.contains(&"body") => found.help(format!(
            "what was sent back is the body: body: {{{wrong}: …}}"
        )),
        None => found,
    })
}

/// Examples are of answers that say yes; what else can happen is tried anyway.
fn refused(act: &Act, answer: &Spanned<Value>) -> Option<Diagnostic> {
    let Some(Value::Int(status)) = answer.it.get("status").filter(|_| {
        let kind = act.kind.name();
        kind == "http" || kind == "notify"
    }) else {
        return None;
    };
    let written = |tree: &Tree| match tree {
        Tree::Number(text) => text.parse().ok() == Some(*status),
        _ => false,
    };
    let expected = match act.member("expect") {
        Some(Tree::List(all)) => all.iter().any(written),
        Some(one) => written(one),
        None => (200..=299).contains(status),
    };
    if expected {
        return None;
    }
    let title = format!("with {status} the step would not be done");
    let label = "an example is an answer of success";
    let found = Diagnostic::error(C022, answer.span, title, label);
    Some(found.help("failures of every kind are tried without being written down"))
}

/// The step's own `result` must find what it reads.
fn unread(flow: &Flow, result: &Expr, answer: &Spanned<Value>) -> Option<Diagnostic> {
    let roots: Vec<_> = reads_of(flow, result, Due::Any)
        .into_iter()
        .map(|read| read.root)
        .collect();
    // What is not given is made up to fit.
    if !roots.iter().all(|root| answer.it.get(root).is_some()) {
        return None;
    }
    let given: Vec<_> = roots
        .iter()
        .filter_map(|root| Some((&**root, answer.it.get(root)?.clone())))
        .collect();
    let names = Seen { flow, roots: given };
    let error = result.eval(&names).err()?;
    let title = "the result cannot be taken from this answer";
    let found = Diagnostic::error(C022, answer.span, title, error.message);
    let at: Span = result.span;
    Some(found.also(at, "the result"))
}
