//! YAML text as a tree of nodes, each with its place in the source.
//!
//! Owns the YAML side of a file: what is a number, what is text, which key is there twice, and how
//! large a file may be. What the nodes mean is the lowering's business.
//!
//! The event parser under serde-saphyr is used without its serde part: only events carry byte
//! offsets and the style of every scalar, and lowering by hand needs both.
//!
//! Anchors and aliases are read, because a header that every step shares is better written once. They are paid
//! for from the same budget as nodes that are written out, so a bomb ends at its first large alias.
//!
//! Plain scalars follow YAML 1.2, narrowed to what JSON can say: `on`, `yes` and `off` are text; a
//! number is what JSON calls a number, so `01234` and `1_000` stay text and nothing is rounded.

mod build;
mod fault;

use crate::diagnostic::{Diagnostic, Span, Spanned};

/// The longest file, in bytes.
pub const MAX_FILE_BYTES: usize = 256 * 1024;
/// The most nodes of a file, aliases counted as if they were written out.
pub const MAX_NODES: usize = 20_000;
/// The deepest nesting of a file, aliases counted as if they were written out.
pub const MAX_DEPTH: usize = 64;

/// A part of the file with its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Where it stands; of quoted text, what stands between the quotes.
    pub span: Span,
    /// The source at `span` is the value, byte for byte.
    pub exact: bool,
    /// What it is.
    pub kind: Kind,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    /// In JSON spelling, as it was written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Spanned<String>, Node)>),
}

impl Node {
    /// What it is, in words for people.
    pub(crate) fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "empty",
            Kind::Bool(_) => "a bool",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map of fields",
        }
    }

    /// A scalar as it was written, whatever YAML takes it for.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.kind {
            Kind::Bool(true) => Some("true"),
            Kind::Bool(false) => Some("false"),
            Kind::Number(text) | Kind::Text(text) => Some(text),
            Kind::Null | Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// The value of a field, if this is a map that has it.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        let Kind::Map(entries) = &self.kind else {
            return None;
        };
        let found = entries.iter().find(|(key, _)| key.it == name);
        found.map(|(_, node)| node)
    }
}

/// Reads one document. Without a node, at least one diagnostic says why.
pub(crate) fn parse(source: &str) -> (Option<Node>, Vec<Diagnostic>) {
    if source.len() > MAX_FILE_BYTES {
        return (None, vec![fault::too_long(source)]);
    }
    let mut builder = build::Builder::new(source);
    let node = match builder.document() {
        Ok(node) => Some(node),
        Err(fault) => {
            builder.found.push(*fault);
            None
        }
    };
    (node, builder.found)
}

#[cfg(test)]
mod tests;
