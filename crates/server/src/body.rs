//! Bodies, read within limits: size, time, kind, and only JSON that every reader reads alike.
//!
//! The whole body passes the strict reader of `semel-ledger` before any of it is looked at. What
//! must be exact is then taken from the canonical text, what must come back verbatim from the
//! bytes as they were sent.

use axum::body::Body;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use semel_ledger::json::{Canonical, Fault, JsonError, MAX_DEPTH};

use crate::app::App;
use crate::budget::Room;
use crate::code::Code;
use crate::encoding::decoded;
use crate::fields::Fields;
use crate::problem::Problem;

/// A JSON body.
#[derive(Debug)]
pub(crate) struct Document {
    sent: Bytes,
    canonical: Canonical,
    /// Given back when the request is answered.
    _room: Room,
}

impl Document {
    /// The members, in canonical spelling.
    pub(crate) fn fields(&self) -> Result<Fields<'_>, Problem> {
        Fields::parse(self.canonical.as_str())
    }

    /// The member `input`, in canonical spelling.
    pub(crate) fn input(&self) -> Option<Canonical> {
        let input = self.fields().ok()?.any("input")?;
        Some(Canonical::trusted(input.into()))
    }

    /// All of it, in canonical spelling.
    pub(crate) fn into_canonical(self) -> Canonical {
        self.canonical
    }

    /// The members, as they were sent.
    pub(crate) fn sent(&self) -> Result<Fields<'_>, Problem> {
        let text = std::str::from_utf8(&self.sent).unwrap_or_default();
        Fields::parse(text.trim_start_matches('\u{feff}'))
    }
}

/// Reads a body that may be left out.
pub(crate) async fn optional(app: &App, request: Request) -> Result<Option<Document>, Problem> {
    if request.body().is_end_stream() {
        return Ok(None);
    }
    let (parts, body) = request.into_parts();
    let (bytes, room) = read(body, &parts.headers, app, app.settings.max_body).await?;
    if bytes.is_empty() {
        return Ok(None);
    }
    check_content_type(&parts.headers)?;
    let sent = decoded(bytes, &parts.headers, app.settings.max_body)?;
    let canonical = Canonical::read(&sent).map_err(|error| not_json(&error))?;
    Ok(Some(Document {
        sent,
        canonical,
        _room: room,
    }))
}

/// Reads a body that must be there.
pub(crate) async fn required(app: &App, request: Request) -> Result<Document, Problem> {
    optional(app, request).await?.ok_or_else(missing)
}

/// Reads bytes up to `limit`; stops reading at the first byte beyond it. The room they take is to
/// be held until the request is answered.
pub(crate) async fn read(
    body: Body,
    headers: &HeaderMap,
    app: &App,
    limit: usize,
) -> Result<(Bytes, Room), Problem> {
    let patience = app.settings.body_timeout;
    let declared = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok());
    let declared: Option<usize> = declared.and_then(|length| length.parse().ok());
    if declared.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    // What is packed may unpack to as much as is allowed.
    let packed = headers.contains_key(CONTENT_ENCODING);
    let most = declared.filter(|_| !packed).unwrap_or(limit);
    let room = app.bodies.take(most, patience).await?;
    let reading = tokio::time::timeout(patience, collect(body, limit));
    let late = |_| {
        let seconds = patience.as_secs();
        let detail = format!("the body did not arrive within {seconds} seconds");
        Err(Problem::new(Code::BodyTimeout, detail))
    };
    let bytes = reading.await.unwrap_or_else(late)?;
    Ok((bytes, room))
}

async fn collect(mut body: Body, limit: usize) -> Result<Bytes, Problem> {
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            let detail = "the connection ended or broke off in the middle of the body";
            return Err(Problem::new(Code::BodyIncomplete, detail));
        };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if first.len() + all.len() + data.len() > limit {
            return Err(too_large(limit));
        }
        // Most bodies come in one piece, which is then not copied.
        if first.is_empty() && all.is_empty() {
            first = data;
        } else {
            all.extend_from_slice(&std::mem::take(&mut first));
            all.extend_from_slice(&data);
        }
    }
    Ok(if all.is_empty() { first } else { all.freeze() })
}

pub(crate) fn too_large(limit: usize) -> Problem {
    let detail = format!("the body has more than {limit} bytes");
    Problem::new(Code::BodyTooLarge, detail).limit(limit)
}

/// What a body is declared to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `application/json` or `application/….+json`.
    Json,
    /// `application/x-www-form-urlencoded`
    Form,
    /// Something else, or nothing.
    Other(String),
}

impl Kind {
    /// What the headers declare.
    pub(crate) fn of(headers: &HeaderMap) -> Kind {
        let mut given = headers.get_all(CONTENT_TYPE).iter();
        let one = given.next().filter(|_| given.next().is_none());
        let given = one.and_then(|value| value.to_str().ok());
        let name = given.unwrap_or_default().split(';').next();
        let name = name.unwrap_or_default().trim().to_ascii_lowercase();
        let suffixed = name.starts_with("application/") && name.ends_with("+json");
        match name.as_str() {
            "application/json" => Kind::Json,
            "application/x-www-form-urlencoded" => Kind::Form,
            _ if suffixed => Kind::Json,
            _ => Kind::Other(name),
        }
    }

    fn name(&self) -> &str {
        match self {
            Kind::Json => "application/json",
            Kind::Form => "application/x-www-form-urlencoded",
            Kind::Other(name) => name,
        }
    }
}

fn check_content_type(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = Kind::of(headers);
    if kind == Kind::Json {
        return Ok(());
    }
    let detail = match kind.name() {
        "" => "the body has no content type; application/json is accepted".to_owned(),
        name => format!("the content type {name:?} is not accepted; application/json is"),
    };
    Err(Problem::new(Code::ContentTypeUnsupported, detail)
        .field("Content-Type")
        .fix("send the header `Content-Type: application/json`"))
}

/// Where a body must be.
pub(crate) fn missing() -> Problem {
    let mut problem = Problem::new(Code::BodyMissing, "a JSON body is needed here");
    problem.more.number("offset", 0);
    problem
}

/// Says where and why a body is not JSON.
pub(crate) fn not_json(error: &JsonError) -> Problem {
    let detail = error.to_string();
    let mut problem = match &error.fault {
        Fault::TooDeep => Problem::new(Code::TooDeep, detail).limit(MAX_DEPTH),
        Fault::Empty => Problem::new(Code::BodyMissing, detail),
        _ => Problem::new(Code::JsonInvalid, detail),
    };
    problem.more.number("offset", error.offset as u64);
    problem
}
