//! What the page's form sends, and from where.

use axum::extract::Request;

use crate::app::App;
use crate::code::Code;
use crate::form::{self, unreadable};
use crate::inbox::answer::Word;
use crate::origin;
use crate::problem::Problem;
use crate::settle::MAX_NOTE;

const FIELDS: [&str; 3] = ["decision", "note", "hash"];

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
    if !origin::may_be_own(&parts.headers, &app.settings.public_url) {
        let detail = "this was sent by another site, so nothing was decided";
        let problem = Problem::new(Code::NotAllowed, detail);
        return Err(problem.fix("open the link, and decide on its page"));
    }
    let form = form::read(app, &parts.headers, body, &FIELDS).await?;
    let field = |name: &'static str| {
        let value = form.one(name);
        value.map(str::to_owned)
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
