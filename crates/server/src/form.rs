//! What the forms of our own pages send.

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;

use crate::app::App;
use crate::body;
use crate::code::Code;
use crate::problem::Problem;
use crate::query::Query;

/// Room for the longest note with every byte escaped, and the rest.
const MAX_FORM: usize = 16 * 1024;
const FORM: &str = "application/x-www-form-urlencoded";

/// The fields of a form.
#[derive(Debug)]
pub(crate) struct Form(Query);

impl Form {
    /// A field; one that was not sent is empty.
    pub(crate) fn one<'a>(&'a self, name: &'a str) -> Result<&'a str, Problem> {
        let value = self.0.one(name);
        let value = value.map_err(|problem| unreadable(problem.detail()))?;
        Ok(value.unwrap_or_default())
    }
}

/// Reads a form whose fields are all among `known`.
pub(crate) async fn read(
    app: &App,
    headers: &HeaderMap,
    body: Body,
    known: &[&str],
) -> Result<Form, Problem> {
    let kind = headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case(FORM) {
        let detail = format!("only the page's own form is accepted here: {FORM}");
        return Err(Problem::new(Code::ContentTypeUnsupported, detail));
    }
    let (bytes, _room) = body::read(body, headers, app, MAX_FORM).await?;
    let text = std::str::from_utf8(&bytes).map_err(|_| unreadable("it is not UTF-8"))?;
    let form = Query::parse(Some(text), known);
    form.map(Form)
        .map_err(|problem| unreadable(problem.detail()))
}

/// A form that cannot be used, and why.
pub(crate) fn unreadable(why: &str) -> Problem {
    Problem::new(Code::FormInvalid, format!("the form cannot be used: {why}"))
}
