//! Messages about a flow for people and for programs.
//!
//! The only place that turns a [`Diagnostic`] into text. What comes from the file is shown with every
//! sign that could deceive a terminal or a reader escaped, and secrets written in clear are covered.

mod shown;

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Group, Level as Look, Renderer, Snippet};
use serde_json::{Value, json};

use crate::codes::F013;
use crate::diagnostic::{Diagnostic, Level, Span};
use shown::Shown;

pub use shown::escaped;

/// The most messages that are drawn; the rest is counted.
const MAX_DRAWN: usize = 100;

/// How messages are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Style<'a> {
    /// The file's name, as it is shown.
    pub file: &'a str,
    /// Whether escape codes for colours may be used.
    pub colours: bool,
    /// How many columns a line may have; left out, 140.
    pub width: Option<usize>,
}

/// Draws the messages, each with the lines it is about. Empty if there are none.
#[must_use]
pub fn render(source: &str, diagnostics: &[Diagnostic], style: Style<'_>) -> String {
    let covered = cover(source, diagnostics);
    let shown = Shown::of(&covered);
    let file = escaped(style.file);
    let renderer = if style.colours {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let renderer = renderer.term_width(style.width.unwrap_or(140));
    let mut text = String::new();
    for diagnostic in diagnostics.iter().take(MAX_DRAWN) {
        let group = draw(&shown, diagnostic, &file);
        let _ = writeln!(text, "{}\n", renderer.render(&[group]));
    }
    if diagnostics.len() > MAX_DRAWN {
        let _ = writeln!(text, "… and {} more\n", diagnostics.len() - MAX_DRAWN);
    }
    text
}

fn draw<'a>(shown: &'a Shown, diagnostic: &'a Diagnostic, file: &'a str) -> Group<'a> {
    let look = match diagnostic.level {
        Level::Error => Look::ERROR,
        Level::Warning => Look::WARNING,
        Level::Note => Look::NOTE,
    };
    let places = diagnostic.also.iter().map(|(at, _)| *at);
    let all = places.fold(diagnostic.at, Span::to);
    let cut = shown.lines(all);
    let range = |at: Span| {
        let at = shown.place(at);
        at.start - cut.start..at.end - cut.start
    };
    let mut snippet = Snippet::source(&shown.text()[cut.start..cut.end])
        .path(file)
        .line_start(shown.line_of(cut.start))
        .annotation(
            AnnotationKind::Primary
                .span(range(diagnostic.at))
                .label(escaped(&diagnostic.label)),
        );
    for (at, label) in &diagnostic.also {
        let place = AnnotationKind::Context.span(range(*at));
        snippet = snippet.annotation(place.label(escaped(label)));
    }
    let title = look
        .primary_title(escaped(&diagnostic.title))
        .id(diagnostic.code);
    let help = diagnostic
        .help
        .iter()
        .map(|help| Look::HELP.message(escaped(help)));
    title.element(snippet).elements(help)
}

/// One line that counts: `2 errors, 1 warning`. `no problems` if there are none.
#[must_use]
pub fn summary(diagnostics: &[Diagnostic]) -> String {
    let count = |level| diagnostics.iter().filter(|it| it.level == level).count();
    let counts = [Level::Error, Level::Warning, Level::Note].map(|level| (count(level), level));
    let parts: Vec<_> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, level)| {
            let end = if count == 1 { "" } else { "s" };
            format!("{count} {}{end}", level.name())
        })
        .collect();
    if parts.is_empty() {
        return "no problems".to_owned();
    }
    parts.join(", ")
}

/// The messages for programs: code, level, place by byte, line and column.
#[must_use]
pub fn to_json(source: &str, diagnostics: &[Diagnostic], file: &str) -> Value {
    let place = |at: Span| {
        let (line, column) = line_column(source, at.start);
        let (end_line, end_column) = line_column(source, at.end);
        json!({
            "file": file,
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
            "start": at.start,
            "end": at.end,
        })
    };
    let found = diagnostics.iter().map(|diagnostic| {
        let also = diagnostic.also.iter().map(|(at, label)| {
            let mut also = place(*at);
            also["label"] = json!(label);
            also
        });
        json!({
            "code": diagnostic.code,
            "level": diagnostic.level.name(),
            "title": diagnostic.title,
            "label": diagnostic.label,
            "at": place(diagnostic.at),
            "also": also.collect::<Vec<_>>(),
            "help": diagnostic.help,
        })
    });
    found.collect()
}

/// The line and the column of an offset, in characters, both from 1.
#[must_use]
pub fn line_column(source: &str, offset: usize) -> (usize, usize) {
    let before = &source[..source.floor_char_boundary(offset)];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let mark = usize::from(start == 0 && before.starts_with('\u{feff}'));
    (line, before[start..].chars().count() + 1 - mark)
}

/// The source with every secret that stands in clear replaced by stars of the same length.
fn cover(source: &str, diagnostics: &[Diagnostic]) -> String {
    let mut covered = source.to_owned();
    for diagnostic in diagnostics.iter().filter(|it| it.code == F013) {
        let Span { start, end } = diagnostic.at;
        if let Some(secret) = source.get(start..end) {
            let star = |byte| if byte == b'\n' { '\n' } else { '*' };
            let stars: String = secret.bytes().map(star).collect();
            covered.replace_range(start..end, &stars);
        }
    }
    covered
}

#[cfg(test)]
mod tests;
