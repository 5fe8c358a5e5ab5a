//! One item: an effect that waits for a person, with what it belongs to.

use std::sync::Arc;

use semel_ledger::{Cause, Decision, Digest, State, Time};
use semel_store::blob::hex;
use semel_store::run::{Run, RunId};
use semel_store::{Filter, ReceiptFilter, Record, Turn};

use crate::app::App;
use crate::code::Code;
use crate::inbox::request::Request;
use crate::problem::Problem;
use crate::runs::show::run_of;
use crate::runs::story::Story;
use crate::view;

/// What the name of an item begins with.
const PREFIX: &str = "item_";
/// So many digits of a name are enough, if only one item begins so.
const FEWEST_DIGITS: usize = 8;
/// How many runs that were refused are looked at.
const REFUSED: usize = 100;

/// An effect that waits, or waited, for a person.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) record: Record,
    /// What is asked, if it is leave that is asked for; else it is an answer that was lost.
    pub(crate) request: Option<Request>,
    pub(crate) run: Option<Run>,
    pub(crate) step: Option<Arc<str>>,
    /// The history of the run, of a lost answer.
    pub(crate) story: Option<Story>,
}

/// Who decided what, and when.
#[derive(Clone, Debug)]
pub(crate) struct Winner {
    pub(crate) decision: Decision,
    pub(crate) by: Option<Box<str>>,
    pub(crate) at: Time,
    pub(crate) note: Option<Box<str>>,
    pub(crate) attempt: u32,
}

impl Item {
    /// What an effect in review belongs to.
    pub(crate) async fn of(app: &App, record: Record) -> Result<Item, Problem> {
        if let Some(request) = Request::of(&app.store, &record).await? {
            let run = match request.run() {
                Some(run) => app.store.run(run).await?,
                None => None,
            };
            return Ok(Item {
                step: Some(request.step.as_str().into()),
                request: Some(request),
                record,
                run,
                story: None,
            });
        }
        let story = match run_of(record.by.as_deref()) {
            Some(run) => readable(Story::load(&app.store, run).await)?,
            None => None,
        };
        let touched = story.as_ref().map(Story::effects).unwrap_or_default();
        let own = touched
            .into_iter()
            .find(|touched| touched.effect == record.effect);
        Ok(Item {
            request: None,
            run: story.as_ref().map(|story| story.run.clone()),
            step: own.map(|touched| touched.step),
            record,
            story,
        })
    }

    /// The item of that name, or whose name begins so. What never waited for a person is none.
    pub(crate) async fn named(app: &App, name: &str) -> Result<Item, Problem> {
        let Some(hashes) = range(name) else {
            return Err(missing(name));
        };
        let filter = Filter {
            hashes: Some(hashes),
            limit: 2,
            ..Filter::default()
        };
        let mut found = app.store.list(&filter).await?.items;
        found.retain(|record| !view::is_forgotten(record, app.store.now()));
        match (found.pop(), found.pop()) {
            (Some(record), None) => {
                let item = Item::of(app, record).await?;
                let waited = item.is_open() || item.request.is_some();
                if waited || item.winner(app, None).await?.is_some() {
                    return Ok(item);
                }
                Err(missing(name))
            }
            (None, _) => Err(missing(name)),
            (Some(_), Some(_)) => {
                Err(missing(name).fix("more than one begins so: write more of it"))
            }
        }
    }

    pub(crate) fn id(&self) -> String {
        format!("{PREFIX}{}", hex(&self.record.effect.hash()))
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self.request {
            Some(_) => "approval",
            None => "review",
        }
    }

    pub(crate) fn flow(&self) -> Option<&str> {
        let run = self.run.as_ref().map(|run| &*run.flow);
        let asked = self.request.as_ref().map(|request| request.flow.as_str());
        asked.or(run)
    }

    pub(crate) fn run_id(&self) -> Option<RunId> {
        let asked = self.request.as_ref().and_then(Request::run);
        asked.or_else(|| run_of(self.record.by.as_deref()))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.record.entry.state == State::Review
    }

    /// What a person confirms: of a request, what is shown; of a lost answer, which attempt.
    pub(crate) fn hash(&self) -> String {
        let entry = &self.record.entry;
        if let (Some(_), Some(shown)) = (&self.request, entry.fingerprint) {
            return hex(&shown.0);
        }
        let (id, attempt) = (self.id(), entry.attempt.to_string());
        hex(&Digest::of_decision([Some(id.as_str()), Some(attempt.as_str())]).0)
    }

    /// Why a request is over although nobody decided it, if so.
    pub(crate) async fn over(&self, app: &App) -> Result<Option<String>, Problem> {
        let Some(request) = &self.request else {
            return Ok(None);
        };
        if app.store.now() >= request.until() {
            return Ok(Some("nobody decided in time".to_owned()));
        }
        if self.run.as_ref().is_some_and(|run| run.state.is_open()) {
            return Ok(None);
        }
        if self.somebody_else_waits(app).await? {
            return Ok(None);
        }
        let how = self.run.as_ref().map_or("gone", |run| run.state.name());
        Ok(Some(format!("the run that asked is {how}")))
    }

    /// Why nobody decided a request, if its own run did.
    pub(crate) fn ended_by_itself(&self, winner: &Winner) -> Option<&'static str> {
        self.request.as_ref()?;
        match (winner.decision, winner.by.as_deref()) {
            (Decision::Happened, Some("timeout")) => {
                Some("nobody decided in time, and it was taken as approved")
            }
            (Decision::Failed, Some("timeout")) => {
                Some("nobody decided in time, and it was taken as rejected")
            }
            (Decision::Resend, Some("timeout")) => {
                Some("nobody decided in time, and others were asked")
            }
            (Decision::Resend, _) => Some("the run that asked took it back"),
            _ => None,
        }
    }

    /// Whether another run asked for exactly the same since, and waits for the one answer.
    async fn somebody_else_waits(&self, app: &App) -> Result<bool, Problem> {
        let filter = ReceiptFilter {
            effect: Some(self.record.effect.hash()),
            verdict: Some(semel_ledger::Verdict::Unknown),
            limit: REFUSED,
            ..ReceiptFilter::default()
        };
        for receipt in app.store.receipts(&filter).await?.items {
            let Some(run) = run_of(receipt.by.as_deref()) else {
                continue;
            };
            let run = app.store.run(run).await?;
            if run.is_some_and(|run| run.state.is_open()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Who decided it: the latest of this attempt, or of any.
    pub(crate) async fn winner(
        &self,
        app: &App,
        attempt: Option<u32>,
    ) -> Result<Option<Winner>, Problem> {
        let turns = app.store.turns(&self.record).await?;
        Ok(winner(&turns, attempt))
    }
}

/// A run that is forgotten, or that this version cannot read, does not hide what waits.
fn readable(story: Result<Story, Problem>) -> Result<Option<Story>, Problem> {
    match story {
        Err(problem) if matches!(problem.code, Code::RunMissing | Code::RunUnreadable) => Ok(None),
        story => story.map(Some),
    }
}

/// Who decided, as the life of an effect tells.
pub(crate) fn winner(turns: &[Turn], attempt: Option<u32>) -> Option<Winner> {
    turns.iter().rev().find_map(|turn| {
        let it = &turn.transition;
        let Cause::Decided(decision) = it.cause else {
            return None;
        };
        let decided = Winner {
            decision,
            by: turn.by.clone(),
            at: it.at,
            note: turn.note.clone(),
            attempt: it.attempt,
        };
        attempt
            .is_none_or(|attempt| attempt == it.attempt)
            .then_some(decided)
    })
}

/// The hashes that names beginning so stand for.
fn range(name: &str) -> Option<([u8; 16], [u8; 16])> {
    let digits = name.strip_prefix(PREFIX).unwrap_or(name);
    let plain = digits
        .bytes()
        .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if !plain || !(FEWEST_DIGITS..=32).contains(&digits.len()) {
        return None;
    }
    let filled = |with: &str| {
        let all = format!("{digits}{}", with.repeat(32 - digits.len()));
        semel_store::blob::unhex(&all)
    };
    Some((filled("0")?, filled("f")?))
}

fn missing(name: &str) -> Problem {
    let detail = format!("nothing that waits for a person is called {name:?}");
    Problem::new(Code::ItemMissing, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_name_will_do() {
        let (from, to) = range("item_0123abcd").unwrap();
        assert_eq!(hex(&from), "0123abcd000000000000000000000000");
        assert_eq!(hex(&to), "0123abcdffffffffffffffffffffffff");
        let whole = "00112233445566778899aabbccddeeff";
        assert_eq!(range(whole).unwrap().0, range(whole).unwrap().1);
        for wrong in [
            "",
            "item_",
            "item_0123abc",
            "0123ABCD",
            "%00000000",
            &"0".repeat(33),
        ] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }
}
