//! The picture as text: one line a step, branches as a tree.

use std::fmt::Write as _;

use super::words;
use crate::model::{Action, Flow, Step};

pub(super) fn draw(flow: &Flow) -> String {
    let mut out = format!("{}\n", flow.name.it);
    for trigger in &flow.triggers {
        let _ = writeln!(out, "  ⚡ {}", words::trigger(trigger));
    }
    if flow.triggers.is_empty() {
        out.push_str("  ⚡ by hand\n");
    }
    out.push_str("  │\n");
    block(&mut out, flow, &flow.steps, "  ");
    if !flow.on_failure.is_empty() {
        out.push_str("  on failure\n");
        block(&mut out, flow, &flow.on_failure, "  ");
    }
    out
}

fn block(out: &mut String, flow: &Flow, steps: &[Step], indent: &str) {
    for (index, step) in steps.iter().enumerate() {
        let last = index + 1 == steps.len();
        let (turn, below) = if last {
            ("└─", "   ")
        } else {
            ("├─", "│  ")
        };
        one(
            out,
            flow,
            step,
            &format!("{indent}{turn} "),
            &format!("{indent}{below}"),
        );
    }
}

fn one(out: &mut String, flow: &Flow, step: &Step, first: &str, below: &str) {
    let words = words::step(flow, step);
    let class = step.class().name();
    let line = format!(
        "{first}{}  {class} {} {}",
        step.id.it, words.kind, words.what
    );
    let _ = writeln!(out, "{}", line.trim_end());
    if let Some(when) = &step.when {
        let _ = writeln!(out, "{below}     if {}", words::cut(&when.source));
    }
    if !words.guard.is_empty() {
        let unknown = words::unknown(step).unwrap_or("");
        let _ = writeln!(out, "{below}     {}; unknown: {unknown}", words.guard);
    }
    if let Some(undo) = &step.undo {
        let _ = writeln!(out, "{below}     ↩ undo {}", words::act_words(undo));
    }
    inside(out, flow, step, below);
}

fn inside(out: &mut String, flow: &Flow, step: &Step, indent: &str) {
    let deeper = format!("{indent}   ");
    let mut branch = |label: &str, steps: &[Step]| {
        let _ = writeln!(out, "{indent}◇ {label}");
        block(out, flow, steps, &deeper);
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
            let key = words::template(&each.key);
            let label = format!(
                "each {}, {} at a time, once per {key}",
                each.name, each.parallel
            );
            branch(&label, &each.steps);
        }
        Action::Lock { steps, .. } => branch("one run at a time", steps),
        _ => {}
    }
}
