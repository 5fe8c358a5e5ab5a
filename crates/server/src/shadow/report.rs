//! `GET /v1/flows/{flow}/shadow`: what a shadow would have done, beside what was done.
//!
//! Owns comparing the two halves of the ledger: what the shadow recorded, and what is done under the flow's own
//! scopes, by the live release or by import. Where neither has it, the destination's own word counts if it was asked.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_flow::model::{Action, Block, Class, Step};
use semel_flow::{Flow, shadow};
use semel_ledger::json::{Canonical, differences};
use semel_ledger::{EffectId, Scope, Time};
use semel_store::{Filter, Record};

use crate::app::App;
use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::target::Segment;
use crate::view;

/// How many effects of a step are compared, the newest first.
const COMPARED: usize = 5_000;
/// How many are read at a time.
const BITE: usize = 500;
/// How many that differ are shown; all are counted.
const SHOWN: usize = 200;
/// How many differing fields are named.
const NAMED: usize = 5;

/// How an effect of the shadow stands beside what was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Both did it, with the same input.
    Same,
    /// Only the shadow would have.
    More,
    /// Only the other did it.
    Less,
    /// Both, with another input.
    Differently,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            What::Same => "same",
            What::More => "more",
            What::Less => "less",
            What::Differently => "differently",
        }
    }
}

/// A step in both halves of the ledger.
struct Pair {
    step: String,
    own: Scope,
    shadow: Scope,
    can_be_asked: bool,
    /// What was done is found by an `ensure`, which then would do nothing: that is not less.
    finds: bool,
}

#[derive(Debug, Default)]
struct Counts {
    same: u64,
    more: u64,
    less: u64,
    differently: u64,
}

/// One effect that is not the same.
struct Difference {
    step: String,
    key: String,
    what: What,
    at: Time,
    run: Option<String>,
    fields: Vec<String>,
}

/// `GET /v1/flows/{flow}/shadow`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    Segment(flow): Segment,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &["since"])?;
    let live = app.store.live().await?;
    let name = shadow::name_of(&flow);
    let release = live.into_iter().find(|release| *release.flow == *name);
    let release = release.ok_or_else(|| missing(&flow))?;
    let compiled = crate::releases::compiled(&app, &release).await?;
    let own = semel_flow::read(&compiled.source).flow;
    let own = own.ok_or_else(|| missing(&flow))?;
    let began = release.live_at.unwrap_or(release.created_at);
    let since = query.time("since")?.unwrap_or(began).max(began);
    let (pairs, uncompared) = pairs(&own, &compiled.flow)?;
    let mut report = Report {
        app: &app,
        since,
        counts: Counts::default(),
        differences: Vec::new(),
        cut: false,
    };
    for pair in &pairs {
        report.compare(pair).await?;
    }
    let mut out = Object::new();
    out.text("flow", &flow)
        .text("release", &crate::releases::release_text(release.id))
        .time("since", since)
        .number("same", report.counts.same)
        .number("more", report.counts.more)
        .number("less", report.counts.less)
        .number("differently", report.counts.differently)
        .flag("cut", report.cut);
    out.texts("uncompared", uncompared);
    out.list("differences", &report.differences, write);
    Ok(out.respond(StatusCode::OK))
}

fn missing(flow: &str) -> Problem {
    Problem::new(
        Code::ShadowMissing,
        format!("no shadow of a flow called {flow:?} takes triggers"),
    )
    .fix("POST /v1/flows with \"shadow\":true casts one; semel deploy --shadow FILE")
}

fn write(out: &mut Object, it: &Difference) {
    out.text("what", it.what.name())
        .text("step", &it.step)
        .text("key", &it.key)
        .time("at", it.at)
        .text_or_null("run", it.run.as_deref())
        .texts("fields", it.fields.iter().map(String::as_str));
}

/// The steps that leave entries in the ledger, and the names of those that change something and leave none.
fn pairs(own: &Flow, shadow: &Flow) -> Result<(Vec<Pair>, Vec<String>), Problem> {
    let (mut steps, mut pairs, mut uncompared) = (Vec::new(), Vec::new(), Vec::new());
    gather(&own.steps, &mut steps);
    gather(&own.on_failure, &mut steps);
    for step in steps {
        let twin = semel_engine::places::find(shadow, &step.id.it);
        let acts = matches!(step.action, Action::Act(_) | Action::Ensure(_));
        match (step.class(), twin) {
            (class, Some(twin)) if acts && class.has_effect() => pairs.push(Pair {
                step: step.id.it.clone(),
                own: Scope::new(&step.scope_name(own))?,
                shadow: Scope::new(&twin.scope_name(shadow))?,
                can_be_asked: step.lookup.is_some(),
                finds: matches!(step.action, Action::Ensure(_)),
            }),
            (Class::Set, _) if acts => uncompared.push(step.id.it.clone()),
            _ => {}
        }
    }
    Ok((pairs, uncompared))
}

fn gather<'f>(block: &'f Block, steps: &mut Vec<&'f Step>) {
    for step in block {
        steps.push(step);
        semel_engine::places::inner(step).for_each(|inner| gather(inner, steps));
    }
}

struct Report<'a> {
    app: &'a App,
    since: Time,
    counts: Counts,
    differences: Vec<Difference>,
    cut: bool,
}

impl Report<'_> {
    async fn compare(&mut self, pair: &Pair) -> Result<(), Problem> {
        for would in self.records(&pair.shadow).await? {
            let (what, fields) = self.judge(pair, &would).await?;
            self.count(pair, &would, what, fields);
        }
        if pair.finds {
            return Ok(());
        }
        for done in self.records(&pair.own).await? {
            let twin = EffectId::new(pair.shadow.clone(), done.effect.key.clone());
            if self.app.store.load(&twin).await?.is_none() {
                self.count(pair, &done, What::Less, Vec::new());
            }
        }
        Ok(())
    }

    async fn judge(&self, pair: &Pair, would: &Record) -> Result<(What, Vec<String>), Problem> {
        let own = EffectId::new(pair.own.clone(), would.effect.key.clone());
        let store = &self.app.store;
        let done = store.load(&own).await?;
        let done = done.filter(|done| !view::is_forgotten(done, store.now()));
        let Some(done) = done else {
            // Settled by the first attempt, it was found at the destination: nothing of a shadow's is ever sent.
            let found = pair.can_be_asked && would.entry.attempt == 1;
            return Ok((if found { What::Same } else { What::More }, Vec::new()));
        };
        // An imported entry may not say with which input it was done.
        let (Some(mine), Some(theirs)) = (&would.input, &done.input) else {
            return Ok((What::Same, Vec::new()));
        };
        if would.entry.fingerprint == done.entry.fingerprint {
            return Ok((What::Same, Vec::new()));
        }
        let (mine, theirs) = (store.text(mine).await?, store.text(theirs).await?);
        let fields = match (mine, theirs) {
            (Some(mine), Some(theirs)) => differences(
                &Canonical::trusted(theirs),
                &Canonical::trusted(mine),
                NAMED,
            ),
            _ => Vec::new(),
        };
        Ok((What::Differently, fields))
    }

    fn count(&mut self, pair: &Pair, record: &Record, what: What, fields: Vec<String>) {
        let counts = &mut self.counts;
        match what {
            What::Same => {
                counts.same += 1;
                return;
            }
            What::More => counts.more += 1,
            What::Less => counts.less += 1,
            What::Differently => counts.differently += 1,
        }
        if self.differences.len() < SHOWN {
            self.differences.push(Difference {
                step: pair.step.clone(),
                key: record.effect.key.as_str().to_owned(),
                what,
                at: record.entry.changed_at,
                run: record.by.as_deref().map(str::to_owned),
                fields,
            });
        }
    }

    /// What is done in a scope, the newest first.
    async fn records(&mut self, scope: &Scope) -> Result<Vec<Record>, Problem> {
        let mut records = Vec::new();
        let mut filter = Filter {
            scope: Some(scope.clone()),
            states: vec![semel_ledger::State::Done],
            since: Some(self.since),
            limit: BITE,
            ..Filter::default()
        };
        loop {
            let page = self.app.store.list(&filter).await?;
            records.extend(page.items);
            filter.after = page.next;
            if page.next.is_none() {
                return Ok(records);
            }
            if records.len() >= COMPARED {
                self.cut = true;
                return Ok(records);
            }
        }
    }
}
