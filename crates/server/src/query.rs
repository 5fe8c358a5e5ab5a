//! Query strings, read strictly: every parameter is known and has one meaning.

use semel_ledger::Time;

use crate::code::Code;
use crate::path::decode;
use crate::problem::Problem;
use crate::suggest::nearest;
use crate::timestamp;

/// The parameters of a request.
#[derive(Debug)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads the query; every name must be among `known`.
    pub(crate) fn parse(query: Option<&str>, known: &[&str]) -> Result<Query, Problem> {
        let pairs = query.unwrap_or_default().split('&');
        let read = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = text(name, "a parameter's name")?;
            if !known.contains(&name.as_str()) {
                return Err(unknown(&name, known));
            }
            let value = text(value, &name)?;
            Ok((name, value))
        };
        pairs
            .filter(|pair| !pair.is_empty())
            .map(read)
            .collect::<Result<_, _>>()
            .map(Query)
    }

    /// All values of a parameter that may be repeated.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(other, _)| other == name);
        named.map(|(_, value)| value.as_str())
    }

    /// The value of a parameter; empty is as good as not given.
    pub(crate) fn one<'a>(&'a self, name: &'a str) -> Result<Option<&'a str>, Problem> {
        let mut values = self.all(name);
        let value = values.next();
        if values.next().is_some() {
            return Err(invalid(name, "is given twice; give it once"));
        }
        Ok(value.filter(|value| !value.is_empty()))
    }

    /// An instant.
    pub(crate) fn time(&self, name: &str) -> Result<Option<Time>, Problem> {
        let Some(value) = self.one(name)? else {
            return Ok(None);
        };
        let wrong = || {
            invalid(
                name,
                "is not a time such as 2026-01-31T12:00:00Z (RFC 3339)",
            )
        };
        timestamp::parse(value).map(Some).ok_or_else(wrong)
    }

    /// How many at the most: 1 to 1000, 100 if not given.
    pub(crate) fn limit(&self) -> Result<usize, Problem> {
        const MOST: usize = semel_store::query::MAX_PAGE;
        let Some(value) = self.one("limit")? else {
            return Ok(100);
        };
        let number = value.parse().ok().filter(|n| (1..=MOST).contains(n));
        let wrong = || invalid("limit", "is not a whole number from 1 to 1000").limit(MOST);
        number.ok_or_else(wrong)
    }

    /// Where the page before ended, as its `next` said.
    pub(crate) fn after(&self) -> Result<Option<i64>, Problem> {
        self.cursor("after")
    }

    /// The same under another name.
    pub(crate) fn cursor(&self, name: &str) -> Result<Option<i64>, Problem> {
        let Some(value) = self.one(name)? else {
            return Ok(None);
        };
        let position = value
            .strip_prefix("c_")
            .and_then(|digits| i64::from_str_radix(digits, 16).ok())
            .filter(|position| *position > 0);
        let wrong = || {
            invalid(
                name,
                "is not a cursor; take it from `next` of the page before",
            )
        };
        position.map(Some).ok_or_else(wrong)
    }
}

/// A position as an opaque cursor.
pub(crate) fn cursor(position: i64) -> String {
    format!("c_{position:x}")
}

fn text(encoded: &str, name: &str) -> Result<String, Problem> {
    let spaced = encoded.replace('+', " ");
    decode(&spaced).ok_or_else(|| invalid(name, "is not valid UTF-8 after percent-decoding"))
}

/// A parameter that cannot be used, and why.
pub(crate) fn invalid(name: &str, why: &str) -> Problem {
    Problem::new(
        Code::ParameterInvalid,
        format!("the parameter {name} {why}"),
    )
    .field(name)
}

fn unknown(name: &str, known: &[&str]) -> Problem {
    let detail = format!("the parameter {name:?} is not known here");
    let problem = Problem::new(Code::ParameterUnknown, detail).field(name);
    match nearest(name, known) {
        Some(meant) => problem.fix(&format!("did you mean {meant}?")),
        None if known.is_empty() => problem.fix("this path takes no parameters"),
        None => problem.fix(&format!("known are: {}", known.join(", "))),
    }
}
