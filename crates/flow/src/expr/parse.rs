//! Text to tree. The only place that knows the `cel` crate, of which only the parser is used.
//!
//! Owns the limits on size and nesting, and turns what the parser says into messages for people.
//! The parser recurses at brackets and at `? :`; [`MAX_DEPTH`] levels of both and the longest chain
//! that fits [`MAX_EXPR_BYTES`] need some 1.5 MiB of stack in a debug build.

mod call;
mod chain;
mod fault;
mod literal;
mod lower;

use std::sync::LazyLock;

use cel::Env;

use super::ast::Ast;
use super::scan::Brackets;
use super::{MAX_DEPTH, MAX_EXPR_BYTES};
use crate::diagnostic::{Diagnostic, Span};
use lower::Lowering;

/// Without macros: `has`, `all` and the like stay calls, as they were written.
static GRAMMAR: LazyLock<Env> = LazyLock::new(|| Env::default().with_optional_support(false));

/// Where the parts of an expression stand in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    span: Span,
    /// Whether the file has the same bytes there as the expression.
    exact: bool,
}

impl Place {
    /// The file's part `span` says `source`. If it is as long, it is taken to say so literally.
    pub(super) fn of(source: &str, span: Span) -> Place {
        let exact = span.end.checked_sub(span.start) == Some(source.len());
        Place { span, exact }
    }

    /// Part of the expression, in the file.
    pub(super) fn span(self, start: usize, end: usize) -> Span {
        if !self.exact {
            return self.span;
        }
        Span {
            start: self.span.start + start,
            end: self.span.start + end,
        }
    }
}

/// Parses an expression that stands at `place`.
pub(super) fn parse(source: &str, place: Place) -> Result<Ast, Diagnostic> {
    if source.len() > MAX_EXPR_BYTES {
        return Err(fault::too_long(source.len(), place));
    }
    if source.trim().is_empty() {
        return Err(fault::empty(place));
    }
    let brackets = Brackets::of(source, MAX_DEPTH)
        .map_err(|deep| fault::too_deep(place, (deep.at, deep.at + 1)))?;
    let (tree, info) = GRAMMAR
        .parser()
        .enable_ident_escape_syntax(true)
        .max_recursion_depth(RECURSION)
        .error_recovery_limit(1)
        .parse_with_source_info(source)
        .map_err(|errors| fault::unreadable(source, place, &errors.errors))?;
    let lowering = Lowering {
        source,
        place,
        brackets,
        info,
    };
    lowering.expression(&tree)
}

/// How deep the parser may go: the brackets that were counted, and some choices (`? :`) in them.
#[allow(clippy::cast_possible_truncation, reason = "64")]
const RECURSION: u16 = MAX_DEPTH as u16 + 16;
