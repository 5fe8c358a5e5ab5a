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

impl Span {
    /// Whether they have a byte in common.
    #[must_use]
    pub fn meets(self, other: Span) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// The smallest part that holds both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

impl Diagnostic {
    /// Something that keeps the flow from being deployed.
    #[must_use]
    pub fn error(
        code: &'static str,
        at: Span,
        title: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            code,
            level: Level::Error,
            title: title.into(),
            at,
            label: label.into(),
            also: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Something that is likely not what was meant.
    #[must_use]
    pub fn warning(
        code: &'static str,
        at: Span,
        title: impl Into<String>,
        label: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            level: Level::Warning,
            ..Diagnostic::error(code, at, title, label)
        }
    }

    /// Points at another place that belongs to it.
    #[must_use]
    pub fn also(mut self, at: Span, label: impl Into<String>) -> Diagnostic {
        self.also.push((at, label.into()));
        self
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help.push(help.into());
        self
    }
}

impl Level {
    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}
