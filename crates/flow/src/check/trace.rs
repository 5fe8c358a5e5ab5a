//! Where a value comes from.
//!
//! Follows an expression through `let`, `set`, the results of steps, items of loops, templates and
//! functions to what it is made of, and keeps the way. What a destination answers is a source of its
//! own: what was asked of it is not looked at, since the ledger keeps the answer.
//!
//! The invariant: every name is followed at most once for each place in the expression that was
//! asked about, so the work is bounded by the size of the file.

mod path;
mod result;
mod source;

use std::collections::HashSet;
use std::sync::Arc;

use super::index::Index;
use super::visit::is_planned;
use crate::diagnostic::Span;
use crate::expr::ast::{Ast, Each, Node};
use crate::expr::{Expr, Template};
use crate::model::{Action, Class, Flow, Step, Tree, is_of_answer};
use crate::value::Value;
use path::{Seg, chain};

pub use result::is_of_delivery;

pub(super) use source::{Source, Trace};

/// How many names may lean on each other.
const MAX_HOPS: usize = 64;

/// What the names of an expression stand for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tracer<'i, 'f> {
    pub(super) flow: &'f Flow,
    pub(super) index: &'i Index<'f>,
}

impl<'f> Tracer<'_, 'f> {
    /// What an expression is made of, if it sees the items of these loops.
    pub(super) fn expr(&self, expr: &'f Expr, loops: &[&'f Step]) -> Vec<Trace> {
        let mut walk = self.walk(loops);
        walk.ast(expr.ast(), &[]);
        walk.found
    }

    /// What a template is made of.
    pub(super) fn template(&self, template: &'f Template, loops: &[&'f Step]) -> Vec<Trace> {
        let mut walk = self.walk(loops);
        for expr in template.exprs() {
            walk.ast(expr.ast(), &[]);
        }
        walk.found
    }

    fn walk(&self, loops: &[&'f Step]) -> Walk<'_, 'f> {
        Walk {
            tracer: *self,
            loops: loops.to_vec(),
            locals: Vec::new(),
            hops: Vec::new(),
            at: None,
            answer: None,
            seen: HashSet::new(),
            found: Vec::new(),
        }
    }
}

struct Walk<'i, 'f> {
    tracer: Tracer<'i, 'f>,
    loops: Vec<&'f Step>,
    /// What the names of `map` and its kin stand for.
    locals: Vec<(Arc<str>, Vec<Trace>)>,
    hops: Vec<(Span, String)>,
    /// Where the present way began.
    at: Option<Span>,
    /// Whose answer `body` stands for.
    answer: Option<&'f Step>,
    seen: HashSet<(Span, String)>,
    found: Vec<Trace>,
}

impl<'f> Walk<'_, 'f> {
    fn push(&mut self, source: Source, from: Span) {
        self.found.push(Trace {
            source,
            at: self.at.unwrap_or(from),
            from,
            hops: self.hops.clone(),
        });
    }

    /// Follows a part of an expression of which `rest` is taken.
    fn ast(&mut self, ast: &'f Ast, rest: &[Seg]) {
        match &ast.node {
            Node::Literal(_) => {}
            Node::Secret(name) => self.push(Source::Secret(name.to_string()), ast.span),
            Node::Ident(_) | Node::Select { .. } | Node::Index { .. } => self.chain(ast, rest),
            Node::If {
                when,
                then,
                otherwise,
            } => {
                self.ast(when, &[]);
                self.either(ast.span, [then, otherwise], rest);
            }
            Node::Default { it, fallback } => self.either(ast.span, [it, fallback], rest),
            Node::Call { function, args, .. } => self.call(ast.span, function.name, args),
            Node::Each(each) => self.each(each),
            Node::Has { of, name } => self.ast(of, &[Seg::Name(Arc::clone(name))]),
            Node::Map(members) if !rest.is_empty() => {
                let wanted = |name: &Ast| match (&name.node, &rest[0]) {
                    (Node::Literal(Value::Text(name)), Seg::Name(seg)) => name == seg,
                    _ => true,
                };
                for (_, value) in members.iter().filter(|(name, _)| wanted(name)) {
                    self.ast(value, &rest[1..]);
                }
            }
            _ => ast.parts().for_each(|part| self.ast(part, &[])),
        }
    }

    /// One of two; if one of them is fixed, all that lack the other are alike.
    fn either(&mut self, span: Span, two: [&'f Ast; 2], rest: &[Seg]) {
        let before = self.found.len();
        let mut fixed = None;
        for one in two {
            let here = self.found.len();
            self.ast(one, rest);
            if self.found.len() == here {
                fixed = Some(one);
            }
        }
        if let Some(fixed) = fixed.filter(|_| self.found.len() > before) {
            let empty = match &fixed.node {
                Node::Literal(Value::Text(text)) => text.trim().is_empty(),
                Node::Literal(Value::Null) => true,
                _ => false,
            };
            self.push(Source::Fallback { empty }, span);
        }
    }

    fn call(&mut self, span: Span, name: &str, args: &'f [Ast]) {
        match name {
            "now" => self.push(Source::Clock, span),
            "uuid" => self.push(Source::Random, span),
            _ => {
                let before = self.found.len();
                for arg in args {
                    self.ast(arg, &[]);
                }
                let mut inner = self.found[before..].iter();
                let told = inner
                    .clone()
                    .any(|it| matches!(it.source, Source::Whole(_)));
                let made = match name {
                    "first" | "last" | "slice" | "indexOf" => inner
                        .find_map(|it| it.source.listed())
                        .map(Source::Position),
                    "hash" | "toJson" | "string" | "base64Encode" | "hexEncode" => {
                        inner.find_map(|it| it.source.whole()).map(Source::Whole)
                    }
                    _ => None,
                };
                if let Some(made) = made.filter(|_| !told) {
                    self.push(made, span);
                }
            }
        }
    }

    fn each(&mut self, each: &'f Each) {
        let before = self.found.len();
        self.ast(&each.of, &[]);
        let of = self.found[before..].to_vec();
        self.locals.push((Arc::clone(&each.name), of));
        if let Some(only) = &each.only {
            self.ast(only, &[]);
        }
        self.ast(&each.body, &[]);
        self.locals.pop();
    }

    fn chain(&mut self, ast: &'f Ast, rest: &[Seg]) {
        let chain = chain(ast);
        for place in chain.places {
            self.ast(place, &[]);
        }
        let mut segs = chain.segs;
        segs.extend_from_slice(rest);
        match &chain.root.node {
            Node::Ident(name) => self.name(name, &segs, ast.span),
            _ => self.ast(chain.root, &segs),
        }
    }

    fn name(&mut self, name: &str, segs: &[Seg], span: Span) {
        let local = self.locals.iter().rev().find(|(local, _)| **local == *name);
        if let Some((_, traces)) = local {
            let traces = traces.clone();
            self.found
                .extend(traces.into_iter().map(|it| path::below(it, segs)));
            return;
        }
        match name {
            "event" => self.event(segs, span),
            "request" => self.request(segs, span),
            "run" | "step" => self.run(name, segs, span),
            "schedule" if is_planned(self.tracer.flow) => self.push(Source::Planned, span),
            "schedule" | "delivery" | "attempt" | "callbacks" => {
                self.push(Source::Moment(path::text(name, segs)), span);
            }
            // A link has the run in it.
            "approvals" => self.push(Source::Moment(path::text(name, segs)), span),
            "steps" => self.steps(segs, span),
            _ if is_of_answer(self.answer, name) => self.answered(segs, span),
            _ => self.given(name, segs, span),
        }
    }

    /// A name that the file gives: an item or a `let`.
    fn given(&mut self, name: &str, segs: &[Seg], span: Span) {
        let each = self
            .loops
            .iter()
            .rposition(|step| item_of(step) == Some(name));
        if let Some(at) = each {
            return self.item(at, segs, span);
        }
        let flow = self.tracer.flow;
        if let Some((name, expr)) = flow.lets.iter().find(|(given, _)| given.it == name) {
            let label = format!("`{}` stands for this", name.it);
            return self.follow(
                &path::text(&name.it, segs),
                span,
                (expr.span, label),
                |walk| {
                    walk.ast(expr.ast(), segs);
                },
            );
        }
        if name == "item" {
            let path = path::names(segs);
            return self.push(Source::Item { of: None, path }, span);
        }
        self.push(Source::Unknown, span);
    }

    fn item(&mut self, at: usize, segs: &[Seg], span: Span) {
        let step = self.loops[at];
        let source = Source::Item {
            of: Some(step.id.it.clone()),
            path: path::names(segs),
        };
        self.push(source, span);
        let Action::ForEach(each) = &step.action else {
            return;
        };
        let label = format!("`{}` is an item of this list", each.name);
        let outer = self.loops[..at].to_vec();
        let hop = (each.items.span, label);
        self.follow(&step.id.it, span, hop, |walk| {
            let before = walk.found.len();
            let inner = std::mem::replace(&mut walk.loops, outer);
            walk.ast(each.items.ast(), &[Seg::Any]);
            walk.loops = inner;
            // The item is what it is, whatever its list is made of; only what is unstable counts.
            let kept = walk.found.split_off(before);
            walk.found
                .extend(kept.into_iter().filter(|it| it.source.is_unstable()));
        });
    }

    /// Goes on at another place, once.
    fn follow(&mut self, name: &str, span: Span, hop: (Span, String), f: impl FnOnce(&mut Self)) {
        let began = self.at;
        let at = *self.at.get_or_insert(span);
        if self.hops.len() == MAX_HOPS {
            self.push(Source::TooDeep, span);
        } else if self.seen.insert((at, name.to_owned())) {
            self.hops.push(hop);
            let locals = std::mem::take(&mut self.locals);
            f(self);
            self.locals = locals;
            self.hops.pop();
        }
        self.at = began;
    }

    fn tree(&mut self, tree: &'f Tree, segs: &[Seg]) {
        match tree {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
            Tree::Text(template) => {
                let rest = if template.is_single() { segs } else { &[] };
                for expr in template.exprs() {
                    self.ast(expr.ast(), rest);
                }
            }
            Tree::List(items) => {
                let rest = segs.get(1..).unwrap_or_default();
                for item in items {
                    self.tree(item, rest);
                }
            }
            Tree::Map(members) => {
                let wanted = |name: &str| match segs.first() {
                    Some(Seg::Name(seg)) => **seg == *name,
                    _ => true,
                };
                let rest = segs.get(1..).unwrap_or_default();
                for (_, tree) in members.iter().filter(|(name, _)| wanted(&name.it)) {
                    self.tree(tree, rest);
                }
            }
        }
    }
}

/// What an item of a `for_each` is called.
pub(super) fn item_of(step: &Step) -> Option<&str> {
    match &step.action {
        Action::ForEach(each) => Some(&each.name),
        _ => None,
    }
}

/// Whether what a step's destination answers may differ next time.
fn changes(step: &Step) -> bool {
    matches!(step.class(), Class::Read | Class::Set)
}
