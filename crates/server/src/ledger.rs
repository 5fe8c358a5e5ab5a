//! `GET /v1/ledger…`: what is on record.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_ledger::{Scope, State as EffectState, Time};
use semel_store::query::Page;
use semel_store::{Filter, Receipt, ReceiptFilter, Record, Store, StoreError, Stored, Turn};

use crate::app::App;
use crate::guard::missing;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::{Query, cursor, invalid};
use crate::target::Target;
use crate::view::{self, Texts};

const PARAMETERS: [&str; 7] = [
    "scope",
    "state",
    "external_id",
    "prefix",
    "since",
    "limit",
    "after",
];
/// How many rows are read at a time.
const BITE: usize = 100;
/// A page with so many bytes of texts ends, although more rows were asked for.
const MAX_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// How many receipts are shown with an effect.
const RECEIPTS_SHOWN: usize = 20;

/// `GET /v1/ledger`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &PARAMETERS)?;
    let filter = Filter {
        scope: query.one("scope")?.map(Scope::new).transpose()?,
        states: states(&query)?,
        external_id: query.one("external_id")?.map(str::to_owned),
        key_prefix: query.one("prefix")?.map(str::to_owned),
        since: query.time("since")?,
        until: None,
        hashes: None,
        after: query.after()?,
        limit: query.limit()?,
    };
    let page = page(&app.store, filter).await?;
    let now = app.store.now();
    let live = page.items.iter().filter(|r| !view::is_forgotten(r, now));
    let mut out = Object::new();
    out.list("effects", live, |out, record| {
        view::effect(out, record, &Texts::inline(record), now);
    });
    out.text_or_null("next", page.next.map(cursor).as_deref());
    Ok(out.respond(StatusCode::OK))
}

/// Reads a page in bites and ends it early when its texts are many: 1000 rows may be short or long.
async fn page(store: &Store, mut filter: Filter) -> Result<Page<Record>, StoreError> {
    let (limit, mut bytes) = (filter.limit, 0);
    let mut page = Page {
        items: Vec::new(),
        next: None,
    };
    loop {
        filter.limit = BITE.min(limit - page.items.len());
        let bite = store.list(&filter).await?;
        bytes += bite.items.iter().map(weight).sum::<usize>();
        page.items.extend(bite.items);
        page.next = bite.next;
        filter.after = bite.next;
        if bite.next.is_none() || page.items.len() >= limit || bytes >= MAX_PAGE_BYTES {
            return Ok(page);
        }
    }
}

/// About how many bytes a record is when it is shown.
fn weight(record: &Record) -> usize {
    let text = |stored: &Option<Stored>| match stored {
        Some(Stored::Inline(text)) => text.len(),
        Some(Stored::Blob(_)) | None => 0,
    };
    text(&record.input) + text(&record.result) + record.note.as_ref().map_or(0, |note| note.len())
}

fn states(query: &Query) -> Result<Vec<EffectState>, Problem> {
    let words = query.all("state").flat_map(|value| value.split(','));
    let wrong = || {
        let names = EffectState::ALL.map(EffectState::name).join(", ");
        invalid("state", &format!("must be some of {names}"))
    };
    words
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(|word| EffectState::named(word).ok_or_else(wrong))
        .collect()
}

/// `GET /v1/ledger/{scope}/{key}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Target(effect): Target,
) -> Result<Response, Problem> {
    let record = app.store.load(&effect).await?;
    let record = record.filter(|record| !view::is_forgotten(record, app.store.now()));
    let record = record.ok_or_else(|| missing(&effect))?;
    show(&app.store, &record).await
}

/// One effect with all that is known of it.
pub(crate) async fn show(store: &Store, record: &Record) -> Result<Response, Problem> {
    let (texts, turns, receipts) = parts(store, record).await?;
    Ok(life(record, &texts, &turns, &receipts, store.now()))
}

/// What is kept of an effect beside its row: its texts, its life, the newest of its receipts.
pub(crate) async fn parts(
    store: &Store,
    record: &Record,
) -> Result<(Texts, Vec<Turn>, Vec<Receipt>), Problem> {
    let mut texts = Texts::default();
    if let Some(stored) = &record.input {
        texts.input = store.text(stored).await?;
    }
    if let Some(stored) = &record.result {
        texts.result = store.text(stored).await?;
    }
    let turns = store.turns(record).await?;
    let receipts = store
        .receipts(&ReceiptFilter {
            effect: Some(record.effect.hash()),
            limit: RECEIPTS_SHOWN,
            ..ReceiptFilter::default()
        })
        .await?;
    Ok((texts, turns, receipts.items))
}

/// The same after a change that is written: if more cannot be read, what is in hand is shown, as
/// an error would say that nothing was written.
pub(crate) async fn show_written(store: &Store, record: &Record) -> Response {
    match show(store, record).await {
        Ok(response) => response,
        Err(problem) => {
            tracing::warn!(why = problem.detail(), "only part of an effect is shown");
            life(record, &Texts::inline(record), &[], &[], store.now())
        }
    }
}

fn life(
    record: &Record,
    texts: &Texts,
    turns: &[Turn],
    receipts: &[Receipt],
    now: Time,
) -> Response {
    let mut out = Object::new();
    view::effect(&mut out, record, texts, now);
    view::life(&mut out, record, turns, now);
    out.list("receipts", receipts, view::receipt);
    out.respond(StatusCode::OK)
}
