//! A JSON value at a terminal.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::term::{Paint, Tone, print_line, shown, shown_lines};

/// A value, a line for each member, with every digit of its numbers.
pub(super) fn tree(text: &str, depth: usize) {
    let pad = " ".repeat(2 + 2 * depth);
    let members: Vec<(String, Box<RawValue>)> = match text.as_bytes().first() {
        Some(b'{') => {
            let members: BTreeMap<_, _> = serde_json::from_str(text).unwrap_or_default();
            members.into_iter().collect()
        }
        Some(b'[') => {
            let items: Vec<_> = serde_json::from_str(text).unwrap_or_default();
            let numbered = (1..).zip(items);
            numbered.map(|(n, item)| (format!("{n}."), item)).collect()
        }
        _ => return print_line(&format!("{pad}{}", scalar(text))),
    };
    let width = members.iter().map(|(name, _)| shown(name).chars().count());
    let width = width.max().unwrap_or_default();
    for (name, value) in &members {
        let (name, value) = (shown(name), value.get());
        if value.starts_with(['{', '[']) && value.len() > 2 {
            let name = Paint::stdout().on(Tone::Dim, &name);
            print_line(&format!("{pad}{name}"));
            tree(value, depth + 1);
        } else {
            let name = Paint::stdout().on(Tone::Dim, &format!("{name:<width$}"));
            let under = format!("\n{pad}{:width$}  ", "");
            let value = scalar(value).replace('\n', &under);
            print_line(&format!("{pad}{name}  {value}"));
        }
    }
}

fn scalar(text: &str) -> String {
    match serde_json::from_str::<String>(text) {
        Ok(text) => shown_lines(&text),
        Err(_) => shown(text).into_owned(),
    }
}
