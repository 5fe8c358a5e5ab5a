//! Refused claims, explained: who is at it, what must be decided, what differs.

use semel_ledger::json::{Canonical, differences};
use semel_ledger::{EffectId, Entry, Owner, Process, State, Time, Verdict};
use semel_store::{Answered, Record, Store};

use crate::body::Document;
use crate::code::Code;
use crate::decide::DECISIONS;
use crate::out::Object;
use crate::path;
use crate::problem::Problem;

/// How many differences are named.
const DIFFERENCES: usize = 32;

/// The process that holds a claim, if one does.
pub(crate) fn process_of(owner: Owner) -> Option<Process> {
    match owner {
        Owner::Process(process) => Some(process),
        Owner::Client | Owner::Node { .. } => None,
    }
}

/// Why a claim is refused, other than by what was done before.
pub(crate) async fn explain(
    store: &Store,
    effect: &EffectId,
    document: Option<&Document>,
    answered: &Answered,
) -> Problem {
    let now = store.now();
    let entry = answered.entry.map(|entry| entry.seen_at(now));
    let record = answered.record.as_deref();
    let mut problem = match (answered.verdict, entry) {
        (Verdict::Busy, Some(entry)) => busy(&entry, record, now),
        (Verdict::Unknown, Some(entry)) => unknown(effect, &entry, record),
        (Verdict::Conflict, Some(_)) => conflict(store, document, record).await,
        (verdict, _) => return unexpected(verdict),
    };
    if let Some(receipt) = answered.receipt {
        problem.more.text("receipt", &receipt.text());
    }
    problem
}

/// A verdict that the question cannot have.
pub(crate) fn unexpected(verdict: Verdict) -> Problem {
    tracing::error!(verdict = verdict.name(), "a verdict came that cannot be");
    let detail = format!("the ledger answered {:?}, which cannot be", verdict.name());
    Problem::new(Code::Internal, detail)
}

fn by(record: Option<&Record>) -> Option<&str> {
    record.and_then(|record| record.by.as_deref())
}

fn busy(entry: &Entry, record: Option<&Record>, now: Time) -> Problem {
    let left = entry.lease_until.since(now).0.div_ceil(1000);
    let detail = match by(record) {
        Some(by) => format!("{by} holds the claim since {}", text(entry.claimed_at)),
        None => format!("the claim is held since {}", text(entry.claimed_at)),
    };
    let mut problem = Problem::new(Code::Busy, detail)
        .retry_after(left.clamp(1, 60))
        .fix("ask again later; it is done, failed or unknown when the claim ends");
    problem
        .more
        .text("verdict", "busy")
        .number("attempt", entry.attempt.into())
        .text_or_null("owner", by(record))
        .process("process", process_of(entry.owner))
        .time("claimed_at", entry.claimed_at)
        .time("lease_until", entry.lease_until);
    problem
}

fn text(time: Time) -> String {
    crate::timestamp::text(time).unwrap_or_default()
}

fn unknown(effect: &EffectId, entry: &Entry, record: Option<&Record>) -> Problem {
    let detail = format!(
        "attempt {} may or may not have happened (since {}); somebody must decide",
        entry.attempt,
        text(entry.changed_at)
    );
    let mut problem = Problem::new(Code::Unknown, detail)
        .fix("look at the destination, then say what is true, as `decide` shows");
    problem.more.text("verdict", "unknown");
    describe_open(&mut problem.more, effect, entry, record);
    problem
}

/// What is open and how to decide it.
pub(crate) fn describe_open(
    out: &mut Object,
    effect: &EffectId,
    entry: &Entry,
    record: Option<&Record>,
) {
    out.text("state", entry.state.name())
        .number("attempt", entry.attempt.into())
        .time("since", entry.changed_at)
        .text_or_null("owner", by(record))
        .process("process", process_of(entry.owner))
        .text_or_null("reason", record.and_then(|record| record.note.as_deref()));
    if matches!(entry.state, State::Unknown | State::Review) {
        decide(out, effect, entry.attempt);
    }
}

/// Where to decide. The command has a placeholder that is refused if it is pasted as it stands, the
/// attempt keeps a late decision from speaking for a later one, and `--` lets a name begin with `-`.
fn decide(out: &mut Object, effect: &EffectId, attempt: u32) {
    let command = format!(
        "semel ledger decide --attempt {attempt} --decision DECISION -- {} {}",
        quoted(effect.scope.as_str()),
        quoted(effect.key.as_str())
    );
    out.object("decide", |out| {
        out.text("method", "POST")
            .text("path", &path::of("ledger", effect, "/decide"))
            .text("command", &command)
            .texts("choices", DECISIONS);
    });
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

async fn conflict(store: &Store, document: Option<&Document>, record: Option<&Record>) -> Problem {
    let stored = match record.and_then(|record| record.input.as_ref()) {
        Some(stored) => store.text(stored).await.ok().flatten(),
        None => None,
    };
    let differs = match (document.and_then(Document::input), stored) {
        (Some(mine), Some(first)) => differences(&Canonical::trusted(first), &mine, DIFFERENCES),
        _ => Vec::new(),
    };
    let detail = match differs.len() {
        0 => "the key stood for another input, which is no longer kept".to_owned(),
        DIFFERENCES => format!("the input differs in {DIFFERENCES} places or more"),
        1 => "the input differs in 1 place".to_owned(),
        count => format!("the input differs in {count} places"),
    };
    let mut problem = Problem::new(Code::Conflict, detail)
        .fix("use another key for another intent, or send the same input");
    problem.more.text("verdict", "conflict");
    if let Some(record) = record {
        problem
            .more
            .text("state", record.state_at(store.now()).name())
            .number("attempt", record.entry.attempt.into());
    }
    problem.more.texts("differs", &differs);
    problem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, shown) in [
            ("order/10492", "order/10492"),
            ("a b", "'a b'"),
            ("-rf", "-rf"),
            ("a|b", "'a|b'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
