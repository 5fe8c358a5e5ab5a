//! Where steps stand in a flow: finding one, walking a block, and what may begin next.

use std::sync::Arc;

use semel_flow::model::{Action, Block, Flow, Step};

use crate::state::{Phase, State};

/// The step of that id, wherever it stands.
#[must_use]
pub fn find<'f>(flow: &'f Flow, id: &str) -> Option<&'f Step> {
    find_in(&flow.steps, id).or_else(|| find_in(&flow.on_failure, id))
}

fn find_in<'f>(block: &'f Block, id: &str) -> Option<&'f Step> {
    block.iter().find_map(|step| {
        if step.id.it == id {
            return Some(step);
        }
        inner(step).find_map(|block| find_in(block, id))
    })
}

/// Whether the step of that id stands somewhere in the block.
#[must_use]
pub fn is_in(block: &Block, id: &str) -> bool {
    find_in(block, id).is_some()
}

/// Whether the step of that id is done by this run itself, not by the runs of its items.
#[must_use]
pub fn is_own(flow: &Flow, state: &State, id: &str) -> bool {
    let mut own = own_steps(flow, state);
    own.any(|step| step.id.it == id)
}

/// Every step that this run itself may do, wherever it stands.
pub fn own_steps<'f>(flow: &'f Flow, state: &State) -> impl Iterator<Item = &'f Step> {
    let on_failure = state.opening.within.is_none().then_some(&flow.on_failure);
    let mut open: Vec<&'f Step> = block_of(flow, state).iter().collect();
    open.extend(on_failure.into_iter().flatten());
    std::iter::from_fn(move || {
        let step = open.pop()?;
        if !matches!(step.action, Action::ForEach(_)) {
            open.extend(inner(step).flatten());
        }
        Some(step)
    })
}

/// The blocks inside a step.
#[must_use]
pub fn inner(step: &Step) -> Box<dyn Iterator<Item = &Block> + '_> {
    match &step.action {
        Action::Switch { cases, otherwise } => {
            let cases = cases.iter().map(|case| &case.steps);
            Box::new(cases.chain(std::iter::once(otherwise)))
        }
        Action::ForEach(each) => Box::new(std::iter::once(&each.steps)),
        Action::Parallel(branches) => Box::new(branches.iter().map(|branch| &branch.steps)),
        Action::Lock { steps, .. } => Box::new(std::iter::once(steps)),
        _ => Box::new(std::iter::empty()),
    }
}

/// The steps that a run works on: the flow's, or those of the `for_each` it is an item of.
#[must_use]
pub fn block_of<'f>(flow: &'f Flow, state: &State) -> &'f [Step] {
    let within = state.opening.within.as_ref();
    let each = within.and_then(|within| match &find(flow, &within.step)?.action {
        Action::ForEach(each) => Some(&each.steps),
        _ => None,
    });
    each.unwrap_or(&flow.steps)
}

/// What an item of that `for_each` is called.
#[must_use]
pub fn item_name<'f>(flow: &'f Flow, step: &str) -> Option<&'f str> {
    match &find(flow, step)?.action {
        Action::ForEach(each) => Some(&each.name),
        _ => None,
    }
}

/// What may be done next in a block.
#[derive(Debug)]
pub enum Open<'f> {
    /// This step has not ended: it may begin or go on.
    Step(&'f Step),
    /// The steps inside this one have all ended.
    Complete(&'f Step),
}

/// Walks a block; gives what is open. Nothing open means that the block has ended.
pub fn open<'f>(
    block: impl IntoIterator<Item = &'f Step>,
    state: &State,
    found: &mut Vec<Open<'f>>,
) {
    for step in block {
        match state.phase(&step.id.it) {
            Some(Phase::Done(_) | Phase::Skipped) => {}
            Some(Phase::Entered { case, .. }) => {
                let before = found.len();
                open_inside(step, *case, state, found);
                if found.len() == before {
                    found.push(Open::Complete(step));
                }
                return;
            }
            _ => {
                found.push(Open::Step(step));
                return;
            }
        }
    }
}

fn open_inside<'f>(step: &'f Step, case: Option<u32>, state: &State, found: &mut Vec<Open<'f>>) {
    match &step.action {
        Action::Switch { cases, otherwise } => {
            let case = case.and_then(|case| cases.get(case as usize));
            open(case.map_or(otherwise, |case| &case.steps), state, found);
        }
        Action::Parallel(branches) => {
            for branch in branches {
                open(&branch.steps, state, found);
            }
        }
        Action::Lock { steps, .. } => open(steps, state, found),
        _ => {}
    }
}

/// The name that happenings use for a step.
#[must_use]
pub fn name(step: &Step) -> Arc<str> {
    step.id.it.as_str().into()
}
