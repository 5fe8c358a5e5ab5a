//! `POST /v1/ledger/import`: what happened before Semel was there. All rows or none.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_ledger::{Command, EffectId, Key, Millis, Scope, Time, Verdict};
use semel_store::{Answer, Change, Content, EffectChange};

use crate::app::App;
use crate::body;
use crate::claiming::REMEMBER;
use crate::code::Code;
use crate::fields::Fields;
use crate::out::Object;
use crate::problem::Problem;
use crate::timestamp;

const FIELDS: [&str; 7] = [
    "scope",
    "key",
    "parts",
    "at",
    "result",
    "external_id",
    "remember",
];
/// How many rows one request may bring.
const MAX_ROWS: usize = 1000;
/// How far a clock may be ahead of ours.
const AHEAD: Millis = Millis::days(1);

/// `POST /v1/ledger/import`
pub(crate) async fn import(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let document = body::required(&app, request).await?;
    document.fields()?.only(&["effects"])?;
    let sent = document.sent()?;
    let rows = sent.list("effects")?;
    let rows = sent.need("effects", rows)?;
    if rows.len() > MAX_ROWS {
        let why = format!("has {} rows; the limit is {MAX_ROWS}", rows.len());
        return Err(sent.invalid("effects", &why).limit(MAX_ROWS));
    }
    let (mut changes, mut wrong) = (Vec::new(), Vec::new());
    for (index, row) in rows.iter().enumerate() {
        match read(row.get(), app.settings.remember, app.store.now()) {
            Ok(change) => changes.push(Change::from(change)),
            Err(problem) => wrong.push((index, problem)),
        }
    }
    if !wrong.is_empty() {
        return Err(rows_invalid(&wrong));
    }
    let answers = app.store.commit(changes).await?;
    let imported = |answer: &&Answer| matches!(answer, Answer::Effect(answered) if answered.verdict == Verdict::Imported);
    let imported = answers.iter().filter(imported).count();
    let mut out = Object::new();
    out.number("imported", imported as u64)
        .number("existing", (answers.len() - imported) as u64);
    Ok(out.respond(StatusCode::OK))
}

fn read(row: &str, remember: Millis, now: Time) -> Result<EffectChange, Problem> {
    let fields = Fields::parse(row)?;
    fields.only(&FIELDS)?;
    let scope = fields.text("scope")?;
    let scope = Scope::new(&fields.need("scope", scope)?)?;
    let remember = fields
        .span("remember", REMEMBER.0, REMEMBER.1)?
        .unwrap_or(remember);
    let at = match fields.text("at")? {
        Some(text) => read_time(&fields, &text, now)?,
        None => now,
    };
    let content = Content {
        result: fields.any("result").map(Into::into),
        external_id: fields.name("external_id")?,
        ..Content::default()
    };
    Ok(EffectChange {
        effect: EffectId::new(scope, read_key(&fields)?),
        command: Command::Import { at, remember },
        content,
    })
}

fn read_key(fields: &Fields<'_>) -> Result<Key, Problem> {
    match (fields.text("key")?, fields.texts("parts")?) {
        (Some(text), None) => Ok(text.parse()?),
        (None, Some(parts)) => Ok(Key::from_parts(&parts)?),
        (None, None) => fields.need("key", None),
        (Some(_), Some(_)) => Err(fields.invalid("parts", "and key say the same; give one")),
    }
}

fn read_time(fields: &Fields<'_>, text: &str, now: Time) -> Result<Time, Problem> {
    let wrong = || {
        fields.invalid(
            "at",
            "is not a time such as 2026-01-31T12:00:00Z (RFC 3339)",
        )
    };
    let at = timestamp::parse(text).ok_or_else(wrong)?;
    if at > now.after(AHEAD) {
        return Err(fields.invalid("at", "is in the future; only what happened can be imported"));
    }
    Ok(at)
}

fn rows_invalid(wrong: &[(usize, Problem)]) -> Problem {
    let detail = match wrong.len() {
        1 => "1 row cannot be imported; nothing was".to_owned(),
        count => format!("{count} rows cannot be imported; nothing was"),
    };
    let mut problem = Problem::new(Code::RowsInvalid, detail);
    problem.more.list("rows", wrong, |out, (index, problem)| {
        out.number("index", *index as u64)
            .text("code", problem.code.name())
            .text("detail", problem.detail());
    });
    problem
}
