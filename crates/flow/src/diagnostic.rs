//! What can be wrong with a flow file, as data: code, place, reason, way out.
//!
//! Rendering (text with carets, JSON) is done once, from here; nobody else composes messages for people.

/// A part of the source: byte offsets, end exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value with the place it was written at.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub it: T,
    /// Where it stands.
    pub span: Span,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The flow cannot be deployed.
    Error,
    /// It can, but is likely not what was meant.
    Warning,
    /// Nothing is wrong; worth knowing.
    Note,
}

/// One message about a flow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The stable code, such as `K001`; each has a page.
    pub code: &'static str,
    /// How bad it is.
    pub level: Level,
    /// One line, lower case, without a full stop.
    pub title: String,
    /// Where, and what to say under the caret.
    pub at: Span,
    /// Why it matters, beside the caret.
    pub label: String,
    /// Other places that belong to it, such as the way a value took into a key.
    pub also: Vec<(Span, String)>,
    /// What to write instead.
    pub help: Vec<String>,
}
