//! Whether a flow wants an event: its filters.

use semel_flow::expr::{EvalError, Expr, Names};
use semel_flow::model::{Flow, Trigger};

/// Whether a filter lets an event through; without one, all are.
///
/// # Errors
/// [`EvalError`] if the filter has no value for this event.
pub fn passes(filter: Option<&Expr>, names: &dyn Names) -> Result<bool, EvalError> {
    filter.map_or(Ok(true), |filter| filter.holds(names))
}

/// Whether a flow wants an emitted event of that name.
#[must_use]
pub fn wanted(flow: &Flow, event: &str, names: &dyn Names) -> bool {
    flow.triggers.iter().any(|trigger| match trigger {
        Trigger::Event { name, filter } if name.it == event => {
            passes(filter.as_ref(), names).unwrap_or(true)
        }
        _ => false,
    })
}
