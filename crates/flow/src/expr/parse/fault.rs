//! What can be wrong with an expression, in words for people.

use cel::parser::ParseError;

use super::Place;
use crate::diagnostic::{Diagnostic, Level, Span};
use crate::expr::functions;
use crate::expr::{MAX_DEPTH, MAX_EXPR_BYTES};
use crate::near::nearest;

pub(super) fn error(code: &'static str, title: String, at: Span, label: String) -> Diagnostic {
    Diagnostic {
        code,
        level: Level::Error,
        title,
        at,
        label,
        also: Vec::new(),
        help: Vec::new(),
    }
}

fn helped(mut diagnostic: Diagnostic, help: impl Into<String>) -> Diagnostic {
    diagnostic.help.push(help.into());
    diagnostic
}

pub(super) fn syntax(at: Span, label: impl Into<String>) -> Diagnostic {
    error(
        "X001",
        "expression cannot be read".to_owned(),
        at,
        label.into(),
    )
}

pub(super) fn syntax_helped(
    at: Span,
    label: impl Into<String>,
    help: impl Into<String>,
) -> Diagnostic {
    helped(syntax(at, label), help)
}

pub(super) fn empty(place: Place) -> Diagnostic {
    syntax(place.span, "there is no expression here")
}

pub(super) fn too_long(bytes: usize, place: Place) -> Diagnostic {
    let title = format!("expression has {bytes} bytes; the limit is {MAX_EXPR_BYTES}");
    let label = "too long to be read, by people as well".to_owned();
    helped(
        error("X002", title, place.span, label),
        "name parts of it under `let:`",
    )
}

pub(super) fn too_deep(place: Place, at: usize) -> Diagnostic {
    let title = format!("expression is nested deeper than {MAX_DEPTH}");
    let label = "one level too many".to_owned();
    helped(
        error("X002", title, place.span(at, at + 1), label),
        "name parts of it under `let:`",
    )
}

/// What the parser could not read: its first complaint.
pub(super) fn unreadable(source: &str, place: Place, errors: &[ParseError]) -> Diagnostic {
    let first = errors.iter().find(|error| error.pos.0 > 0);
    let Some(first) = first else {
        // Only its own limit on recursion has no place.
        return too_deep(place, 0);
    };
    let at = offset(source, first.pos);
    if let Some((start, sign, why, instead)) = slip(source, at) {
        let span = place.span(start, start + sign.len());
        return syntax_helped(span, format!("`{sign}` is {why}"), instead);
    }
    if at >= source.trim_end().len() {
        let end = source.trim_end().len();
        return syntax(
            place.span(end.saturating_sub(1), end),
            "the expression ends too early",
        );
    }
    let word = word_at(source, at);
    let span = place.span(at, at + word.len());
    match first.msg.as_str() {
        message if message.contains("string literal") => {
            syntax(span, "this text cannot be read; check its escapes")
        }
        message if message.contains("int literal") => syntax(
            span,
            "out of range; whole numbers go up to 9223372036854775807",
        ),
        message if message.contains("reserved identifier") => {
            syntax(span, format!("`{word}` is reserved and cannot be a name"))
        }
        _ if word.starts_with(['"', '\'']) => syntax(span, "text that does not end"),
        _ => syntax(span, format!("`{word}` is not expected here")),
    }
}

/// What people write who come from elsewhere: its place, why not, what instead.
fn slip(source: &str, at: usize) -> Option<(usize, &'static str, &'static str, &'static str)> {
    const SLIPS: [(&str, &str, &str); 6] = [
        (
            "${{",
            "not needed inside an expression",
            "leave out `${{ }}`",
        ),
        ("=", "not an operator", "write `==` to compare"),
        ("&", "not an operator", "write `&&`"),
        ("|", "not an operator", "write `||`"),
        ("and ", "not an operator", "write `&&`"),
        ("or ", "not an operator", "write `||`"),
    ];
    // A `not` is taken for a name, and the parser trips over what follows it.
    if source[..at].ends_with("not ") {
        let start = at - "not ".len();
        return Some((start, "not", "not an operator", "write `!`"));
    }
    let rest = &source[at..];
    if ["==", "&&", "||"].iter().any(|sign| rest.starts_with(sign)) {
        return None;
    }
    SLIPS
        .iter()
        .find(|(sign, ..)| rest.starts_with(sign))
        .map(|(sign, why, instead)| (at, sign.trim(), *why, *instead))
}

/// The parser counts lines and characters from 1.
fn offset(source: &str, (line, column): (isize, isize)) -> usize {
    let line = usize::try_from(line - 1).unwrap_or(0);
    let column = usize::try_from(column - 1).unwrap_or(0);
    let start: usize = source.split_inclusive('\n').take(line).map(str::len).sum();
    source[start..]
        .char_indices()
        .nth(column)
        .map_or(source.len(), |(at, _)| start + at)
}

/// The word, the text or the single sign at that place.
fn word_at(source: &str, at: usize) -> &str {
    let rest = &source[at..];
    if rest.starts_with(['"', '\'']) {
        return rest.lines().next().unwrap_or(rest);
    }
    let length = rest
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
        .count();
    let first = rest.chars().next().map_or(0, char::len_utf8);
    &rest[..length.max(first)]
}

pub(super) fn unknown_function(name: &str, at: Span) -> Diagnostic {
    let title = format!("there is no function `{name}`");
    let unknown = error("X003", title, at, "not known here".to_owned());
    let near = nearest(name, functions::names());
    let near = near.or_else(|| functions::known_elsewhere(name));
    match near {
        Some(near) => helped(unknown, format!("did you mean `{near}`?")),
        None => helped(unknown, "docs/expressions.md lists them all"),
    }
}

pub(super) fn counted(name: &str, usage: &str, given: usize, at: Span) -> Diagnostic {
    let values = if given == 1 {
        "1 value"
    } else {
        &format!("{given} values")
    };
    let title = format!("`{name}` is given {values}");
    helped(
        error("X004", title, at, "not what it takes".to_owned()),
        format!("write {usage}"),
    )
}

pub(super) fn bad_pattern(at: Span, reason: String) -> Diagnostic {
    error(
        "X006",
        "pattern of `matches` cannot be used".to_owned(),
        at,
        reason,
    )
}
