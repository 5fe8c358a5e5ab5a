//! Time as a value: instants and spans in whole milliseconds.
//!
//! Owns the arithmetic (which never overflows) and the spelling of spans (`90s`, `1h30m`, `30d`).
//! Never asks what time it is: the caller brings `now`.

use std::fmt;
use std::str::FromStr;

/// An instant, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// Later than every real instant: the lease of a claim that another lease governs.
    pub const NEVER: Time = Time(i64::MAX);

    /// The instant `span` later, or [`Time::NEVER`] if that is beyond the calendar.
    #[must_use]
    pub fn after(self, span: Millis) -> Time {
        Time(self.0.saturating_add_unsigned(span.0))
    }

    /// How much later `self` is than `earlier`; nothing if it is not later.
    #[must_use]
    pub fn since(self, earlier: Time) -> Millis {
        Millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// A span of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// A span of so many seconds.
    #[must_use]
    pub const fn seconds(n: u64) -> Millis {
        Millis(n * 1_000)
    }

    /// A span of so many days.
    #[must_use]
    pub const fn days(n: u64) -> Millis {
        Millis(n * 86_400_000)
    }
}

/// Why a span could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// Nothing was written.
    #[error("is empty; write a number and a unit, such as 90s, 15m, 12h or 30d")]
    Empty,
    /// A number stands without its unit.
    #[error("has no unit after `{number}`; write one of ms, s, m, h, d, such as {number}s")]
    NoUnit {
        /// The number that lacks a unit.
        number: String,
    },
    /// Something that is neither a number nor a unit.
    #[error("has `{found}` where a number and one of ms, s, m, h, d are due, as in 90s or 1h30m")]
    Unreadable {
        /// What stands there.
        found: String,
    },
    /// More than the calendar holds.
    #[error("is too long; the longest is 3650d")]
    TooLong,
}

/// The longest span that can be written.
pub const LONGEST: Millis = Millis::days(3650);

const UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

impl FromStr for Millis {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Millis, SpanError> {
        if text.is_empty() {
            return Err(SpanError::Empty);
        }
        let mut rest = text;
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, after) = rest.split_at(digits);
            let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
            let (unit, next) = after.split_at(letters);
            if number.is_empty() {
                return Err(SpanError::Unreadable {
                    found: rest.to_owned(),
                });
            }
            if unit.is_empty() && next.is_empty() {
                return Err(SpanError::NoUnit {
                    number: number.to_owned(),
                });
            }
            let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
                return Err(SpanError::Unreadable {
                    found: after.to_owned(),
                });
            };
            total = number
                .parse::<u64>()
                .ok()
                .and_then(|n| n.checked_mul(*scale))
                .and_then(|n| n.checked_add(total))
                .filter(|n| *n <= LONGEST.0)
                .ok_or(SpanError::TooLong)?;
            rest = next;
        }
        Ok(Millis(total))
    }
}

impl fmt::Display for Millis {
    /// The shortest exact spelling, which [`FromStr`] reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let mut rest = self.0;
        for (name, scale) in UNITS {
            if rest >= scale {
                write!(f, "{}{name}", rest / scale)?;
                rest %= scale;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_written() {
        for (text, millis) in [
            ("500ms", 500),
            ("90s", 90_000),
            ("15m", 900_000),
            ("1h30m", 5_400_000),
            ("30d", 2_592_000_000),
            ("0s", 0),
        ] {
            assert_eq!(text.parse(), Ok(Millis(millis)), "{text}");
            let shown = Millis(millis).to_string();
            assert_eq!(shown.parse(), Ok(Millis(millis)), "{shown}");
        }
    }

    #[test]
    fn wrong_spans_say_what_to_write() {
        for (text, message) in [
            ("", "is empty"),
            ("60", "has no unit after `60`"),
            ("-5s", "`-5s`"),
            ("5 s", "` s`"),
            ("5w", "`w`"),
            ("s", "`s`"),
            ("99999999999999999999s", "too long"),
            ("3651d", "too long"),
        ] {
            let error = text.parse::<Millis>().expect_err(text).to_string();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }

    #[test]
    fn instants_do_not_overflow() {
        assert_eq!(Time(i64::MAX - 1).after(Millis(10)), Time::NEVER);
        assert_eq!(Time(5).since(Time(9)), Millis(0));
        assert_eq!(
            Time(i64::MAX).since(Time(i64::MIN)),
            Millis(i64::MAX as u64)
        );
    }
}
