//! Why somebody's decision does not count.

use semel_engine::token::Links;
use semel_ledger::Decision;

use crate::code::Code;
use crate::inbox::item::{Item, Winner};
use crate::inbox::votes::Vote;
use crate::out::Object;
use crate::problem::Problem;
use crate::timestamp;

/// The word for a decision: of a request, yes or no.
pub(crate) fn word(item: &Item, decision: Decision) -> &'static str {
    match (&item.request, decision) {
        (Some(_), Decision::Happened) => "approve",
        (Some(_), Decision::Failed) => "reject",
        (Some(_), Decision::Resend) => "withdraw",
        (None, decision) => decision.name(),
    }
}

/// Writes who decided what.
pub(crate) fn write_winner(out: &mut Object, item: &Item, winner: &Winner) {
    out.text("decision", word(item, winner.decision))
        .text_or_null("by", winner.by.as_deref())
        .time("at", winner.at)
        .text_or_null("note", winner.note.as_deref())
        .number("attempt", winner.attempt.into());
}

/// Somebody was faster, and said something else.
pub(crate) fn otherwise(item: &Item, winner: &Winner) -> Problem {
    let by = winner.by.as_deref().unwrap_or("somebody");
    let at = timestamp::text(winner.at).unwrap_or_default();
    let detail = format!(
        "{by} decided {:?} at {at}, and that stands",
        word(item, winner.decision)
    );
    let mut problem = Problem::new(Code::DecidedOtherwise, detail);
    problem.more.text("verdict", "conflict");
    problem
        .more
        .object("winner", |out| write_winner(out, item, winner));
    problem
}

/// The same person said yes before, and the request waits for more.
pub(crate) fn voted_otherwise(vote: &Vote) -> Problem {
    let at = timestamp::text(vote.at).unwrap_or_default();
    let detail = format!("{} approved at {at}, and that stands", vote.by);
    let mut problem = Problem::new(Code::DecidedOtherwise, detail)
        .fix("somebody else who may decide can still reject it");
    problem.more.text("verdict", "conflict");
    problem.more.object("winner", |out| {
        out.text("decision", "approve")
            .text("by", &vote.by)
            .time("at", vote.at)
            .text_or_null("note", vote.note.as_deref());
    });
    problem
}

/// It is not what was shown.
pub(crate) fn changed(item: &Item) -> Problem {
    let detail = "it has changed since it was shown, so nothing was decided";
    let mut problem =
        Problem::new(Code::ItemChanged, detail).fix("look at it as it is now, and decide that");
    problem
        .more
        .text("verdict", "conflict")
        .text("id", &item.id())
        .text("hash", &item.hash());
    problem
}

/// Nothing waits any more.
pub(crate) fn over(why: &str) -> Problem {
    Problem::new(Code::ItemOver, format!("it is over: {why}"))
}

/// It is for others to say.
pub(crate) fn not_allowed(item: &Item, why: &str, links: &Links) -> Problem {
    let mut problem = Problem::new(Code::NotAllowed, why);
    if let Some(request) = &item.request {
        problem.more.texts("may", request.persons(links));
    }
    problem
}
