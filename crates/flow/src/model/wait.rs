//! What a run waits for.

use std::fmt::Write as _;
use std::sync::Arc;

use semel_ledger::Millis;

use crate::diagnostic::Spanned;
use crate::expr::Expr;
use crate::expr::ast::{Ast, Compare, Node};
use crate::value::Value;

/// What the event is called in `match`.
pub const INCOMING: &str = "incoming";

/// What a run waits for.
#[derive(Clone, Debug)]
pub enum Wait {
    /// A while.
    For(Millis),
    /// A time.
    Until(Expr),
    /// Somebody posts to its address.
    Callback(Patience),
    /// An event that matches.
    ForEvent(Box<ForEvent>),
}

/// How long something is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// At the most.
    pub timeout: Millis,
    /// And then.
    pub then: OnTimeout,
}

/// What happens when nothing came in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnTimeout {
    /// The step fails.
    #[default]
    Fail,
    /// The run goes on; the result is null.
    GoOn,
}

/// Events that may be waited for.
#[derive(Clone, Debug)]
pub enum Heard {
    /// Those that this flow takes in.
    Flow(Spanned<String>),
    /// Those that are emitted under this name.
    Event(Spanned<String>),
}

/// An event that matches.
#[derive(Clone, Debug)]
pub struct ForEvent {
    /// Which events are looked at.
    pub of: Heard,
    /// Is it this one? (`match`)
    pub matches: Expr,
    /// For how long.
    pub patience: Patience,
}

/// What must be equal for an event to match: by this it is found without asking every run.
#[derive(Clone, Debug)]
pub struct Link {
    /// A path in the event, such as `incoming.order`.
    pub theirs: String,
    /// What it must be equal to, of the run.
    pub ours: Expr,
}

impl Wait {
    /// The word of the file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Wait::For(_) => "for",
            Wait::Until(_) => "until",
            Wait::Callback(_) => "callback",
            Wait::ForEvent(_) => "for_event",
        }
    }
}

impl ForEvent {
    /// The first part of `match` that must hold and says that a member of the event equals something
    /// of the run.
    #[must_use]
    pub fn link(&self) -> Option<Link> {
        let all = conjuncts(self.matches.ast());
        all.into_iter().find_map(|part| match &part.node {
            Node::Compare {
                by: Compare::Equal,
                left,
                right,
            } => self
                .link_of(left, right)
                .or_else(|| self.link_of(right, left)),
            _ => None,
        })
    }

    fn link_of(&self, theirs: &Ast, ours: &Ast) -> Option<Link> {
        let path = path(theirs)?;
        (!moves(ours)).then(|| Link {
            theirs: path,
            ours: self.matches.part(ours),
        })
    }
}

/// The parts that must all hold.
fn conjuncts(ast: &Ast) -> Vec<&Ast> {
    match &ast.node {
        Node::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        _ => vec![ast],
    }
}

/// `incoming.a["b"][0]`, the same for every spelling.
fn path(ast: &Ast) -> Option<String> {
    match &ast.node {
        Node::Ident(name) if **name == *INCOMING => Some(INCOMING.to_owned()),
        Node::Select { of, name } => member(path(of)?, name),
        Node::Index { of, at } => match &at.node {
            Node::Literal(Value::Text(name)) => member(path(of)?, name),
            Node::Literal(Value::Int(at)) => Some(format!("{}[{at}]", path(of)?)),
            _ => None,
        },
        _ => None,
    }
}

fn member(mut of: String, name: &Arc<str>) -> Option<String> {
    // Quoted as JSON is, which expressions read alike.
    let quoted = serde_json::to_string(&**name).ok()?;
    write!(of, "[{quoted}]").ok()?;
    Some(of)
}

/// Whether it depends on the event, or on the moment: then it says nothing that could be kept.
fn moves(ast: &Ast) -> bool {
    match &ast.node {
        Node::Ident(name) => **name == *INCOMING,
        Node::Call { function, .. } if ["now", "uuid"].contains(&function.name) => true,
        _ => ast.parts().any(moves),
    }
}
