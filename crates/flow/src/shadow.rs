//! A flow as its own shadow: it takes the same triggers and evaluates everything, and does nothing.
//!
//! Owns what a shadow changes in a flow. Its name, and with it every scope, queue and cursor, is another than the
//! flow's, so that neither finds what the other has done. Its acts are marked, so that whoever performs tasks
//! only tells what it would have done; all that the store itself would do for others goes under names of its own.
//!
//! The invariant: no act of class set, keyed or guarded is left without a mark.

use std::sync::Arc;

use semel_ledger::OnUnknown;

use crate::diagnostic::{Span, Spanned};
use crate::expr::{Part, Template};
use crate::model::{Act, Action, Block, Class, Flow, Kind, Made, Step, Tree, Wait};

/// What the name of a shadow ends with; no flow file can say so.
const MARK: &str = "~shadow";

/// The name of a flow's shadow.
#[must_use]
pub fn name_of(flow: &str) -> String {
    format!("{flow}{MARK}")
}

/// The flow that it is the shadow of, if it is one.
#[must_use]
pub fn cast_by(name: &str) -> Option<&str> {
    name.strip_suffix(MARK)
}

/// Makes a flow its own shadow.
pub fn cast(flow: &mut Flow) {
    flow.name.it = name_of(&flow.name.it);
    let name: Arc<str> = flow.name.it.as_str().into();
    block(&mut flow.steps, &name);
    block(&mut flow.on_failure, &name);
}

fn block(steps: &mut Block, flow: &Arc<str>) {
    for it in steps {
        step(it, flow);
    }
}

fn step(step: &mut Step, flow: &Arc<str>) {
    let (class, span) = (step.class(), step.span);
    // Nothing was done, so there is nothing to take back; and whatever is not known is found out or told as it is.
    step.undo = None;
    step.scope = None;
    step.on_unknown = Some(Spanned {
        it: OnUnknown::Retry,
        span,
    });
    match &mut step.action {
        Action::Act(act) if act.kind == Kind::Kv => own_value(act, flow),
        Action::Act(act) if class > Class::Read => {
            mark(act, flow);
            step.effect = Some(Spanned {
                it: Class::Guarded,
                span,
            });
        }
        Action::Ensure(ensure) => {
            mark(&mut ensure.create.act, flow);
            if let Some(Made { act, .. }) = &mut ensure.update {
                mark(act, flow);
            }
        }
        Action::Switch { cases, otherwise } => {
            for case in cases {
                block(&mut case.steps, flow);
            }
            block(otherwise, flow);
        }
        Action::ForEach(each) => block(&mut each.steps, flow),
        Action::Parallel(branches) => {
            for branch in branches {
                block(&mut branch.steps, flow);
            }
        }
        Action::Lock { name, steps, .. } => {
            prefix(name, flow);
            block(steps, flow);
        }
        _ => told(&mut step.action, span),
    }
}

fn mark(act: &mut Arc<Act>, flow: &Arc<str>) {
    Arc::make_mut(act).shadow = Some(Arc::clone(flow));
}

/// A value that is kept beside the flow's own.
fn own_value(act: &mut Arc<Act>, flow: &Arc<str>) {
    let act = Arc::make_mut(act);
    let form = act.kv_form().map(|(form, _)| form);
    let Tree::Map(fields) = &mut act.input else {
        return;
    };
    for (name, value) in fields {
        if let (true, Tree::Text(key)) = (Some(name.it.as_str()) == form, value) {
            prefix(key, flow);
        }
    }
}

fn prefix(name: &mut Template, flow: &str) {
    name.parts.insert(0, Part::Text(format!("{flow}/").into()));
}

/// What would bother others is only told: who would have been called, waited for or asked.
fn told(action: &mut Action, span: Span) {
    let named = |name: &str, value: Tree| {
        let name = Spanned {
            it: name.to_owned(),
            span,
        };
        (name, value)
    };
    let text = |words: &Spanned<String>| {
        Tree::Text(Template {
            parts: vec![Part::Text(words.it.as_str().into())],
            span: words.span,
        })
    };
    let values = match action {
        Action::Call { flow, input } => {
            vec![named("call", text(flow)), named("input", input.clone())]
        }
        Action::Emit { event, data } => {
            vec![named("emit", text(event)), named("data", data.clone())]
        }
        Action::Approve(_) => vec![
            named("approved", Tree::Bool(true)),
            named("by", Tree::List(Vec::new())),
            named("note", Tree::Null),
        ],
        Action::Wait(Wait::Callback(_)) => Vec::new(),
        _ => return,
    };
    *action = Action::Set(values);
}
