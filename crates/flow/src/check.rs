//! What can be said about a flow before it runs, beyond how it is written.
//!
//! Owns keys and where their values come from ([`check`]), references and kinds of values, policies
//! that do not fit, the table of steps ([`table`]), the secrets and headers that it uses, what
//! depends on the moment ([`mark_volatile`]) and what a new release would forget ([`abandoned`]). How
//! the file is written was looked at while it was read.
//!
//! Read on in this order: `index` says where steps stand, `visit` finds every expression and what it
//! may see, `trace` follows a value to its sources, `keys` judges keys by them.

mod abandoned;
mod examples;
mod gates;
mod headers;
mod index;
mod keys;
mod links;
mod names;
mod order;
mod policy;
mod reads;
mod said;
mod secrets;
mod table;
mod trace;
mod types;
mod undo;
mod visit;
mod volatile;
mod waits;

use crate::codes::{C001, C006, C007, C008};
use crate::diagnostic::{Diagnostic, Level, Span};
use crate::model::{Block, Flow};
use index::Index;
use trace::Tracer;
use visit::Spot;

pub use abandoned::{Abandoned, abandoned};
pub use headers::{headers, is_repeated};
pub use links::hands_out_links;
pub use reads::{Due, Part, Read, reads, reads_of};
pub use secrets::secrets;
pub use table::{Row, table};
pub use trace::is_of_delivery;
pub use volatile::mark_volatile;

pub(crate) use index::blocks;
pub(crate) use policy::window;

/// Everything that is wrong with a flow or worth knowing, in the order of the file.
#[must_use]
pub fn check(flow: &Flow) -> Vec<Diagnostic> {
    let index = Index::of(flow);
    let tracer = Tracer {
        flow,
        index: &index,
    };
    let mut found = policy::check_memory(flow);
    found.extend(keys::check_own(flow));
    visit::visit(flow, &index, &mut |place, spot| match spot {
        Spot::Key(key, role) => found.extend(keys::check_key(&tracer, place, key, role)),
        Spot::Expr(expr, used) => {
            found.extend(names::check_names(&tracer, place, expr));
            found.extend(types::check_types(&tracer, expr, used));
            found.extend(gates::check_shown(&tracer, place, expr, used));
        }
    });
    each_step(flow, &flow.steps, &mut found);
    each_step(flow, &flow.on_failure, &mut found);
    found.extend(said::check_said(flow, &index));
    found.extend(order::check_order(flow, &index));
    found.extend(undo::check_undo(flow));
    found.extend(examples::check_examples(flow, &index));
    once_each(&mut found);
    found
}

fn each_step(flow: &Flow, block: &Block, found: &mut Vec<Diagnostic>) {
    for step in block {
        found.extend(policy::check_step(flow, step));
        found.extend(waits::check_wait(step));
        for block in blocks(step) {
            each_step(flow, block, found);
        }
    }
}

/// Sorts by place. Where a key is refused for what it is made of, the kind of that or that there is
/// no such name need not be said, too.
fn once_each(found: &mut Vec<Diagnostic>) {
    let refused: Vec<Span> = found
        .iter()
        .filter(|it| it.code.starts_with('K') && it.level == Level::Error)
        .map(|it| it.at)
        .collect();
    found.retain(|it| {
        let beside = [C001, C006, C007, C008].contains(&it.code);
        !(beside && refused.iter().any(|at| at.meets(it.at)))
    });
    found.sort_by_key(|it| (it.at, it.code));
    found.dedup();
}

#[cfg(test)]
mod tests;
