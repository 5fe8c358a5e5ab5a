//! `semel explain FLOW.yaml`: a flow in sentences.

use std::path::{Path, PathBuf};

use semel_flow::explain::{Explained, explain};
use serde_json::{Value, json};

use crate::cli::Context;
use crate::failure::Failure;
use crate::flows;
use crate::term::{Paint, Tone, print_line, shown, tone_of};

/// The longest line of prose.
const WIDTH: usize = 100;

/// Whether a file is meant, and not a code.
pub(super) fn is_meant(name: &str) -> bool {
    let path = Path::new(name);
    let yaml = path
        .extension()
        .is_some_and(|it| it == "yaml" || it == "yml");
    yaml || name.contains(['/', '\\']) || path.is_file()
}

pub(super) fn run(name: &str, as_json: bool) -> anyhow::Result<u8> {
    if Path::new(name).is_dir() {
        let message = format!("{} is a folder; one file is explained", shown(name));
        return Err(Failure::usage(message).into());
    }
    let files = flows::read(&[PathBuf::from(name)])?;
    let file = files
        .first()
        .ok_or_else(|| Failure::usage("no file was read"))?;
    let fix = format!("semel check {}", shown(name));
    let Some(flow) = &file.flow else {
        let message = format!("{} cannot be read as a flow", file.name());
        return Err(Failure::failed(message).fix(fix).into());
    };
    if file.has_errors() {
        say!("semel: warning: {} has errors: {fix}", file.name());
    }
    let said = explain(flow);
    if as_json {
        let steps: Vec<_> = said.steps.iter().map(document).collect();
        Context::print_json(&json!({
            "flow": flow.name.it,
            "file": file.path,
            "description": flow.description,
            "begins": said.begins,
            "meanwhile": said.meanwhile,
            "steps": steps,
            "ends": said.ends,
        }))?;
        return Ok(0);
    }
    let paint = Paint::stdout();
    let title = format!("{} ({})", shown(&flow.name.it), file.name());
    print_line(&paint.on(Tone::Strong, &title));
    if let Some(description) = &flow.description {
        wrapped(0, description);
    }
    print_line("");
    said.begins.iter().for_each(|line| wrapped(0, line));
    print_line("");
    said.meanwhile.iter().for_each(|line| wrapped(0, line));
    let mut failing = false;
    for step in &said.steps {
        print_line("");
        if step.on_failure && !failing {
            failing = true;
            print_line(&paint.on(Tone::Dim, "When a step has finally failed:"));
        }
        print_step(paint, step);
    }
    for line in &said.ends {
        print_line("");
        wrapped(0, line);
    }
    Ok(0)
}

fn document(step: &Explained) -> Value {
    json!({
        "step": step.step,
        "depth": step.depth,
        "on_failure": step.on_failure,
        "class": step.class.name(),
        "does": step.does,
        "if_it_dies": step.dies,
        "if_it_fails": step.fails,
        "undo": step.undo,
    })
}

fn print_step(paint: Paint, step: &Explained) {
    let indent = step.depth * 4;
    let class = step.class.name();
    let id = paint.on(Tone::Strong, &shown(&step.step));
    let class = paint.on(tone_of(class), class);
    print_line(&format!("{:indent$}{id}  {class}", ""));
    wrapped(indent + 2, &step.does);
    wrapped(
        indent + 2,
        &format!("If it dies here: {}", lowered(&step.dies)),
    );
    if let Some(fails) = &step.fails {
        wrapped(indent + 2, &format!("If it fails: {}", lowered(fails)));
    }
    if let Some(undo) = &step.undo {
        wrapped(indent + 2, undo);
    }
}

/// The sentence as it goes on after a colon.
fn lowered(sentence: &str) -> String {
    let mut signs = sentence.chars();
    let first = signs.next().map(|c| c.to_lowercase().to_string());
    format!("{}{}", first.unwrap_or_default(), signs.as_str())
}

/// The words of a text; what stands between backticks or in `${{ }}` is one.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut code, mut braces) = (0, false, 0_usize);
    for (at, sign) in text.char_indices() {
        match sign {
            '`' => code = !code,
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            ' ' if !code && braces == 0 => {
                words.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    words.push(&text[start..]);
    words.retain(|word| !word.is_empty());
    words
}

/// Prints prose in lines that can be read; further lines are set in.
fn wrapped(indent: usize, text: &str) {
    let text = shown(text);
    let mut line = String::new();
    let mut hang = 0;
    for word in words(&text) {
        let longer = indent + hang + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && longer > WIDTH {
            print_line(&format!("{:1$}{line}", "", indent + hang));
            (line, hang) = (String::new(), 2);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    print_line(&format!("{:1$}{line}", "", indent + hang));
}
