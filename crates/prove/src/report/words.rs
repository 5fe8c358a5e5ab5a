//! What things are called in a report.

use std::borrow::Cow;

use super::Found;
use crate::judge::Verdict;

impl Found<'_> {
    /// What came of it, in words: `seen 2 times`.
    #[must_use]
    pub fn said(&self) -> String {
        match self.finding.verdict {
            Verdict::Twice(more) => format!("seen {} times", more + 1),
            Verdict::Skipped => "taken as done, and was not".to_owned(),
            _ => "not seen, and nobody is asked".to_owned(),
        }
    }
}

/// A line of a story, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told<'r> {
    /// When: `8 ms`, `2 h`, `in the end`.
    pub at: String,
    /// What.
    pub what: Cow<'r, str>,
    /// It is what the world saw of the step that the story is about.
    pub is_seen: bool,
}

impl<'r> Found<'r> {
    /// What went on, line by line, and where the runs stood in the end.
    pub fn course(&self) -> impl Iterator<Item = Told<'r>> {
        let finding = self.finding;
        let own = format!("{}: happens", finding.step.trim_end_matches(" (undo)"));
        let lines = finding.story.iter().map(move |line| Told {
            at: moment(line.at),
            what: Cow::Borrowed(line.what.as_str()),
            is_seen: line.what.starts_with(&own),
        });
        let ended = finding.ended.iter().map(|ended| {
            // A run that is done says so twice.
            let ended = match ended.split_once(": ") {
                Some((state, why)) if state == why => state,
                _ => ended,
            };
            Told {
                at: "in the end".to_owned(),
                what: Cow::Owned(format!("the run is {ended}")),
                is_seen: false,
            }
        });
        lines.chain(ended)
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
            Verdict::Unreached => "nothing led there",
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
fn moment(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis} ms"),
        1..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}
