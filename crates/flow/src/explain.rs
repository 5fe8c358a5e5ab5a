//! A flow in plain sentences: what it does, and what happens when it dies at each step.
//!
//! Owns the words. Everything follows from the file: classes, keys, `lookup`, `on_unknown`, `undo` and `retry`; the
//! table of the check says the same in columns. What is said of a step holds for every crash at it, wherever in it.

mod begin;
mod dies;
mod does;

use crate::check::table;
use crate::model::{Block, Class, Flow, GiveUp, Retry, Step};
use crate::written;

/// A flow in sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// How it starts, and what is the same work.
    pub begins: Vec<String>,
    /// What holds for every step, unless it says otherwise.
    pub meanwhile: Vec<String>,
    /// Each step, in the order of the file.
    pub steps: Vec<Explained>,
    /// What holds in the end.
    pub ends: Vec<String>,
}

/// A step in sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Its id.
    pub step: String,
    /// How many steps it is inside of.
    pub depth: usize,
    /// Whether it stands in `on_failure`.
    pub on_failure: bool,
    /// What a repeat of it does.
    pub class: Class,
    /// What it does.
    pub does: String,
    /// What happens if the process dies at it.
    pub dies: String,
    /// What happens if it cannot be done; none if it always can.
    pub fails: Option<String>,
    /// How it is taken back, if it is.
    pub undo: Option<String>,
}

/// Says what a flow does.
#[must_use]
pub fn explain(flow: &Flow) -> Explanation {
    let key = written::flow_key(flow);
    let mut steps = Vec::new();
    let mut told = Teller {
        on_failure: false,
        steps: &mut steps,
    };
    told.block(&flow.steps, 0, &key);
    told.on_failure = true;
    told.block(&flow.on_failure, 0, &key);
    Explanation {
        begins: begin::begins(flow),
        meanwhile: meanwhile(flow),
        ends: ends(flow),
        steps,
    }
}

struct Teller<'t> {
    on_failure: bool,
    steps: &'t mut Vec<Explained>,
}

impl Teller<'_> {
    fn block(&mut self, block: &Block, depth: usize, run: &str) {
        for step in block {
            self.steps.push(Explained {
                step: step.id.it.clone(),
                depth,
                on_failure: self.on_failure,
                class: step.class(),
                does: does::does(step),
                dies: dies::dies(step, run),
                fails: fails(step),
                undo: undo(step),
            });
            let inner = written::inner_key(step, run);
            for block in crate::check::blocks(step) {
                self.block(block, depth + 1, &inner);
            }
        }
    }
}

/// What happens when it cannot be done, if the step says so itself.
fn fails(step: &Step) -> Option<String> {
    step.retry.map(retried)
}

/// What is tried again, and what follows when that is of no use.
fn retried(retry: Retry) -> String {
    let Retry {
        max,
        first,
        cap,
        within,
        then,
        ..
    } = retry;
    let end = match then {
        GiveUp::Ask => "a person is asked whether to go on",
        GiveUp::Fail => "the run fails",
    };
    if max <= 1 {
        return format!("What cannot be done is tried once; then {end}.");
    }
    let pauses = if first == cap {
        format!("{first} apart")
    } else {
        format!("with pauses from {first} to {cap}")
    };
    let within = within.map_or_else(String::new, |it| format!(", for {it} at the most"));
    format!(
        "What was put off or never sent is tried up to {max} times, {pauses}{within}; after that, or when the destination says no, {end}."
    )
}

fn undo(step: &Step) -> Option<String> {
    let act = step.undo.as_ref()?.act()?;
    Some(format!(
        "If the run fails later, it is taken back: {}.",
        does::call(act)
    ))
}

/// What holds for every step.
fn meanwhile(flow: &Flow) -> Vec<String> {
    let mut said = vec![
        "If the process dies, another goes on at the step where the first was. What is recorded as done is not done again; what had not left yet is done then.".to_owned(),
    ];
    let calls = table(flow).iter().any(|row| row.retry != "–");
    said.extend(calls.then(|| retried(flow.retry.unwrap_or_default())));
    said
}

/// What holds of the whole.
fn ends(flow: &Flow) -> Vec<String> {
    let rows = table(flow);
    let mut ends = Vec::new();
    // What a model says twice is seen by nobody.
    let named = |rule: &str| {
        let rows = rows.iter().filter(|row| {
            row.class == Class::Guarded && row.kind != "ai" && row.on_unknown == rule
        });
        let names: Vec<_> = rows.map(|row| row.step.as_str()).collect();
        names.join(", ")
    };
    if flow.steps.iter().any(has_undo) {
        ends.push("When the run fails, what was done and has an `undo` is taken back, the last thing first.".to_owned());
    }
    let asks = named("a person is asked");
    if !asks.is_empty() {
        ends.push(format!(
            "A person is asked only where nobody else can know whether it happened: {asks}."
        ));
    }
    let blind = named("it is done again");
    if !blind.is_empty() {
        ends.push(format!("These may happen twice: {blind}."));
    }
    ends
}

fn has_undo(step: &Step) -> bool {
    let inside = crate::check::blocks(step);
    step.undo.is_some() || inside.iter().any(|block| block.iter().any(has_undo))
}

#[cfg(test)]
mod tests;
