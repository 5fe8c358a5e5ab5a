use super::*;

#[test]
fn wrong_schedules_say_what_is_wrong() {
    for (fields, zone, expected) in [
        ("", "UTC", CronError::Count { count: 0 }),
        ("* * * *", "UTC", CronError::Count { count: 4 }),
        ("* * * * * *", "UTC", CronError::Count { count: 6 }),
        ("0 0 30 2 *", "UTC", CronError::Never),
        ("0 0 31 4,6,9,11 *", "UTC", CronError::Never),
    ] {
        assert_eq!(Cron::parse(fields, zone).err(), Some(expected), "{fields}");
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
