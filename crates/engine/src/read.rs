//! Reading an answer: what the file's expressions make of it.

use semel_flow::Value;
use semel_flow::expr::{EvalError, Expr};

use crate::names::RunNames;

/// What later steps see of an answer with these names; without an expression, its body, or all of it
/// where there is none.
///
/// # Errors
/// [`EvalError`] if the expression has no value.
pub fn result(
    expr: Option<&Expr>,
    answer: &Value,
    names: &RunNames<'_>,
) -> Result<Value, EvalError> {
    match expr {
        None => Ok(answer.get("body").unwrap_or(answer).clone()),
        Some(expr) => expr.eval(&names.with(&members(answer))),
    }
}

/// Whether an answer says that the thing is there.
///
/// # Errors
/// [`EvalError`] if it does not say.
pub fn found(expr: &Expr, answer: &Value, names: &RunNames<'_>) -> Result<bool, EvalError> {
    expr.holds(&names.with(&members(answer)))
}

fn members(answer: &Value) -> Vec<(&str, Value)> {
    match answer {
        Value::Map(members) => members
            .iter()
            .map(|(name, value)| (name.as_ref(), value.clone()))
            .collect(),
        _ => Vec::new(),
    }
}
