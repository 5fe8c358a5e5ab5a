//! What the page's form sends, and from where.

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};

use crate::app::App;
use crate::body;
use crate::code::Code;
use crate::inbox::answer::Word;
use crate::problem::Problem;
use crate::query::Query;
use crate::settle::MAX_NOTE;

/// Room for the longest note with every byte escaped, and the rest.
const MAX_FORM: usize = 16 * 1024;
const FIELDS: [&str; 3] = ["decision", "note", "hash"];
const FORM: &str = "application/x-www-form-urlencoded";

/// What was sent.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) word: Word,
    pub(super) note: Option<Box<str>>,
    pub(super) hash: String,
}

/// Reads the form.
pub(super) async fn read(app: &App, request: Request) -> Result<Sent, Problem> {
    let (parts, body) = request.into_parts();
    check_origin(&parts.headers, &app.settings.public_url)?;
    let kind = parts.headers.get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case(FORM) {
        let detail = format!("only the page's own form is accepted here: {FORM}");
        return Err(Problem::new(Code::ContentTypeUnsupported, detail));
    }
    let (bytes, _room) = body::read(body, &parts.headers, app, MAX_FORM).await?;
    let text = std::str::from_utf8(&bytes).map_err(|_| unreadable("it is not UTF-8"))?;
    let form = Query::parse(Some(text), &FIELDS).map_err(|problem| unreadable(problem.detail()))?;
    let field = |name: &'static str| {
        let value = form
            .one(name)
            .map_err(|problem| unreadable(problem.detail()));
        value.map(|value| value.unwrap_or_default().to_owned())
    };
    let word = match &*field("decision")? {
        "approve" => Word::Approve,
        "reject" => Word::Reject,
        _ => return Err(unreadable("decision must be approve or reject")),
    };
    // Browsers send line breaks as two characters.
    let note = field("note")?.replace("\r\n", "\n");
    if note.len() > MAX_NOTE {
        let why = format!("the note has {} bytes; the limit is {MAX_NOTE}", note.len());
        return Err(unreadable(&why).limit(MAX_NOTE));
    }
    Ok(Sent {
        word,
        note: Some(note.trim())
            .filter(|note| !note.is_empty())
            .map(Into::into),
        hash: field("hash")?,
    })
}

fn unreadable(why: &str) -> Problem {
    Problem::new(Code::FormInvalid, format!("the form cannot be used: {why}"))
}

/// A form of another site is refused where the browser says that it is one. A page that sends no
/// referrer sends `Origin: null`, and over plain HTTP nothing else; the link itself is the secret then.
fn check_origin(headers: &HeaderMap, public_url: &str) -> Result<(), Problem> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let own = |origin: &str| {
        let host = text(HOST.as_str()).unwrap_or_default();
        let public = public_url
            .strip_prefix(origin)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let (_, of) = origin.split_once("://").unwrap_or_default();
        public || (!host.is_empty() && of == host)
    };
    let same = match (headers.get("sec-fetch-site"), text(ORIGIN.as_str())) {
        (Some(site), None | Some("null")) => site == "same-origin",
        (Some(site), Some(origin)) => site == "same-origin" && own(origin),
        (None, Some(origin)) => origin == "null" || own(origin),
        (None, None) => !headers.contains_key(ORIGIN),
    };
    if same {
        return Ok(());
    }
    let detail = "this was sent by another site, so nothing was decided";
    Err(Problem::new(Code::NotAllowed, detail).fix("open the link, and decide on its page"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_other_sites_are_told_apart() {
        let public = "https://semel.example/under";
        let host = ("host", "10.1.2.3:7351");
        for (given, same) in [
            (&[][..], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (
                &[("sec-fetch-site", "same-origin"), ("origin", "null")],
                true,
            ),
            (
                &[("sec-fetch-site", "cross-site"), ("origin", "null")],
                false,
            ),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "none")], false),
            (
                &[
                    ("sec-fetch-site", "same-origin"),
                    ("origin", "https://evil.example"),
                ],
                false,
            ),
            (&[("origin", "https://semel.example")], true),
            (&[("origin", "http://semel.example")], false),
            (&[("origin", "https://semel.example.evil")], false),
            (&[("origin", "http://10.1.2.3:7351")], true),
            (&[("origin", "http://10.1.2.3")], false),
            (&[("origin", "null")], true),
            (&[("origin", "https://")], false),
            (&[("origin", "")], false),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in given.iter().chain([&host]) {
                headers.insert(*name, value.parse().unwrap());
            }
            let checked = check_origin(&headers, public);
            assert_eq!(checked.is_ok(), same, "{given:?}");
        }
    }
}
