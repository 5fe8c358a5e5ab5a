//! `POST /v1/once/{scope}/{key}`: one call that checks and sets, for tools that can do no more.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_ledger::{Command, Verdict};
use semel_store::EffectChange;

use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::claiming::Asked;
use crate::out::Object;
use crate::problem::Problem;
use crate::refusal;
use crate::settle::stale;
use crate::target::Target;

const FIELDS: [&str; 4] = ["input", "remember", "owner", "token"];

/// `POST /v1/once/{scope}/{key}`
pub(crate) async fn once(
    State(app): State<Arc<App>>,
    Target(effect): Target,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let mut asked = Asked::plain(&app.settings, &caller);
    let document = body::optional(&app, request).await?;
    if let Some(document) = &document {
        let fields = document.fields()?;
        fields.only(&FIELDS)?;
        asked.read(&fields)?;
    }
    let Asked { claim, content } = asked;
    let fence = claim.fence;
    let answered = app
        .store
        .step(EffectChange {
            effect: effect.clone(),
            command: Command::Once(claim),
            content,
        })
        .await?;
    app.claimed(answered.verdict);
    let mut out = Object::new();
    match (answered.verdict, answered.entry) {
        (Verdict::First, _) => {
            out.flag("first", true);
        }
        (Verdict::Done, Some(entry)) => {
            let receipt = answered.receipt.map(semel_store::ReceiptId::text);
            out.flag("first", false)
                .time("first_seen", entry.claimed_at)
                .text_or_null("receipt", receipt.as_deref());
        }
        (Verdict::Stale, _) => return Err(stale(&app.store, &effect, fence, &answered)),
        _ => {
            let (store, document) = (&app.store, document.as_ref());
            return Err(refusal::explain(store, &effect, document, &answered).await);
        }
    }
    Ok(out.respond(StatusCode::OK))
}
