//! What can be said about a flow file before it runs, and how it is shown.
//!
//! The one place where this crate asks `semel-flow` to read and check.

use semel_flow::check::{self, Row};
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
    let mut diagnostics = reading.diagnostics;
    if let Some(flow) = &reading.flow {
        diagnostics.extend(check::check(flow));
        diagnostics.sort_by_key(|found| (found.at, found.code));
    }
    Examined {
        flow: reading.flow,
        diagnostics,
    }
}

/// Scopes whose keys a new release would not find; how many those are is for the store to say.
pub(crate) fn abandoned(live: &Flow, new: &Flow) -> Vec<AbandonedKeys> {
    let lost = check::abandoned(live, new).into_iter();
    lost.map(|lost| AbandonedKeys {
        scope: lost.scope,
        step: lost.step,
        keys: 0,
        why: lost.why,
        keep: lost.keep,
    })
    .collect()
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
    out.list("steps", check::table(flow), |out, row: Row| {
        out.text("step", &row.step)
            .number("depth", row.depth as u64)
            .flag("on_failure", row.on_failure)
            .text("kind", row.kind)
            .text("class", row.class.name())
            .text_or_null("scope", row.scope.as_deref())
            .text_or_null("key", row.key.as_deref())
            .text("guard", &row.guard)
            .text("on_unknown", &row.on_unknown)
            .text("retry", &row.retry);
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
