//! When a schedule fires next.
//!
//! Owns what a schedule means, for the check and for the engine alike; whose clock it is, and what of
//! ticks that nobody saw, is the engine's business. The time zone database is part of the binary, so
//! every node and every machine agrees.
//!
//! Around a clock change: a time that is skipped fires at the change; one that comes twice fires
//! once, the first time. A schedule for every hour (`*`) names no hour and fires in both.

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use semel_ledger::{Millis, Time};

use crate::model::{Flow, Timing, Trigger};

/// The first tick after a time; `None` if there is none, or if the timing cannot be read.
#[must_use]
pub fn next_tick(timing: &Timing, after: Time) -> Option<Time> {
    match timing {
        Timing::Every(every) => next_multiple(every.it, after),
        Timing::Cron { cron, zone } => {
            let zone = TimeZone::get(&zone.it).ok()?;
            next_match(&fields(&cron.it)?, &zone, after)
        }
    }
}

/// The zone in which a flow's days begin: that of its first schedule, else UTC.
#[must_use]
pub fn zone_of(flow: &Flow) -> TimeZone {
    let timings = flow.triggers.iter().filter_map(|trigger| match trigger {
        Trigger::Schedule(schedule) => Some(&schedule.timing),
        Trigger::Sync(sync) => Some(&sync.schedule.timing),
        Trigger::Webhook(_) | Trigger::Event { .. } => None,
    });
    let mut zones = timings.filter_map(|timing| match timing {
        Timing::Cron { zone, .. } => TimeZone::get(&zone.it).ok(),
        Timing::Every(_) => None,
    });
    zones.next().unwrap_or(TimeZone::UTC)
}

/// Five fields of cron; `None` if they are none.
pub(crate) fn fields(text: &str) -> Option<Cron> {
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    parser.parse(text).ok()
}

/// The next whole number of intervals since 1970.
fn next_multiple(every: Millis, after: Time) -> Option<Time> {
    let every = i64::try_from(every.0).ok().filter(|every| *every > 0)?;
    let passed = after.0.div_euclid(every);
    passed.checked_add(1)?.checked_mul(every).map(Time)
}

/// The first time after `after` at which the zone's clocks show a time of the schedule.
///
/// Goes from one clock change to the next: between two of them a zone is nothing but an offset, and
/// the schedule is asked about plain wall clocks only.
pub(crate) fn next_match(cron: &Cron, zone: &TimeZone, after: Time) -> Option<Time> {
    let hourly = cron.as_str().split_ascii_whitespace().nth(1) == Some("*");
    let mut from = Timestamp::from_millisecond(after.0).ok()?;
    let mut inclusive = false;
    loop {
        let offset = zone.to_offset(from);
        let mut wall = find(cron, offset.to_datetime(from), inclusive)?;
        while !hourly && is_repeat(zone, wall, offset) {
            wall = find(cron, wall, false)?;
        }
        let tick = offset.to_timestamp(wall).ok()?;
        let change = zone.following(from).next();
        let Some(change) = change.filter(|change| change.timestamp() <= tick) else {
            return Some(Time(tick.as_millisecond()));
        };
        let at = change.timestamp();
        // The clock jumps over the scheduled time.
        if wall < change.offset().to_datetime(at) {
            return Some(Time(at.as_millisecond()));
        }
        (from, inclusive) = (at, true);
    }
}

/// The next wall clock of the schedule, in a world without clock changes.
fn find(cron: &Cron, wall: DateTime, inclusive: bool) -> Option<DateTime> {
    let plain = wall.to_zoned(TimeZone::UTC).ok()?;
    let next = cron.find_next_occurrence(&plain, inclusive).ok()?;
    Some(next.datetime())
}

/// Whether clocks with that offset show this time for the second time.
fn is_repeat(zone: &TimeZone, wall: DateTime, offset: Offset) -> bool {
    match zone.to_ambiguous_timestamp(wall).offset() {
        AmbiguousOffset::Fold { after, .. } => after == offset,
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Gap { .. } => false,
    }
}

#[cfg(test)]
mod tests;
