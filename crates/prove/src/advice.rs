//! What to change in the file, for each thing that went wrong.
//!
//! Owns reading the cause from what was found. Where the checker knows better, its words are used.

use semel_flow::model::{Class, OnUnknown, Step, Trigger};
use semel_flow::{Diagnostic, Flow, check};

use crate::judge::{Finding, RUN, Verdict};
use crate::schedule::{Delivery, Family};
use crate::sim::Seen;
use crate::stage::{Role, Stage, step};

/// What to change so that it does not happen.
pub(crate) fn help(stage: &Stage, found: &Finding, base: &Seen, seen: &Seen) -> String {
    let flow = stage.flow();
    let doubled = matches!(found.verdict, Verdict::Twice(_));
    let runs = seen.states.len() > base.states.len() * seen.ticks;
    if &*found.step == RUN || (doubled && runs) {
        return of_runs(flow, found);
    }
    let Some(step) = step(flow, &found.step) else {
        return "what is kept must not depend on how often or in which order it is asked for"
            .to_owned();
    };
    match found.verdict {
        Verdict::Twice(_) if !seen.unasked.is_empty() => {
            "what nobody said yes to went on: this is an error of Semel, please report it with the file".to_owned()
        }
        Verdict::Twice(_) => echoed(stage, base, seen, found)
            .or_else(|| looked_up(found))
            .unwrap_or_else(|| twice(flow, step, found)),
        Verdict::Skipped => "`on_unknown: skip` takes as done what may never have happened: write `ask`, or say how to find out with `lookup`".to_owned(),
        Verdict::Missing if found.schedule.family() == Some(Family::Order) => {
            "an older event overwrites what a newer one has put: say in the trigger which is newer, `latest: {of: …, version: …}`, or fetch the present state from its source".to_owned()
        }
        _ => "this is an error of Semel, not of the flow: please report it with the file".to_owned(),
    }
}

/// A second run for one event.
fn of_runs(flow: &Flow, found: &Finding) -> String {
    if !matches!(found.verdict, Verdict::Twice(_)) {
        return "this is an error of Semel, not of the flow: please report it with the file"
            .to_owned();
    }
    if found.schedule.delivery == Delivery::Later
        && let Some(remember) = &flow.remember
    {
        let remember = remember.it;
        return format!(
            "`remember: {remember}` forgets the key before the sender gives up: write a longer one"
        );
    }
    let listed = flow.triggers.iter().find_map(|trigger| match trigger {
        Trigger::Sync(sync) => Some(sync.key.span),
        _ => None,
    });
    let span = flow.key.as_ref().map(|key| key.span);
    let advice = listed
        .or(span)
        .and_then(|span| said_of_key(flow, |at| span.start <= at && at <= span.end));
    advice.unwrap_or_else(|| {
        "the same event must give the same key: make `key` of what its sender repeats".to_owned()
    })
}

/// What the checker says about a key in that part of the file.
fn said_of_key(flow: &Flow, within: impl Fn(usize) -> bool) -> Option<String> {
    let of_key = |it: &Diagnostic| it.code.starts_with('K') && within(it.at.start);
    let found = check(flow).into_iter().find(of_key)?;
    let help = found
        .help
        .first()
        .map_or(String::new(), |help| format!(": {help}"));
    Some(format!("{} ({}){help}", found.title, found.code))
}

/// Two steps that send the same.
fn echoed(stage: &Stage, base: &Seen, seen: &Seen, found: &Finding) -> Option<String> {
    let more = |at: usize| seen.echoes[at] > base.echoes[at];
    let own =
        stage.places.iter().enumerate().find(|(at, place)| {
            place.role == Role::Main && *place.step == *found.step && more(*at)
        });
    own.map(|_| {
        format!("`{}` sends word for word what another step has sent: give both the same `scope` and `key`, so that the ledger knows them as one", found.step)
    })
}

/// It was asked for, and not found although it was there.
fn looked_up(found: &Finding) -> Option<String> {
    let told = found.story.iter().find_map(|line| {
        let (_, why) = line.what.split_once("it is not there: it ")?;
        Some(why)
    })?;
    Some(match told.strip_prefix("was never told ") {
        Some(value) => format!(
            "the destination is asked for {value}, which it was never told: send it along, such as `${{{{ step.key }}}}`, or ask by something that is in the request"
        ),
        None => "the destination is asked before it shows what it did: write a longer `settle`"
            .to_owned(),
    })
}

fn twice(flow: &Flow, step: &Step, found: &Finding) -> String {
    let within = |at: usize| step.span.start <= at && at <= step.span.end;
    let retries = step.on_unknown.as_ref();
    let retries = retries.is_some_and(|rule| rule.it == OnUnknown::Retry);
    let undo = found.step.ends_with(" (undo)");
    match (step.class(), retries && !undo) {
        (Class::Guarded, true) => "`on_unknown: retry` repeats what may have happened: write `ask`, or say how to find out with `lookup`, or let the destination dedupe with `idempotency`".to_owned(),
        (Class::Keyed, true) => "by then the destination has forgotten the key: `on_unknown: ask`, a `lookup`, or `retry.within` that ends before its `window`".to_owned(),
        _ => said_of_key(flow, within).unwrap_or_else(|| {
            "its key is not the same for the same work: write one that comes from the event alone".to_owned()
        }),
    }
}
