//! Names, members and places in lists.

use super::{Evaluation, Locals, MAX_DEFINED, misfit};
use crate::expr::ast::{Ast, Node};
use crate::expr::fault::{Fault, Outcome, missing, stop, wrong};
use crate::near::nearest;
use crate::value::{Map, Value};

/// How many members a message lists.
const LISTED: usize = 8;

impl Evaluation<'_> {
    pub(super) fn ident(&mut self, name: &str, locals: Locals<'_>) -> Outcome {
        if let Some(value) = bound(name, locals) {
            return Ok(value.clone());
        }
        if let Some(value) = self.names.get(name) {
            return Ok(value);
        }
        let names = self.names;
        let Some(expr) = names.defined(name) else {
            return Err(missing(format!("there is no `{name}` here")));
        };
        if self.defined >= MAX_DEFINED {
            let message = format!("`{name}` leans on more than {MAX_DEFINED} other `let` names");
            return Err(stop(message));
        }
        self.defined += 1;
        let value = self.value(expr.ast(), None);
        self.defined -= 1;
        value
    }

    pub(super) fn select(&mut self, of: &Ast, name: &str, locals: Locals<'_>) -> Outcome {
        if let Some(value) = self.direct(of, name, locals) {
            return Ok(value);
        }
        let object = self.value(of, locals)?;
        match &object {
            Value::Map(map) => map.get(name).cloned().ok_or_else(|| absent(of, name, map)),
            Value::Null => Err(missing(format!(
                "`{}` is null and has no member `{name}`",
                of.path()
            ))),
            other => Err(not_an_object(of, name, other)),
        }
    }

    /// `has(of.name)`: whether it is there; what it is said of must be.
    pub(super) fn has(&mut self, of: &Ast, name: &str, locals: Locals<'_>) -> Outcome {
        if self.direct(of, name, locals).is_some() {
            return Ok(Value::Bool(true));
        }
        match self.value(of, locals)? {
            Value::Map(map) => Ok(Value::Bool(map.contains_key(name))),
            other => Err(not_an_object(of, name, &other)),
        }
    }

    /// The member of a root name, where the whole root need not be made.
    fn direct(&self, of: &Ast, name: &str, locals: Locals<'_>) -> Option<Value> {
        match &of.node {
            Node::Ident(root) if bound(root, locals).is_none() => self.names.member(root, name),
            _ => None,
        }
    }

    pub(super) fn index(&mut self, of: &Ast, at: &Ast, locals: Locals<'_>) -> Outcome {
        let object = self.value(of, locals)?;
        let place = self.value(at, locals)?;
        match (&object, &place) {
            (Value::List(items), Value::Int(index)) => usize::try_from(*index)
                .ok()
                .and_then(|index| items.get(index))
                .cloned()
                .ok_or_else(|| {
                    let (path, count) = (of.path(), items.len());
                    missing(format!("`{path}` has {count} items and no item {index}"))
                }),
            (Value::Map(map), Value::Text(name)) => {
                map.get(name).cloned().ok_or_else(|| absent(of, name, map))
            }
            (Value::List(_), other) => Err(misfit("a list is indexed by a whole number", other)),
            (Value::Map(_), other) => Err(misfit("an object is indexed by text", other)),
            (Value::Null, _) => Err(missing(format!("`{}` is null and has no items", of.path()))),
            (other, _) => Err(misfit("only lists and objects are indexed", other)),
        }
    }
}

fn bound<'l>(name: &str, mut locals: Locals<'l>) -> Option<&'l Value> {
    while let Some(local) = locals {
        if local.name == name {
            return Some(local.value);
        }
        locals = local.outer;
    }
    None
}

fn not_an_object(of: &Ast, name: &str, found: &Value) -> Fault {
    match found {
        Value::Sealed(_) => misfit("", found),
        other => wrong(format!(
            "`{}` is {} and has no member `{name}`",
            of.path(),
            other.kind()
        )),
    }
}

fn absent(of: &Ast, name: &str, map: &Map) -> Fault {
    let path = of.path();
    let names = || map.keys().map(AsRef::as_ref);
    let hint = match nearest(name, names()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if map.is_empty() => "; it is empty".to_owned(),
        None => {
            let listed: Vec<&str> = names().take(LISTED).collect();
            let more = if map.len() > LISTED { ", …" } else { "" };
            format!("; it has {}{more}", listed.join(", "))
        }
    };
    missing(format!("`{path}` has no member `{name}`{hint}"))
}
