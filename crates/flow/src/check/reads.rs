//! Which values a flow reads: for whoever must make up an event or an answer that it can work with.
//!
//! Owns finding the paths (`event.data.id`, `steps.find.result.id`, `body.items[0].id`) and what is due there.
//! Makes no values.

use std::sync::Arc;

use super::index::Index;
use super::visit::{Spot, Use, visit};
use crate::expr::Expr;
use crate::expr::ast::{Arith, Ast, Compare, Node};
use crate::model::{Action, Flow, ForEach, Step};
use crate::value::Value;

/// A value that an expression reads.
#[derive(Clone, Debug)]
pub struct Read {
    /// The name that it starts from, such as `event` or `body`.
    pub root: Arc<str>,
    /// The way from there.
    pub path: Vec<Part>,
    /// What is due there.
    pub due: Due,
}

/// A step of the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A member of an object.
    Member(Arc<str>),
    /// An item of a list.
    Item,
}

/// What is due at the end of the way.
#[derive(Clone, Debug, PartialEq)]
pub enum Due {
    /// Anything.
    Any,
    /// It is compared with this: equal to it, or above or below.
    Like(Compare, Value),
    /// A number.
    Number,
    /// True or false.
    Truth,
    /// A list.
    List,
}

/// Every value that the expressions of a flow read, in the order of the file.
#[must_use]
pub fn reads(flow: &Flow) -> Vec<Read> {
    let index = Index::of(flow);
    let mut found = Vec::new();
    visit(flow, &index, &mut |place, spot| {
        if let Spot::Expr(expr, used) = spot {
            let due = match used {
                Use::Condition => Due::Truth,
                Use::List => Due::List,
                Use::Version | Use::Number => Due::Number,
                Use::Key(_) | Use::Value | Use::Kept => Due::Any,
            };
            Reader {
                flow,
                loops: &place.loops,
                found: &mut found,
            }
            .read(expr.ast(), due);
        }
    });
    found
}

/// Every value that one expression reads.
#[must_use]
pub fn reads_of(flow: &Flow, expr: &Expr, due: Due) -> Vec<Read> {
    let mut found = Vec::new();
    Reader {
        flow,
        loops: &[],
        found: &mut found,
    }
    .read(expr.ast(), due);
    found
}

struct Reader<'r> {
    flow: &'r Flow,
    /// The `for_each` steps whose items it sees.
    loops: &'r [&'r Step],
    found: &'r mut Vec<Read>,
}

impl Reader<'_> {
    fn read(&mut self, ast: &Ast, due: Due) {
        if let Some((root, path)) = self.way(ast, 0) {
            self.found.push(Read { root, path, due });
            self.inside(ast);
            return;
        }
        match &ast.node {
            Node::Has { of, name } => self.member(of, name),
            Node::Compare { by, left, right } => {
                for (one, other) in [(left, right), (right, left)] {
                    let due = match &other.node {
                        Node::Literal(value) => Due::Like(*by, value.clone()),
                        _ => Due::Any,
                    };
                    self.read(one, due);
                }
            }
            Node::Arith { first, rest } => {
                let adds = rest.iter().all(|(sign, _)| *sign == Arith::Add);
                let due = if adds { Due::Any } else { Due::Number };
                self.read(first, due.clone());
                for (_, operand) in rest {
                    self.read(operand, due.clone());
                }
            }
            Node::Not(_) | Node::And(_) | Node::Or(_) => {
                ast.parts().for_each(|part| self.read(part, Due::Truth));
            }
            Node::In { item, of } => {
                let one = match &of.node {
                    Node::List(items) => items.first().map(|first| &first.node),
                    _ => None,
                };
                let due = match one {
                    Some(Node::Literal(value)) => Due::Like(Compare::Equal, value.clone()),
                    _ => Due::Any,
                };
                self.read(item, due);
                self.read(of, Due::List);
            }
            Node::Call { function, args, .. } => {
                let due = if function.name == "size" {
                    Due::List
                } else {
                    Due::Any
                };
                for arg in args {
                    self.read(arg, due.clone());
                }
            }
            Node::Each(each) => {
                self.read(&each.of, Due::List);
                self.items(&each.of, &each.name, each.only.as_ref());
                self.items(&each.of, &each.name, Some(&each.body));
            }
            Node::If {
                when,
                then,
                otherwise,
            } => {
                self.read(when, Due::Truth);
                self.read(then, due.clone());
                self.read(otherwise, due);
            }
            _ => ast.parts().for_each(|part| self.read(part, Due::Any)),
        }
    }

    /// Expressions that stand inside of a way, such as an index.
    fn inside(&mut self, ast: &Ast) {
        if let Node::Index { at, .. } = &ast.node
            && at.text().is_none()
        {
            self.read(at, Due::Any);
        }
        if let Node::Index { of, .. } | Node::Select { of, .. } = &ast.node {
            self.inside(of);
        }
    }

    fn member(&mut self, of: &Ast, name: &Arc<str>) {
        if let Some((root, mut path)) = self.way(of, 0) {
            path.push(Part::Member(Arc::clone(name)));
            let due = Due::Any;
            self.found.push(Read { root, path, due });
        }
    }

    /// What is read of each item, as read of the list.
    fn items(&mut self, list: &Ast, name: &str, body: Option<&Ast>) {
        let (Some((root, way)), Some(body)) = (self.way(list, 0), body) else {
            return;
        };
        let mut inner = Vec::new();
        Reader {
            flow: self.flow,
            loops: self.loops,
            found: &mut inner,
        }
        .read(body, Due::Any);
        for read in inner {
            if &*read.root == name {
                let mut path = way.clone();
                path.push(Part::Item);
                path.extend(read.path);
                self.found.push(Read {
                    root: Arc::clone(&root),
                    path,
                    due: read.due,
                });
            } else {
                self.found.push(read);
            }
        }
    }

    /// The `for_each` whose item has that name.
    fn each(&self, name: &str) -> Option<&ForEach> {
        self.loops.iter().rev().find_map(|step| match &step.action {
            Action::ForEach(each) if each.name == name => Some(&**each),
            _ => None,
        })
    }

    /// The way that a chain of members and items is, with `let` names put in.
    fn way(&self, ast: &Ast, depth: usize) -> Option<(Arc<str>, Vec<Part>)> {
        match &ast.node {
            Node::Ident(name) => {
                if let Some(each) = self.each(name) {
                    let (root, mut path) = self.way(each.items.ast(), depth)?;
                    path.push(Part::Item);
                    return Some((root, path));
                }
                let defined = self.flow.lets.iter().find(|(given, _)| *given.it == **name);
                // A name may stand for another; a circle was told of by the checker.
                match defined.filter(|_| depth < 16) {
                    Some((_, expr)) => self.way(expr.ast(), depth + 1),
                    None => Some((Arc::clone(name), Vec::new())),
                }
            }
            Node::Select { of, name } => {
                let (root, mut path) = self.way(of, depth)?;
                path.push(Part::Member(Arc::clone(name)));
                Some((root, path))
            }
            Node::Index { of, at } => {
                let (root, mut path) = self.way(of, depth)?;
                path.push(match at.text() {
                    Some(name) => Part::Member(name.into()),
                    None => Part::Item,
                });
                Some((root, path))
            }
            Node::Default { it, .. } => self.way(it, depth),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(text: &str) -> Vec<String> {
        let source = format!(
            "name: f\non: manual\nkey: k/${{{{ event.id }}}}\nlet:\n  pay: event.data.object\nsteps:\n  - {{id: a, if: '{text}', set: {{x: 1}}}}\n"
        );
        let flow = crate::read(&source).flow.expect("a flow");
        let all = reads(&flow);
        let shown = all.iter().map(|read| {
            let part = |part: &Part| match part {
                Part::Member(name) => format!(".{name}"),
                Part::Item => "[]".to_owned(),
            };
            let path: String = read.path.iter().map(part).collect();
            format!("{}{path} {:?}", read.root, read.due)
        });
        shown.skip(2).collect()
    }

    #[test]
    fn ways_are_found_with_what_is_due() {
        let like = |by: &str, value: &str| format!("Like({by}, {value})");
        assert_eq!(
            ways("pay.amount > 5 && event.type == \"paid\""),
            [
                format!("event.data.object.amount {}", like("Greater", "Int(5)")),
                format!("event.type {}", like("Equal", "Text(\"paid\")")),
            ]
        );
        assert_eq!(
            ways("event.lines.exists(l, l.sku == \"x\")"),
            [
                "event.lines List".to_owned(),
                format!("event.lines[].sku {}", like("Equal", "Text(\"x\")")),
            ]
        );
        assert_eq!(
            ways("size(event.items) > 0 && event.items[0].id != \"\""),
            [
                "event.items List".to_owned(),
                format!("event.items[].id {}", like("Unequal", "Text(\"\")")),
            ]
        );
        assert_eq!(
            ways("event.type in [\"a\", \"b\"]"),
            [format!("event.type {}", like("Equal", "Text(\"a\")"))]
        );
        assert_eq!(ways("event.vip"), ["event.vip Truth"]);
        assert_eq!(ways("has(event.x.y)"), ["event.x.y Any"]);
    }
}
