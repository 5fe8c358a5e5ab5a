//! Many pages as one list.
//!
//! The file says, over each page, where its items are and how the next page is asked for. What is
//! asked for is bounded in pages and in bytes; more than that is a failure, never a shorter list.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::Method;
use semel_act::{Answer, FailureClass, Outcome};
use semel_flow::expr::{EvalError, Names};
use semel_flow::{Expr, Value};
use semel_ledger::Time;

use super::plan::{Message, Paging};
use super::redirect::{RedirectError, turn_to};
use super::{Http, Journey};
use crate::outcome;

/// The most bytes that all pages may have together.
const MOST_BYTES: usize = 64 << 20;

#[derive(Debug, thiserror::Error)]
enum PagingError {
    #[error("`paging.{field}`: {source}")]
    Eval {
        field: &'static str,
        source: EvalError,
    },
    #[error("`paging.items` is {kind}; write an expression for a list")]
    Items { kind: &'static str },
    #[error("`paging.next` is {kind}; write an expression for a cursor, a URL or null")]
    Next { kind: &'static str },
    #[error("`paging.next` points elsewhere: {source}")]
    Turn { source: RedirectError },
    #[error("page {page} has itself as its next page")]
    Circle { page: u32 },
    #[error("there are more than {max} pages; raise `paging.max`")]
    TooMany { max: u32 },
    #[error("the pages have more than {MOST_BYTES} bytes together; ask for less at a time")]
    TooLong,
}

/// Fetches all pages, from the first message on.
pub(super) async fn all(
    http: &Http,
    journey: &Journey<'_>,
    paging: &Paging,
    exprs: &BTreeMap<&'static str, Expr>,
    mut message: Message,
) -> Outcome {
    let mut items = Vec::new();
    for page in 1..=paging.max {
        let answer = match http.follow(journey, &mut message).await {
            Outcome::Done(answer) => answer,
            other => return other,
        };
        if journey.bytes_read() > MOST_BYTES {
            return failed(&PagingError::TooLong);
        }
        let more = take(&mut items, &answer, exprs)
            .and_then(|next| turn(&mut message, paging, page, &next));
        match more {
            Ok(true) => {}
            Ok(false) => return Outcome::Done(joined(&answer, items)),
            Err(error) => return failed(&error),
        }
    }
    failed(&PagingError::TooMany { max: paging.max })
}

fn failed(error: &PagingError) -> Outcome {
    outcome::failed(FailureClass::Permanent, error.to_string())
}

/// Takes the items of a page, and how the next one is asked for.
fn take(
    items: &mut Vec<Value>,
    answer: &Answer,
    exprs: &BTreeMap<&'static str, Expr>,
) -> Result<Value, PagingError> {
    let page = Page(&answer.names);
    let eval = |name: &'static str, field| match exprs.get(name) {
        Some(expr) => expr
            .eval(&page)
            .map_err(|source| PagingError::Eval { field, source }),
        None => Ok(Value::Null),
    };
    match eval("paging.items", "items")? {
        Value::List(list) => items.extend(list.iter().cloned()),
        other => return Err(PagingError::Items { kind: other.kind() }),
    }
    eval("paging.next", "next")
}

/// Turns the message to the next page; tells whether there is one.
fn turn(
    message: &mut Message,
    paging: &Paging,
    page: u32,
    next: &Value,
) -> Result<bool, PagingError> {
    let text = match next {
        Value::Null | Value::Bool(false) => return Ok(false),
        Value::Text(text) if text.is_empty() => return Ok(false),
        Value::Text(_) | Value::Int(_) | Value::Decimal(_) | Value::Time(_) => next.shown(),
        other => return Err(PagingError::Next { kind: other.kind() }),
    };
    let before = message.target.clone();
    if let Some(name) = &paging.cursor_in {
        message.target.remove(name);
        message.target.add(name, &text);
    } else {
        let turned = before
            .join(&text)
            .map_err(RedirectError::from)
            .and_then(|target| turn_to(target, message, Method::GET));
        turned.map_err(|source| PagingError::Turn { source })?;
    }
    if message.target == before {
        return Err(PagingError::Circle { page });
    }
    Ok(true)
}

/// The last page's answer, with all items for its body.
fn joined(answer: &Answer, items: Vec<Value>) -> Answer {
    let all = Value::list(items);
    let names = match &answer.names {
        Value::Map(members) => {
            let mut members = (**members).clone();
            members.insert("body".into(), all.clone());
            Value::Map(members.into())
        }
        other => other.clone(),
    };
    Answer { names, result: all }
}

/// The names of one page.
struct Page<'a>(&'a Value);

impl Names for Page<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).cloned()
    }

    fn now(&self) -> Time {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = since.map_or(0, |time| crate::outgoing::millis(time).0);
        Time(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        // Without randomness there is nothing to page for: it has no use in such an expression.
        let _ = getrandom::fill(&mut bytes);
        bytes
    }
}
