//! Paths such as `event.items[0].id`, taken apart.

use std::fmt::Write as _;
use std::sync::Arc;

use super::{Source, Trace};
use crate::expr::ast::{Ast, Node};
use crate::value::Value;

/// A step along a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seg {
    /// `.name`, `["name"]`
    Name(Arc<str>),
    /// `[0]`
    At(i64),
    /// `[…]`
    Any,
}

/// A path from its root.
pub(super) struct Chain<'f> {
    pub(super) root: &'f Ast,
    pub(super) segs: Vec<Seg>,
    /// Expressions that stand in brackets.
    pub(super) places: Vec<&'f Ast>,
}

/// Takes a path apart; what is none is its own root.
pub(super) fn chain(ast: &Ast) -> Chain<'_> {
    match &ast.node {
        Node::Select { of, name } => {
            let mut chain = chain(of);
            chain.segs.push(Seg::Name(Arc::clone(name)));
            chain
        }
        Node::Index { of, at } => {
            let mut chain = chain(of);
            chain.segs.push(match &at.node {
                Node::Literal(Value::Text(name)) => Seg::Name(Arc::clone(name)),
                Node::Literal(Value::Int(at)) => Seg::At(*at),
                _ => {
                    chain.places.push(at);
                    Seg::Any
                }
            });
            chain
        }
        _ => Chain {
            root: ast,
            segs: Vec::new(),
            places: Vec::new(),
        },
    }
}

/// The names along a path.
pub(super) fn names(segs: &[Seg]) -> Vec<String> {
    let names = segs.iter().filter_map(|seg| match seg {
        Seg::Name(name) => Some(name.to_string()),
        Seg::At(_) | Seg::Any => None,
    });
    names.collect()
}

/// The path as it is written.
pub(super) fn text(root: &str, segs: &[Seg]) -> String {
    let mut text = root.to_owned();
    for seg in segs {
        match seg {
            Seg::Name(name) => {
                text.push('.');
                text.push_str(name);
            }
            Seg::At(at) => {
                let _ = write!(text, "[{at}]");
            }
            Seg::Any => text.push_str("[…]"),
        }
    }
    text
}

/// The same way, but to something below.
pub(super) fn below(mut trace: Trace, segs: &[Seg]) -> Trace {
    match &mut trace.source {
        Source::Event(path) | Source::Item { path, .. } => path.extend(names(segs)),
        _ => {}
    }
    trace
}
