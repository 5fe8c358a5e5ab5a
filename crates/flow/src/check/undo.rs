//! Where an `undo` stands that no run reaches.
//!
//! Owns the code `C018`. A run takes back its own steps. The items of a `for_each` are runs of their
//! own: what is done for one is taken back when that item fails, not when a step behind the loop does.

use crate::check::index::blocks;
use crate::codes::C018;
use crate::diagnostic::Diagnostic;
use crate::model::{Action, Block, Flow, Step};

pub(super) fn check_undo(flow: &Flow) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    behind(&flow.steps, false, &mut found);
    each_undo(&flow.on_failure, &mut |undo| {
        let title = "an `undo` in `on_failure` is never performed";
        let label = "the run has failed when this is done, and nothing takes it back";
        found.push(Diagnostic::warning(C018, undo.span, title, label));
    });
    found
}

/// Looks at a block; `followed`: something comes after it that may fail.
fn behind(block: &Block, followed: bool, found: &mut Vec<Diagnostic>) {
    for (at, step) in block.iter().enumerate() {
        let followed = followed || at + 1 < block.len();
        match &step.action {
            Action::ForEach(each) if followed && step.undo.is_none() => {
                each_undo(&each.steps, &mut |undo| found.push(unreached(step, undo)));
            }
            Action::ForEach(each) => behind(&each.steps, false, found),
            // A branch beside may fail when this one is done.
            Action::Parallel(branches) => {
                for branch in branches {
                    behind(&branch.steps, followed || branches.len() > 1, found);
                }
            }
            _ => {
                for inner in blocks(step) {
                    behind(inner, followed, found);
                }
            }
        }
    }
}

fn unreached(each: &Step, undo: &Step) -> Diagnostic {
    let title = "an `undo` that a failure behind the loop does not reach";
    let label = "performed if a later step of the same item fails, not if one behind the loop does";
    let help = format!(
        "give `{}` an `undo` of its own, or move what may fail before it",
        each.id.it
    );
    Diagnostic::warning(C018, undo.span, title, label).help(help)
}

fn each_undo(block: &Block, tell: &mut dyn FnMut(&Step)) {
    for step in block {
        if let Some(undo) = &step.undo {
            tell(undo);
        }
        for inner in blocks(step) {
            each_undo(inner, tell);
        }
    }
}
