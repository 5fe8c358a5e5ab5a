//! Instants as people write and read them. All shown times are UTC.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use semel_ledger::Millis;
use semel_store::clock::wall_millis;

/// Reads an instant: RFC 3339, a date (its start in UTC), or a span that means "ago".
pub(crate) fn read(text: &str) -> Result<Timestamp, String> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    if text.len() <= 10
        && let Ok(date) = text.parse::<Date>()
    {
        return date
            .to_zoned(TimeZone::UTC)
            .map(|zoned| zoned.timestamp())
            .map_err(|error| error.to_string());
    }
    if let Ok(span) = text.parse::<Millis>() {
        let ago = wall_millis().saturating_sub_unsigned(span.0);
        return Timestamp::from_millisecond(ago).map_err(|error| error.to_string());
    }
    Err(
        "is not a time; write 2026-03-01T12:00:00Z, a date such as 2026-03-01, or a span such as \
         2h (meaning ago)"
            .to_owned(),
    )
}

/// An instant of the API, as it is shown in tables: to the second.
pub(crate) fn short(text: &str) -> String {
    text.parse::<Timestamp>().map_or_else(
        |_| crate::term::shown(text).into_owned(),
        |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

/// How long ago an instant of the API was, in its largest unit: `42s`, `5m`, `3h`, `12d`.
pub(crate) fn age(text: &str) -> String {
    let Ok(at) = text.parse::<Timestamp>() else {
        return String::new();
    };
    let seconds = (wall_millis() - at.as_millisecond()).max(0) / 1000;
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// The day and the time of an instant of the API, to the millisecond.
pub(crate) fn day_and_time(text: &str) -> (String, String) {
    text.parse::<Timestamp>().map_or_else(
        |_| (String::new(), crate::term::shown(text).into_owned()),
        |at| {
            let day = at.strftime("%Y-%m-%d").to_string();
            (day, at.strftime("%H:%M:%S%.3f").to_string())
        },
    )
}

/// An instant in milliseconds, as the API writes it.
pub(crate) fn rfc3339(millis: i64) -> String {
    Timestamp::from_millisecond(millis).map_or_else(|_| millis.to_string(), |at| at.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_times_are_short() {
        for (ago, text) in [
            (0, "0s"),
            (59, "59s"),
            (61, "1m"),
            (7_300, "2h"),
            (90_000, "1d"),
            (-5, "0s"),
        ] {
            assert_eq!(age(&rfc3339(wall_millis() - ago * 1000)), text);
        }
        let (day, time) = day_and_time("2026-11-16T01:36:14.1Z");
        assert_eq!(
            (day.as_str(), time.as_str()),
            ("2026-11-16", "01:36:14.100")
        );
    }

    #[test]
    fn times_are_read_in_three_spellings() {
        let whole = |text: &str| read(text).expect(text).as_millisecond();
        assert_eq!(whole("1970-01-02"), 86_400_000);
        assert_eq!(whole("1970-01-01T00:00:01.5Z"), 1_500);
        assert_eq!(whole("1970-01-01T01:00:00+01:00"), 0);
        let then = whole("2h");
        let ago = wall_millis() - then;
        assert!((7_200_000..7_260_000).contains(&ago), "{ago}");
        for wrong in ["2026-13-01", "yesterday", "", "12", "2026-02-30"] {
            let error = read(wrong).expect_err(wrong);
            assert!(error.contains("is not a time"), "{wrong}: {error}");
        }
    }
}
