//! Expressions: CEL text, parsed once, evaluated over [`Value`]s by our own evaluator.
//!
//! Owns parsing, the functions, fuel and depth limits, and templates (`text ${{ expr }} text`).
//! Evaluation has no side effects and always ends. Where names come from is the caller's business
//! ([`Names`]).

use std::sync::Arc;

use semel_ledger::{Key, KeyError};

use crate::diagnostic::Span;
use crate::value::Value;

/// The longest expression, in bytes.
pub const MAX_EXPR_BYTES: usize = 4096;
/// How many steps one evaluation may take.
pub const FUEL: u64 = 1_000_000;

/// Where an expression's names and its few impure functions come from.
pub trait Names {
    /// The value of a root name, such as `event`; `None` if there is no such name here.
    fn get(&self, name: &str) -> Option<Value>;

    /// The member of a root name, where making the whole root would be wasteful, such as
    /// `steps.invoice`; `None` to have it taken from [`Names::get`].
    fn member(&self, _root: &str, _member: &str) -> Option<Value> {
        None
    }

    /// `now()`, fixed for one evaluation.
    fn now(&self) -> semel_ledger::Time;

    /// `uuid()`: 128 fresh random bits.
    fn random(&self) -> [u8; 16];
}

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// As it was written.
    pub source: Arc<str>,
    /// Where it stands in the file.
    pub span: Span,
    /// Depends on the moment or the run: left out of fingerprints. Set by the check of taint.
    pub volatile: bool,
}

/// Text with expressions in it.
#[derive(Clone, Debug)]
pub struct Template {
    /// Its parts in order.
    pub parts: Vec<Part>,
    /// Where it stands in the file.
    pub span: Span,
}

/// A part of a template.
#[derive(Clone, Debug)]
pub enum Part {
    /// Text as it is.
    Text(Arc<str>),
    /// `${{ … }}`
    Expr(Expr),
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// What is wrong, with the names and kinds of values involved, never a secret's value.
    pub message: String,
    /// Where, within the file.
    pub span: Span,
}

/// Why a template gives no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// A part has no value.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A part has a value that cannot stand in a key.
    #[error("key part `{part}` is {kind}; a key is made of text and whole numbers")]
    Kind {
        /// The expression.
        part: String,
        /// What its value is.
        kind: &'static str,
    },
    /// The whole is not a key.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl Expr {
    pub(crate) fn parse(source: &str, span: Span) -> Result<Expr, crate::Diagnostic> {
        Ok(Expr {
            source: source.into(),
            span,
            volatile: false,
        })
    }
}

impl Template {
    pub(crate) fn parse(
        text: &str,
        span: Span,
        _exact: bool,
    ) -> Result<Template, crate::Diagnostic> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${{") {
            let (inner, next) = after.split_once("}}").unwrap_or((after, ""));
            if !before.is_empty() {
                parts.push(Part::Text(before.into()));
            }
            parts.push(Part::Expr(Expr::parse(inner.trim(), span)?));
            rest = next;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.into()));
        }
        Ok(Template { parts, span })
    }
}
