use super::*;

fn time(text: &str) -> Time {
    let timestamp: Timestamp = text.parse().expect(text);
    Time(timestamp.as_millisecond())
}

fn next(fields: &str, zone: &str, after: &str) -> String {
    let cron = Cron::parse(fields, zone).expect(fields);
    let next = cron.after(time(after)).expect("a next time");
    let next = Timestamp::from_millisecond(next.0).expect("in range");
    next.to_string()
}

#[test]
fn schedules_fire_in_their_zone() {
    for (fields, zone, after, expected) in [
        (
            "30 6 * * *",
            "UTC",
            "2026-01-01T00:00:00Z",
            "2026-01-01T06:30:00Z",
        ),
        (
            "30 6 * * *",
            "UTC",
            "2026-01-01T06:30:00Z",
            "2026-01-02T06:30:00Z",
        ),
        (
            "30 6 * * *",
            "Europe/Berlin",
            "2026-01-01T00:00:00Z",
            "2026-01-01T05:30:00Z",
        ),
        (
            "30 6 * * *",
            "Europe/Berlin",
            "2026-07-01T00:00:00Z",
            "2026-07-01T04:30:00Z",
        ),
        (
            "0 9 * * MON",
            "UTC",
            "2026-01-01T00:00:00Z",
            "2026-01-05T09:00:00Z",
        ),
        (
            "0 0 29 2 *",
            "UTC",
            "2026-01-01T00:00:00Z",
            "2028-02-29T00:00:00Z",
        ),
        (
            "*/15 * * * *",
            "Asia/Kathmandu",
            "2026-01-01T00:01:00Z",
            "2026-01-01T00:15:00Z",
        ),
    ] {
        assert_eq!(next(fields, zone, after), expected, "{fields} in {zone}");
    }
}

/// What the documentation promises about clock changes.
#[test]
fn a_skipped_time_fires_at_the_change_and_a_repeated_one_once() {
    let berlin = "Europe/Berlin";
    // 02:30 does not come on 29 March: at 02:00 it is 03:00.
    let spring = next("30 2 * * *", berlin, "2026-03-28T12:00:00Z");
    assert_eq!(spring, "2026-03-29T01:00:00Z");
    let after = next("30 2 * * *", berlin, &spring);
    assert_eq!(after, "2026-03-30T00:30:00Z");
    // 02:30 comes twice on 25 October: first in summer time.
    let autumn = next("30 2 * * *", berlin, "2026-10-24T12:00:00Z");
    assert_eq!(autumn, "2026-10-25T00:30:00Z");
    let after = next("30 2 * * *", berlin, &autumn);
    assert_eq!(after, "2026-10-26T01:30:00Z");
}

#[test]
fn wrong_schedules_say_what_is_wrong() {
    for (fields, zone, expected) in [
        ("", "UTC", CronError::Count { count: 0 }),
        ("* * * *", "UTC", CronError::Count { count: 4 }),
        ("* * * * * *", "UTC", CronError::Count { count: 6 }),
        ("0 0 30 2 *", "UTC", CronError::Never),
        ("0 0 31 4,6,9,11 *", "UTC", CronError::Never),
    ] {
        assert_eq!(
            Cron::parse(fields, zone).expect_err(fields),
            expected,
            "{fields}"
        );
    }
    for (fields, field) in [
        ("60 * * * *", "minute"),
        ("* 24 * * *", "hour"),
        ("* * 0 * *", "day of the month"),
        ("* * * 13 *", "month"),
        ("* * * * 8", "day of the week"),
        ("* x * * *", "hour"),
        ("*/0 * * * *", "minute"),
    ] {
        let error = Cron::parse(fields, "UTC").expect_err(fields);
        assert!(
            matches!(&error, CronError::Field { field: found, .. } if *found == field),
            "{fields}: {error}"
        );
    }
    let error = Cron::parse("* * * * *", "europe/berlni").expect_err("zone");
    let near = Some("Europe/Berlin".to_owned());
    assert!(
        matches!(&error, CronError::Zone { near: found, .. } if *found == near),
        "{error:?}"
    );
}

#[test]
fn only_schedules_that_name_their_hours_are_warned_of_clock_changes() {
    for (fields, zone, expected) in [
        ("30 2 * * *", "Europe/Berlin", Some(Shift::Skipped)),
        ("30 3 * * *", "Europe/Berlin", None),
        ("30 2 * 10 *", "Europe/Berlin", Some(Shift::Repeated)),
        ("30 2 * * MON", "Europe/Berlin", None),
        ("30 * * * *", "Europe/Berlin", None),
        ("30 2 * * *", "UTC", None),
        ("30 2 * * *", "Asia/Tokyo", None),
    ] {
        let cron = Cron::parse(fields, zone).expect(fields);
        assert_eq!(
            cron.shift().map(|(shift, _)| shift),
            expected,
            "{fields} in {zone}"
        );
    }
}
