//! `POST /v1/ledger/{scope}/{key}/decide`: a person says what is true of an unknown effect.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use semel_engine::journal::Note;
use semel_ledger::{Command, Decision, Digest, EffectId, State as EffectState, Verdict};
use semel_store::run::RunId;
use semel_store::{
    Answer, Answered, Change, Content, EffectChange, ReceiptFilter, Record, Store, StoreError,
};

use crate::app::App;
use crate::audit::Told;
use crate::auth::{Caller, Via};
use crate::body;
use crate::code::Code;
use crate::guard::missing;
use crate::inbox::item::Item;
use crate::inbox::refuse;
use crate::inbox::request::Request as Approval;
use crate::ledger::show_written;
use crate::problem::Problem;
use crate::refusal;
use crate::settle::MAX_NOTE;
use crate::target::Target;

/// How many refused claims are looked at for runs that wait.
const REFUSED: usize = 100;
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
    not_a_request(&app, &effect).await?;
    let saying = Saying {
        effect: effect.clone(),
        decision,
        attempt,
        digest,
        content,
    };
    let answered = saying.say(&app).await?;
    match (answered.verdict, &answered.record) {
        (Verdict::Decided { .. }, Some(record)) => {
            let shown = show_written(&app.store, record).await;
            Ok(Told::how(decision.name()).with(shown))
        }
        (Verdict::NotOpen, _) => Err(not_open(&app.store, attempt, &answered)),
        (Verdict::Missing, _) => Err(missing(&effect)),
        (verdict, _) => Err(refusal::unexpected(verdict)),
    }
}

/// A request for leave is answered in the inbox, where it counts who answers.
async fn not_a_request(app: &App, effect: &EffectId) -> Result<(), Problem> {
    let Some(record) = app.store.load(effect).await? else {
        return Ok(());
    };
    if Approval::of(&app.store, &record).await?.is_none() {
        return Ok(());
    }
    let item = Item::of(app, record).await?;
    let why = "this is a request for leave: only those whom it names may answer it";
    let problem = refuse::not_allowed(&item, why, app.links());
    Err(problem.fix(&format!("POST /v1/inbox/{}/decide", item.id())))
}

/// What somebody says of an effect that is open, whichever way it came.
#[derive(Debug)]
pub(crate) struct Saying {
    pub(crate) effect: EffectId,
    pub(crate) decision: Decision,
    pub(crate) attempt: Option<u32>,
    pub(crate) digest: Digest,
    /// With who says it, and their note.
    pub(crate) content: Content,
}

impl Saying {
    /// Puts it on record and wakes whoever waits for it.
    pub(crate) async fn say(self, app: &App) -> Result<Answered, Problem> {
        let Saying {
            effect,
            decision,
            attempt,
            digest,
            content,
        } = self;
        let resume = Note::Resume {
            by: content.by.clone().unwrap_or_default(),
            note: content.note.clone(),
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
        let (answered, told) = step(app, change, &resume).await?;
        if answered.verdict == (Verdict::Decided { again: false }) {
            app.metrics.decided(decision);
            tell_refused(app, &effect, &resume, told).await;
        }
        Ok(answered)
    }
}

/// Writes a decision. If a run waits for it, the run is told in the same commit: a decision that is
/// on record never leaves its run parked. Gives the run that was told, too.
async fn step(
    app: &App,
    change: EffectChange,
    resume: &Note,
) -> Result<(Answered, Option<RunId>), Problem> {
    let record = app.store.load(&change.effect).await?;
    let open = |record: &Record| {
        let state = record.state_at(app.store.now());
        matches!(state, EffectState::Unknown | EffectState::Review)
    };
    let waiting = record.filter(open);
    let run = waiting.and_then(|record| record.by.as_deref().and_then(RunId::parse));
    let (Some(run), Some(mail)) = (run, run.and_then(|run| mail(run, resume))) else {
        return Ok((app.store.step(change).await?, None));
    };
    let answers = app.store.commit(vec![change.into(), mail]).await?;
    app.engine.mail_came(run);
    match answers.into_iter().next() {
        Some(Answer::Effect(answered)) => Ok((*answered, Some(run))),
        _ => Err(StoreError::Closed.into()),
    }
}

fn mail(run: RunId, note: &Note) -> Option<Change> {
    let note = serde_json::to_string(note).ok()?.into();
    Some(Change::Mail { run, note })
}

/// Runs that were refused while it was open wait, too; their receipts name them, and `told` knows. The decision
/// stands whether they can be told or not: whoever looks at them can resume them.
async fn tell_refused(app: &App, effect: &EffectId, resume: &Note, told: Option<RunId>) {
    let filter = ReceiptFilter {
        effect: Some(effect.hash()),
        verdict: Some(Verdict::Unknown),
        limit: REFUSED,
        ..ReceiptFilter::default()
    };
    let telling = async {
        app.store.write_receipts().await?;
        let receipts = app.store.receipts(&filter).await?.items;
        let runs = receipts
            .iter()
            .filter_map(|receipt| receipt.by.as_deref().and_then(RunId::parse))
            .filter(|run| Some(*run) != told);
        for run in runs.collect::<BTreeSet<RunId>>() {
            app.engine.tell(run, resume).await?;
        }
        Ok::<(), StoreError>(())
    };
    if let Err(error) = telling.await {
        tracing::warn!(%error, "runs that wait for a decision were not told");
    }
}

/// The person, if named, and always the token that was used. Whoever is logged in is who they are.
pub(crate) fn who(caller: &Caller, by: Option<&str>) -> Box<str> {
    match by {
        Some(by) if caller.via != Via::Person => format!("{by} (token {})", caller.name).into(),
        _ => (*caller.name).into(),
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
