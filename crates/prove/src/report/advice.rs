//! What to change in the file when something did not come through, and what things are called.

use semel_flow::model::{Class, OnUnknown, Step};

use super::{Found, Report};
use crate::judge::Verdict;
use crate::stage;

impl Report {
    /// What to change in the file.
    #[must_use]
    pub fn advice(&self, found: &Found<'_>) -> &'static str {
        let Some(step) = stage::step(self.flow(), &found.finding.step) else {
            return "the same event must give the same key: see what `key` is made of";
        };
        match found.finding.verdict {
            Verdict::Twice(_) => twice(step),
            _ => "this is an error of Semel, not of the flow: please report it with the file",
        }
    }
}

impl Found<'_> {
    /// What came of it, in words: `seen 2 times`.
    #[must_use]
    pub fn said(&self) -> String {
        match self.finding.verdict {
            Verdict::Twice(more) => format!("seen {} times", more + 1),
            _ => "not seen, and nobody is asked".to_owned(),
        }
    }
}

impl Verdict {
    /// What it is called in documents.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Verdict::Unreached => "unreached".to_owned(),
            Verdict::Once => "once".to_owned(),
            Verdict::Skipped => "skipped".to_owned(),
            Verdict::Failed => "failed".to_owned(),
            Verdict::Parked => "parked".to_owned(),
            Verdict::Missing => "missing".to_owned(),
            Verdict::Twice(more) => format!("seen {} times", more + 1),
        }
    }

    /// What stands in a cell of the matrix.
    #[must_use]
    pub fn word(self) -> String {
        match self {
            Verdict::Unreached => "–".to_owned(),
            Verdict::Once => "once".to_owned(),
            Verdict::Skipped => "skipped".to_owned(),
            Verdict::Failed => "fails".to_owned(),
            Verdict::Parked => "asks".to_owned(),
            Verdict::Missing => "MISSING".to_owned(),
            Verdict::Twice(more) => format!("{}×", more + 1),
        }
    }

    /// What it means, for who reads the matrix for the first time.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Verdict::Unreached => "no event leads there",
            Verdict::Once => "seen as often as when nothing goes wrong",
            Verdict::Skipped => "taken as done, as the file says, and it was not",
            Verdict::Failed => "a destination said no: not done, and nobody needs to be asked",
            Verdict::Parked => "seen at most once; where nobody can know, a person is asked",
            Verdict::Missing => "not done, and nobody is asked",
            Verdict::Twice(_) => "seen too often",
        }
    }
}

/// When something happened, from the beginning of a story.
#[must_use]
pub fn moment(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

fn twice(step: &Step) -> &'static str {
    let retries = step
        .on_unknown
        .as_ref()
        .is_some_and(|rule| rule.it == OnUnknown::Retry);
    match (step.class(), retries) {
        (Class::Guarded, true) => {
            "`on_unknown: retry` repeats what may have happened: write `ask`, or say how to find out with `lookup`, or let the destination dedupe with `idempotency`"
        }
        (Class::Keyed, _) => {
            "the destination has forgotten the key by then: a longer `idempotency.window` if it has one, or `retry.within` that ends before it"
        }
        _ => "its key is not the same for the same work: write one that comes from the event alone",
    }
}
