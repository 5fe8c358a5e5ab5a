//! Instants as they are written and read: RFC 3339, in UTC, with milliseconds.

use jiff::Timestamp;
use semel_ledger::Time;

/// The instant as text; `None` for one that another lease governs or beyond the calendar.
pub(crate) fn text(time: Time) -> Option<String> {
    let timestamp = Timestamp::from_millisecond(time.0).ok()?;
    Some(format!("{timestamp:.3}"))
}

/// Reads RFC 3339.
pub(crate) fn parse(text: &str) -> Option<Time> {
    let timestamp: Timestamp = text.parse().ok()?;
    Some(Time(timestamp.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_with_milliseconds_and_read_in_any_zone() {
        let time = Time(1_700_000_000_120);
        assert_eq!(text(time).as_deref(), Some("2023-11-14T22:13:20.120Z"));
        assert_eq!(parse("2023-11-14T23:13:20.12+01:00"), Some(time));
        assert_eq!(text(Time::NEVER), None);
        for wrong in ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
