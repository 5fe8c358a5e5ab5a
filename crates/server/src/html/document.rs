//! A whole page as it is answered: styled, without script, and allowed nothing.

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::Html;

const STYLE: &str = include_str!("page.css");

/// Nothing is fetched, run, framed or sent elsewhere; only this very style is applied.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    );
    HeaderValue::try_from(policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
});

/// Who is told the address of a page by what is followed or sent from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Referrer {
    /// Nobody. What the page sends then says of itself only that it comes from somewhere.
    None,
    /// This server, so that it can tell its own forms from those of others.
    Own,
}

/// Answers with a page.
pub(crate) fn respond(referrer: Referrer, status: StatusCode, title: &str, body: Html) -> Response {
    let mut page = Html::default();
    page.markup("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>")
        .text(title)
        .markup(" – Semel</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .markup("<meta name=\"robots\" content=\"noindex\">\n<style>")
        .markup(STYLE)
        .markup("</style>\n</head>\n<body>\n<main>\n");
    let text = page.into_string() + &body.into_string() + "</main>\n</body>\n</html>\n";
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY.clone());
    let referrer = match referrer {
        Referrer::None => "no-referrer",
        Referrer::Own => "same-origin",
    };
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, referrer),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
