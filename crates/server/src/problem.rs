//! Mistakes and refusals as RFC 9457 problem documents.
//!
//! The one place where the store's errors become HTTP: each says whether anything was written
//! and when to come back. What went wrong inside goes to the log, never to the caller.

use axum::http::HeaderValue;
use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use semel_ledger::KeyError;
use semel_store::StoreError;

use crate::code::Code;
use crate::out::Object;

/// A mistake or refusal, ready to be answered.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) code: Code,
    detail: String,
    retry_after: Option<u64>,
    /// Further members, such as `field`, `limit`, `fix` and `verdict`.
    pub(crate) more: Object,
}

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Problem {
        Problem {
            code,
            detail: detail.into(),
            retry_after: None,
            more: Object::new(),
        }
    }

    /// What is wrong, in words.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// What to do about it.
    pub(crate) fn fix(mut self, fix: &str) -> Problem {
        self.more.text("fix", fix);
        self
    }

    /// Where the mistake is.
    pub(crate) fn field(mut self, field: &str) -> Problem {
        self.more.text("field", field);
        self
    }

    /// The limit that was exceeded.
    pub(crate) fn limit(mut self, limit: usize) -> Problem {
        self.more.number("limit", limit as u64);
        self
    }

    /// When to come back, in seconds.
    pub(crate) fn retry_after(mut self, seconds: u64) -> Problem {
        self.retry_after = Some(seconds);
        self
    }

    pub(crate) fn ends_connection(&self) -> bool {
        // Part of the body may not have been read.
        matches!(
            self.code,
            Code::BodyTooLarge | Code::BodyTimeout | Code::BodyIncomplete
        )
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.code.status();
        let mut out = Object::new();
        out.text("type", &format!("/errors/{}", self.code.name()))
            .text("title", self.code.title())
            .number("status", status.as_u16().into())
            .text("detail", &self.detail)
            .text("code", self.code.name())
            .append(&self.more);
        let ends_connection = self.ends_connection();
        let mut response = out.respond(status);
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(CONTENT_TYPE, kind);
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        let scheme = match self.code {
            Code::Unauthorized | Code::LoginRefused => Some("Bearer realm=\"semel\""),
            Code::SignatureRefused | Code::SignatureStale => Some("Signature realm=\"semel\""),
            _ => None,
        };
        if let Some(scheme) = scheme {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(scheme));
        }
        if ends_connection {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        let (code, detail, seconds) = match &error {
            StoreError::Overloaded { .. } => (
                Code::Overloaded,
                "too many changes wait to be written; nothing was written",
                1,
            ),
            StoreError::Unavailable { .. } => (
                Code::StoreUnavailable,
                "the store cannot be reached; nothing was written",
                2,
            ),
            StoreError::Fenced => (
                Code::StoreUnavailable,
                "this node was replaced and is joining again; nothing was written",
                2,
            ),
            StoreError::Full { .. } => (
                Code::StoreFull,
                "the store has no space left; nothing was written, reading goes on",
                30,
            ),
            StoreError::AnswerLost { .. } => (
                Code::OutcomeUnknown,
                "the connection to the store was lost while committing; it may or may not be written",
                2,
            ),
            StoreError::Failed { .. } => (
                Code::StoreFailed,
                "the store can no longer promise durability; the server stops and recovers on start",
                5,
            ),
            StoreError::Closed => (
                Code::ShuttingDown,
                "the server is stopping; nothing was written",
                2,
            ),
        };
        tracing::warn!(
            code = code.name(),
            error = &error as &dyn std::error::Error,
            "the store could not"
        );
        Problem::new(code, detail).retry_after(seconds)
    }
}

impl From<KeyError> for Problem {
    fn from(error: KeyError) -> Problem {
        let detail = error.to_string();
        match error {
            KeyError::Blank { what, .. } => Problem::new(Code::KeyMissing, detail).field(&what),
            KeyError::TooLong { what, .. } => Problem::new(Code::KeyInvalid, detail)
                .field(&what)
                .limit(semel_ledger::key::MAX_NAME_BYTES)
                .fix("put a hash of the long value into the key instead"),
            KeyError::Control { what, .. } => Problem::new(Code::KeyInvalid, detail)
                .field(&what)
                .fix("remove line breaks, tabs and other control characters"),
            KeyError::TooManyParts { .. } => Problem::new(Code::KeyInvalid, detail)
                .field("part")
                .limit(semel_ledger::key::MAX_PARTS),
            KeyError::BareEscape { .. } => Problem::new(Code::KeyInvalid, detail).field("key"),
        }
    }
}
