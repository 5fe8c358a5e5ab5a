//! Whether a flow wants an event: its filters, and whether anything newer was applied.

use jiff::Timestamp;
use semel_flow::Value;
use semel_flow::expr::{EvalError, Expr, Names};
use semel_flow::model::{Flow, Latest as LatestOf, Trigger};
use semel_store::planted::{self, Bug};
use semel_store::run::Latest;

use crate::names::EventNames;
use crate::start::short_hash;

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

/// Which thing an event is about, and which version of it.
///
/// # Errors
/// Why it has none, for people.
pub fn newest(latest: &LatestOf, names: &EventNames<'_>) -> Result<Latest, String> {
    let of = latest.of.key(names);
    let of = of.map_err(|fault| format!("latest.of: {fault}"))?;
    let version = latest.version.eval(names);
    let version = match version.map_err(|error| format!("latest.version: {error}"))? {
        Value::Int(number) => Some(number),
        Value::Time(time) => Some(time.0),
        Value::Text(text) => {
            let time: Option<Timestamp> = text.parse().ok();
            time.map(Timestamp::as_millisecond)
        }
        _ => None,
    };
    let version = version.ok_or("latest.version: neither a whole number nor a time")?;
    let version = if planted::is(Bug::StaleIsNew) {
        i64::MAX
    } else {
        version
    };
    Ok(Latest {
        of: short_hash(&["latest", &names.flow.name.it, of.as_str()]),
        version,
    })
}
