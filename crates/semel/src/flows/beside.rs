//! What is wrong only because of another file: names and paths that must be unique on a server.

use std::collections::HashMap;

use semel_flow::codes::{F022, F023};
use semel_flow::model::Trigger;
use semel_flow::render::line_column;
use semel_flow::{Diagnostic, Flow, Span};

use super::FlowFile;

/// Adds to each file what another one before it has taken already.
pub(super) fn check(files: &mut [FlowFile]) {
    let mut names: HashMap<String, String> = HashMap::new();
    let mut hooks: HashMap<String, String> = HashMap::new();
    for file in files {
        let Some(flow) = &file.flow else { continue };
        let place = |at: Span| {
            let (line, column) = line_column(&file.text, at.start);
            format!("{}:{line}:{column}", file.name())
        };
        let mut found = Vec::new();
        let name = &flow.name;
        match names.get(&name.it) {
            Some(first) => found.push(same_name(&name.it, name.span, first)),
            None => drop(names.insert(name.it.clone(), place(name.span))),
        }
        for (path, at) in paths(flow) {
            match hooks.get(path) {
                Some(first) => found.push(same_path(path, at, first)),
                None => drop(hooks.insert(path.to_owned(), place(at))),
            }
        }
        file.found.extend(found);
        file.found.sort_by_key(|found| (found.at, found.code));
    }
}

fn paths(flow: &Flow) -> impl Iterator<Item = (&str, Span)> {
    flow.triggers.iter().filter_map(|trigger| match trigger {
        Trigger::Webhook(webhook) => Some((webhook.path.it.as_str(), webhook.path.span)),
        _ => None,
    })
}

fn same_name(name: &str, at: Span, first: &str) -> Diagnostic {
    let title = format!("another file has a flow `{name}` too");
    let label = format!("the name is taken at {first}");
    Diagnostic::error(F022, at, title, label)
        .help("a flow is known by its name alone: give one of them another")
}

fn same_path(path: &str, at: Span, first: &str) -> Diagnostic {
    let title = format!("another webhook has the path `{path}` too");
    let label = format!("the path is taken at {first}");
    Diagnostic::error(F023, at, title, label).help(
        "a request starts one flow: choose another path, or `emit` an event that both wait for",
    )
}
