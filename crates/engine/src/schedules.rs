//! Fires ticks: one run for each planned time, whatever restarts and however many nodes.
//!
//! A tick's identity is its planned time. Every node looks; the store lets one start it, together
//! with the record that this tick has passed. What time it is, is the store's.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use semel_flow::Value;
use semel_flow::model::{Missed, Schedule, Trigger};
use semel_flow::schedule::next_tick;
use semel_ledger::{Key, Time};
use semel_store::run::{CursorChange, Lane, Start, WhenFull};
use semel_store::{Change, StoreError};

use crate::engine::{Inner, fence};
use crate::flows::Compiled;
use crate::journal::{Headers, Origin};
use crate::start::{Incoming, StartError, short_hash};
use crate::worker::starts;

/// The longest time between two looks: what is live may change meanwhile.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A tick that is no later than this was not missed.
const GRACE_MILLIS: u64 = 60_000;
/// The most ticks that are made up for at once.
const MAX_MISSED: usize = 1000;

pub(crate) async fn run(inner: Arc<Inner>) {
    loop {
        let pause = match look(&inner).await {
            Ok(next) => next.map_or(LOOK_EVERY, |next| {
                let wait = next.since(inner.store.now()).0.max(1);
                Duration::from_millis(wait).min(LOOK_EVERY)
            }),
            Err(error) => {
                tracing::warn!(%error, "schedules could not be looked at");
                LOOK_EVERY
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// Fires what is due; gives when the next tick is.
async fn look(inner: &Arc<Inner>) -> Result<Option<Time>, StoreError> {
    if inner.is_stopping() || inner.store.member().is_none() {
        return Ok(None);
    }
    let live = inner.flows.live();
    let mut next: Option<Time> = None;
    for compiled in live.flows.values() {
        for trigger in &compiled.flow.triggers {
            let (schedule, by) = match trigger {
                Trigger::Schedule(schedule) => (schedule, Origin::Schedule),
                Trigger::Sync(sync) => (&sync.schedule, Origin::Fetch),
                _ => continue,
            };
            let at = fire(inner, compiled, schedule, by).await?;
            next = [next, at].into_iter().flatten().min();
        }
    }
    Ok(next)
}

/// Fires what is due of one schedule; gives its next tick.
async fn fire(
    inner: &Arc<Inner>,
    compiled: &Arc<Compiled>,
    schedule: &Schedule,
    by: Origin,
) -> Result<Option<Time>, StoreError> {
    let now = inner.store.now();
    let name = format!("{}/{}", by.name(), compiled.flow.name.it);
    let was = inner.store.cursor(&name).await?;
    let Some(last) = was.as_deref().and_then(|text| text.parse().ok()).map(Time) else {
        // Its first look: ticks count from now on.
        let changes = vec![cursor(&name, was, now)];
        inner.store.commit(changes).await?;
        return Ok(next_tick(&schedule.timing, now));
    };
    let ticks = due(schedule, last, now);
    let Some(latest) = ticks.last().copied() else {
        return Ok(next_tick(&schedule.timing, last));
    };
    let mut changes = vec![cursor(&name, was, latest)];
    for tick in chosen(schedule.missed, &ticks, now) {
        match start(inner, compiled, by, tick, now) {
            Ok(start) => changes.push(Change::Start(Box::new(start))),
            Err(error) => {
                tracing::error!(flow = %compiled.flow.name.it, %error, "a tick cannot be started");
            }
        }
    }
    let starts = starts(&changes);
    let answers = inner.store.commit(changes).await?;
    inner.have_started(&starts, &answers);
    inner.has_started(&compiled.flow);
    Ok(next_tick(&schedule.timing, latest))
}

fn cursor(name: &str, was: Option<Box<str>>, to: Time) -> Change {
    Change::Cursor(CursorChange {
        name: name.into(),
        was,
        becomes: to.0.to_string().into(),
    })
}

/// The planned times after `last` that have come.
fn due(schedule: &Schedule, last: Time, now: Time) -> Vec<Time> {
    let mut ticks = Vec::new();
    let mut after = last;
    while let Some(tick) = next_tick(&schedule.timing, after).filter(|tick| *tick <= now) {
        ticks.push(tick);
        after = tick;
        if ticks.len() > MAX_MISSED {
            ticks.remove(0);
        }
    }
    ticks
}

/// Which of the ticks that have come are fired.
fn chosen(missed: Missed, ticks: &[Time], now: Time) -> Vec<Time> {
    let on_time = |tick: &Time| now.since(*tick).0 <= GRACE_MILLIS;
    match missed {
        Missed::All => ticks.to_vec(),
        Missed::Once => ticks.last().copied().into_iter().collect(),
        Missed::Skip => ticks.iter().copied().filter(on_time).collect(),
    }
}

fn start(
    inner: &Inner,
    compiled: &Compiled,
    by: Origin,
    tick: Time,
    now: Time,
) -> Result<Start, StartError> {
    let planned =
        Timestamp::from_millisecond(tick.0).map_or_else(|_| tick.0.to_string(), |t| t.to_string());
    let own_key = Key::from_parts(&["tick", &planned])?;
    let event = Value::map([("time", Value::text(&planned))]);
    // A fetch's own identity must not meet that of an item.
    let key = (by == Origin::Fetch)
        .then(|| Key::from_parts(&["fetch", &planned]))
        .transpose()?;
    let incoming = Incoming {
        compiled,
        id: inner.store.new_run_id(),
        by,
        event,
        canonical: None,
        raw: None,
        headers: Headers::new(),
        at: tick,
        from: None,
        key,
        own_key: Some(own_key),
        begin: false,
        remember: inner.settings.remember,
        now,
        fence: fence(),
    };
    let mut start = incoming.into_start()?;
    if by == Origin::Fetch {
        // Two fetches of one list would only start the same items.
        start.run.lane = Some(Lane {
            id: short_hash(&["fetch", &compiled.flow.name.it]),
            width: 1,
            when_full: WhenFull::Skip,
        });
        start.otherwise = Some(r#"{"status":"skipped"}"#.into());
    }
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn missed_ticks_follow_their_policy() {
        let now = Time(10 * MINUTE + 1);
        let ticks: Vec<Time> = (7..=10).map(|n| Time(n * MINUTE)).collect();
        assert_eq!(chosen(Missed::All, &ticks, now), ticks);
        assert_eq!(chosen(Missed::Once, &ticks, now), [Time(10 * MINUTE)]);
        assert_eq!(chosen(Missed::Skip, &ticks, now), [Time(10 * MINUTE)]);
        assert_eq!(chosen(Missed::Skip, &ticks[..2], now), []);
    }
}
