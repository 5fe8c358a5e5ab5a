//! Marks what depends on the moment, so that fingerprints leave it out.

use std::collections::HashSet;
use std::sync::Arc;

use super::index::Index;
use super::trace::{Source, Tracer};
use super::visit::{Spot, visit};
use crate::expr::{Expr, Part, Template};
use crate::model::{Act, Action, Block, Flow, Kind, Made, Probe, Step, Tree, Trigger, Wait};

/// Sets [`Expr::volatile`] on every expression that depends on the clock, on randomness, on the run,
/// the attempt or the delivery, or on what a model said: two requests that differ in nothing else
/// are the same request.
pub fn mark_volatile(flow: &mut Flow) {
    let marked = moving(flow);
    if !marked.is_empty() {
        let mut mark = Mark { marked };
        mark.flow(flow);
    }
}

/// The expressions that depend on the moment, by where their text is kept.
fn moving(flow: &Flow) -> HashSet<*const u8> {
    let index = Index::of(flow);
    let tracer = Tracer {
        flow,
        index: &index,
    };
    let mut marked = HashSet::new();
    visit(flow, &index, &mut |place, spot| {
        let Spot::Expr(expr, _) = spot else {
            return;
        };
        let made_of = tracer.expr(expr, &place.loops);
        // To a model, what another said is the question itself; and that is kept by what was asked.
        let asks = place.at.is_some_and(|at| is_ai(at.step));
        let counts = |source: &Source| is_volatile(source) && !(asks && is_said(source));
        if made_of.iter().any(|trace| counts(&trace.source)) {
            marked.insert(expr.source.as_ptr());
        }
    });
    marked
}

fn is_volatile(source: &Source) -> bool {
    matches!(
        source,
        Source::Clock | Source::Random | Source::Moment(_) | Source::Delivery(_) | Source::Ai(_)
    )
}

fn is_said(source: &Source) -> bool {
    matches!(source, Source::Ai(_))
}

fn is_ai(step: &Step) -> bool {
    matches!(&step.action, Action::Act(act) if act.kind == Kind::Ai)
}

struct Mark {
    marked: HashSet<*const u8>,
}

impl Mark {
    fn expr(&mut self, expr: &mut Expr) {
        if self.marked.contains(&expr.source.as_ptr()) {
            expr.volatile = true;
        }
    }

    fn template(&mut self, template: &mut Template) {
        for part in &mut template.parts {
            if let Part::Expr(expr) = part {
                self.expr(expr);
            }
        }
    }

    fn tree(&mut self, tree: &mut Tree) {
        match tree {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
            Tree::Text(template) => self.template(template),
            Tree::List(items) => items.iter_mut().for_each(|item| self.tree(item)),
            Tree::Map(members) => members.iter_mut().for_each(|(_, tree)| self.tree(tree)),
        }
    }

    fn flow(&mut self, flow: &mut Flow) {
        for trigger in &mut flow.triggers {
            if let Trigger::Sync(sync) = trigger {
                self.act(&mut sync.fetch.act);
            }
        }
        flow.lets.iter_mut().for_each(|(_, expr)| self.expr(expr));
        self.block(&mut flow.steps);
        self.block(&mut flow.on_failure);
    }

    fn block(&mut self, block: &mut Block) {
        for step in block {
            self.step(step);
        }
    }

    fn step(&mut self, step: &mut Step) {
        if let Some(lookup) = &mut step.lookup {
            self.probe(&mut lookup.probe);
        }
        step.undo.iter_mut().for_each(|undo| self.step(undo));
        match &mut step.action {
            Action::Act(act) => self.act(act),
            Action::Ensure(ensure) => {
                self.probe(&mut ensure.find);
                self.made(&mut ensure.create);
                ensure.update.iter_mut().for_each(|it| self.made(it));
            }
            Action::Set(members) => members.iter_mut().for_each(|(_, tree)| self.tree(tree)),
            Action::Switch { cases, otherwise } => {
                for case in cases {
                    self.block(&mut case.steps);
                }
                self.block(otherwise);
            }
            Action::ForEach(each) => self.block(&mut each.steps),
            Action::Parallel(branches) => {
                for branch in branches {
                    self.block(&mut branch.steps);
                }
            }
            Action::Call { input: tree, .. } | Action::Emit { data: tree, .. } => self.tree(tree),
            Action::Lock { steps, .. } => self.block(steps),
            Action::Stop { message } => message.iter_mut().for_each(|it| self.template(it)),
            Action::Fail { message } => self.template(message),
            Action::Approve(approve) => {
                self.template(&mut approve.ask);
                approve.show.iter_mut().for_each(|it| self.tree(it));
            }
            Action::Wait(Wait::Until(it)) => self.expr(it),
            Action::Wait(Wait::ForEvent(it)) => self.expr(&mut it.matches),
            Action::Wait(Wait::For(_) | Wait::Callback(_)) => {}
        }
        step.result.iter_mut().for_each(|it| self.expr(it));
    }

    fn act(&mut self, act: &mut Arc<Act>) {
        self.tree(&mut Arc::make_mut(act).input);
    }

    fn probe(&mut self, probe: &mut Probe) {
        self.act(&mut probe.act);
        probe.result.iter_mut().for_each(|it| self.expr(it));
    }

    fn made(&mut self, made: &mut Made) {
        self.act(&mut made.act);
        made.result.iter_mut().for_each(|it| self.expr(it));
    }
}
