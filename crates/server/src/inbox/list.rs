//! `GET /v1/inbox`: what waits, the newest first.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_ledger::{Scope, State as EffectState, Time};
use semel_store::{Filter, Record};

use crate::app::App;
use crate::auth::Caller;
use crate::inbox::item::Item;
use crate::inbox::{show, votes};
use crate::out::Object;
use crate::problem::Problem;
use crate::query::{Query, cursor, invalid};

const PARAMETERS: [&str; 9] = [
    "flow", "step", "scope", "kind", "since", "until", "for", "limit", "after",
];
/// The kinds of items.
pub(crate) const KINDS: [&str; 2] = ["approval", "review"];
/// How many effects are looked at for one page: a page may be short, with more behind it.
const LOOKED_AT: usize = 2000;
/// How many are read at a time.
const BITE: usize = 100;

/// Which items.
#[derive(Clone, Debug, Default)]
pub(crate) struct Which {
    pub(crate) flow: Option<String>,
    pub(crate) step: Option<String>,
    pub(crate) scope: Option<Scope>,
    pub(crate) kind: Option<&'static str>,
    /// Waiting since this time or later.
    pub(crate) since: Option<Time>,
    /// Waiting since before this time.
    pub(crate) until: Option<Time>,
    /// Only what this person may decide.
    pub(crate) person: Option<String>,
}

/// `GET /v1/inbox`
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &PARAMETERS)?;
    let kind = |word: &str| {
        let known = KINDS.into_iter().find(|kind| *kind == word);
        known.ok_or_else(|| invalid("kind", "must be approval or review"))
    };
    let which = Which {
        flow: query.one("flow")?.map(str::to_owned),
        step: query.one("step")?.map(str::to_owned),
        scope: query.one("scope")?.map(Scope::new).transpose()?,
        kind: query.one("kind")?.map(kind).transpose()?,
        since: query.time("since")?,
        until: query.time("until")?,
        person: person(&app, &caller, query.one("for")?)?,
    };
    let mut walk = Walk::new(which, query.after()?, LOOKED_AT);
    let (limit, mut items) = (query.limit()?, Vec::new());
    while items.len() < limit {
        let Some(item) = walk.next(&app).await? else {
            break;
        };
        let cast = votes::cast(&app, &item).await?.len();
        items.push((item, cast));
    }
    let next = walk.place(&app).await?;
    let mut out = Object::new();
    out.list("items", &items, |out, (item, cast)| {
        show::row(out, item, *cast);
    });
    out.text_or_null("next", next.map(cursor).as_deref());
    Ok(out.respond(StatusCode::OK))
}

fn person(app: &App, caller: &Caller, word: Option<&str>) -> Result<Option<String>, Problem> {
    match word {
        Some("me") if app.settings.trusted => Err(invalid(
            "for",
            "is me, but a file does not know who that is; name the person",
        )),
        Some("me") => Ok(Some(caller.name.to_string())),
        other => Ok(other.map(str::to_owned)),
    }
}

/// Going through what waits, one item at a time.
pub(crate) struct Walk {
    which: Which,
    bite: std::vec::IntoIter<Record>,
    /// Where the bite ends, if there is more behind it.
    behind: Option<i64>,
    began: bool,
    last: Option<i64>,
    left: usize,
}

impl Walk {
    /// Begins behind `after`; looks at so many effects at the most.
    pub(crate) fn new(which: Which, after: Option<i64>, most: usize) -> Walk {
        Walk {
            which,
            bite: Vec::new().into_iter(),
            behind: after,
            began: false,
            last: None,
            left: most,
        }
    }

    /// The next item that is wanted; `None` at the end, or when enough was looked at.
    pub(crate) async fn next(&mut self, app: &App) -> Result<Option<Item>, Problem> {
        while self.left > 0 {
            let Some(record) = self.record(app).await? else {
                return Ok(None);
            };
            self.left -= 1;
            self.last = Some(record.seq);
            let item = Item::of(app, record).await?;
            if self.which.wants(app, &item).await? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    async fn record(&mut self, app: &App) -> Result<Option<Record>, Problem> {
        loop {
            if let Some(record) = self.bite.next() {
                return Ok(Some(record));
            }
            if self.began && self.behind.is_none() {
                return Ok(None);
            }
            let filter = Filter {
                scope: self.which.scope.clone(),
                states: vec![EffectState::Review],
                since: self.which.since,
                until: self.which.until,
                after: self.behind,
                limit: BITE,
                ..Filter::default()
            };
            let page = app.store.list(&filter).await?;
            self.began = true;
            self.behind = page.next;
            self.bite = page.items.into_iter();
        }
    }

    /// Where to go on, if there may be more.
    pub(crate) async fn place(&mut self, app: &App) -> Result<Option<i64>, Problem> {
        let more = self.record(app).await?;
        Ok(self.last.filter(|_| more.is_some()))
    }
}

impl Which {
    async fn wants(&self, app: &App, item: &Item) -> Result<bool, Problem> {
        let is = |wanted: &Option<String>, it: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| it == Some(wanted))
        };
        let kind = self.kind.is_none_or(|kind| kind == item.kind());
        if !kind || !is(&self.flow, item.flow()) || !is(&self.step, item.step.as_deref()) {
            return Ok(false);
        }
        if let (Some(person), Some(request)) = (&self.person, &item.request) {
            if request.bars(person, app.links()).is_some() {
                return Ok(false);
            }
            let cast = votes::cast(app, item).await?;
            if cast.iter().any(|vote| *vote.by == **person) {
                return Ok(false);
            }
        }
        Ok(item.over(app).await?.is_none())
    }
}
