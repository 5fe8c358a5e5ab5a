//! Calls: functions are looked up and counted; what binds a name or must not evaluate its argument
//! (`has`, `default`, `all`, `map` and the like) becomes a node of its own.

use cel::common::ast::{CallExpr, Expr, IdedExpr};

use super::fault;
use super::lower::{Lowered, Lowering, Result};
use crate::diagnostic::Span;
use crate::expr::ast::{Ast, Each, Node, What};
use crate::expr::functions::{self, Function, Pattern};
use crate::value::Value;

/// How the macros are written.
const USAGE: [(&str, &str); 8] = [
    ("has", "`has(event.member)`"),
    ("default", "`default(value, fallback)`"),
    ("all", "`list.all(name, condition)`"),
    ("exists", "`list.exists(name, condition)`"),
    ("exists_one", "`list.exists_one(name, condition)`"),
    ("existsOne", "`list.exists_one(name, condition)`"),
    (
        "map",
        "`list.map(name, value)` or `list.map(name, condition, value)`",
    ),
    ("filter", "`list.filter(name, condition)`"),
];

impl Lowering<'_> {
    pub(super) fn function(
        &self,
        id: u64,
        name: &str,
        call: &CallExpr,
        depth: usize,
    ) -> Result<Lowered> {
        let open = self.token(id).0;
        let end = self.brackets.end(open);
        let before = self.source[..open].trim_end();
        let named = before.len().saturating_sub(name.len());
        let at = self.place.span(named, before.len());
        let (node, start) = match &call.target {
            None => (self.global(name, &call.args, depth, at)?, named),
            Some(target) => self.method(name, target, &call.args, depth, at)?,
        };
        Ok(Lowered {
            decimal: matches!(&node, Node::Call { function, .. } if function.name == "double"),
            node,
            start,
            end,
        })
    }

    fn global(&self, name: &str, args: &[IdedExpr], depth: usize, at: Span) -> Result<Node> {
        match (name, args) {
            ("has", [member]) => self.has(member, depth, at),
            ("default", [it, fallback]) => Ok(Node::Default {
                it: Box::new(self.child(it, depth)?),
                fallback: Box::new(self.child(fallback, depth)?),
            }),
            _ => {
                let function = known(name, args.len(), at)?;
                plain(function, self.all(args, depth)?)
            }
        }
    }

    /// A call on a receiver: the node, and where the receiver starts.
    fn method(
        &self,
        name: &str,
        target: &IdedExpr,
        args: &[IdedExpr],
        depth: usize,
        at: Span,
    ) -> Result<(Node, usize)> {
        let target = self.lower(target, depth + 1)?;
        let start = target.start;
        let target = self.placed(target);
        let node = match (what(name), args) {
            (Some(what), [name, body]) => self.each(what, target, name, (None, body), depth)?,
            (Some(What::Map), [name, only, body]) => {
                self.each(What::Map, target, name, (Some(only), body), depth)?
            }
            (None, [fallback]) if name == "default" => Node::Default {
                it: Box::new(target),
                fallback: Box::new(self.child(fallback, depth)?),
            },
            _ => {
                let function = known(name, args.len() + 1, at)?;
                let mut all = vec![target];
                all.extend(self.all(args, depth)?);
                plain(function, all)?
            }
        };
        Ok((node, start))
    }

    fn child(&self, tree: &IdedExpr, depth: usize) -> Result<Ast> {
        self.lower(tree, depth + 1)
            .map(|lowered| self.placed(lowered))
    }

    fn has(&self, member: &IdedExpr, depth: usize, at: Span) -> Result<Node> {
        match self.child(member, depth)?.node {
            Node::Select { of, name } => Ok(Node::Has { of, name }),
            Node::Secret(_) => Err(fault::syntax(at, "a secret can only be sent")),
            _ => Err(fault::syntax(at, "asks for a member of an object")
                .help("write `has(event.member)`")),
        }
    }

    fn each(
        &self,
        what: What,
        of: Ast,
        name: &IdedExpr,
        (only, body): (Option<&IdedExpr>, &IdedExpr),
        depth: usize,
    ) -> Result<Node> {
        let (start, end) = self.token(name.id);
        let Expr::Ident(name) = &name.expr else {
            return Err(fault::syntax(
                self.place.span(start, end),
                "a plain name for the item is due here",
            )
            .help("write it like `list.filter(item, item.ok)`"));
        };
        if name == "secrets" {
            let span = self.place.span(start, end);
            return Err(fault::syntax(
                span,
                "`secrets` cannot be the name of an item",
            ));
        }
        let only = only.map(|only| self.child(only, depth)).transpose()?;
        Ok(Node::Each(Box::new(Each {
            what,
            of,
            name: name.as_str().into(),
            only,
            body: self.child(body, depth)?,
        })))
    }
}

/// The function of that name, if it takes so many arguments.
fn known(name: &str, given: usize, at: Span) -> Result<&'static Function> {
    if let Some((_, usage)) = USAGE.iter().find(|(known, _)| *known == name) {
        return Err(fault::counted(name, usage, given, at));
    }
    let function = functions::find(name).ok_or_else(|| fault::unknown_function(name, at))?;
    if function.takes(given) {
        Ok(function)
    } else {
        Err(fault::counted(function.name, function.usage, given, at))
    }
}

/// A pattern that is written out is made ready once, here.
fn plain(function: &'static Function, args: Vec<Ast>) -> Result<Node> {
    let pattern = match (function.name, args.get(1)) {
        ("matches", Some(second)) => match &second.node {
            Node::Literal(Value::Text(text)) => Some(
                Pattern::new(text)
                    .map_err(|error| fault::bad_pattern(second.span, error.to_string()))?,
            ),
            _ => None,
        },
        _ => None,
    };
    Ok(Node::Call {
        function,
        args,
        pattern,
    })
}

fn what(name: &str) -> Option<What> {
    Some(match name {
        "all" => What::All,
        "exists" => What::Exists,
        "exists_one" | "existsOne" => What::ExistsOne,
        "map" => What::Map,
        "filter" => What::Filter,
        _ => return None,
    })
}
