//! An expression as a tree, for whoever evaluates it or asks what it depends on.
//!
//! Made by [`Expr::parse`](super::Expr::parse) alone. The invariant: no tree is nested deeper than
//! [`MAX_DEPTH`](super::MAX_DEPTH), so walking one by recursion is safe. That is why a chain of
//! `+` is one node with many operands and not a tower.

use std::sync::Arc;

use super::functions::{Function, Pattern};
use crate::diagnostic::Span;
use crate::value::Value;

/// A part of an expression and its place.
#[derive(Clone, Debug)]
pub struct Ast {
    /// What it is.
    pub node: Node,
    /// Where it stands in the file.
    pub span: Span,
}

/// What a part of an expression is.
#[derive(Clone, Debug)]
pub enum Node {
    /// A value as it is written.
    Literal(Value),
    /// A name: one of an enclosing [`Each`], or else a root name.
    Ident(Arc<str>),
    /// `secrets.NAME`
    Secret(Arc<str>),
    /// `of.name`
    Select {
        /// The object.
        of: Box<Ast>,
        /// Its member.
        name: Arc<str>,
    },
    /// `has(of.name)`
    Has {
        /// The object.
        of: Box<Ast>,
        /// Its member.
        name: Arc<str>,
    },
    /// `of[at]`
    Index {
        /// The list or object.
        of: Box<Ast>,
        /// The place or the member.
        at: Box<Ast>,
    },
    /// `!it`
    Not(Box<Ast>),
    /// `-it`
    Negate(Box<Ast>),
    /// `first + b - c * d …`, taken strictly from left to right.
    Arith {
        /// What it starts with.
        first: Box<Ast>,
        /// What is done to it, in order.
        rest: Vec<(Arith, Ast)>,
    },
    /// `left < right`
    Compare {
        /// How.
        by: Compare,
        /// One side.
        left: Box<Ast>,
        /// The other.
        right: Box<Ast>,
    },
    /// `item in of`
    In {
        /// What is looked for.
        item: Box<Ast>,
        /// The list, or the object whose member names are meant.
        of: Box<Ast>,
    },
    /// `a && b && …`
    And(Vec<Ast>),
    /// `a || b || …`
    Or(Vec<Ast>),
    /// `when ? then : otherwise`
    If {
        /// The condition.
        when: Box<Ast>,
        /// If it is true.
        then: Box<Ast>,
        /// If it is false.
        otherwise: Box<Ast>,
    },
    /// `[a, b]`
    List(Vec<Ast>),
    /// `{a: b}`
    Map(Vec<(Ast, Ast)>),
    /// `function(args)`, or `first.function(others)`.
    Call {
        /// Which.
        function: &'static Function,
        /// What it is given; a receiver comes first.
        args: Vec<Ast>,
        /// The pattern of `matches`, if it is written out.
        pattern: Option<Pattern>,
    },
    /// `default(it, fallback)`: the fallback if `it` is missing or null.
    Default {
        /// What is wanted.
        it: Box<Ast>,
        /// What is taken instead.
        fallback: Box<Ast>,
    },
    /// `of.all(name, body)` and its kin.
    Each(Box<Each>),
}

/// The same for every item of a list, or every member name of an object.
#[derive(Clone, Debug)]
pub struct Each {
    /// What is made of it.
    pub what: What,
    /// The list or object.
    pub of: Ast,
    /// What an item is called in `only` and `body`.
    pub name: Arc<str>,
    /// `map` with a condition: only for these.
    pub only: Option<Ast>,
    /// Evaluated for each item.
    pub body: Ast,
}

/// What is made of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Is the body true of all?
    All,
    /// Of at least one?
    Exists,
    /// Of exactly one?
    ExistsOne,
    /// A list of the bodies' values.
    Map,
    /// A list of the items for which the body is true.
    Filter,
}

/// Arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arith {
    /// `+`, also for text, lists and times.
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`; of two whole numbers it drops the rest.
    Divide,
    /// `/` where one side is written as a decimal, such as `total / 100.0`: keeps the rest.
    Ratio,
    /// `%`
    Remainder,
}

/// Comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Arith {
    /// As it is written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Arith::Add => "+",
            Arith::Subtract => "-",
            Arith::Multiply => "*",
            Arith::Divide | Arith::Ratio => "/",
            Arith::Remainder => "%",
        }
    }
}

impl Compare {
    /// As it is written.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Compare::Equal => "==",
            Compare::Unequal => "!=",
            Compare::Less => "<",
            Compare::AtMost => "<=",
            Compare::Greater => ">",
            Compare::AtLeast => ">=",
        }
    }
}

impl Ast {
    /// The text that stands here, if it is plain text.
    pub fn text(&self) -> Option<&str> {
        match &self.node {
            Node::Literal(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The parts directly below this one, in the order of evaluation.
    pub fn parts(&self) -> impl Iterator<Item = &Ast> {
        let mut parts: Vec<&Ast> = Vec::new();
        match &self.node {
            Node::Literal(_) | Node::Ident(_) | Node::Secret(_) => {}
            Node::Select { of, .. } | Node::Has { of, .. } => parts.push(of),
            Node::Not(it) | Node::Negate(it) => parts.push(it),
            Node::Index {
                of: left,
                at: right,
            }
            | Node::Compare { left, right, .. }
            | Node::In {
                item: left,
                of: right,
            }
            | Node::Default {
                it: left,
                fallback: right,
            } => parts.extend([&**left, right]),
            Node::Arith { first, rest } => {
                parts.push(first);
                parts.extend(rest.iter().map(|(_, operand)| operand));
            }
            Node::If {
                when,
                then,
                otherwise,
            } => parts.extend([&**when, then, otherwise]),
            Node::And(all) | Node::Or(all) | Node::List(all) => parts.extend(all),
            Node::Call { args, .. } => parts.extend(args),
            Node::Map(members) => {
                parts.extend(members.iter().flat_map(|(name, value)| [name, value]));
            }
            Node::Each(each) => {
                parts.push(&each.of);
                parts.extend(&each.only);
                parts.push(&each.body);
            }
        }
        parts.into_iter()
    }

    /// How messages name this part: `event.items[0].id`, or `the value` for what has no path.
    #[must_use]
    pub fn path(&self) -> String {
        match &self.node {
            Node::Ident(name) => name.as_ref().to_owned(),
            Node::Secret(name) => format!("secrets.{name}"),
            Node::Select { of, name } => format!("{}.{name}", of.path()),
            Node::Index { of, at } => match &at.node {
                Node::Literal(value) => format!("{}[{}]", of.path(), value.to_json()),
                _ => format!("{}[…]", of.path()),
            },
            Node::Call { function, .. } => format!("{}(…)", function.name),
            _ => "the value".to_owned(),
        }
    }
}
