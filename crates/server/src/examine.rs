//! What can be said about a flow file before it runs, and how it is shown.
//!
//! The one place where this crate asks `semel-flow` to read and check.

use semel_engine::places;
use semel_flow::model::Step;
use semel_flow::render;
use semel_flow::{Diagnostic, Flow, Level};

use crate::deploy::AbandonedKeys;
use crate::out::Object;

/// What a file is called in messages where nobody named it.
const FILE: &str = "flow.yaml";

/// A file that was read and checked.
#[derive(Debug)]
pub(crate) struct Examined {
    /// The flow, if enough of it could be read.
    pub(crate) flow: Option<Flow>,
    /// Everything that was found, in the order of the file.
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Reads and checks a file.
pub(crate) fn examine(source: &str) -> Examined {
    let reading = semel_flow::read(source);
    Examined {
        flow: reading.flow,
        diagnostics: reading.diagnostics,
    }
}

/// Scopes whose keys a new release would not find; how many those are is for the store to say.
pub(crate) fn abandoned(live: &Flow, new: &Flow) -> Vec<AbandonedKeys> {
    let kept: Vec<String> = scopes(new).into_iter().map(|(_, scope)| scope).collect();
    let lost = scopes(live).into_iter().filter(|(_, scope)| !kept.contains(scope));
    lost.map(|(step, scope)| AbandonedKeys {
        keep: format!("at the step that does this now, write scope: {scope}"),
        scope,
        step: Some(step),
        keys: 0,
        why: "no step has this scope any more".to_owned(),
    })
    .collect()
}

fn scopes(flow: &Flow) -> Vec<(String, String)> {
    let effects = steps(flow).into_iter().filter(|step| step.class().has_effect());
    effects.map(|step| (step.id.it.clone(), step.scope_name(flow))).collect()
}

fn steps(flow: &Flow) -> Vec<&Step> {
    let mut open: Vec<&Step> = flow.steps.iter().chain(&flow.on_failure).collect();
    let mut all = Vec::new();
    while let Some(step) = open.pop() {
        open.extend(places::inner(step).flatten());
        all.push(step);
    }
    all
}

/// Writes the messages as data, and how many there are of each level.
pub(crate) fn write_diagnostics(out: &mut Object, source: &str, diagnostics: &[Diagnostic]) {
    let count = |level| diagnostics.iter().filter(|it| it.level == level).count() as u64;
    let all = render::to_json(source, diagnostics, FILE);
    out.number("errors", count(Level::Error))
        .number("warnings", count(Level::Warning))
        .raw("diagnostics", &all.to_string());
}

/// Writes the table of steps.
pub(crate) fn write_steps(out: &mut Object, flow: &Flow) {
    out.list("steps", steps(flow), |out, step| {
        out.text("step", &step.id.it)
            .text("class", step.class().name())
            .text("scope", &step.scope_name(flow));
    });
}

/// Writes what would no longer be found.
pub(crate) fn write_abandoned(out: &mut Object, abandoned: &[AbandonedKeys]) {
    out.list("abandoned", abandoned, |out, lost| {
        out.text("scope", &lost.scope)
            .text_or_null("step", lost.step.as_deref())
            .number("keys", lost.keys)
            .text("why", &lost.why)
            .text("keep", &lost.keep);
    });
}
