//! What happened, counted by the minute, the hour and the day: what charts are made of.
//!
//! Owns the table's shape: everything together, each flow, each step of a flow. Counts are added behind
//! the answers; a kill loses those of its last seconds, and nothing but a chart depends on them.

use std::collections::BTreeMap;

use semel_ledger::{Millis, Time};

/// How long counts by the minute are kept.
pub const MINUTES_KEPT: Millis = Millis::days(1);
/// How long counts by the hour are kept; those by the day are kept as long as runs are.
pub const HOURS_KEPT: Millis = Millis::days(8);

/// How often something happened, at about a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// About when.
    pub at: Time,
    /// In which flow; empty for what happens outside of flows.
    pub flow: Box<str>,
    /// At which of its steps; empty for what is about the flow.
    pub step: Box<str>,
    /// What.
    pub what: Box<str>,
    /// How often.
    pub count: u64,
}

/// The time that is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Span {
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day, of the wide world's time.
    Day,
}

impl Span {
    /// All of them, from short to long.
    pub const ALL: [Span; 3] = [Span::Minute, Span::Hour, Span::Day];

    /// How long it is.
    #[must_use]
    pub fn seconds(self) -> u32 {
        match self {
            Span::Minute => 60,
            Span::Hour => 3600,
            Span::Day => 86_400,
        }
    }

    /// When the one begins that a time is in.
    #[must_use]
    pub fn of(self, at: Time) -> Time {
        Time(at.0 - at.0.rem_euclid(i64::from(self.seconds()) * 1000))
    }
}

/// What is counted apart from each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Nothing: all together.
    Whole,
    /// Each flow.
    Flows,
    /// Each step of a flow.
    StepsOf(Box<str>),
}

impl Part {
    /// As it is stored. No two are the same, whatever flows are called.
    pub(crate) fn text(&self) -> String {
        match self {
            Part::Whole => String::new(),
            Part::Flows => "flows".to_owned(),
            Part::StepsOf(flow) => format!("steps of {flow}"),
        }
    }
}

/// What was counted in one span of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// When the span begins.
    pub at: Time,
    /// The flow or step; empty of the whole.
    pub name: Box<str>,
    /// What.
    pub what: Box<str>,
    /// How often.
    pub count: u64,
}

/// Which row of the table something is counted in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    pub(crate) span: u32,
    pub(crate) part: String,
    pub(crate) at: i64,
    pub(crate) name: Box<str>,
    pub(crate) what: Box<str>,
}

/// The rows that counts are added to, in the order of the table's key: two nodes that add at the same
/// time then wait for each other in one order.
pub(crate) fn cells(counts: &[Count]) -> BTreeMap<Cell, u64> {
    let mut cells = BTreeMap::new();
    for count in counts {
        for span in Span::ALL {
            for (part, name) in parts(count) {
                let cell = Cell {
                    span: span.seconds(),
                    part: part.text(),
                    at: span.of(count.at).0,
                    name,
                    what: count.what.clone(),
                };
                *cells.entry(cell).or_default() += count.count;
            }
        }
    }
    cells
}

/// What is about a step is counted there alone: a step that is done is not a run that is.
fn parts(count: &Count) -> Vec<(Part, Box<str>)> {
    if !count.step.is_empty() {
        return vec![(Part::StepsOf(count.flow.clone()), count.step.clone())];
    }
    let mut parts = vec![(Part::Whole, "".into())];
    if !count.flow.is_empty() {
        parts.push((Part::Flows, count.flow.clone()));
    }
    parts
}

/// What stands still to be done, right now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Runs under way that have no parent, by state, in the order of the states.
    pub runs: Vec<(crate::run::RunState, u64)>,
    /// Effects that wait for a person.
    pub reviews: u64,
}
