//! Keys and templates as people wrote them.

use crate::expr::{Part, Template};
use crate::model::{Action, Flow, Step};

/// A template as it is written.
pub(crate) fn template(template: &Template) -> String {
    let parts = template.parts.iter().map(|part| match part {
        Part::Text(text) => text.to_string(),
        Part::Expr(expr) => format!("${{{{ {} }}}}", expr.source.trim()),
    });
    parts.collect()
}

/// The key of a run.
pub(crate) fn flow_key(flow: &Flow) -> String {
    match &flow.key {
        Some(key) => template(key),
        None => "<the trigger's key>".to_owned(),
    }
}

/// The key of a step's effect: its own, or that of the run around it and its id.
pub(crate) fn step_key(step: &Step, run: &str) -> String {
    let key = match &step.key {
        Some(key) => template(key),
        None => format!("{run}/{}", step.id.it),
    };
    match &step.action {
        // What is asked is a part of it, or all of it.
        Action::Act(act) if act.shared_for().is_some() => "<what is asked>".to_owned(),
        Action::Act(act) if act.main_name().is_some() => format!("{key}/<what is asked>"),
        _ => key,
    }
}

/// The key of the run around the steps inside a step. Every item of a `for_each` is a run of its
/// own, named by the item's key.
pub(crate) fn inner_key(step: &Step, run: &str) -> String {
    match &step.action {
        Action::ForEach(each) => template(&each.key),
        _ => run.to_owned(),
    }
}
