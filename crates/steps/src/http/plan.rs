//! A task's fields, read into a request that is ready to be sent.

use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use semel_act::{Secrets, Task};
use semel_flow::Value;
use semel_ledger::Key;

use super::fields::{
    FieldError, Read, Reader, header_value, missing, size, span, whole, wrong_kind,
};
use super::{body, headers};
use crate::outgoing::Target;
use crate::secrets::{Filler, Redactor, is_sealed};

/// How long a connection may take if the file says nothing.
const CONNECT: Duration = Duration::from_secs(10);
/// How many redirects are followed for GET and HEAD if the file says nothing.
const REDIRECTS: u32 = 5;
const MOST_REDIRECTS: u32 = 20;
/// How long an answer may be if the file says nothing.
const LIMIT: usize = 1 << 20;
/// How many pages are fetched if the file says nothing.
const PAGES: u32 = 1000;
const MOST_PAGES: u32 = 100_000;

const FIELDS: [&str; 23] = [
    "get",
    "post",
    "put",
    "patch",
    "delete",
    "head",
    "method",
    "url",
    "headers",
    "query",
    "json",
    "form",
    "multipart",
    "body",
    "content_type",
    "basic",
    "bearer",
    "idempotency",
    "timeouts",
    "redirects",
    "limit",
    "expect",
    "paging",
];

/// One message on its way.
pub(super) struct Message {
    pub(super) method: Method,
    pub(super) target: Target,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Headers that stay with the origin they were written for.
    pub(super) private: Vec<HeaderName>,
    /// There is a secret in the body.
    pub(super) private_body: bool,
    /// There is a secret in the URL.
    pub(super) private_url: bool,
}

/// Page by page.
pub(super) struct Paging {
    /// The parameter that a cursor goes into; left out, `next` is a URL.
    pub(super) cursor_in: Option<String>,
    pub(super) max: u32,
}

/// What is not part of the message itself.
pub(super) struct Terms {
    pub(super) connect: Duration,
    pub(super) first_byte: Option<Duration>,
    pub(super) total: Duration,
    pub(super) redirects: u32,
    pub(super) limit: usize,
    pub(super) expect: Option<Vec<u16>>,
    pub(super) paging: Option<Paging>,
    pub(super) redactor: Redactor,
}

/// Reads a task.
pub(super) fn read(task: &Task, secrets: &dyn Secrets) -> Read<(Message, Terms)> {
    let Value::Map(members) = &task.input else {
        return Err(wrong_kind(
            "http",
            &task.input,
            "fields such as get or post",
        ));
    };
    if let Some(field) = members
        .keys()
        .find(|field| !FIELDS.contains(&field.as_ref()))
    {
        return Err(FieldError::Unknown {
            field: field.as_ref().to_owned(),
        });
    }
    let reader = Reader {
        filler: Filler::new(secrets),
    };
    let message = message(&reader, &task.input, task.key.as_ref())?;
    let total = Duration::from_millis(task.timeout.0);
    let mut terms = terms(&task.input, &message.method, total)?;
    terms.redactor = reader.filler.redactor();
    if terms.paging.is_some() {
        check_paging(task, &message.method)?;
    }
    Ok((message, terms))
}

fn message(reader: &Reader, input: &Value, key: Option<&Key>) -> Read<Message> {
    let (method, field, url) = destination(input)?;
    let text = reader.some_text(field, Some(url))?;
    let mut target = Target::parse(&text).map_err(|source| FieldError::Url { field, source })?;
    let mut private_url = is_sealed(url);
    if let Some(query) = input.get("query") {
        private_url |= is_sealed(query);
        for (name, value) in reader.pairs("query", query)? {
            target.add(&name, &value);
        }
    }
    let body = body::read(reader, input)?;
    let mut message = Message {
        method,
        target,
        headers: HeaderMap::new(),
        body: body.bytes,
        private: Vec::new(),
        private_body: body.private,
        private_url,
    };
    headers::given(reader, input, &mut message)?;
    headers::authorization(reader, input, &mut message)?;
    if let Some(content_type) = body.content_type
        && !message.headers.contains_key(CONTENT_TYPE)
    {
        let value = header_value("content_type", &content_type)?;
        message.headers.insert(CONTENT_TYPE, value);
    }
    if let Some(settings) = input.get("idempotency") {
        headers::idempotency(reader, settings, key, &mut message.headers)?;
    }
    message
        .headers
        .entry(USER_AGENT)
        .or_insert(HeaderValue::from_static(concat!(
            "semel/",
            env!("CARGO_PKG_VERSION")
        )));
    Ok(message)
}

/// Method, and the URL with the name of its field.
fn destination(input: &Value) -> Read<(Method, &'static str, &Value)> {
    const METHODS: [(&str, Method); 6] = [
        ("get", Method::GET),
        ("post", Method::POST),
        ("put", Method::PUT),
        ("patch", Method::PATCH),
        ("delete", Method::DELETE),
        ("head", Method::HEAD),
    ];
    let named = METHODS
        .into_iter()
        .filter_map(|(field, method)| Some((method, field, input.get(field)?)));
    let mut given: Vec<_> = named.collect();
    if let Some(url) = input.get("url") {
        let method = match input.get("method") {
            Some(Value::Text(text)) => Method::from_bytes(text.to_ascii_uppercase().as_bytes())
                .map_err(|_| FieldError::Method { field: "method" })?,
            Some(other) => return Err(wrong_kind("method", other, "a method such as POST")),
            None => return Err(missing("method")),
        };
        // A tunnel is no request to a destination.
        if method == Method::CONNECT {
            return Err(FieldError::Method { field: "method" });
        }
        given.push((method, "url", url));
    }
    match given.as_slice() {
        [] => Err(FieldError::NoUrl),
        [_] => given.pop().ok_or(FieldError::NoUrl),
        [(_, one, _), (_, other, _), ..] => Err(FieldError::Both { one, other }),
    }
}

fn terms(input: &Value, method: &Method, total: Duration) -> Read<Terms> {
    let timeout = |name: &str| {
        let value = input
            .get("timeouts")
            .and_then(|timeouts| timeouts.get(name));
        let given = value.map(|value| span(&format!("timeouts.{name}"), value));
        given.transpose()
    };
    let looks = matches!(*method, Method::GET | Method::HEAD);
    let redirects = match input.get("redirects") {
        Some(value) => whole("redirects", value, MOST_REDIRECTS)?,
        None if looks => REDIRECTS,
        None => 0,
    };
    let limit = match input.get("limit") {
        Some(value) => size::<FieldError>("limit", value)?,
        None => LIMIT,
    };
    Ok(Terms {
        connect: timeout("connect")?.unwrap_or(CONNECT),
        first_byte: timeout("first_byte")?,
        total: timeout("total")?.map_or(total, |own| own.min(total)),
        redirects,
        limit,
        expect: input.get("expect").map(statuses).transpose()?,
        paging: input.get("paging").map(paging).transpose()?,
        redactor: Redactor::default(),
    })
}

fn statuses(value: &Value) -> Read<Vec<u16>> {
    let several: &[Value] = match value {
        Value::List(items) => items,
        one => std::slice::from_ref(one),
    };
    let read = |value: &Value| {
        let status = whole("expect", value, 599)?;
        u16::try_from(status)
            .ok()
            .filter(|status| *status >= 200)
            .ok_or_else(|| wrong_kind::<FieldError>("expect", value, "statuses from 200 to 599"))
    };
    several.iter().map(read).collect()
}

fn paging(value: &Value) -> Read<Paging> {
    let cursor_in = match value.get("cursor_in") {
        None | Some(Value::Null) => None,
        Some(Value::Text(name)) => Some(name.as_ref().to_owned()),
        Some(other) => return Err(wrong_kind("paging.cursor_in", other, "a parameter's name")),
    };
    let max = match value.get("max") {
        Some(max) => whole("paging.max", max, MOST_PAGES)?,
        None => PAGES,
    };
    Ok(Paging { cursor_in, max })
}

fn check_paging(task: &Task, method: &Method) -> Read<()> {
    if *method != Method::GET {
        return Err(FieldError::PagingMethod {
            method: method.to_string(),
        });
    }
    for field in ["paging.items", "paging.next"] {
        if !task.act.exprs.contains_key(field) {
            return Err(FieldError::PagingExpr { field });
        }
    }
    Ok(())
}
