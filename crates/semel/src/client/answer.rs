//! One question to the ledger and its answer.

use std::fmt;

use anyhow::Context as _;
use bytes::Bytes;
use hyper::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::{Exit, Failure};
use crate::term::shown;

/// The header with the name under which the server does it once.
pub(crate) const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// The header that says up to where events were read.
pub(crate) const LAST_EVENT: &str = "last-event-id";

/// One question.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: Method,
    /// Path and query, escaped.
    pub(crate) path: String,
    pub(crate) body: Option<(&'static str, Bytes)>,
    /// A header of its own.
    pub(crate) header: Option<(&'static str, String)>,
}

impl Call {
    pub(crate) fn get(path: impl Into<String>) -> Call {
        Call {
            method: Method::GET,
            path: path.into(),
            body: None,
            header: None,
        }
    }

    pub(crate) fn post(path: impl Into<String>) -> Call {
        Call {
            method: Method::POST,
            ..Call::get(path)
        }
    }

    pub(crate) fn delete(path: impl Into<String>) -> Call {
        Call {
            method: Method::DELETE,
            ..Call::get(path)
        }
    }

    /// With a JSON body.
    pub(crate) fn json(method: Method, path: String, body: &impl serde::Serialize) -> Call {
        let text = serde_json::to_vec(body).unwrap_or_default();
        Call {
            method,
            body: Some(("application/json", text.into())),
            ..Call::get(path)
        }
    }

    /// With bytes for the blob store.
    pub(crate) fn blob(content: Bytes) -> Call {
        Call {
            method: Method::PUT,
            body: Some(("application/octet-stream", content)),
            ..Call::get("/v1/blobs")
        }
    }
}

/// The ledger could not be asked, or its answer was lost: ask again.
#[derive(Debug)]
pub(crate) struct Unreachable(pub(crate) String);

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreachable {}

/// What the ledger said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Answer {
    /// The body as JSON, if the answer is a success; else what the problem document says.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> anyhow::Result<T> {
        if !self.status.is_success() {
            return Err(self.problem().into());
        }
        self.parse()
    }

    /// The body as JSON, whatever the status.
    pub(crate) fn parse<T: DeserializeOwned>(&self) -> anyhow::Result<T> {
        serde_json::from_slice(&self.body)
            .with_context(|| format!("the server's answer ({}) is not understood", self.status))
    }

    /// Whether asking again later may help: the store could not, for now.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self.status.as_u16(), 429 | 500 | 502 | 503 | 504)
    }

    /// The problem document as an error.
    pub(crate) fn problem(&self) -> Failure {
        let document: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let text = |field: &str| document.get(field).and_then(Value::as_str);
        let message = match (text("title"), text("detail")) {
            (Some(title), Some(detail)) if title != detail => format!("{title}: {detail}"),
            (Some(said), _) | (None, Some(said)) => said.to_owned(),
            (None, None) => format!("the server answered {}", self.status),
        };
        let code = text("code").map(str::to_owned);
        // What was expected of a value did not hold: a lost race, like another input under a key.
        let verdict =
            text("verdict").or((code.as_deref() == Some("value_changed")).then_some("conflict"));
        let mut failure = Failure::new(exit_for(self.status, verdict), shown(&message));
        failure.fix = match (code.as_deref().and_then(fix_of), text("fix"), &code) {
            (Some(fix), ..) => Some(fix.to_owned()),
            (None, Some(fix), _) => Some(shown(fix).into_owned()),
            (None, None, Some(code)) => Some(format!("semel explain {code}")),
            (None, None, None) => None,
        };
        failure.code = code;
        failure
    }
}

/// What to do at a shell, where the API's own advice speaks of requests.
fn fix_of(code: &str) -> Option<&'static str> {
    match code {
        "shadow_missing" => Some("semel deploy --shadow FILE casts one"),
        "flow_missing" => Some("semel flows ls lists what is live; semel deploy FILE deploys"),
        "release_missing" => Some("semel releases FLOW lists them"),
        "run_missing" => Some("semel runs ls lists them; what ended long ago is forgotten"),
        "run_open" => {
            Some("wait for it (semel runs watch), end it (cancel) or let it go on (resume)")
        }
        "run_over" => Some("semel rerun RUN --plan shows what doing it again would do"),
        "secret_missing" => Some("semel secrets ls lists them, and where each comes from"),
        "value_missing" => Some("semel kv ls lists the keys that there are"),
        "item_missing" => Some("semel inbox ls lists what waits; more of the id may be needed"),
        "item_changed" => Some("semel inbox show ID shows it as it is now"),
        "item_over" => Some("semel inbox show ID tells how it ended"),
        "set_changed" => Some("look at what waits now, and add its hash: --hash HASH"),
        "person_missing" => Some("semel people ls lists everybody"),
        "effect_missing" => Some("semel ledger ls lists what is on record"),
        _ => None,
    }
}

fn exit_for(status: StatusCode, verdict: Option<&str>) -> Exit {
    match (status.as_u16(), verdict) {
        (_, Some("busy")) => Exit::Busy,
        (_, Some("unknown")) => Exit::NeedsPerson,
        (_, Some("conflict")) => Exit::Conflict,
        (400 | 413 | 414 | 415 | 422, _) => Exit::Usage,
        _ => Exit::Failed,
    }
}

/// A JSON text that may be missing.
pub(crate) fn or_null(value: Option<&RawValue>) -> &str {
    value.map_or("null", RawValue::get)
}
