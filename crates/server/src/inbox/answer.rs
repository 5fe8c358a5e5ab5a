//! A person's answer to one item: yes or no to a request, or what is true of a lost answer.

use semel_ledger::{Decision, Digest, Verdict};
use semel_store::Content;
use semel_store::access::Scope;

use crate::app::App;
use crate::decide::Saying;
use crate::inbox::item::{Item, Winner};
use crate::inbox::person::Person;
use crate::inbox::request::Request;
use crate::inbox::{refuse, votes};
use crate::problem::Problem;
use crate::refusal;

/// What can be said of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Approve,
    Reject,
    Is(Decision),
}

/// Every word, as it is written.
pub(crate) const WORDS: [&str; 5] = ["approve", "reject", "happened", "resend", "failed"];

impl Word {
    pub(crate) fn named(name: &str) -> Option<Word> {
        match name {
            "approve" => Some(Word::Approve),
            "reject" => Some(Word::Reject),
            name => Decision::named(name).map(Word::Is),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Word::Approve => "approve",
            Word::Reject => "reject",
            Word::Is(decision) => decision.name(),
        }
    }

    /// What whoever says it must be allowed.
    pub(crate) fn scope(self) -> Scope {
        match self {
            Word::Approve | Word::Reject => Scope::Approve,
            Word::Is(_) => Scope::Operate,
        }
    }

    /// Whether it answers what the item asks.
    pub(crate) fn suits(self, item: &Item) -> bool {
        matches!(self, Word::Is(_)) == item.request.is_none()
    }

    fn decision(self) -> Decision {
        match self {
            Word::Approve => Decision::Happened,
            Word::Reject => Decision::Failed,
            Word::Is(decision) => decision,
        }
    }
}

/// What a person says.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) word: Word,
    pub(crate) person: Person,
    pub(crate) note: Option<Box<str>>,
    /// With `happened`: what came of it, as JSON text.
    pub(crate) result: Option<Box<str>>,
}

/// What became of it.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The decision is on record; `again`: it was before.
    Decided { winner: Winner, again: bool },
    /// The yes is on record, and so many more are needed.
    Voted { left: u32, again: bool },
}

/// Says it. The item is as its author saw it: `hash` was compared before.
pub(crate) async fn answer(app: &App, item: &Item, said: &Said) -> Result<Outcome, Problem> {
    let links = app.links();
    let barred = item
        .request
        .as_ref()
        .and_then(|request| request.bars(&said.person.name, links));
    if let Some(why) = barred {
        return Err(refuse::not_allowed(item, &why, links));
    }
    if !item.is_open() {
        return late(app, item, said).await;
    }
    if let Some(why) = item.over(app).await? {
        return Err(refuse::over(&why));
    }
    match (&item.request, said.word) {
        (Some(request), Word::Approve) => approve(app, item, request, said).await,
        (Some(_), _) => {
            let cast = votes::cast(app, item).await?;
            let own = cast.iter().find(|vote| vote.by == said.person.name);
            match own {
                Some(vote) => Err(refuse::voted_otherwise(vote)),
                None => decide(app, item, said, None).await,
            }
        }
        (None, _) => decide(app, item, said, said.result.clone()).await,
    }
}

/// Puts the yes into the lowest free slot, or, if it is the last one that is needed, decides.
async fn approve(
    app: &App,
    item: &Item,
    request: &Request,
    said: &Said,
) -> Result<Outcome, Problem> {
    let slots = votes::slots(request);
    loop {
        let cast = votes::cast(app, item).await?;
        let count = u32::try_from(cast.len()).unwrap_or(u32::MAX);
        let again = cast.iter().any(|vote| vote.by == said.person.name);
        if again {
            let left = request.needed - count;
            return Ok(Outcome::Voted { left, again });
        }
        if count >= slots {
            let mut by: Vec<&str> = cast.iter().map(|vote| &*vote.by).collect();
            by.push(&said.person.name);
            let result = serde_json::json!({"approved": true, "by": by, "note": said.note});
            return decide(app, item, said, Some(result.to_string().into())).await;
        }
        // Whoever was faster is seen at the next look; slots only fill, so this ends.
        if votes::vote(app, item, count + 1, said).await? {
            return after_vote(app, item, said, request.needed - count - 1).await;
        }
    }
}

/// A vote may have come when somebody had already said no.
async fn after_vote(app: &App, item: &Item, said: &Said, left: u32) -> Result<Outcome, Problem> {
    match item.winner(app, Some(item.record.entry.attempt)).await? {
        Some(winner) => compared(item, said, winner),
        None => Ok(Outcome::Voted { left, again: false }),
    }
}

async fn decide(
    app: &App,
    item: &Item,
    said: &Said,
    result: Option<Box<str>>,
) -> Result<Outcome, Problem> {
    let decision = said.word.decision();
    let attempt = item.record.entry.attempt;
    let note = said.note.as_deref();
    let digest = Digest::of_decision([Some(decision.name()), result.as_deref(), None, note]);
    let saying = Saying {
        effect: item.record.effect.clone(),
        decision,
        attempt: Some(attempt),
        digest,
        content: Content {
            result,
            note: said.note.clone(),
            by: Some(said.person.by.clone()),
            ..Content::default()
        },
    };
    let answered = saying.say(app).await?;
    match answered.verdict {
        Verdict::Decided { again } => {
            let winner = item.winner(app, Some(attempt)).await?;
            let winner = winner.ok_or_else(|| refusal::unexpected(answered.verdict))?;
            Ok(Outcome::Decided { winner, again })
        }
        Verdict::NotOpen | Verdict::Missing => late(app, item, said).await,
        verdict => Err(refusal::unexpected(verdict)),
    }
}

/// What is told to whoever comes when it is decided.
async fn late(app: &App, item: &Item, said: &Said) -> Result<Outcome, Problem> {
    let seen = Some(item.record.entry.attempt).filter(|_| item.is_open());
    match item.winner(app, seen).await? {
        Some(winner) => compared(item, said, winner),
        None => Err(refuse::over("it no longer waits for a person")),
    }
}

/// The same again, or the opposite.
fn compared(item: &Item, said: &Said, winner: Winner) -> Result<Outcome, Problem> {
    if let Some(why) = item.ended_by_itself(&winner) {
        return Err(refuse::over(why));
    }
    if winner.decision == said.word.decision() {
        return Ok(Outcome::Decided {
            winner,
            again: true,
        });
    }
    Err(refuse::otherwise(item, &winner))
}
