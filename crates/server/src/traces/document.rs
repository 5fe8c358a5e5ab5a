//! Traces as OTLP says: `ExportTraceServiceRequest` in its JSON form.
//!
//! A run is a trace whose id is the run's own; its spans are those that `GET /v1/runs/{run}` shows.

use semel_ledger::Time;
use semel_store::blob::hex;
use semel_store::run::RunState;

use crate::out::Object;
use crate::releases::release_text;
use crate::runs::spans::{self, Span};
use crate::runs::story::Story;

/// What a span is to whoever reads it: within a program, or a call to another.
const INTERNAL: u64 = 1;
const CLIENT: u64 = 3;
/// How a span ended.
const OK: u64 = 1;
const ERROR: u64 = 2;

/// One request with the traces of some runs.
pub(super) fn of(stories: &[Story], node: &str) -> Vec<u8> {
    let mut out = Object::new();
    out.list("resourceSpans", [()], |out, ()| {
        out.object("resource", |out| {
            attributes(
                out,
                &[
                    ("service.name", "semel"),
                    ("service.version", env!("CARGO_PKG_VERSION")),
                    ("service.instance.id", node),
                ],
            );
        });
        out.list("scopeSpans", [()], |out, ()| {
            out.object("scope", |out| {
                out.text("name", "semel");
            });
            let all = stories.iter().flat_map(trace);
            out.list("spans", all, |out, span| {
                out.append(&span);
            });
        });
    });
    out.into_bytes()
}

/// All spans of one run.
fn trace(story: &Story) -> Vec<Object> {
    let mut all = vec![root(story)];
    for (step, spans) in spans::of(story) {
        for (index, span) in spans.iter().enumerate() {
            all.push(of_step(story, &step, index, span));
        }
    }
    all
}

fn root(story: &Story) -> Object {
    let run = &story.run;
    let mut out = Object::new();
    head(&mut out, story, &span_id(story, "", 0));
    out.text("name", &run.flow).number("kind", INTERNAL);
    times(&mut out, run.created_at, run.changed_at);
    let release = release_text(run.release);
    attributes(
        &mut out,
        &[
            ("semel.run", &run.id.text()),
            ("semel.flow", &run.flow),
            ("semel.key", run.key.as_str()),
            ("semel.release", &release),
            ("semel.state", run.state.name()),
            ("semel.by", story.opening().by.name()),
        ],
    );
    if let Some(parent) = run.parent {
        out.list("links", [()], |out, ()| {
            // The span of whoever waits for it begins that trace.
            let of = blake3::hash(&[&parent.0[..], b"\0\0"].concat());
            out.hex("traceId", &parent.0)
                .hex("spanId", &of.as_bytes()[..8]);
        });
    }
    match run.state {
        RunState::Done => status(&mut out, OK, ""),
        RunState::Failed => status(&mut out, ERROR, &run.why),
        _ => {}
    }
    out
}

fn of_step(story: &Story, step: &str, index: usize, span: &Span) -> Object {
    let mut out = Object::new();
    head(&mut out, story, &span_id(story, step, index + 1));
    out.text("parentSpanId", &span_id(story, "", 0));
    let kind = match span.what {
        "attempt" => CLIENT,
        _ => INTERNAL,
    };
    out.text("name", step).number("kind", kind);
    times(&mut out, span.from, span.to.unwrap_or(story.run.changed_at));
    attributes(
        &mut out,
        &[
            ("semel.step", step),
            ("semel.what", span.what),
            ("semel.outcome", span.outcome.unwrap_or("")),
        ],
    );
    match span.outcome {
        Some("done") => status(&mut out, OK, ""),
        Some(outcome @ ("failed" | "unknown")) => status(&mut out, ERROR, outcome),
        _ => {}
    }
    out
}

fn head(out: &mut Object, story: &Story, id: &str) {
    out.hex("traceId", &story.run.id.0).text("spanId", id);
}

/// The same each time, and no other span's: made from what it is about.
fn span_id(story: &Story, step: &str, index: usize) -> String {
    let number = if index == 0 {
        String::new()
    } else {
        index.to_string()
    };
    let named = [
        &story.run.id.0[..],
        step.as_bytes(),
        b"\0",
        number.as_bytes(),
        b"\0",
    ];
    hex(&blake3::hash(&named.concat()).as_bytes()[..8])
}

fn times(out: &mut Object, from: Time, to: Time) {
    let nanos = |at: Time| (i128::from(at.0) * 1_000_000).to_string();
    out.text("startTimeUnixNano", &nanos(from))
        .text("endTimeUnixNano", &nanos(to.max(from)));
}

fn attributes(out: &mut Object, all: &[(&str, &str)]) {
    let some = all.iter().filter(|(_, value)| !value.is_empty());
    out.list("attributes", some, |out, (key, value)| {
        out.text("key", key).object("value", |out| {
            out.text("stringValue", value);
        });
    });
}

fn status(out: &mut Object, code: u64, message: &str) {
    out.object("status", |out| {
        out.number("code", code);
        if !message.is_empty() {
            out.text("message", message);
        }
    });
}
