//! What a new release would forget: done keys that no step asks for any more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::index::blocks;
use crate::expr::ast::{Ast, Node};
use crate::expr::{Expr, Template};
use crate::model::{Action, Block, Flow, Step};
use crate::written;

/// Done keys that a new release would not find again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// Which action they are of.
    pub scope: String,
    /// The step in the live release; none: the flow's own runs.
    pub step: Option<String>,
    /// Why they would not be found.
    pub why: String,
    /// What to write to keep them.
    pub keep: String,
}

/// An action of a release.
struct Identity<'f> {
    step: Option<&'f Step>,
    /// Its key as it is written.
    key: String,
    /// The same with everything that its names stand for.
    meaning: String,
}

/// Scopes of the live release whose done keys the new one would not find: the step is gone or is
/// called otherwise, or its key is made in another way.
#[must_use]
pub fn abandoned(live: &Flow, new: &Flow) -> Vec<Abandoned> {
    let (before, after) = (identities(live), identities(new));
    let mut lost = Vec::new();
    for (scope, old) in &before {
        let step = old.step.map(|step| step.id.it.clone());
        match after.get(scope) {
            Some(now) if now.meaning == old.meaning => {}
            Some(now) => {
                let why = if now.key == old.key {
                    format!(
                        "names in its key `{}` stand for something else now",
                        old.key
                    )
                } else {
                    format!("its key was `{}` and is now `{}`", old.key, now.key)
                };
                lost.push(Abandoned {
                    scope: scope.clone(),
                    step,
                    why,
                    keep: kept_key(old),
                });
            }
            None => lost.push(Abandoned {
                scope: scope.clone(),
                step,
                why: "no step has this scope any more".to_owned(),
                keep: kept_scope(scope, old, &before, &after),
            }),
        }
    }
    lost
}

fn kept_key(old: &Identity<'_>) -> String {
    let own = old.step.is_none_or(|step| step.key.is_some());
    if own {
        format!("key: {}", old.key)
    } else {
        format!("key: {}, as it was before it was changed", old.key)
    }
}

/// Which step most likely does it now: a new one of the same kind, at best at the same address.
fn kept_scope(
    scope: &str,
    old: &Identity<'_>,
    before: &BTreeMap<String, Identity<'_>>,
    after: &BTreeMap<String, Identity<'_>>,
) -> String {
    let fresh = after
        .iter()
        .filter(|(scope, _)| !before.contains_key(*scope));
    let likely = fresh
        .filter_map(|(_, now)| Some((similarity(old.step?, now.step?), now.step?)))
        .filter(|(similarity, _)| *similarity > 0)
        .max_by_key(|(similarity, _)| *similarity);
    match likely {
        Some((_, step)) => format!("at step {} write scope: {scope}", step.id.it),
        None => format!("if another step does this now, write there scope: {scope}"),
    }
}

fn similarity(old: &Step, new: &Step) -> u8 {
    match (&old.action, &new.action) {
        (Action::Act(a), Action::Act(b)) if a.kind == b.kind => {
            let same = |name| a.constant(name).is_some() && a.constant(name) == b.constant(name);
            1 + u8::from(same("method")) + 2 * u8::from(same("url"))
        }
        (Action::Ensure(_), Action::Ensure(_)) | (Action::ForEach(_), Action::ForEach(_)) => 1,
        _ => 0,
    }
}

/// Everything that the ledger keeps of a flow, by scope.
fn identities(flow: &Flow) -> BTreeMap<String, Identity<'_>> {
    let mut all = BTreeMap::new();
    let key = written::flow_key(flow);
    let run = Identity {
        step: None,
        meaning: meaning(
            flow,
            &key,
            flow.key.iter().flat_map(Template::exprs).map(Expr::ast),
        ),
        key,
    };
    let (text, run_meaning) = (run.key.clone(), run.meaning.clone());
    all.insert(flow.name.it.clone(), run);
    collect(flow, &flow.steps, (&text, &run_meaning), &mut all);
    collect(flow, &flow.on_failure, (&text, &run_meaning), &mut all);
    all
}

fn collect<'f>(
    flow: &'f Flow,
    block: &'f Block,
    run: (&str, &str),
    all: &mut BTreeMap<String, Identity<'f>>,
) {
    for step in block {
        let mut inner = (run.0.to_owned(), run.1.to_owned());
        if let Action::ForEach(each) = &step.action {
            let key = written::template(&each.key);
            let meaning = meaning(flow, &key, each.key.exprs().map(Expr::ast));
            inner = (key.clone(), meaning.clone());
            let identity = Identity {
                step: Some(step),
                key,
                meaning,
            };
            all.entry(step.scope_name(flow)).or_insert(identity);
        } else if step.class().has_effect() {
            let meaning = match &step.key {
                Some(key) => meaning(flow, &written::template(key), key.exprs().map(Expr::ast)),
                None => below(run.1, &step.id.it),
            };
            let identity = Identity {
                step: Some(step),
                key: written::step_key(step, run.0),
                meaning,
            };
            all.entry(step.scope_name(flow)).or_insert(identity);
        }
        for block in blocks(step) {
            collect(flow, block, (&inner.0, &inner.1), all);
        }
    }
}

/// The meaning of a run's key with a step's id behind it.
fn below(run: &str, step: &str) -> String {
    match run.split_once('\n') {
        Some((key, lets)) => format!("{key}/{step}\n{lets}"),
        None => format!("{run}/{step}"),
    }
}

/// A key with what its `let` names stand for.
fn meaning<'f>(flow: &'f Flow, key: &str, asts: impl Iterator<Item = &'f Ast>) -> String {
    let mut used = BTreeSet::new();
    for ast in asts {
        lets(flow, ast, &mut used);
    }
    let mut meaning = key.to_owned();
    for (name, expr) in flow
        .lets
        .iter()
        .filter(|(name, _)| used.contains(name.it.as_str()))
    {
        let _ = write!(meaning, "\n{} = {}", name.it, expr.source);
    }
    meaning
}

fn lets<'f>(flow: &'f Flow, ast: &'f Ast, used: &mut BTreeSet<&'f str>) {
    if let Node::Ident(name) = &ast.node {
        let given = flow.lets.iter().find(|(given, _)| *given.it == **name);
        if let Some((_, expr)) = given.filter(|(name, _)| used.insert(&name.it)) {
            lets(flow, expr.ast(), used);
        }
    }
    ast.parts().for_each(|part| lets(flow, part, used));
}
