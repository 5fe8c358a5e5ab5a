//! Expressions: CEL text, parsed once, evaluated over [`Value`]s by our own evaluator.
//!
//! Owns parsing, the functions, fuel and depth limits, and templates (`text ${{ expr }} text`).
//! Evaluation has no side effects and always ends. Where names come from is the caller's business
//! ([`Names`]).
//!
//! Read on in this order: [`ast`] is what an expression is, `parse` makes it, `eval` walks it with
//! `functions` beside it, `template` puts expressions into text, keys and trees.

pub mod ast;
mod eval;
mod fault;
mod fuel;
mod functions;
mod number;
mod parse;
mod scan;
mod template;
mod tree;

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Span};
use crate::value::Value;
use ast::Ast;
use eval::Evaluation;
use parse::Place;

pub use fuel::{MAX_ITEMS, MAX_TEXT_BYTES};
pub use functions::{Function, Pattern};
pub use template::{KeyFault, Part, Template};

/// The longest expression, in bytes.
pub const MAX_EXPR_BYTES: usize = 4096;
/// How deep an expression may be nested.
pub const MAX_DEPTH: usize = 64;
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

    /// What a name stands for that is itself an expression, as the flow's `let` names are; asked
    /// when [`Names::get`] has none.
    fn defined(&self, _name: &str) -> Option<&Expr> {
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
    ast: Arc<Ast>,
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

impl Expr {
    /// Parses what the file has at `span`. Where the span is as long as the source, messages point
    /// at the part that is wrong, else at the whole.
    ///
    /// # Errors
    /// [`Diagnostic`] with the code `X001` if it cannot be read, `X002` if it is too long or nested
    /// too deeply, `X003` for an unknown function, `X004` for a wrong number of arguments and `X006`
    /// for a pattern that cannot be used.
    pub fn parse(source: &str, span: Span) -> Result<Expr, Diagnostic> {
        Ok(Expr {
            ast: Arc::new(parse::parse(source, Place::of(source, span))?),
            source: source.into(),
            span,
            volatile: false,
        })
    }

    /// The expression as a tree.
    #[must_use]
    pub fn ast(&self) -> &Ast {
        &self.ast
    }

    /// A part of it as an expression of its own.
    pub(crate) fn part(&self, part: &Ast) -> Expr {
        Expr {
            ast: Arc::new(part.clone()),
            ..self.clone()
        }
    }

    /// Its value.
    ///
    /// # Errors
    /// [`EvalError`] if something is missing, does not fit, or takes too much.
    pub fn eval(&self, names: &dyn Names) -> Result<Value, EvalError> {
        Evaluation::new(names)
            .run(&self.ast)
            .map_err(|fault| fault.into_error(self.span))
    }

    /// Its value as a condition.
    ///
    /// # Errors
    /// [`EvalError`], also if it is neither true nor false.
    pub fn holds(&self, names: &dyn Names) -> Result<bool, EvalError> {
        match self.eval(names)? {
            Value::Bool(bool) => Ok(bool),
            other => Err(EvalError {
                message: format!(
                    "a condition must be true or false; `{}` is {}",
                    self.source,
                    other.kind()
                ),
                span: self.span,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
