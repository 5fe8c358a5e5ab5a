//! An item as it is shown.

use semel_engine::journal::Happening;
use semel_store::run::RunId;
use semel_store::{Receipt, Turn};

use crate::app::App;
use crate::inbox::item::{Item, winner};
use crate::inbox::refuse::write_winner;
use crate::inbox::request::Request;
use crate::inbox::votes::{self, Vote};
use crate::out::Object;
use crate::problem::Problem;
use crate::runs::story::write_kept;
use crate::timestamp;
use crate::view::{self, Texts};

/// What can be said of a lost answer, and what that does.
const OF_REVIEW: [(&str, &str); 3] = [
    (
        "happened",
        "it is on record as done and is never sent again; its run goes on with the result, if one is given",
    ),
    (
        "resend",
        "it is sent again, once: by its run, or by whoever asks next",
    ),
    (
        "failed",
        "it is on record that it did not happen; its run, or whoever asks next, may try again",
    ),
];
/// What can be said of a request, and what that does.
const OF_APPROVAL: [(&str, &str); 2] = [
    ("approve", "the run goes on, when enough have approved"),
    (
        "reject",
        "the request is refused at once, whoever else approved",
    ),
];

/// Writes an item as lists show it: all members always there.
pub(crate) fn row(out: &mut Object, item: &Item, votes: usize) {
    let (entry, request) = (&item.record.entry, item.request.as_ref());
    out.text("id", &item.id())
        .text("kind", item.kind())
        .text_or_null("flow", item.flow())
        .text_or_null("run", item.run_id().map(RunId::text).as_deref())
        .text_or_null("step", item.step.as_deref())
        .text("scope", item.record.effect.scope.as_str())
        .text("key", item.record.effect.key.as_str())
        .number("attempt", entry.attempt.into())
        .time("since", entry.changed_at)
        .text("what", &what(item))
        .text("hash", &item.hash())
        .time_or_null("until", request.map(Request::until));
    match request {
        Some(request) => out
            .texts("by", &request.by)
            .number("needed", request.needed.into())
            .text_or_null("maker", request.maker.as_deref()),
        None => out
            .raw("by", "null")
            .raw("needed", "null")
            .raw("maker", "null"),
    };
    out.number("votes", votes as u64);
}

/// In one line: what is asked, or what went wrong.
pub(crate) fn what(item: &Item) -> String {
    if let Some(request) = &item.request {
        return request.ask.clone();
    }
    let lost = item.story.as_ref().and_then(|story| {
        let last = story.happenings.iter().rev();
        last.map(|(_, it)| it).find_map(|it| match it {
            Happening::Lost { step, message, .. } if item.step.as_ref() == Some(step) => {
                Some(message.to_string())
            }
            _ => None,
        })
    });
    let note = || item.record.note.as_deref().map(str::to_owned);
    let unsaid = || "nobody knows whether it happened".to_owned();
    lost.or_else(note).unwrap_or_else(unsaid)
}

/// All that there is to know of an item before deciding it.
pub(crate) struct Whole {
    pub(crate) votes: Vec<Vote>,
    pub(crate) turns: Vec<Turn>,
    receipts: Vec<Receipt>,
    texts: Texts,
    /// Why it is over, if it is and nobody decided.
    pub(crate) over: Option<String>,
}

impl Whole {
    pub(crate) async fn load(app: &App, item: &Item) -> Result<Whole, Problem> {
        let (texts, turns, receipts) = crate::ledger::parts(&app.store, &item.record).await?;
        let over = match winner(&turns, None) {
            _ if item.is_open() => item.over(app).await?,
            Some(winner) => item.ended_by_itself(&winner).map(str::to_owned),
            None => None,
        };
        Ok(Whole {
            votes: votes::cast(app, item).await?,
            turns,
            receipts,
            texts,
            over,
        })
    }

    /// Whether it waits, is decided, or is over.
    pub(crate) fn state(&self, item: &Item) -> &'static str {
        match (&self.over, item.is_open()) {
            (Some(_), _) => "over",
            (None, true) => "waiting",
            (None, false) => "decided",
        }
    }

    /// Writes it.
    pub(crate) fn write(&self, app: &App, item: &Item, out: &mut Object) {
        row_with_votes(out, item, &self.votes);
        out.text("state", self.state(item))
            .text_or_null("why_over", self.over.as_deref());
        let request = item.request.as_ref();
        out.raw("show", request.map_or("null", |request| request.show.get()));
        match request {
            Some(request) => out.texts("may", request.persons(app.links())),
            None => out.raw("may", "null"),
        };
        match winner(&self.turns, None).filter(|_| !item.is_open()) {
            Some(winner) => out.object("decided", |out| write_winner(out, item, &winner)),
            None => out.raw("decided", "null"),
        };
        out.list("choices", choices(item, self), |out, (word, does)| {
            out.text("decision", word).text("does", does);
        });
        lookups(out, item);
        out.object("effect", |out| {
            let now = app.store.now();
            view::effect(out, &item.record, &self.texts, now);
            view::life(out, &item.record, &self.turns, now);
            out.list("receipts", &self.receipts, view::receipt);
        });
    }
}

fn choices(item: &Item, whole: &Whole) -> &'static [(&'static str, &'static str)] {
    match (whole.state(item), &item.request) {
        ("waiting", Some(_)) => &OF_APPROVAL,
        ("waiting", None) => &OF_REVIEW,
        _ => &[],
    }
}

/// Who said yes so far goes beside how many.
fn row_with_votes(out: &mut Object, item: &Item, cast: &[Vote]) {
    row(out, item, cast.len());
    out.list("voters", cast, |out, vote| {
        out.text("by", &vote.by)
            .time("at", vote.at)
            .text_or_null("note", vote.note.as_deref());
    });
}

/// What the destination said when it was asked whether it happened.
fn lookups(out: &mut Object, item: &Item) {
    let story = item.story.as_ref();
    let all = story.map_or(&[][..], |story| &story.happenings);
    let asked = all.iter().filter_map(|(at, it)| match it {
        Happening::Probed {
            step,
            found,
            evidence,
            ..
        } if item.step.as_ref() == Some(step) => Some((*at, *found, evidence)),
        _ => None,
    });
    out.list("lookups", asked, |out, (at, found, evidence)| {
        out.text_or_null("at", timestamp::text(at).as_deref());
        match found {
            Some(found) => out.flag("found", found),
            None => out.raw("found", "null"),
        };
        write_kept(out, "evidence", Some(evidence));
    });
}
