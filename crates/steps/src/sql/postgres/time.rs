//! Times of PostgreSQL, in the spelling of RFC 3339.
//!
//! A time without a zone has none here either: nobody knows which instant it is.

use std::fmt::Write as _;

use jiff::civil::{Date, DateTime, date};
use jiff::{SignedDuration, Span, Timestamp};

/// Where PostgreSQL's count of time begins.
const EPOCH: Date = date(2000, 1, 1);
/// The same, in microseconds since 1970.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// Days since [`EPOCH`]; `None` outside of the years that have a spelling.
pub(super) fn day(days: i32) -> Option<String> {
    match days {
        i32::MAX => Some("infinity".to_owned()),
        i32::MIN => Some("-infinity".to_owned()),
        _ => {
            let days = Span::new().try_days(days).ok()?;
            let date = EPOCH.checked_add(days).ok()?;
            (date.year() >= 0).then(|| date.to_string())
        }
    }
}

/// Microseconds since [`EPOCH`], of a clock without a zone.
pub(super) fn local(micros: i64) -> Option<String> {
    if let Some(infinite) = infinite(micros) {
        return Some(infinite);
    }
    let start: DateTime = EPOCH.at(0, 0, 0, 0);
    let time = start
        .checked_add(SignedDuration::from_micros(micros))
        .ok()?;
    (time.year() >= 0).then(|| time.to_string())
}

/// Microseconds since [`EPOCH`], of an instant.
pub(super) fn instant(micros: i64) -> Option<String> {
    if let Some(infinite) = infinite(micros) {
        return Some(infinite);
    }
    let micros = micros.checked_add(EPOCH_MICROS)?;
    let text = Timestamp::from_microsecond(micros).ok()?.to_string();
    (!text.starts_with('-')).then_some(text)
}

fn infinite(micros: i64) -> Option<String> {
    match micros {
        i64::MAX => Some("infinity".to_owned()),
        i64::MIN => Some("-infinity".to_owned()),
        _ => None,
    }
}

/// Microseconds since midnight; 24:00 is a time too.
pub(super) fn clock(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    let mut text = format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    push_fraction(&mut text, micros % 1_000_000);
    text
}

/// Seconds west of Greenwich, as an offset.
pub(super) fn offset(west: i32) -> String {
    let sign = if west > 0 { '-' } else { '+' };
    let seconds = west.unsigned_abs();
    let mut text = format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
    if !seconds.is_multiple_of(60) {
        let _ = write!(text, ":{:02}", seconds % 60);
    }
    text
}

/// A span as ISO 8601 has it, such as `P1Y2M3DT4H5M6.5S`; months and days have no fixed length.
pub(super) fn span(micros: i64, days: i32, months: i32) -> String {
    let mut text = String::from("P");
    let part = |text: &mut String, amount: i64, unit: char| {
        if amount != 0 {
            let _ = write!(text, "{amount}{unit}");
        }
    };
    part(&mut text, i64::from(months / 12), 'Y');
    part(&mut text, i64::from(months % 12), 'M');
    part(&mut text, i64::from(days), 'D');
    if micros != 0 {
        text.push('T');
        part(&mut text, micros / 3_600_000_000, 'H');
        part(&mut text, micros / 60_000_000 % 60, 'M');
        let rest = micros % 60_000_000;
        if rest != 0 {
            let sign = if rest < 0 { "-" } else { "" };
            let _ = write!(text, "{sign}{}", (rest / 1_000_000).abs());
            push_fraction(&mut text, (rest % 1_000_000).abs());
            text.push('S');
        }
    }
    if text == "P" {
        text.push_str("T0S");
    }
    text
}

fn push_fraction(text: &mut String, micros: i64) {
    if micros != 0 {
        let fraction = format!("{micros:06}");
        let _ = write!(text, ".{}", fraction.trim_end_matches('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spelled() {
        assert_eq!(day(0).unwrap(), "2000-01-01");
        assert_eq!(day(-1).unwrap(), "1999-12-31");
        assert_eq!(day(i32::MAX).unwrap(), "infinity");
        assert_eq!(day(i32::MAX - 1), None);
        assert_eq!(local(1_500_000).unwrap(), "2000-01-01T00:00:01.5");
        assert_eq!(instant(-1).unwrap(), "1999-12-31T23:59:59.999999Z");
        assert_eq!(instant(i64::MIN).unwrap(), "-infinity");
        assert_eq!(instant(i64::MAX - 1), None);
        assert_eq!(clock(86_400_000_000), "24:00:00");
        assert_eq!(clock(3_661_000_100), "01:01:01.0001");
        assert_eq!(offset(-7200), "+02:00");
        assert_eq!(offset(12_600), "-03:30");
        assert_eq!(span(0, 0, 0), "PT0S");
        assert_eq!(span(-1_500_000, 3, 14), "P1Y2M3DT-1.5S");
        assert_eq!(span(14_706_500_000, 0, 0), "PT4H5M6.5S");
    }
}
