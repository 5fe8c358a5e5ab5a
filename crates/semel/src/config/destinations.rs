//! `[destinations."api.example.com"]`: how hard each destination may be pressed.

use semel_ledger::Millis;
use semel_steps::{BreakerSettings, DestinationLimits, Rate};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::{Problem, line_at, nearest};

/// The limits of one destination, and where they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    /// `host` or `host:port`, in lower case; `*` for all that are not named.
    pub(crate) host: String,
    pub(crate) limits: DestinationLimits,
    pub(crate) line: usize,
}

/// The name that stands for all destinations that are not named.
pub(crate) const OTHERS: &str = "*";

const FIELDS: [&str; 6] = ["rate", "burst", "concurrency", "queue", "wait", "breaker"];
const MOST: i64 = 1_000_000;

/// Reads the table `destinations`.
pub(super) fn read(
    text: &str,
    value: &DeValue<'_>,
    at: usize,
) -> Result<Vec<Destination>, Problem> {
    let DeValue::Table(table) = value else {
        let problem = "destinations must be a table".to_owned();
        let fix = "write [destinations.\"api.example.com\"] and below it rate = \"10/s\"";
        return Err((line_at(text, at), problem, Some(fix.to_owned())));
    };
    let mut found = Vec::new();
    for (host, limits) in table {
        let line = line_at(text, host.span().start);
        let host = host.get_ref().to_lowercase();
        let DeValue::Table(fields) = limits.get_ref() else {
            let problem = format!("destinations.{host:?} must be a table");
            return Err((
                line,
                problem,
                Some(format!("the fields are {}", FIELDS.join(", "))),
            ));
        };
        if host.is_empty() || host.contains('/') {
            let problem = format!("{host:?} is not a destination");
            let fix = "write the host, or host:port, without https:// and without a path";
            return Err((line, problem, Some(fix.to_owned())));
        }
        let limits = self::limits(text, fields)?;
        found.push(Destination { host, limits, line });
    }
    found.sort_by_key(|destination| destination.line);
    Ok(found)
}

fn limits(text: &str, fields: &DeTable<'_>) -> Result<DestinationLimits, Problem> {
    let mut limits = DestinationLimits::default();
    let mut burst = None;
    for (field, value) in fields {
        let word: &str = field.get_ref();
        let wrong = |problem: String| (line_at(text, value.span().start), problem, None);
        match word {
            "rate" => {
                let rate = span_text(value).and_then(rate);
                let rate = rate.ok_or_else(|| {
                    wrong(
                        "rate must be so many in a time, such as \"10/s\", \"100/m\" or \"5/2s\""
                            .to_owned(),
                    )
                });
                limits.rate = Some(rate?);
            }
            "burst" => burst = Some(count::<u32>(word, value).map_err(wrong)?),
            "concurrency" => limits.concurrency = count(word, value).map_err(wrong)?,
            "queue" => limits.queue = count(word, value).map_err(wrong)?,
            "wait" => {
                let wait = span_text(value).and_then(|text| text.parse().ok());
                limits.wait =
                    wait.ok_or_else(|| wrong("wait must be a span, such as \"10s\"".to_owned()))?;
            }
            "breaker" => limits.breaker = breaker(value).map_err(wrong)?,
            _ => {
                let line = line_at(text, field.span().start);
                let problem = format!("a destination has no field {word:?}");
                return Err((line, problem, Some(nearest(word, &FIELDS))));
            }
        }
    }
    if let (Some(rate), Some(burst)) = (&mut limits.rate, burst) {
        rate.burst = burst;
    }
    Ok(limits)
}

fn span_text<'a>(value: &'a Spanned<DeValue<'_>>) -> Option<&'a str> {
    match value.get_ref() {
        DeValue::String(text) => Some(text),
        _ => None,
    }
}

/// A whole number from 1 on.
fn count<N: TryFrom<i64>>(word: &str, value: &Spanned<DeValue<'_>>) -> Result<N, String> {
    let number = match value.get_ref() {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    number
        .filter(|number| (1..=MOST).contains(number))
        .and_then(|number| N::try_from(number).ok())
        .ok_or_else(|| format!("{word} must be a whole number from 1 to {MOST}"))
}

/// `10/s`, `100/m`, `5/2s`: so many in a time.
fn rate(text: &str) -> Option<Rate> {
    let (requests, per) = text.split_once('/')?;
    let requests: u32 = requests.trim().parse().ok().filter(|count| *count > 0)?;
    let per = per.trim();
    let per: Millis = if per.starts_with(|c: char| c.is_ascii_digit()) {
        per.parse().ok()?
    } else {
        format!("1{per}").parse().ok()?
    };
    (per.0 > 0).then_some(Rate {
        requests,
        per,
        burst: 1,
    })
}

/// `20/10s`: after so many failures in a row, left alone for so long; `false` for never.
fn breaker(value: &Spanned<DeValue<'_>>) -> Result<Option<BreakerSettings>, String> {
    if let DeValue::Boolean(false) = value.get_ref() {
        return Ok(None);
    }
    let read = span_text(value).and_then(|text| {
        let (failures, pause) = text.split_once('/')?;
        let failures: u32 = failures.trim().parse().ok().filter(|count| *count > 0)?;
        let pause: Millis = pause.trim().parse().ok()?;
        Some(Some(BreakerSettings { failures, pause }))
    });
    read.ok_or_else(|| {
        "breaker must be failures in a row and a pause, such as \"20/10s\", or false".to_owned()
    })
}

impl Destination {
    /// The limits in the words of the file.
    pub(crate) fn text(&self) -> String {
        let limits = &self.limits;
        let mut parts = Vec::new();
        if let Some(rate) = limits.rate {
            let per = rate.per.to_string();
            let unit = per
                .strip_prefix('1')
                .filter(|unit| !unit.contains(char::is_numeric));
            parts.push(format!("rate {}/{}", rate.requests, unit.unwrap_or(&per)));
            if rate.burst > 1 {
                parts.push(format!("burst {}", rate.burst));
            }
        }
        parts.push(format!("concurrency {}", limits.concurrency));
        parts.push(format!("queue {}", limits.queue));
        parts.push(format!("wait {}", limits.wait));
        parts.push(match limits.breaker {
            Some(breaker) => format!("breaker {}/{}", breaker.failures, breaker.pause),
            None => "breaker false".to_owned(),
        });
        parts.join(", ")
    }
}
