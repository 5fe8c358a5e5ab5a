//! What can be wrong before anything means something.

use granit_parser::{ErrorKind, ScanError, Tag};

use super::{MAX_DEPTH, MAX_FILE_BYTES, MAX_NODES, Node};
use crate::codes::{F001, F002};
use crate::diagnostic::{Diagnostic, Span, Spanned};

pub(super) fn too_long(source: &str) -> Diagnostic {
    let title = format!(
        "the file has {} bytes; the limit is {MAX_FILE_BYTES}",
        source.len()
    );
    let label = "a flow is read by people; keep data out of it";
    Diagnostic::error(F001, Span { start: 0, end: 0 }, title, label)
        .help("split it into several flows and let one `call` or `emit` to the others")
}

pub(super) fn empty() -> Box<Diagnostic> {
    let at = Span { start: 0, end: 0 };
    let found = Diagnostic::error(F001, at, "the file is empty", "a flow is due here");
    Box::new(found.help("the smallest flow has `name`, `on` and `steps`"))
}

pub(super) fn second_document(at: Span) -> Box<Diagnostic> {
    let title = "the file has two documents";
    let found = Diagnostic::error(F001, at, title, "a second one begins here");
    Box::new(found.help("write one flow a file, and leave out `---`"))
}

pub(super) fn too_deep(at: Span) -> Box<Diagnostic> {
    let title = format!("the file is nested over {MAX_DEPTH} deep");
    let found = Diagnostic::error(F001, at, title, "this is too deep");
    Box::new(found.help("move inner steps to a flow of their own and `call` it"))
}

pub(super) fn too_many_nodes(at: Span, nodes: usize) -> Box<Diagnostic> {
    let title =
        format!("the file comes to {nodes} nodes with its aliases; the limit is {MAX_NODES}");
    let found = Diagnostic::error(F001, at, title, "the budget ends here");
    Box::new(found.help("an alias counts as much as what it stands for; use fewer"))
}

pub(super) fn inside_itself(at: Span) -> Box<Diagnostic> {
    let title = "an alias stands inside what it stands for";
    Box::new(Diagnostic::error(F001, at, title, "this would never end"))
}

pub(super) fn twice(name: &Spanned<String>, first: Span) -> Diagnostic {
    let title = format!("`{}` is there twice", name.it);
    Diagnostic::error(F002, name.span, title, "here again")
        .also(first, "first here")
        .help("keep one of them; YAML would silently drop the other")
}

pub(super) fn not_a_name(node: &Node) -> Box<Diagnostic> {
    let title = format!("a field's name is {}", node.describe());
    let found = Diagnostic::error(F001, node.span, title, "a name is due before the `:`");
    Box::new(found.help("text with `${{ }}`, `{` or `[` at its start must be quoted"))
}

pub(super) fn tag(source: &str, tag: &Tag, start: usize) -> Box<Diagnostic> {
    let written = tag.original();
    let end = (start + written.len()).min(source.len());
    let title = format!("`{written}` is read by YAML as a tag");
    let at = Span { start, end };
    let found = Diagnostic::error(F001, at, title, "tags have no meaning in a flow");
    let meant = source[start..line_at(source, start).end].trim_end();
    let quote = if meant.contains('"') { '\'' } else { '"' };
    Box::new(found.help(format!(
        "an expression that begins with `!` must be quoted: {quote}{meant}{quote}"
    )))
}

/// What the parser could not read, with the advice that usually helps.
pub(super) fn syntax(source: &str, error: &ScanError) -> Box<Diagnostic> {
    let offset = error.marker().byte_offset().unwrap_or(0);
    let offset = source.floor_char_boundary(offset);
    if let Some(at) = tab_near(source, offset) {
        let title = "a tab is used for indentation";
        let found = Diagnostic::error(F001, at, title, "YAML allows only spaces here");
        return Box::new(found.help("replace the tab by two spaces"));
    }
    if *error.kind() == ErrorKind::RecursionLimitExceeded {
        return too_deep(around(source, offset));
    }
    let title = format!("the file is not YAML: {}", error.kind());
    let found = Diagnostic::error(F001, around(source, offset), title, "reading stops here");
    let line = line_at(source, offset);
    let braces = source[line.start..offset].trim_end().ends_with('$');
    let found = match error.kind() {
        _ if braces => found.help("inside `{ }` and `[ ]`, quote text that has `${{ }}` in it"),
        ErrorKind::MappingValueNotAllowed => found
            .help("text that has `: ` in it must be quoted, and a new field needs its own line"),
        ErrorKind::UnknownAnchor => {
            found.help("text that begins with `*` or `&` must be quoted, else it is an alias")
        }
        ErrorKind::UnexpectedCharacter { .. } => {
            found.help("text that begins with `@`, `%` or a backtick must be quoted")
        }
        _ => found,
    };
    Box::new(found)
}

/// The tab that the parser stumbled over: in the indentation of its line or of the next one.
fn tab_near(source: &str, offset: usize) -> Option<Span> {
    let line = line_at(source, offset);
    let next = line_at(source, (line.end + 1).min(source.len()));
    [line, next].into_iter().find_map(|line| {
        let text = &source[line.start..line.end];
        let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
        let tab = text[..indent].find('\t')?;
        let start = line.start + tab;
        Some(Span {
            start,
            end: start + 1,
        })
    })
}

/// The line that holds the offset, without its end.
fn line_at(source: &str, offset: usize) -> Span {
    let start = source[..offset].rfind('\n').map_or(0, |at| at + 1);
    let end = source[offset..].find('\n');
    Span {
        start,
        end: end.map_or(source.len(), |length| offset + length),
    }
}

/// The character at the offset, so that there is something to point at.
fn around(source: &str, offset: usize) -> Span {
    let next = source[offset..].chars().next();
    let length = next.filter(|c| *c != '\n').map_or(0, char::len_utf8);
    Span {
        start: offset,
        end: offset + length,
    }
}
