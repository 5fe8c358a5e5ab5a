//! The evaluator: a tree and names to a value.
//!
//! Recursion follows the tree, whose depth is bounded; work is bounded by [`Fuel`]. Values are
//! shared, never copied deeply.

mod access;
mod arith;
mod compare;
mod each;

use std::sync::Arc;

use super::Names;
use super::ast::{Ast, Node};
use super::fault::{Fault, FaultKind, Outcome, secret, wrong};
use super::fuel::Fuel;
use super::functions::{Call, Function, Pattern};
use crate::value::{Map, Piece, Value};

pub(super) use arith::instant;
pub(super) use compare::{equal, order, rank};

/// One evaluation.
pub(super) struct Evaluation<'n> {
    pub(super) names: &'n dyn Names,
    pub(super) fuel: Fuel,
    /// How many `let` names are being evaluated inside each other.
    defined: u32,
}

/// Each of them may be as deep as an expression may be, so there are few.
const MAX_DEFINED: u32 = 8;

/// A name that a part of the expression bound.
#[derive(Clone, Copy)]
struct Local<'l> {
    name: &'l str,
    value: &'l Value,
    outer: Option<&'l Local<'l>>,
}

/// The names bound here.
type Locals<'l> = Option<&'l Local<'l>>;

impl<'n> Evaluation<'n> {
    pub(super) fn new(names: &'n dyn Names) -> Evaluation<'n> {
        Evaluation {
            names,
            fuel: Fuel::full(),
            defined: 0,
        }
    }

    /// The value of a whole expression.
    pub(super) fn run(&mut self, ast: &Ast) -> Outcome {
        self.value(ast, None)
    }

    fn value(&mut self, ast: &Ast, locals: Locals<'_>) -> Outcome {
        self.fuel.use_up(1).map_err(|fault| fault.at(ast.span))?;
        self.node(ast, locals).map_err(|fault| fault.at(ast.span))
    }

    fn node(&mut self, ast: &Ast, locals: Locals<'_>) -> Outcome {
        match &ast.node {
            Node::Literal(value) => Ok(value.clone()),
            Node::Ident(name) => self.ident(name, locals),
            Node::Secret(name) => Ok(Value::Sealed([Piece::Secret(name.clone())].into())),
            Node::Select { of, name } => self.select(of, name, locals),
            Node::Has { of, name } => self.has(of, name, locals),
            Node::Index { of, at } => self.index(of, at, locals),
            Node::Not(it) => match self.value(it, locals)? {
                Value::Bool(bool) => Ok(Value::Bool(!bool)),
                other => Err(misfit("`!` needs true or false", &other)),
            },
            Node::Negate(it) => {
                let it = self.value(it, locals)?;
                arith::negate(&it)
            }
            Node::Arith { first, rest } => self.chain(first, rest, locals),
            Node::Compare { by, left, right } => {
                let left = self.value(left, locals)?;
                let right = self.value(right, locals)?;
                compare::compare(*by, &left, &right, &mut self.fuel)
            }
            Node::In { item, of } => {
                let item = self.value(item, locals)?;
                let of = self.value(of, locals)?;
                compare::contains(&item, &of, &mut self.fuel)
            }
            Node::And(parts) => self.decide(parts, false, locals),
            Node::Or(parts) => self.decide(parts, true, locals),
            Node::If {
                when,
                then,
                otherwise,
            } => match self.value(when, locals)? {
                Value::Bool(true) => self.value(then, locals),
                Value::Bool(false) => self.value(otherwise, locals),
                other => Err(misfit("`? :` needs true or false before it", &other)),
            },
            Node::List(items) => self.list(items, locals),
            Node::Map(members) => self.map(members, locals),
            Node::Call {
                function,
                args,
                pattern,
            } => self.call(function, args, pattern.as_ref(), locals),
            Node::Default { it, fallback } => self.default(it, fallback, locals),
            Node::Each(each) => self.each(each, locals),
        }
    }

    /// `default(it, fallback)`: only what is missing or null is replaced, nothing that is wrong.
    fn default(&mut self, it: &Ast, fallback: &Ast, locals: Locals<'_>) -> Outcome {
        match self.value(it, locals) {
            Ok(Value::Null) => self.value(fallback, locals),
            Err(fault) if fault.kind() == FaultKind::Missing => self.value(fallback, locals),
            found => found,
        }
    }

    /// `&&` and `||`: one part that decides is enough, wherever it stands and whatever is wrong
    /// with the others.
    fn decide(&mut self, parts: &[Ast], decisive: bool, locals: Locals<'_>) -> Outcome {
        let mut doubt: Option<Fault> = None;
        for part in parts {
            match self.truth(part, locals) {
                Ok(bool) if bool == decisive => return Ok(Value::Bool(decisive)),
                Ok(_) => {}
                Err(fault) if fault.kind() == FaultKind::Stop => return Err(fault),
                Err(fault) => {
                    doubt.get_or_insert(fault);
                }
            }
        }
        match doubt {
            Some(fault) => Err(fault),
            None => Ok(Value::Bool(!decisive)),
        }
    }

    /// The value of a condition.
    fn truth(&mut self, ast: &Ast, locals: Locals<'_>) -> Outcome<bool> {
        match self.value(ast, locals)? {
            Value::Bool(bool) => Ok(bool),
            other => Err(misfit("a condition must be true or false", &other).at(ast.span)),
        }
    }

    fn list(&mut self, items: &[Ast], locals: Locals<'_>) -> Outcome {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            values.push(self.value(item, locals)?);
        }
        Ok(Value::list(values))
    }

    fn map(&mut self, members: &[(Ast, Ast)], locals: Locals<'_>) -> Outcome {
        let mut map = Map::new();
        for (name, value) in members {
            let key = match self.value(name, locals)? {
                Value::Text(text) => text,
                other => return Err(misfit("a member's name must be text", &other).at(name.span)),
            };
            let value = self.value(value, locals)?;
            if map.insert(key.clone(), value).is_some() {
                let message = format!("the member `{key}` is there twice");
                return Err(wrong(message).at(name.span));
            }
        }
        Ok(Value::Map(Arc::new(map)))
    }

    fn call(
        &mut self,
        function: &'static Function,
        args: &[Ast],
        pattern: Option<&Pattern>,
        locals: Locals<'_>,
    ) -> Outcome {
        // Nearly every call has at most three arguments: no need to ask for memory.
        let mut few = [const { Value::Null }; 3];
        let mut many = Vec::new();
        let values: &[Value] = if args.len() <= few.len() {
            for (slot, arg) in few.iter_mut().zip(args) {
                *slot = self.value(arg, locals)?;
            }
            &few[..args.len()]
        } else {
            for arg in args {
                many.push(self.value(arg, locals)?);
            }
            &many
        };
        let sealed = values.iter().position(|v| matches!(v, Value::Sealed(_)));
        if let Some(index) = sealed {
            return Err(secret().at(args[index].span));
        }
        function.call(&mut Call {
            name: function.name,
            args: values,
            pattern,
            names: self.names,
            fuel: &mut self.fuel,
        })
    }
}

/// A value of the wrong kind. Says the kind, never the value.
pub(super) fn misfit(what: &str, found: &Value) -> Fault {
    match found {
        Value::Sealed(_) => secret(),
        other => wrong(format!("{what}, not {}", other.kind())),
    }
}
