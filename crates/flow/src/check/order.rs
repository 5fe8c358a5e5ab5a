//! Dangerous steps before steps that are likely to fail (`C010`).
//!
//! A question or a refusal that does not need the dangerous step's result belongs before it: if it
//! fails, nothing has happened yet.

use std::collections::{HashMap, HashSet};

use super::index::{Index, blocks};
use super::visit::{Spot, visit};
use crate::codes::C010;
use crate::diagnostic::Diagnostic;
use crate::expr::Part;
use crate::expr::ast::{Ast, Node};
use crate::model::{Action, Block, Class, Flow, Step, Tree};

/// Which steps a step refers to.
type Needs<'f> = HashMap<&'f str, HashSet<&'f str>>;

/// Every dangerous step that should come later.
pub(super) fn check_order(flow: &Flow, index: &Index<'_>) -> Vec<Diagnostic> {
    let mut needs = Needs::new();
    visit(flow, index, &mut |place, spot| {
        if let (Some(at), Spot::Expr(expr, _)) = (place.at, spot) {
            let own = needs.entry(&at.step.id.it).or_default();
            mentioned(flow, expr.ast(), &mut HashSet::new(), own);
        }
    });
    let mut found = Vec::new();
    block(&flow.steps, &needs, &mut found);
    found
}

fn block(steps: &Block, needs: &Needs<'_>, found: &mut Vec<Diagnostic>) {
    for (at, step) in steps.iter().enumerate() {
        for inner in blocks(step) {
            block(inner, needs, found);
        }
        if step.class() != Class::Guarded || matches!(step.action, Action::Ensure(_)) {
            continue;
        }
        let later = steps[at + 1..].iter().rev();
        let mut later = later.filter(|later| is_fragile(later) && !asks_same(step, later));
        let Some(later) = later.find(|later| !leans(&later.id.it, &step.id.it, needs)) else {
            continue;
        };
        let (done, fails) = (&step.id.it, &later.id.it);
        let title = format!("`{done}` is done before `{fails}`, which may fail");
        let label = "if that fails, this has happened already";
        found.push(
            Diagnostic::warning(C010, step.id.span, title, label)
                .also(later.id.span, format!("`{fails}` does not need `{done}`"))
                .help(format!("move `{done}` below `{fails}`")),
        );
    }
}

/// A step that only asks or refuses.
fn is_fragile(step: &Step) -> bool {
    match &step.action {
        Action::Act(_) => step.class() == Class::Read,
        Action::Ensure(_) | Action::Fail { .. } => true,
        _ => false,
    }
}

/// A question about what was just done stands where it should.
fn asks_same(done: &Step, later: &Step) -> bool {
    match (address(done), address(later)) {
        (Some(done), Some(later)) => later.starts_with(done) || done.starts_with(later),
        _ => false,
    }
}

/// The fixed beginning of the address that a step calls.
fn address(step: &Step) -> Option<&str> {
    let Action::Act(act) = &step.action else {
        return None;
    };
    let Some(Tree::Text(template)) = act.member("url") else {
        return None;
    };
    match template.parts.first()? {
        Part::Text(text) => Some(text),
        Part::Expr(_) => None,
    }
}

/// Whether a step needs another, by whatever detour.
fn leans(step: &str, on: &str, needs: &Needs<'_>) -> bool {
    let mut seen = HashSet::from([step]);
    let mut open = vec![step];
    while let Some(step) = open.pop() {
        let Some(others) = needs.get(step) else {
            continue;
        };
        if others.contains(on) {
            return true;
        }
        open.extend(others.iter().copied().filter(|other| seen.insert(other)));
    }
    false
}

/// The steps that an expression mentions, also through `let`.
fn mentioned<'f>(
    flow: &'f Flow,
    ast: &'f Ast,
    lets: &mut HashSet<&'f str>,
    into: &mut HashSet<&'f str>,
) {
    match &ast.node {
        Node::Select { of, name } if matches!(&of.node, Node::Ident(root) if &**root == "steps") => {
            into.insert(name);
        }
        Node::Ident(name) => {
            let given = flow.lets.iter().find(|(given, _)| *given.it == **name);
            if let Some((_, expr)) = given.filter(|(name, _)| lets.insert(&name.it)) {
                mentioned(flow, expr.ast(), lets, into);
            }
        }
        _ => {
            for part in ast.parts() {
                mentioned(flow, part, lets, into);
            }
        }
    }
}
