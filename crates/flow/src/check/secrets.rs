//! Which secrets a flow needs.

use std::collections::BTreeSet;

use super::index::Index;
use super::visit::{Spot, visit};
use crate::expr::ast::{Ast, Node};
use crate::model::{Flow, Trigger};

/// The names of the secrets that a flow uses, in its steps and to recognise its senders.
#[must_use]
pub fn secrets(flow: &Flow) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let index = Index::of(flow);
    visit(flow, &index, &mut |_, spot| {
        if let Spot::Expr(expr, _) = spot {
            collect(expr.ast(), &mut names);
        }
    });
    for trigger in &flow.triggers {
        if let Trigger::Webhook(webhook) = trigger {
            names.extend(webhook.verify.secrets.iter().map(|name| name.it.clone()));
        }
    }
    names
}

fn collect(ast: &Ast, names: &mut BTreeSet<String>) {
    if let Node::Secret(name) = &ast.node {
        names.insert(name.to_string());
    }
    ast.parts().for_each(|part| collect(part, names));
}

#[cfg(test)]
mod tests {
    use super::secrets;

    #[test]
    fn secrets_are_found_wherever_they_stand() {
        let source = "\
name: a
on:
  webhook: {path: /hooks/a, verify: stripe, secrets: ['${{ secrets.NEW }}', '${{ secrets.OLD }}']}
key: a/${{ event.id }}
let: {auth: '\"Basic \" + secrets.LET'}
steps:
  - id: one
    http: {post: 'https://a.example', bearer: '${{ secrets.BEARER }}', headers: {x: '${{ auth }}'}}
    lookup: {http: {get: 'https://a.example', headers: {k: 'k ${{ secrets.LOOKUP }}'}}, found: 'true'}
  - id: each
    for_each: event.items
    key: a/${{ item.id }}
    steps:
      - id: two
        http: {post: 'https://a.example', basic: {user: u, password: '${{ secrets.INNER }}'}}
";
        let flow = crate::read(source).flow.expect("a flow");
        let names: Vec<_> = secrets(&flow).into_iter().collect();
        assert_eq!(names, ["BEARER", "INNER", "LET", "LOOKUP", "NEW", "OLD"]);
    }
}
