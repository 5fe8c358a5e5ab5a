//! Asking people for leave.

use semel_ledger::Millis;

use super::step::Tree;
use crate::diagnostic::{Span, Spanned};
use crate::expr::Template;

/// What marks a group among those who may answer.
pub const GROUP: &str = "group:";

/// A step that waits until people say yes.
#[derive(Clone, Debug)]
pub struct Approve {
    /// The question.
    pub ask: Template,
    /// What they should see beside it.
    pub show: Option<Tree>,
    /// How many must say yes.
    pub needed: u32,
    /// Who is asked first.
    pub first: Round,
    /// Who is asked when those did not answer in time.
    pub escalate: Option<Round>,
    /// Whoever started the run by hand may answer, too.
    pub allow_maker: bool,
    /// What follows a no.
    pub on_reject: OnReject,
    /// The keyword in the file.
    pub span: Span,
}

/// People who are asked together.
#[derive(Clone, Debug)]
pub struct Round {
    /// Names of people and `group:NAME`.
    pub by: Vec<Spanned<String>>,
    /// How long they have.
    pub timeout: Millis,
    /// If nobody else is asked then, silence is a yes.
    pub silence_approves: bool,
}

/// What follows a no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnReject {
    /// The step has failed.
    Fail,
    /// The run ends as done.
    Stop,
    /// The run goes on and can see the no.
    GoOn,
}

impl Approve {
    /// Those who are asked in that round, counted from 1.
    #[must_use]
    pub fn round(&self, number: u32) -> Option<&Round> {
        match number {
            1 => Some(&self.first),
            2 => self.escalate.as_ref(),
            _ => None,
        }
    }

    /// Everybody who may be asked, as written, each once.
    #[must_use]
    pub fn people(&self) -> Vec<&str> {
        let rounds = [Some(&self.first), self.escalate.as_ref()];
        let mut people: Vec<&str> = Vec::new();
        for one in rounds.into_iter().flatten().flat_map(|round| &round.by) {
            if !people.contains(&one.it.as_str()) {
                people.push(&one.it);
            }
        }
        people
    }
}
