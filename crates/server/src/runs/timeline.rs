//! A run's history as a person reads it: one line for everything that happened.
//!
//! The only place where a journal becomes words. The API's list, its live stream and the command line
//! show the same entries.

use std::sync::Arc;

use semel_engine::journal::{
    Done, Ending, Failed, Happening, How, Opening, Origin, Requested, Spawned, Usage, Waits,
    WaitsFor,
};
use semel_flow::Value;
use semel_ledger::Time;

use crate::out::Object;
use crate::runs::story::Story;
use crate::timestamp;

/// One line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) at: Time,
    pub(crate) step: Option<Arc<str>>,
    /// What kind of thing happened; stable.
    pub(crate) what: &'static str,
    /// For people; may change.
    pub(crate) text: String,
    pub(crate) attempt: Option<u32>,
    /// When it goes on, if that was said.
    pub(crate) next_at: Option<Time>,
    /// The effect that it is about.
    pub(crate) effect: Option<(Box<str>, Box<str>)>,
    /// What the answer took, if it was paid for.
    pub(crate) usage: Option<Box<Usage>>,
}

impl Entry {
    /// Something about the run itself.
    pub(crate) fn plain(at: Time, what: &'static str, text: String) -> Entry {
        Entry {
            at,
            step: None,
            what,
            text,
            attempt: None,
            next_at: None,
            effect: None,
            usage: None,
        }
    }

    fn of_step(at: Time, step: &Arc<str>, what: &'static str, text: String) -> Entry {
        Entry {
            step: Some(Arc::clone(step)),
            ..Entry::plain(at, what, text)
        }
    }

    /// Writes it, all members always there.
    pub(crate) fn write(&self, out: &mut Object) {
        out.time("at", self.at)
            .text_or_null("step", self.step.as_deref())
            .text("what", self.what)
            .text("text", &self.text);
        match self.attempt {
            Some(attempt) => out.number("attempt", attempt.into()),
            None => out.raw("attempt", "null"),
        };
        out.time_or_null("next_at", self.next_at);
        match &self.effect {
            Some((scope, key)) => out.object("effect", |out| {
                out.text("scope", scope).text("key", key);
            }),
            None => out.raw("effect", "null"),
        };
        match self.usage.as_deref() {
            Some(usage) => out.object("usage", |out| write_usage(out, usage)),
            None => out.raw("usage", "null"),
        };
    }
}

/// Exactly what it was; a cost as text, because it is exact.
fn write_usage(out: &mut Object, usage: &Usage) {
    let (cost, currency) = match usage.cost.as_deref().map(|cost| cost.split_once(' ')) {
        Some(Some((cost, currency))) => (Some(cost), Some(currency)),
        Some(None) => (usage.cost.as_deref(), None),
        None => (None, None),
    };
    out.text("model", &usage.model)
        .number("input", usage.input)
        .number("output", usage.output)
        .text_or_null("cost", cost)
        .text_or_null("currency", currency);
}

/// Everything that happened, oldest first.
pub(crate) fn of(story: &Story) -> Vec<Entry> {
    let entries = story.happenings.iter();
    entries.map(|(at, it)| entry(*at, it)).collect()
}

fn entry(at: Time, happening: &Happening) -> Entry {
    match happening {
        Happening::Opened(opening) => Entry::plain(at, "opened", opened(opening)),
        Happening::Woken => Entry::plain(at, "woken", "goes on".to_owned()),
        Happening::Cancelled { by, undo } => Entry::plain(at, "cancelled", cancelled(by, *undo)),
        Happening::Ended { how, why } => Entry::plain(at, "ended", ended(*how, why)),
        step => of_step(at, step),
    }
}

fn of_step(at: Time, happening: &Happening) -> Entry {
    match happening {
        Happening::Done(done) => of_done(at, done),
        Happening::Failed(failed) => of_failed(at, failed),
        Happening::Spawned(spawned) => {
            Entry::of_step(at, &spawned.step, "spawned", of_spawned(spawned))
        }
        Happening::Skipped { step } => {
            Entry::of_step(at, step, "skipped", "passed over".to_owned())
        }
        Happening::Entered { step, case } => {
            let case = case.map(|case| format!("takes case {}", case + 1));
            let text = case.unwrap_or_else(|| "begins".to_owned());
            Entry::of_step(at, step, "entered", text)
        }
        Happening::Stopped { step, message } => {
            Entry::of_step(at, step, "stopped", format!("stops the run: {message}"))
        }
        Happening::GaveUp { step, message } => {
            Entry::of_step(at, step, "gave_up", format!("has failed: {message}"))
        }
        Happening::Returned { step } => {
            let text = "the runs that it waited for are over".to_owned();
            Entry::of_step(at, step, "returned", text)
        }
        Happening::Waits(waits) => Entry {
            next_at: Some(waits.until),
            ..Entry::of_step(at, &waits.step, "waits", of_waits(waits))
        },
        Happening::CameEarly { step, .. } => {
            let text = "its callback came before its turn, and is kept".to_owned();
            Entry::of_step(at, step, "came_early", text)
        }
        Happening::Emitted(emitted) => {
            let (event, count) = (&emitted.event, emitted.receivers);
            let text = format!("emits {event}: {count} flows receive it");
            Entry::of_step(at, &emitted.step, "emitted", text)
        }
        Happening::Begun { step } => {
            let text = "is about to be sent".to_owned();
            Entry::of_step(at, step, "begun", text)
        }
        Happening::NotDone { step } => {
            let text = "did not happen, and will not: the run goes back".to_owned();
            Entry::of_step(at, step, "not_done", text)
        }
        other => of_effect(at, other),
    }
}

fn of_effect(at: Time, happening: &Happening) -> Entry {
    match happening {
        Happening::Asked {
            step,
            attempt,
            scope,
            key,
            ..
        } => Entry {
            attempt: Some(*attempt),
            effect: Some((scope.clone(), key.clone())),
            ..Entry::of_step(
                at,
                step,
                "claimed",
                format!("asks the ledger for {scope} {key}"),
            )
        },
        Happening::Lost {
            step,
            attempt,
            message,
            ..
        } => Entry {
            attempt: Some(*attempt),
            ..Entry::of_step(
                at,
                step,
                "lost",
                format!("may or may not have happened: {message}"),
            )
        },
        Happening::Probed {
            step,
            found,
            again_at,
            ..
        } => Entry {
            next_at: *again_at,
            ..Entry::of_step(at, step, "looked_up", looked_up(*found).to_owned())
        },
        Happening::Busy { step, until, .. } => Entry {
            next_at: Some(*until),
            ..Entry::of_step(at, step, "busy", "somebody else is at it".to_owned())
        },
        Happening::Parked { step, why, effect } => Entry {
            effect: effect.clone(),
            ..Entry::of_step(at, step, "parked", format!("waits for a person: {why}"))
        },
        Happening::Resumed { step, by, note } => {
            let said = note.as_ref().map(|note| format!(": {note}"));
            let text = format!("resumed by {by}{}", said.unwrap_or_default());
            Entry::of_step(at, step, "resumed", text)
        }
        Happening::Requested(asked) => of_requested(at, asked),
        // All others are told above.
        _ => Entry::plain(at, "noted", String::new()),
    }
}

fn opened(opening: &Opening) -> String {
    let from = opening.from.as_deref();
    match (opening.by, &opening.again, from) {
        (Origin::Rerun, Some(again), Some(by)) => {
            let of = &again.of;
            format!("{of} is done again for {by}")
        }
        (Origin::Schedule | Origin::Fetch, ..) => {
            let planned = timestamp::text(opening.at).unwrap_or_default();
            format!("the tick of {planned}")
        }
        (by, _, Some(from)) => format!("started by {}: {from}", starter(by)),
        (by, _, None) => format!("started by {}", starter(by)),
    }
}

fn starter(by: Origin) -> &'static str {
    match by {
        Origin::Manual => "hand",
        by => by.name(),
    }
}

fn cancelled(by: &str, undo: bool) -> String {
    match by {
        "replaced" => "a newer run takes its place".to_owned(),
        by if undo => format!("{by} asked it to end and to take back what is done"),
        by => format!("{by} asked it to end"),
    }
}

fn ended(how: Ending, why: &str) -> String {
    let how = match how {
        Ending::Done => "done",
        Ending::Failed => "failed",
        Ending::Cancelled => "cancelled",
        Ending::Undone => "undone",
    };
    if why.is_empty() || why == how {
        return how.to_owned();
    }
    format!("{how}: {why}")
}

fn of_done(at: Time, done: &Done) -> Entry {
    let took = done.took.map(|took| format!(" in {took} ms"));
    let text = match &done.how {
        How::Act => format!(
            "done{}{}",
            took.unwrap_or_default(),
            paid(done.usage.as_deref())
        ),
        How::Reused(by) | How::TakenOver(by) => {
            format!("was done by {by}, and is not done again")
        }
        How::LookedUp => "the destination has it: done".to_owned(),
        How::Decided => "a person said that it happened".to_owned(),
        How::TakenAsDone => "taken as done, as the file says".to_owned(),
        How::Arrived => "what it waited for has come".to_owned(),
        How::Answered(answer) => answer.to_string(),
        How::TimedOut => "nothing came in time; it goes on, as the file says".to_owned(),
        How::Unchanged => "done: something else was there, and nothing was changed".to_owned(),
    };
    Entry {
        attempt: done.attempt,
        effect: done.effect.clone(),
        usage: done.usage.clone(),
        ..Entry::of_step(at, &done.step, "done", text)
    }
}

fn of_failed(at: Time, failed: &Failed) -> Entry {
    let Failed { class, message, .. } = failed;
    let class = class.name().replace('_', " ");
    Entry {
        attempt: Some(failed.attempt),
        next_at: failed.again_at,
        usage: failed.usage.clone(),
        ..Entry::of_step(
            at,
            &failed.step,
            "failed",
            format!("{class}: {message}{}", paid(failed.usage.as_deref())),
        )
    }
}

/// What an answer took: ` (gpt-small: 812 in, 40 out, 0.0004 USD)`.
fn paid(usage: Option<&Usage>) -> String {
    usage.map(|usage| format!(" ({usage})")).unwrap_or_default()
}

fn of_spawned(spawned: &Spawned) -> String {
    if let Some(run) = &spawned.run {
        return format!("waits for {run}");
    }
    let Spawned {
        total,
        begun,
        reused,
        ..
    } = spawned;
    format!("{begun} of {total} items begun, {reused} of them done before")
}

fn of_requested(at: Time, asked: &Requested) -> Entry {
    let shown = asked.shown.value();
    let question = shown.get("ask").map(Value::shown).unwrap_or_default();
    let text = match asked.round {
        1 => format!("asks for leave: {question}"),
        _ => format!("nobody answered; asks others: {question}"),
    };
    Entry {
        next_at: Some(asked.until),
        effect: Some((asked.scope.clone(), asked.key.clone())),
        ..Entry::of_step(at, &asked.step, "requested", text)
    }
}

fn of_waits(waits: &Waits) -> String {
    let until = timestamp::text(waits.until).unwrap_or_default();
    match waits.what {
        WaitsFor::Time => format!("waits until {until}"),
        WaitsFor::Callback => format!("waits for its callback until {until}"),
        WaitsFor::Event => format!("waits for an event until {until}"),
        WaitsFor::Approval => format!("waits for an answer until {until}"),
    }
}

fn looked_up(found: Option<bool>) -> &'static str {
    match found {
        Some(true) => "looked up: it is there",
        Some(false) => "looked up: it is not there",
        None => "looked up: the answer does not tell",
    }
}

#[cfg(test)]
mod tests;
