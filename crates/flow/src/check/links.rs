//! Whether runs of a flow hand out links to themselves.

use super::index::Index;
use super::visit::{Spot, visit};
use crate::expr::ast::{Ast, Node};
use crate::model::Flow;

/// The names that stand for links.
const LINKS: [&str; 2] = ["approvals", "callbacks"];

/// Whether an expression of the flow makes a link by which the world reaches a run.
#[must_use]
pub fn hands_out_links(flow: &Flow) -> bool {
    let index = Index::of(flow);
    let mut found = false;
    visit(flow, &index, &mut |_, spot| {
        if let Spot::Expr(expr, _) = spot {
            found |= is_link(expr.ast());
        }
    });
    found
}

fn is_link(ast: &Ast) -> bool {
    let named = matches!(&ast.node, Node::Ident(name) if LINKS.contains(&&**name));
    named || ast.parts().any(is_link)
}
