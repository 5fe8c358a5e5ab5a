//! Times and durations. Time zones come with the binary, so that every machine gives the same answer.

use std::sync::LazyLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};
use semel_ledger::{Millis, Time};

use super::{Call, Function};
use crate::expr::eval::instant;
use crate::expr::fault::{Outcome, wrong};
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("now", 0, "`now()`", now),
    Function::new(
        "timestamp",
        1,
        "`timestamp(\"2026-11-15T08:00:00Z\")`",
        timestamp,
    ),
    Function::new("duration", 1, "`duration(\"1h30m\")`", duration),
    Function::new("date", 1, "`date(time)` or `date(time, zone)`", date).up_to(2),
    Function::new(
        "formatTime",
        2,
        "`formatTime(time, \"%d.%m.%Y\")` or with a zone as third",
        format_time,
    )
    .up_to(3),
    getter("getFullYear", "`time.getFullYear()`", |call| {
        part(call, |z| z.year().into())
    }),
    getter("getMonth", "`time.getMonth()`", |call| {
        part(call, |z| i64::from(z.month()) - 1)
    }),
    getter("getDate", "`time.getDate()`", |call| {
        part(call, |z| z.day().into())
    }),
    getter("getDayOfMonth", "`time.getDayOfMonth()`", |call| {
        part(call, |z| i64::from(z.day()) - 1)
    }),
    getter("getDayOfWeek", "`time.getDayOfWeek()`", |call| {
        part(call, |z| z.weekday().to_sunday_zero_offset().into())
    }),
    getter("getDayOfYear", "`time.getDayOfYear()`", |call| {
        part(call, |z| i64::from(z.day_of_year()) - 1)
    }),
    getter("getHours", "`time.getHours()`", |call| {
        clock(call, 3_600_000, |z| z.hour().into())
    }),
    getter("getMinutes", "`time.getMinutes()`", |call| {
        clock(call, 60_000, |z| z.minute().into())
    }),
    getter("getSeconds", "`time.getSeconds()`", |call| {
        clock(call, 1000, |z| z.second().into())
    }),
    getter("getMilliseconds", "`time.getMilliseconds()`", |call| {
        clock(call, 1, |z| z.millisecond().into())
    }),
];

/// The longest format, in bytes.
const MAX_FORMAT_BYTES: usize = 200;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A part of a time, in UTC or in a zone.
const fn getter(
    name: &'static str,
    usage: &'static str,
    run: fn(&mut Call<'_>) -> Outcome,
) -> Function {
    Function::new(name, 1, usage, run).up_to(2)
}

#[allow(clippy::unnecessary_wraps, reason = "like every function")]
fn now(call: &mut Call<'_>) -> Outcome {
    Ok(Value::Time(call.names.now()))
}

fn timestamp(call: &mut Call<'_>) -> Outcome {
    match call.arg(0) {
        time @ Value::Time(_) => Ok(time.clone()),
        Value::Int(seconds) => instant(seconds.checked_mul(1000)),
        Value::Text(text) => text
            .parse::<Timestamp>()
            .map(|time| Value::Time(Time(time.as_millisecond())))
            .map_err(|_| {
                wrong("`timestamp` needs text such as \"2026-11-15T08:00:00Z\", with its offset")
            }),
        _ => Err(call.misfit(0, "text or whole seconds since 1970")),
    }
}

fn duration(call: &mut Call<'_>) -> Outcome {
    if let span @ Value::Span(_) = call.arg(0) {
        return Ok(span.clone());
    }
    let text = call.text(0)?;
    let (sign, positive) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let Millis(millis) = positive
        .parse()
        .map_err(|error| wrong(format!("the text given to `duration` {error}")))?;
    let millis = i64::try_from(millis).map_err(|_| wrong("the duration is too long"))?;
    Ok(Value::Span(sign * millis))
}

/// The time given first in the zone given at `zone`, or in UTC.
fn zoned(call: &Call<'_>, zone: usize) -> Outcome<Zoned> {
    let Value::Time(Time(millis)) = call.arg(0) else {
        return Err(call.misfit(0, "a time"));
    };
    let time = Timestamp::from_millisecond(*millis)
        .map_err(|_| wrong("the time is beyond the calendar"))?;
    if !call.has(zone) {
        return Ok(time.to_zoned(TimeZone::UTC));
    }
    let name = call.text(zone)?;
    let found = ZONES.get(name).map_err(|_| {
        wrong(format!(
            "there is no time zone `{name}`; write one such as `Europe/Vienna`"
        ))
    })?;
    Ok(time.to_zoned(found))
}

fn date(call: &mut Call<'_>) -> Outcome {
    let zoned = zoned(call, 1)?;
    call.made(zoned.date().to_string())
}

fn format_time(call: &mut Call<'_>) -> Outcome {
    let zoned = zoned(call, 2)?;
    let format = call.text(1)?;
    if format.len() > MAX_FORMAT_BYTES {
        return Err(wrong(format!(
            "the format of `formatTime` has {} bytes; the limit is {MAX_FORMAT_BYTES}",
            format.len()
        )));
    }
    let text = jiff::fmt::strtime::format(format, &zoned)
        .map_err(|error| wrong(format!("`formatTime`: {error}")))?;
    call.made(text)
}

fn part(call: &mut Call<'_>, of: fn(&Zoned) -> i64) -> Outcome {
    Ok(Value::Int(of(&zoned(call, 1)?)))
}

/// A part of the clock, or how many such units a duration has.
fn clock(call: &mut Call<'_>, unit: i64, of: fn(&Zoned) -> i64) -> Outcome {
    match call.arg(0) {
        Value::Span(millis) if !call.has(1) => Ok(Value::Int(millis / unit)),
        _ => part(call, of),
    }
}
