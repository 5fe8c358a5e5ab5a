//! Examples of what comes in and of what is answered: for whoever tries the flow, never for running it.

use crate::diagnostic::Spanned;
use crate::value::Value;

/// What may come in, and what destinations answer.
#[derive(Clone, Debug, Default)]
pub struct Examples {
    /// Events, in the order of the file.
    pub events: Vec<Example>,
    /// Answers by the id of their step.
    pub answers: Vec<(Spanned<String>, Spanned<Value>)>,
}

/// One of the events.
#[derive(Clone, Debug)]
pub struct Example {
    /// What it is called: as written, else by its number.
    pub name: String,
    /// The event.
    pub event: Spanned<Value>,
    /// Headers of its request, by their names in lower case.
    pub headers: Vec<(Box<str>, Box<str>)>,
}

impl Examples {
    /// What the destination of a step answers, if the file says so.
    #[must_use]
    pub fn answer(&self, step: &str) -> Option<&Value> {
        let found = self.answers.iter().find(|(id, _)| id.it == step);
        found.map(|(_, answer)| &answer.it)
    }
}
