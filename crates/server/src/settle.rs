//! `PUT /v1/guard/{scope}/{key}`: say how the act ended.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_ledger::{Command, Digest, EffectId, Fence, Outcome, State as EffectState, Verdict};
use semel_store::blob::unhex;
use semel_store::{Answered, Content, EffectChange, Store};

use crate::app::App;
use crate::body::{self, Document};
use crate::claiming::read_token;
use crate::code::Code;
use crate::fields::Fields;
use crate::guard::missing;
use crate::out::Object;
use crate::problem::Problem;
use crate::refusal;
use crate::target::Target;

const FIELDS: [&str; 6] = [
    "token",
    "outcome",
    "result",
    "external_id",
    "reason",
    "blobs",
];
const OUTCOMES: [&str; 4] = ["done", "failed", "unknown", "released"];
/// The longest reason or note, in bytes.
pub(crate) const MAX_NOTE: usize = 4096;
/// How many blobs one effect may refer to.
const MAX_BLOBS: usize = 16;

struct Settlement {
    fence: Fence,
    outcome: Outcome,
    digest: Digest,
    content: Content,
}

/// `PUT /v1/guard/{scope}/{key}`
pub(crate) async fn settle(
    State(app): State<Arc<App>>,
    Target(effect): Target,
    request: Request,
) -> Result<Response, Problem> {
    let document = body::required(&app, request).await?;
    let Settlement {
        fence,
        outcome,
        digest,
        content,
    } = read(&document)?;
    check_blobs(&app.store, &content.blobs).await?;
    let answered = app
        .store
        .step(EffectChange {
            effect: effect.clone(),
            command: Command::Settle {
                fence,
                outcome,
                digest,
            },
            content,
        })
        .await?;
    match (answered.verdict, answered.entry) {
        (Verdict::Settled { again }, Some(entry)) => {
            if !again {
                app.settled(outcome);
            }
            let mut out = Object::new();
            out.text("verdict", "settled")
                .text("state", entry.state.name())
                .flag("again", again);
            Ok(out.respond(StatusCode::OK))
        }
        (Verdict::Stale, Some(_)) => Err(stale(&app.store, &effect, fence, &answered)),
        (Verdict::Missing, _) => Err(missing(&effect)),
        (verdict, _) => Err(refusal::unexpected(verdict)),
    }
}

fn read(document: &Document) -> Result<Settlement, Problem> {
    let fields = document.fields()?;
    fields.only(&FIELDS)?;
    let fence = read_token(&fields)?;
    let outcome = fields.word("outcome", Outcome::named, &OUTCOMES)?;
    let outcome = fields.need("outcome", outcome)?;
    let external_id = fields.name("external_id")?;
    let note = fields.note("reason", MAX_NOTE)?;
    let digest = Digest::of_settlement([
        Some(outcome.name()),
        fields.any("result"),
        external_id.as_deref(),
        note.as_deref(),
    ]);
    let content = Content {
        result: document.sent()?.any("result").map(Into::into),
        external_id,
        note,
        blobs: read_blobs(&fields)?,
        ..Content::default()
    };
    Ok(Settlement {
        fence,
        outcome,
        digest,
        content,
    })
}

fn read_blobs(fields: &Fields<'_>) -> Result<Vec<[u8; 32]>, Problem> {
    let names = fields.texts("blobs")?.unwrap_or_default();
    if names.len() > MAX_BLOBS {
        let why = format!("has {} entries; the limit is {MAX_BLOBS}", names.len());
        return Err(fields.invalid("blobs", &why).limit(MAX_BLOBS));
    }
    let wrong = || fields.invalid("blobs", "must be a list of 64 lower-case hex digits each");
    let hash = |name: &String| unhex(name).ok_or_else(wrong);
    names.iter().map(hash).collect()
}

/// A result must not refer to what is not there.
async fn check_blobs(store: &Store, blobs: &[[u8; 32]]) -> Result<(), Problem> {
    for hash in blobs {
        if store.blob(*hash).await?.is_none() {
            let name = semel_store::blob::hex(hash);
            let detail = format!("blobs names {name}, which is not here");
            return Err(Problem::new(Code::FieldInvalid, detail)
                .field("blobs")
                .fix("send it to PUT /v1/blobs first"));
        }
    }
    Ok(())
}

/// The token is not that of a claim that holds: says what is true instead.
pub(crate) fn stale(
    store: &Store,
    effect: &EffectId,
    fence: Fence,
    answered: &Answered,
) -> Problem {
    let Some(entry) = answered.entry.map(|entry| entry.seen_at(store.now())) else {
        return missing(effect);
    };
    // A claim may bring its own token, and bring it once too often.
    let latest = entry.fence == fence;
    let detail = match entry.state {
        EffectState::Unknown | EffectState::Review if latest => {
            "the lease of this claim ran out or its owner was declared dead, so its outcome is \
             unknown; nothing was changed: somebody must decide"
        }
        EffectState::Claimed => "another claim holds by now; nothing was changed",
        _ if latest => "this claim was already settled; nothing was changed",
        _ => "this is not the token of the latest claim; nothing was changed",
    };
    let mut problem = Problem::new(Code::StaleToken, detail);
    problem.more.text("verdict", "stale");
    refusal::describe_open(
        &mut problem.more,
        effect,
        &entry,
        answered.record.as_deref(),
    );
    if let Some(receipt) = answered.receipt {
        problem.more.text("receipt", &receipt.text());
    }
    problem
}
