//! When schedules fire: tables around clock changes, leap years and month ends, and properties
//! against a clock that is looked at minute by minute.

use jiff::{Timestamp, ToSpan as _};
use proptest::prelude::*;

use super::*;
use crate::diagnostic::{Span, Spanned};

fn spanned<T>(it: T) -> Spanned<T> {
    Spanned {
        it,
        span: Span::default(),
    }
}

fn cron(fields: &str, zone: &str) -> Timing {
    Timing::Cron {
        cron: spanned(fields.to_owned()),
        zone: spanned(zone.to_owned()),
    }
}

fn time(text: &str) -> Time {
    let at: Timestamp = text.parse().expect("a time");
    Time(at.as_millisecond())
}

fn shown(time: Time) -> String {
    let at = Timestamp::from_millisecond(time.0).expect("in range");
    at.to_string().replace(":00Z", "Z")
}

/// The first ticks after a time, in UTC.
fn ticks(timing: &Timing, after: &str, count: usize) -> Vec<String> {
    let mut at = time(after);
    let mut ticks = Vec::new();
    for _ in 0..count {
        at = next_tick(timing, at).expect("a tick");
        ticks.push(shown(at));
    }
    ticks
}

#[test]
fn plain_days_are_plain() {
    for (fields, zone, after, expected) in [
        (
            "30 6 * * *",
            "UTC",
            "2026-03-01T06:29:59Z",
            ["2026-03-01T06:30Z", "2026-03-02T06:30Z"],
        ),
        // Strictly after: a tick is not its own successor.
        (
            "30 6 * * *",
            "UTC",
            "2026-03-01T06:30:00Z",
            ["2026-03-02T06:30Z", "2026-03-03T06:30Z"],
        ),
        (
            "30 6 * * *",
            "UTC",
            "2026-03-01T06:30:00.001Z",
            ["2026-03-02T06:30Z", "2026-03-03T06:30Z"],
        ),
        (
            "0 9 * * MON-FRI",
            "Asia/Tokyo",
            "2026-01-02T12:00:00Z",
            ["2026-01-05T00:00Z", "2026-01-06T00:00Z"],
        ),
        // The last day of each month, also of February.
        (
            "0 0 L * *",
            "UTC",
            "2028-01-15T00:00:00Z",
            ["2028-01-31T00:00Z", "2028-02-29T00:00Z"],
        ),
        (
            "0 0 31 * *",
            "UTC",
            "2026-01-31T00:00:00Z",
            ["2026-03-31T00:00Z", "2026-05-31T00:00Z"],
        ),
        (
            "0 12 29 2 *",
            "UTC",
            "2026-01-01T00:00:00Z",
            ["2028-02-29T12:00Z", "2032-02-29T12:00Z"],
        ),
        // 2100 is no leap year.
        (
            "0 12 29 2 *",
            "UTC",
            "2096-03-01T00:00:00Z",
            ["2104-02-29T12:00Z", "2108-02-29T12:00Z"],
        ),
        (
            "59 23 31 12 *",
            "UTC",
            "2026-06-01T00:00:00Z",
            ["2026-12-31T23:59Z", "2027-12-31T23:59Z"],
        ),
        // Before 1970, too.
        (
            "0 0 1 1 *",
            "UTC",
            "1960-06-01T00:00:00.5Z",
            ["1961-01-01T00:00Z", "1962-01-01T00:00Z"],
        ),
    ] {
        assert_eq!(
            ticks(&cron(fields, zone), after, 2),
            expected,
            "{fields} {zone}"
        );
    }
}

/// Fields, zone, after when, and the ticks that follow.
const CHANGES: &[(&str, &str, &str, &[&str])] = &[
    // Berlin, 29 March 2026: 02:00 becomes 03:00 at 01:00 UTC.
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2026-03-28T00:00:00Z",
        &[
            "2026-03-28T01:30Z",
            "2026-03-29T01:00Z",
            "2026-03-30T00:30Z",
        ],
    ),
    (
        "0 2 * * *",
        "Europe/Berlin",
        "2026-03-28T12:00:00Z",
        &["2026-03-29T01:00Z", "2026-03-30T00:00Z"],
    ),
    (
        "0 3 * * *",
        "Europe/Berlin",
        "2026-03-28T12:00:00Z",
        &["2026-03-29T01:00Z", "2026-03-30T01:00Z"],
    ),
    // Two times skipped, and one that the change leads to: one tick.
    (
        "0,15 2,3 * * *",
        "Europe/Berlin",
        "2026-03-28T12:00:00Z",
        &[
            "2026-03-29T01:00Z",
            "2026-03-29T01:15Z",
            "2026-03-30T00:00Z",
        ],
    ),
    (
        "*/30 * * * *",
        "Europe/Berlin",
        "2026-03-29T00:20:00Z",
        &[
            "2026-03-29T00:30Z",
            "2026-03-29T01:00Z",
            "2026-03-29T01:30Z",
        ],
    ),
    // Berlin, 25 October 2026: 03:00 becomes 02:00 at 01:00 UTC.
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-24T12:00:00Z",
        &["2026-10-25T00:30Z", "2026-10-26T01:30Z"],
    ),
    (
        "0 2 * * *",
        "Europe/Berlin",
        "2026-10-24T12:00:00Z",
        &["2026-10-25T00:00Z", "2026-10-26T01:00Z"],
    ),
    (
        "0 3 * * *",
        "Europe/Berlin",
        "2026-10-24T12:00:00Z",
        &["2026-10-25T02:00Z", "2026-10-26T02:00Z"],
    ),
    // Asked in the middle of the second time around.
    (
        "30 2 * * *",
        "Europe/Berlin",
        "2026-10-25T01:10:00Z",
        &["2026-10-26T01:30Z"],
    ),
    (
        "*/20 2 * * *",
        "Europe/Berlin",
        "2026-10-25T00:30:00Z",
        &["2026-10-25T00:40Z", "2026-10-26T01:00Z"],
    ),
    // Every hour has no hour that could come twice.
    (
        "30 * * * *",
        "Europe/Berlin",
        "2026-10-24T23:00:00Z",
        &[
            "2026-10-24T23:30Z",
            "2026-10-25T00:30Z",
            "2026-10-25T01:30Z",
            "2026-10-25T02:30Z",
        ],
    ),
    // The change itself is an hour that begins.
    (
        "0 * * * *",
        "Europe/Berlin",
        "2026-10-24T23:30:00Z",
        &[
            "2026-10-25T00:00Z",
            "2026-10-25T01:00Z",
            "2026-10-25T02:00Z",
        ],
    ),
    // New York, 8 March and 1 November 2026.
    (
        "15 2 * * *",
        "America/New_York",
        "2026-03-07T12:00:00Z",
        &["2026-03-08T07:00Z", "2026-03-09T06:15Z"],
    ),
    (
        "30 1 * * *",
        "America/New_York",
        "2026-10-31T12:00:00Z",
        &["2026-11-01T05:30Z", "2026-11-02T06:30Z"],
    ),
    // Lord Howe moves by half an hour: 02:00 to 02:30 on 4 October, 02:00 to 01:30 on 5 April 2026.
    (
        "15 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-03T00:00:00Z",
        &["2026-10-03T15:30Z", "2026-10-04T15:15Z"],
    ),
    (
        "30 2 * * *",
        "Australia/Lord_Howe",
        "2026-10-03T00:00:00Z",
        &["2026-10-03T15:30Z", "2026-10-04T15:30Z"],
    ),
    (
        "45 1 * * *",
        "Australia/Lord_Howe",
        "2026-04-04T00:00:00Z",
        &["2026-04-04T14:45Z", "2026-04-05T15:15Z"],
    ),
    (
        "0,45 * * * *",
        "Australia/Lord_Howe",
        "2026-04-04T14:00:00Z",
        &[
            "2026-04-04T14:45Z",
            "2026-04-04T15:15Z",
            "2026-04-04T15:30Z",
        ],
    ),
    // Samoa had no 30 December 2011 at all.
    (
        "0 12 * * *",
        "Pacific/Apia",
        "2011-12-29T00:00:00Z",
        &[
            "2011-12-29T22:00Z",
            "2011-12-30T10:00Z",
            "2011-12-30T22:00Z",
        ],
    ),
];

#[test]
fn clock_changes_follow_the_stated_policy() {
    for (fields, zone, after, expected) in CHANGES {
        let found = ticks(&cron(fields, zone), after, expected.len());
        assert_eq!(found, *expected, "{fields} {zone} after {after}");
    }
}

#[test]
fn intervals_are_counted_from_1970() {
    let every = |seconds| Timing::Every(spanned(Millis::seconds(seconds)));
    assert_eq!(next_tick(&every(300), Time(0)), Some(Time(300_000)));
    assert_eq!(next_tick(&every(300), Time(299_999)), Some(Time(300_000)));
    assert_eq!(next_tick(&every(300), Time(-1)), Some(Time(0)));
    assert_eq!(next_tick(&every(300), Time(-300_001)), Some(Time(-300_000)));
    assert_eq!(next_tick(&every(0), Time(5)), None);
    assert_eq!(next_tick(&every(1), Time::NEVER), None);
}

#[test]
fn what_cannot_fire_has_no_tick() {
    for (fields, zone) in [
        ("0 0 30 2 *", "UTC"),
        ("0 0 * *", "UTC"),
        ("0 0 * * *", "Mars/Base"),
        ("61 0 * * *", "UTC"),
    ] {
        assert_eq!(
            next_tick(&cron(fields, zone), Time(0)),
            None,
            "{fields} {zone}"
        );
    }
    assert_eq!(next_tick(&cron("0 0 * * *", "UTC"), Time::NEVER), None);
}

/// When a schedule of one minute and one hour fires, by looking at the wall clock minute by minute.
fn by_looking(hour: i8, minute: i8, zone: &TimeZone, after: Timestamp) -> Timestamp {
    let wanted = |at: Timestamp| {
        let due = at.to_zoned(zone.clone()).date().at(hour, minute, 0, 0);
        // The first instant at which the clock shows it or has passed it.
        let due = zone.to_ambiguous_timestamp(due);
        match due.offset() {
            AmbiguousOffset::Gap { .. } => {
                let before = due.earlier().expect("in range");
                zone.following(before).next().expect("a change").timestamp()
            }
            _ => due.earlier().expect("in range"),
        }
    };
    let mut day = after - 48.hours();
    loop {
        let tick = wanted(day);
        if tick > after {
            return tick;
        }
        day += 12.hours();
    }
}

const ZONES: [&str; 6] = [
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "America/St_Johns",
    "Asia/Kathmandu",
];

proptest! {
    #[test]
    fn a_daily_schedule_fires_when_its_clock_says_so(
        hour in 0..24_i8,
        minute in 0..60_i8,
        zone in prop::sample::select(&ZONES[..]),
        after in 1_700_000_000_000..1_900_000_000_000_i64,
    ) {
        let timing = cron(&format!("{minute} {hour} * * *"), zone);
        let zone = TimeZone::get(zone).expect("a zone");
        let expected = by_looking(hour, minute, &zone, Timestamp::from_millisecond(after).expect("in range"));
        prop_assert_eq!(next_tick(&timing, Time(after)), Some(Time(expected.as_millisecond())));
    }

    #[test]
    fn asking_between_two_ticks_gives_the_second(
        fields in prop::sample::select(&["*/7 * * * *", "30 2 * * *", "0 */3 * * *", "15 1,2,3 1-7 * SUN", "0 0 L * *"][..]),
        zone in prop::sample::select(&ZONES[..]),
        after in 1_700_000_000_000..1_900_000_000_000_i64,
        part in 0.0..1.0_f64,
    ) {
        let timing = cron(fields, zone);
        let first = next_tick(&timing, Time(after)).expect("a tick");
        let second = next_tick(&timing, first).expect("a tick");
        prop_assert!(Time(after) < first && first < second);
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "any place between will do")]
        let between = first.0 + ((second.0 - first.0 - 1) as f64 * part) as i64;
        prop_assert_eq!(next_tick(&timing, Time(between)), Some(second));
    }
}
