//! `POST /v1/ledger/{scope}/{key}/decide`: a person says what is true of an unknown effect.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use semel_ledger::{Command, Decision, Digest, Verdict};
use semel_store::{Answered, Content, EffectChange, Store};

use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::guard::missing;
use crate::ledger::show_written;
use crate::problem::Problem;
use crate::refusal;
use crate::settle::MAX_NOTE;
use crate::target::Target;

const FIELDS: [&str; 6] = ["decision", "attempt", "result", "note", "by", "external_id"];
/// What can be decided.
pub(crate) const DECISIONS: [&str; 3] = ["happened", "resend", "failed"];

/// `POST /v1/ledger/{scope}/{key}/decide`
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Target(effect): Target,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&FIELDS)?;
    let decision = fields.word("decision", Decision::named, &DECISIONS)?;
    let decision = fields.need("decision", decision)?;
    let external_id = fields.name("external_id")?;
    let note = fields.note("note", MAX_NOTE)?;
    let by = fields.name("by")?;
    let attempt = fields.number("attempt")?;
    // Who says it is not part of what is said: a second person saying the same changes nothing.
    let digest = Digest::of_decision([
        Some(decision.name()),
        fields.any("result"),
        external_id.as_deref(),
        note.as_deref(),
    ]);
    let content = Content {
        result: document.sent()?.any("result").map(Into::into),
        external_id,
        note,
        by: Some(who(&caller, by.as_deref())),
        ..Content::default()
    };
    let command = Command::Decide {
        decision,
        attempt,
        digest,
    };
    let change = EffectChange {
        effect: effect.clone(),
        command,
        content,
    };
    let answered = app.store.step(change).await?;
    match (answered.verdict, &answered.record) {
        (Verdict::Decided { again }, Some(record)) => {
            if !again {
                app.metrics.decided(decision);
            }
            Ok(show_written(&app.store, &effect, record).await)
        }
        (Verdict::NotOpen, _) => Err(not_open(&app.store, attempt, &answered)),
        (Verdict::Missing, _) => Err(missing(&effect)),
        (verdict, _) => Err(refusal::unexpected(verdict)),
    }
}

/// The person, if named, and always the token that was used.
fn who(caller: &Caller, by: Option<&str>) -> Box<str> {
    match by {
        Some(by) => format!("{by} (token {})", caller.0).into(),
        None => (*caller.0).into(),
    }
}

fn not_open(store: &Store, attempt: Option<u32>, answered: &Answered) -> Problem {
    let entry = answered.entry.map(|entry| entry.seen_at(store.now()));
    let state = entry.map_or("absent", |entry| entry.state.name());
    let later = entry.filter(|entry| attempt.is_some_and(|n| n != entry.attempt));
    let detail = match later {
        Some(entry) => format!("the latest attempt is {}, which is {state}", entry.attempt),
        None => format!("the effect is {state}: only what is unknown can be decided"),
    };
    let mut problem = Problem::new(Code::NotOpen, detail);
    problem.more.text("state", state);
    if let Some(entry) = entry {
        problem
            .more
            .number("attempt", entry.attempt.into())
            .time("since", entry.changed_at);
    }
    problem
}
