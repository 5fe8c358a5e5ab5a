//! Kinds of values, where they can be known before anything runs.
//!
//! Owns the code `C008`. What comes from outside may be anything and is never complained about.

use std::cell::Cell;

use super::headers::header_of;
use super::trace::Tracer;
use super::visit::Use;
use crate::codes::C008;
use crate::diagnostic::Diagnostic;
use crate::expr::Expr;
use crate::expr::ast::{Arith, Ast, Compare, Node, What};
use crate::model::{Action, Step, Tree};
use crate::value::Value;

/// How many names may lean on each other.
const MAX_DEPTH: usize = 16;
/// How many parts are looked at for one expression.
const FUEL: u32 = 1_000;

/// A kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Any,
    Null,
    Bool,
    Whole,
    Decimal,
    Text,
    List,
    Object,
    Time,
    Duration,
    Secret,
}

/// What is wrong with the kind of an expression's value.
pub(super) fn check_types<'f>(
    tracer: &Tracer<'_, 'f>,
    expr: &'f Expr,
    used: Use,
) -> Vec<Diagnostic> {
    let mut types = Types {
        tracer,
        bound: Vec::new(),
        fuel: Cell::new(FUEL),
    };
    types.bind(expr.ast());
    let mut found = Vec::new();
    types.compared(expr.ast(), &mut found);
    let is = types.of(expr.ast(), 0);
    if used == Use::Kept && is == Type::Secret {
        let title = format!("`{}` is {}", expr.source, is.name());
        let wrong = Diagnostic::error(C008, expr.span, title, "a secret cannot be kept");
        found.push(wrong.help("write `secrets.NAME` where it is sent"));
    }
    let (due, fits): (&str, &[Type]) = match used {
        Use::Value | Use::Kept => return found,
        Use::Condition => ("true or false is due here", &[Type::Bool]),
        Use::Number => ("a number is due here", &[Type::Whole, Type::Decimal]),
        Use::List => ("a list is due here", &[Type::List, Type::Null]),
        Use::Version => (
            "a whole number or a time is due here",
            &[Type::Whole, Type::Time],
        ),
        // That a secret is in a key is said there.
        Use::Key(_) => (
            "a key is made of text and whole numbers",
            &[Type::Text, Type::Whole, Type::Secret],
        ),
    };
    if is != Type::Any && !fits.contains(&is) {
        let title = format!("`{}` is {}", expr.source, is.name());
        let wrong = Diagnostic::error(C008, expr.span, title, due);
        found.push(match (used, is) {
            (Use::Condition, _) => wrong.help(format!("compare it: {} == …", expr.source)),
            (Use::Key(_), Type::Time) => wrong.help(format!(
                "write date({}) or string({})",
                expr.source, expr.source
            )),
            (Use::Key(_), Type::Object) => {
                wrong.help("name a member that tells it apart, such as its id")
            }
            (Use::Key(_), Type::List) => wrong.help(format!("write hash({})", expr.source)),
            (Use::Key(_), _) => wrong.help(format!("write string({})", expr.source)),
            (Use::Version, Type::Text) => wrong.help(format!(
                "write timestamp({}) or int({})",
                expr.source, expr.source
            )),
            _ => wrong,
        });
    }
    found
}

struct Types<'t, 'i, 'f> {
    tracer: &'t Tracer<'i, 'f>,
    /// Names that `map` and its kin give to items: nothing is known of them.
    bound: Vec<&'f str>,
    /// How many more parts may be looked at before the answer is that nothing is known.
    fuel: Cell<u32>,
}

impl<'f> Types<'_, '_, 'f> {
    fn bind(&mut self, ast: &'f Ast) {
        if let Node::Each(each) = &ast.node {
            self.bound.push(&each.name);
        }
        ast.parts().for_each(|part| self.bind(part));
    }

    /// Comparisons that can only have one outcome, and conditions that are none.
    fn compared(&self, ast: &'f Ast, found: &mut Vec<Diagnostic>) {
        match &ast.node {
            Node::Compare {
                by: Compare::Equal | Compare::Unequal,
                left,
                right,
            } => {
                let (a, b) = (self.of(left, 0), self.of(right, 0));
                if a.is_scalar() && b.is_scalar() && a.family() != b.family() {
                    let title = format!("{} is compared with {}", a.name(), b.name());
                    let label = "they are never equal";
                    found.push(Diagnostic::error(C008, ast.span, title, label));
                }
            }
            Node::And(all) | Node::Or(all) => {
                for it in all {
                    self.condition(it, found);
                }
            }
            Node::Not(it) => self.condition(it, found),
            Node::If { when, .. } => self.condition(when, found),
            _ => {}
        }
        ast.parts().for_each(|part| self.compared(part, found));
    }

    fn condition(&self, ast: &'f Ast, found: &mut Vec<Diagnostic>) {
        let is = self.of(ast, 0);
        if !matches!(is, Type::Any | Type::Bool) {
            let title = format!("{} stands where a condition is due", is.name());
            let label = "neither true nor false";
            found.push(Diagnostic::error(C008, ast.span, title, label));
        }
    }

    fn of(&self, ast: &'f Ast, depth: usize) -> Type {
        let Some(fuel) = self.fuel.get().checked_sub(1) else {
            return Type::Any;
        };
        self.fuel.set(fuel);
        match &ast.node {
            Node::Literal(value) => of_value(value),
            Node::Secret(_) => Type::Secret,
            Node::Has { .. }
            | Node::Not(_)
            | Node::Compare { .. }
            | Node::In { .. }
            | Node::And(_)
            | Node::Or(_) => Type::Bool,
            Node::Each(each) => match each.what {
                What::Map | What::Filter => Type::List,
                What::All | What::Exists | What::ExistsOne => Type::Bool,
            },
            Node::List(_) => Type::List,
            Node::Map(_) => Type::Object,
            Node::Negate(it) => self.of(it, depth),
            Node::If {
                then, otherwise, ..
            } => join(self.of(then, depth), self.of(otherwise, depth)),
            Node::Default { it, fallback } => join(self.of(it, depth), self.of(fallback, depth)),
            Node::Arith { first, rest } => self.arith(first, rest, depth),
            Node::Call { function, .. } => of_call(function.name),
            Node::Ident(name) => self.named(name, depth),
            Node::Select { .. } | Node::Index { .. } if self.is_header(ast) => Type::Text,
            Node::Select { of, name } => self.member(of, name, depth),
            Node::Index { .. } => Type::Any,
        }
    }

    fn is_header(&self, ast: &Ast) -> bool {
        header_of(ast).is_some() && !self.bound.contains(&"request")
    }

    fn arith(&self, first: &'f Ast, rest: &'f [(Arith, Ast)], depth: usize) -> Type {
        rest.iter()
            .fold(self.of(first, depth), |is, (by, operand)| {
                let other = self.of(operand, depth);
                match (is, by, other) {
                    (Type::Text, Arith::Add, Type::Text) => Type::Text,
                    (Type::List, Arith::Add, Type::List) => Type::List,
                    (Type::Whole, Arith::Ratio, Type::Whole) => Type::Any,
                    (Type::Whole, _, Type::Whole) => Type::Whole,
                    _ => Type::Any,
                }
            })
    }

    fn named(&self, name: &str, depth: usize) -> Type {
        match name {
            _ if self.bound.contains(&name) => Type::Any,
            "status" => Type::Whole,
            "headers" | "run" | "schedule" | "step" | "steps" | "failure" | "request"
            | "approvals" => Type::Object,
            _ => {
                let mut lets = self.tracer.flow.lets.iter();
                match lets.find(|(given, _)| given.it == name) {
                    Some((_, expr)) if depth < MAX_DEPTH => self.of(expr.ast(), depth + 1),
                    _ => Type::Any,
                }
            }
        }
    }

    fn member(&self, of: &'f Ast, name: &str, depth: usize) -> Type {
        match &of.node {
            Node::Ident(root) => match &**root {
                "run" | "schedule" | "step" | "failure" => Type::Text,
                _ => Type::Any,
            },
            Node::Select { of: root, name: id } if is_steps(root) => match name {
                "status" => Type::Text,
                "result" => self.step(id).map_or(Type::Any, |step| match &step.action {
                    _ if step.result.is_some() => Type::Any,
                    Action::Set(_)
                    | Action::ForEach(_)
                    | Action::Emit { .. }
                    | Action::Approve(_) => Type::Object,
                    _ => Type::Any,
                }),
                _ => Type::Any,
            },
            Node::Select {
                of: step,
                name: result,
            } if &**result == "result" => match &step.node {
                Node::Select { of: root, name: id } if is_steps(root) => {
                    self.set_member(id, name, depth)
                }
                _ => Type::Any,
            },
            _ => Type::Any,
        }
    }

    fn step(&self, id: &str) -> Option<&'f Step> {
        self.tracer.index.get(id).map(|at| at.step)
    }

    fn set_member(&self, id: &str, name: &str, depth: usize) -> Type {
        let Some(step) = self.step(id).filter(|step| step.result.is_none()) else {
            return Type::Any;
        };
        match &step.action {
            Action::ForEach(_) | Action::Emit { .. } => Type::Whole,
            Action::Approve(_) => match name {
                "approved" => Type::Bool,
                "by" => Type::List,
                _ => Type::Any,
            },
            Action::Set(members) if depth < MAX_DEPTH => {
                let mut members = members.iter();
                let member = members.find(|(member, _)| member.it == name);
                member.map_or(Type::Any, |(_, tree)| self.tree(tree, depth + 1))
            }
            _ => Type::Any,
        }
    }

    fn tree(&self, tree: &'f Tree, depth: usize) -> Type {
        match tree {
            Tree::Null => Type::Null,
            Tree::Bool(_) => Type::Bool,
            Tree::Number(text) if text.contains(['.', 'e', 'E']) => Type::Decimal,
            Tree::Number(_) => Type::Whole,
            Tree::List(_) => Type::List,
            Tree::Map(_) => Type::Object,
            Tree::Text(template) => {
                let mut exprs = template.exprs();
                match exprs.next() {
                    Some(expr) if template.is_single() => self.of(expr.ast(), depth),
                    // Text with a secret in it is a secret.
                    Some(_) => Type::Any,
                    None => Type::Text,
                }
            }
        }
    }
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Any => "anything",
            Type::Null => "null",
            Type::Bool => "true or false",
            Type::Whole => "a whole number",
            Type::Decimal => "a number with decimals",
            Type::Text => "text",
            Type::List => "a list",
            Type::Object => "an object",
            Type::Time => "a time",
            Type::Duration => "a duration",
            Type::Secret => "a secret",
        }
    }

    fn is_scalar(self) -> bool {
        !matches!(self, Type::Any | Type::Null | Type::Secret)
    }

    /// Numbers are compared by value.
    fn family(self) -> Type {
        match self {
            Type::Decimal => Type::Whole,
            other => other,
        }
    }
}

fn join(a: Type, b: Type) -> Type {
    if a == b { a } else { Type::Any }
}

fn is_steps(ast: &Ast) -> bool {
    matches!(&ast.node, Node::Ident(name) if &**name == "steps")
}

fn of_value(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Bool,
        Value::Int(_) => Type::Whole,
        Value::Decimal(_) => Type::Decimal,
        Value::Text(_) => Type::Text,
        Value::List(_) => Type::List,
        Value::Map(_) => Type::Object,
        Value::Time(_) => Type::Time,
        Value::Span(_) => Type::Duration,
        Value::Sealed(_) => Type::Secret,
    }
}

fn of_call(name: &str) -> Type {
    match name {
        "size" | "int" | "indexOf" | "getFullYear" | "getMonth" | "getDate" | "getDayOfMonth"
        | "getDayOfWeek" | "getDayOfYear" | "getHours" | "getMinutes" | "getSeconds"
        | "getMilliseconds" => Type::Whole,
        "string" | "type" | "toJson" | "base64Encode" | "hexEncode" | "urlEncode" | "hash"
        | "uuid" | "lowerAscii" | "upperAscii" | "trim" | "join" | "replace" | "substring"
        | "date" | "formatTime" => Type::Text,
        "bool" | "contains" | "startsWith" | "endsWith" | "matches" => Type::Bool,
        "keys" | "values" | "sort" | "distinct" | "flatten" | "reverse" | "slice" | "split" => {
            Type::List
        }
        "now" | "timestamp" => Type::Time,
        "duration" => Type::Duration,
        _ => Type::Any,
    }
}
