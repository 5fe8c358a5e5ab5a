//! What can be wrong with an expression, in words for people.

use cel::parser::ParseError;

use super::Place;
use crate::codes::{X001, X002, X003, X004, X006};
use crate::diagnostic::{Diagnostic, Span};
use crate::expr::functions;
use crate::expr::scan::{Token, token};
use crate::expr::{MAX_DEPTH, MAX_EXPR_BYTES};
use crate::near::nearest;

const NAME_PARTS: &str = "name parts of it under `let:`";

pub(super) fn syntax(at: Span, label: impl Into<String>) -> Diagnostic {
    Diagnostic::error(X001, at, "expression cannot be read", label)
}

pub(super) fn empty(place: Place) -> Diagnostic {
    syntax(place.span, "there is no expression here")
}

pub(super) fn too_long(bytes: usize, place: Place) -> Diagnostic {
    let title = format!("expression has {bytes} bytes; the limit is {MAX_EXPR_BYTES}");
    let label = "too long to be read, by people as well";
    Diagnostic::error(X002, place.span, title, label).help(NAME_PARTS)
}

/// Too deep at a bracket or another sign, whose offsets are given.
pub(super) fn too_deep(place: Place, sign: (usize, usize)) -> Diagnostic {
    let title = format!("expression is nested deeper than {MAX_DEPTH}");
    let span = place.span(sign.0, sign.1);
    Diagnostic::error(X002, span, title, "one level too many").help(NAME_PARTS)
}

/// What the parser could not read: its first complaint.
pub(super) fn unreadable(source: &str, place: Place, errors: &[ParseError]) -> Diagnostic {
    let Some(first) = errors.first() else {
        return syntax(place.span, "not an expression");
    };
    let at = offset(source, first.pos);
    if first.msg.contains("Recursion limit") {
        return too_deep(place, sign_at(source, at));
    }
    if let Some((start, sign, why, instead)) = slip(source, at) {
        let span = place.span(start, start + sign.len());
        return syntax(span, format!("`{sign}` is {why}")).help(instead);
    }
    if at >= source.trim_end().len() {
        let (start, end) = sign_at(source.trim_end(), source.len());
        return syntax(place.span(start, end), "the expression ends too early");
    }
    let word = word_at(source, at);
    let span = place.span(at, at + word.len());
    match first.msg.as_str() {
        message if message.contains("string literal") => unreadable_text(source, at, place),
        message if message.contains("int literal") => syntax(
            span,
            "out of range; whole numbers go up to 9223372036854775807",
        ),
        message if message.contains("reserved identifier") => {
            syntax(span, format!("`{word}` is reserved and cannot be a name"))
        }
        _ if word.starts_with(['"', '\'']) => unreadable_text(source, at, place),
        _ => syntax(span, format!("`{word}` is not expected here")),
    }
}

/// Text that does not end, or that ends and so must have a wrong escape.
fn unreadable_text(source: &str, at: usize, place: Place) -> Diagnostic {
    match token(source.as_bytes(), at) {
        (Token::Unclosed, end) => syntax(place.span(at, end), "text that does not end"),
        (_, end) => syntax(place.span(at, end), "text with an escape that is not known")
            .help("write `\\\\` for a backslash, or `r` before the text to have no escapes"),
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

/// The offsets of the character at that place, or of the last one.
fn sign_at(source: &str, at: usize) -> (usize, usize) {
    let start = source.floor_char_boundary(at.min(source.len().saturating_sub(1)));
    (start, source.ceil_char_boundary(start + 1))
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
    let near = functions::known_elsewhere(name).or_else(|| nearest(name, functions::names()));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "docs/expressions.md lists them all".to_owned(),
    };
    Diagnostic::error(X003, at, title, "not known here").help(help)
}

/// A function that is given the wrong number of values.
pub(super) fn counted(name: &str, usage: &str, given: usize, at: Span) -> Diagnostic {
    let s = if given == 1 { "" } else { "s" };
    let title = format!("`{name}` is given {given} value{s}");
    Diagnostic::error(X004, at, title, "not what it takes").help(format!("write {usage}"))
}

pub(super) fn bad_pattern(at: Span, reason: String) -> Diagnostic {
    Diagnostic::error(X006, at, "pattern of `matches` cannot be used", reason)
}
