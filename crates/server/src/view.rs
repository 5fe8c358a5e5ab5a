//! An effect as it is shown.

use semel_ledger::{Cause, Millis, OnUnknown, State, Time};
use semel_store::blob::hex;
use semel_store::{Receipt, Record, Stored, Turn};

use crate::out::Object;
use crate::refusal::process_of;

/// A record's long texts, fetched if they are kept by reference.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) input: Option<Box<str>>,
    pub(crate) result: Option<Box<str>>,
}

impl Texts {
    /// Only what is in the row itself.
    pub(crate) fn inline(record: &Record) -> Texts {
        let text = |stored: &Option<Stored>| match stored {
            Some(Stored::Inline(text)) => Some(text.clone()),
            Some(Stored::Blob(_)) | None => None,
        };
        Texts {
            input: text(&record.input),
            result: text(&record.result),
        }
    }
}

/// Writes an effect, as it is at `now`.
pub(crate) fn effect(out: &mut Object, record: &Record, texts: &Texts, now: Time) {
    let entry = record.entry.seen_at(now);
    let claimed = entry.state == State::Claimed;
    out.text("scope", record.effect.scope.as_str())
        .text("key", record.effect.key.as_str())
        .texts("parts", record.effect.key.parts())
        .text("state", entry.state.name())
        .number("attempt", entry.attempt.into())
        .text_or_null("owner", record.by.as_deref())
        .process("process", process_of(entry.owner))
        .time("created_at", entry.created_at)
        .time("claimed_at", entry.claimed_at)
        .time_or_null("lease_until", Some(entry.lease_until).filter(|_| claimed))
        .time("changed_at", entry.changed_at)
        .text("remember", &entry.remember.to_string())
        .time_or_null("forgotten_at", entry.forgotten_at())
        .text_or_null("on_unknown", entry.on_unknown.map(OnUnknown::name));
    let fingerprint = entry.fingerprint.map(|fingerprint| hex(&fingerprint.0));
    out.text_or_null("fingerprint", fingerprint.as_deref())
        .raw("input", texts.input.as_deref().unwrap_or("null"))
        .raw("result", texts.result.as_deref().unwrap_or("null"));
    by_reference(out, "input_blob", record.input.as_ref());
    by_reference(out, "result_blob", record.result.as_ref());
    out.texts("blobs", record.blobs.iter().map(|hash| hex(hash)))
        .text_or_null("external_id", record.external_id.as_deref())
        .text_or_null("reason", record.note.as_deref())
        .number("blocked", record.blocked)
        .flag("tombstone", entry.tombstone);
}

fn by_reference(out: &mut Object, name: &str, stored: Option<&Stored>) {
    match stored {
        Some(Stored::Blob(blob)) => out.hex(name, &blob.hash),
        Some(Stored::Inline(_)) | None => out.raw(name, "null"),
    };
}

/// Writes what an effect went through.
pub(crate) fn life(out: &mut Object, record: &Record, turns: &[Turn], now: Time) {
    out.list("attempts", attempts(record, turns, now), |out, attempt| {
        out.number("attempt", attempt.number.into())
            .text("state", attempt.state.name())
            .time("claimed_at", attempt.claimed_at)
            .time_or_null("ended_at", attempt.ended_at);
    });
    let decided = |turn: &&Turn| matches!(turn.transition.cause, Cause::Decided(_));
    out.list("decisions", turns.iter().filter(decided), |out, turn| {
        out.number("attempt", turn.transition.attempt.into());
        if let Cause::Decided(decision) = turn.transition.cause {
            out.text("decision", decision.name());
        }
        out.text_or_null("by", turn.by.as_deref())
            .time("at", turn.transition.at)
            .text_or_null("note", turn.note.as_deref());
    });
    out.list("life", turns, |out, turn| {
        let transition = &turn.transition;
        out.time("at", transition.at)
            .number("attempt", transition.attempt.into())
            .text("from", transition.from.name())
            .text("to", transition.to.name())
            .text("cause", transition.cause.name())
            .text_or_null("by", turn.by.as_deref())
            .text_or_null("note", turn.note.as_deref());
    });
}

struct Attempt {
    number: u32,
    state: State,
    claimed_at: Time,
    ended_at: Option<Time>,
}

/// The attempts: earlier ones from the turns that ended them, the latest from the entry itself.
fn attempts(record: &Record, turns: &[Turn], now: Time) -> Vec<Attempt> {
    let entry = record.entry.seen_at(now);
    let mut attempts: Vec<Attempt> = Vec::new();
    for turn in turns {
        let turn = &turn.transition;
        let began = matches!(turn.cause, Cause::ClaimedAgain | Cause::Requested);
        if began || turn.attempt == entry.attempt {
            continue;
        }
        attempts.retain(|attempt| attempt.number != turn.attempt);
        attempts.push(Attempt {
            number: turn.attempt,
            state: turn.to,
            claimed_at: turn.claimed_at,
            ended_at: Some(turn.at),
        });
    }
    // What was imported was never attempted here.
    if entry.attempt > 0 {
        attempts.push(Attempt {
            number: entry.attempt,
            state: entry.state,
            claimed_at: entry.claimed_at,
            ended_at: Some(entry.changed_at).filter(|_| entry.state != State::Claimed),
        });
    }
    attempts
}

/// Writes a receipt.
pub(crate) fn receipt(out: &mut Object, receipt: &Receipt) {
    out.text("id", &receipt.id.text())
        .text("scope", receipt.effect.scope.as_str())
        .text("key", receipt.effect.key.as_str())
        .text("verdict", receipt.verdict.name())
        .time("at", receipt.at)
        .text_or_null("by", receipt.by.as_deref())
        .number("attempt", receipt.attempt.into())
        .number("count", receipt.count)
        .flag("counted", receipt.counted);
}

/// Whether an effect no longer protects, and so reads as absent although it is not swept yet.
pub(crate) fn is_forgotten(record: &Record, now: Time) -> bool {
    let left = |at: Time| at.since(now) == Millis(0);
    record.entry.forgotten_at().is_some_and(left)
}
