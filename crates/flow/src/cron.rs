//! Five fields of cron and a time zone, as far as a file can be told about them: what is wrong, what
//! never fires, and which clock changes touch it.
//!
//! The time zone database is part of the binary, so every machine says the same. When a schedule
//! fires is decided in [`crate::schedule`].

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::near::nearest;
use crate::schedule;

/// A schedule that fires.
#[derive(Debug)]
pub(crate) struct Cron {
    pattern: croner::Cron,
    zone: TimeZone,
}

/// Why fields and a zone are not a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CronError {
    /// Not five fields.
    #[error("`cron` takes 5 fields and has {count}")]
    Count {
        /// How many there are.
        count: usize,
    },
    /// A field that cannot be read.
    #[error("the {field} of `cron` cannot be `{text}`; it may be from {range}")]
    Field {
        /// Which.
        field: &'static str,
        /// As it is written.
        text: String,
        /// What it may be.
        range: &'static str,
    },
    /// A day that never comes, such as 30 February.
    #[error("the schedule never fires")]
    Never,
    /// Not a time zone.
    #[error("there is no time zone `{name}`")]
    Zone {
        /// As it is written.
        name: String,
        /// What may have been meant.
        near: Option<String>,
    },
}

/// What a clock change does to a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    /// It does not come on that day.
    Skipped,
    /// It comes twice on that day.
    Repeated,
}

/// The fields: name and range.
const FIELDS: [(&str, &str); 5] = [
    ("minute", "0 to 59"),
    ("hour", "0 to 23"),
    ("day of the month", "1 to 31"),
    ("month", "1 to 12 or JAN to DEC"),
    ("day of the week", "0 to 7 or SUN to SAT"),
];

/// From where to look whether a schedule ever fires, and for clock changes: checks do not depend on the day.
const REFERENCE: DateTime = jiff::civil::date(2026, 1, 1).at(0, 0, 0, 0);
/// For how long to look for clock changes.
const LOOKED_AT: SignedDuration = SignedDuration::from_hours(24 * 366);

impl Cron {
    /// Reads five fields and the name of a zone.
    pub(crate) fn parse(fields: &str, zone: &str) -> Result<Cron, CronError> {
        let words: Vec<_> = fields.split_ascii_whitespace().collect();
        if words.len() != FIELDS.len() {
            return Err(CronError::Count { count: words.len() });
        }
        let Some(pattern) = schedule::fields(&words.join(" ")) else {
            return Err(wrong_field(&words));
        };
        let zone = TimeZone::get(zone).map_err(|_| CronError::Zone {
            name: zone.to_owned(),
            near: similar(zone),
        })?;
        let start = REFERENCE.to_zoned(TimeZone::UTC);
        match start.map(|start| pattern.find_next_occurrence(&start, true)) {
            Ok(Ok(_)) => Ok(Cron { pattern, zone }),
            _ => Err(CronError::Never),
        }
    }

    /// A scheduled local time that a clock change skips or repeats, if the schedule names its hours.
    pub(crate) fn shift(&self) -> Option<(Shift, DateTime)> {
        let hours = self.pattern.as_str().split(' ').nth(1)?;
        if hours.contains('*') {
            return None;
        }
        let start = REFERENCE.to_zoned(TimeZone::UTC).ok()?.timestamp();
        let end = start.checked_add(LOOKED_AT).ok()?;
        let mut offset = self.zone.to_offset(start);
        for change in self.zone.following(start) {
            if change.timestamp() > end {
                break;
            }
            let before = offset.to_datetime(change.timestamp());
            let after = change.offset().to_datetime(change.timestamp());
            offset = change.offset();
            let shift = if before < after {
                Shift::Skipped
            } else {
                Shift::Repeated
            };
            if let Some(time) = self.within(before.min(after), before.max(after)) {
                return Some((shift, time));
            }
        }
        None
    }

    /// The first local time of the schedule in a stretch of the wall clock.
    fn within(&self, from: DateTime, to: DateTime) -> Option<DateTime> {
        let mut time = from;
        while time < to {
            let plain = time.to_zoned(TimeZone::UTC).ok()?;
            if self.pattern.is_time_matching(&plain).ok()? {
                return Some(time);
            }
            time = time.checked_add(SignedDuration::from_mins(1)).ok()?;
        }
        None
    }
}

/// Which field is wrong: the first that cannot stand among stars.
fn wrong_field(words: &[&str]) -> CronError {
    let alone = |at: usize| {
        let mut stars = ["*"; FIELDS.len()];
        stars[at] = words[at];
        schedule::fields(&stars.join(" ")).is_none()
    };
    let at = (0..FIELDS.len()).find(|at| alone(*at)).unwrap_or(0);
    let (field, range) = FIELDS[at];
    CronError::Field {
        field,
        text: words[at].to_owned(),
        range,
    }
}

/// A zone of a similar name.
fn similar(name: &str) -> Option<String> {
    let zones: Vec<_> = jiff::tz::db()
        .available()
        .map(|zone| zone.to_string())
        .collect();
    nearest(name, zones.iter().map(String::as_str)).map(str::to_owned)
}

#[cfg(test)]
mod tests;
