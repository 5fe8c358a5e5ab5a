//! The picture as text: one line a step, branches as a tree.

use std::fmt::Write as _;

use super::words;
use crate::model::{Action, Flow, Step};
use crate::written;

pub(super) fn draw(flow: &Flow) -> String {
    let mut out = format!("{}\n", flow.name.it);
    for trigger in &flow.triggers {
        let _ = writeln!(out, "  ⚡ {}", words::trigger(trigger));
    }
    if flow.triggers.is_empty() {
        out.push_str("  ⚡ by hand\n");
    }
    out.push_str("  │\n");
    let run = written::flow_key(flow);
    block(&mut out, &run, &flow.steps, "  ");
    if !flow.on_failure.is_empty() {
        out.push_str("  on failure\n");
        block(&mut out, &run, &flow.on_failure, "  ");
    }
    out
}

fn block(out: &mut String, run: &str, steps: &[Step], indent: &str) {
    for (index, step) in steps.iter().enumerate() {
        let last = index + 1 == steps.len();
        let (turn, below) = if last {
            ("└─", "   ")
        } else {
            ("├─", "│  ")
        };
        one(
            out,
            run,
            step,
            &format!("{indent}{turn} "),
            &format!("{indent}{below}"),
        );
    }
}

fn one(out: &mut String, run: &str, step: &Step, first: &str, below: &str) {
    let words = words::step(run, step);
    let class = step.class().name();
    // A gate is no box among boxes.
    let gate = match &step.action {
        Action::Approve(_) => "║ ",
        _ => "",
    };
    let line = format!(
        "{first}{gate}{}  {class} {} {}",
        step.id.it, words.kind, words.what
    );
    let _ = writeln!(out, "{}", line.trim_end());
    if let Some(when) = &step.when {
        let _ = writeln!(out, "{below}     if {}", words::cut(&when.source));
    }
    if !words.guard.is_empty() {
        let unknown = words::unknown(step).map(|unknown| format!("; unknown: {unknown}"));
        let unknown = unknown.unwrap_or_default();
        let _ = writeln!(out, "{below}     {}{unknown}", words.guard);
    }
    if let Some(undo) = step.undo.as_deref().and_then(Step::act) {
        let _ = writeln!(out, "{below}     ↩ undo {}", words::act_words(undo));
    }
    inside(out, run, step, below);
}

fn inside(out: &mut String, run: &str, step: &Step, indent: &str) {
    let run = written::inner_key(step, run);
    let deeper = format!("{indent}   ");
    let mut branch = |label: &str, steps: &[Step]| {
        let _ = writeln!(out, "{indent}◇ {label}");
        block(out, &run, steps, &deeper);
    };
    match &step.action {
        Action::Switch { cases, otherwise } => {
            for case in cases {
                branch(
                    &format!("if {}", words::cut(&case.when.source)),
                    &case.steps,
                );
            }
            if !otherwise.is_empty() {
                branch("else", otherwise);
            }
        }
        Action::Parallel(branches) => {
            for each in branches {
                branch(&each.id.it, &each.steps);
            }
        }
        Action::ForEach(each) => {
            let (name, at_a_time) = (&each.name, each.parallel);
            let label = format!("each {name}, {at_a_time} at a time, once per {run}");
            branch(&label, &each.steps);
        }
        Action::Lock { steps, .. } => branch("one run at a time", steps),
        _ => {}
    }
}
