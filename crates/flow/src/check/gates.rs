//! What people are shown when they are asked for leave (`C016`).

use super::trace::{Source, Tracer};
use super::visit::{Place, Use};
use crate::codes::C016;
use crate::diagnostic::Diagnostic;
use crate::expr::Expr;
use crate::model::Action;

/// A secret in what is asked or shown: it would be kept with the request and shown to people.
pub(super) fn check_shown<'i, 'f>(
    tracer: &Tracer<'i, 'f>,
    place: &Place<'i, 'f>,
    expr: &'f Expr,
    used: Use,
) -> Option<Diagnostic> {
    let step = place.at?.step;
    // What else stands in such a step is its `if` and its key.
    if !matches!(step.action, Action::Approve(_)) || used != Use::Value {
        return None;
    }
    let made_of = tracer.expr(expr, &place.loops);
    let (name, trace) = made_of.iter().find_map(|trace| match &trace.source {
        Source::Secret(name) => Some((name, trace)),
        _ => None,
    })?;
    let title = format!("`{}` shows the secret `{name}`", step.id.it);
    let label = "it would be kept with the request, and people would see it";
    let found = Diagnostic::error(C016, trace.at, title, label);
    let hops = trace.hops.iter().take(1);
    Some(hops.fold(found, |found, (at, label)| found.also(*at, label.clone())))
}
