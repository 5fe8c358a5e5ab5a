//! `GET /v1/overview`: what happened lately, what stands, and what needs somebody, at a glance.
//!
//! Nothing is counted by going through runs or effects: what happened was counted when it did
//! (`semel_engine::counts`), and what is under way is little. The answer therefore costs the same however
//! much there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_engine::counts::What;
use semel_ledger::{Millis, Time};
use semel_store::count::{Count, Counted, Part, Span, Standing};
use semel_store::run::RunState;

use crate::app::App;
use crate::destinations;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;

/// What is shown if nobody says since when.
const LATELY: Millis = Millis::seconds(3600);
/// Up to how long ago is shown by the minute.
const BY_MINUTE: Millis = Millis::seconds(3 * 3600);
/// Up to how long ago is shown by the hour; beyond, by the day.
const BY_HOUR: Millis = Millis::days(7);
/// How far back is looked at most.
const FARTHEST: Millis = Millis::days(31);
/// How many destinations are shown.
const DESTINATIONS: usize = 5;

const SERIES: [What; 6] = [
    What::Events,
    What::Duplicates,
    What::Done,
    What::Failed,
    What::Effects,
    What::Blocked,
];
const OF_FLOWS: [What; 3] = [What::Runs, What::Failed, What::Duplicates];
const TOTALS: [What; 7] = [
    What::Events,
    What::Duplicates,
    What::Runs,
    What::Done,
    What::Failed,
    What::Effects,
    What::Blocked,
];

/// The time that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) span: Span,
    /// When the first span begins.
    pub(crate) from: Time,
    pub(crate) now: Time,
}

impl Window {
    /// From `since` on, as exactly as is kept.
    pub(crate) fn new(now: Time, since: Option<Time>) -> Window {
        let ago = |length: Millis| Time(now.0 - i64::try_from(length.0).unwrap_or(i64::MAX));
        let since = since.unwrap_or(ago(LATELY)).max(ago(FARTHEST)).min(now);
        let span = match since {
            since if since >= ago(BY_MINUTE) => Span::Minute,
            since if since >= ago(BY_HOUR) => Span::Hour,
            _ => Span::Day,
        };
        Window {
            span,
            from: span.of(since),
            now,
        }
    }

    fn step(self) -> i64 {
        i64::from(self.span.seconds()) * 1000
    }

    fn length(self) -> usize {
        let steps = (self.span.of(self.now).0 - self.from.0) / self.step();
        usize::try_from(steps).unwrap_or(0) + 1
    }

    fn place(self, at: Time) -> usize {
        usize::try_from((at.0 - self.from.0) / self.step()).unwrap_or(0)
    }
}

/// What was counted in a window.
#[derive(Debug)]
pub(crate) struct Tallied {
    pub(crate) window: Window,
    whole: BTreeMap<Box<str>, Vec<u64>>,
}

impl Tallied {
    /// Everything together, what is not yet in the store too.
    pub(crate) async fn read(app: &App, window: Window) -> Result<Tallied, Problem> {
        let _still = app.counting.read().await;
        let kept = app
            .store
            .counts(window.span, &Part::Whole, window.from)
            .await?;
        let mut whole = BTreeMap::<Box<str>, Vec<u64>>::new();
        let mut add = |what: &str, at: Time, count: u64| {
            let series = whole.entry(what.into());
            let series = series.or_insert_with(|| vec![0; window.length()]);
            // The clock may have gone on since the window was made.
            let last = series.len() - 1;
            series[window.place(at).min(last)] += count;
        };
        for Counted {
            at, what, count, ..
        } in &kept
        {
            add(what, *at, *count);
        }
        for fresh in fresh(app, window.now).filter(|it| it.step.is_empty()) {
            add(&fresh.what, fresh.at, fresh.count);
        }
        Ok(Tallied { window, whole })
    }

    fn total(&self, what: What) -> u64 {
        let series = self.whole.get(what.name());
        series.map_or(0, |series| series.iter().sum())
    }

    /// Writes `totals`, `states` and `inbox`.
    pub(crate) fn write(&self, out: &mut Object, standing: &Standing) {
        out.object("states", |out| {
            for (state, count) in states(self, standing) {
                out.number(state.name(), count);
            }
        });
        out.number("inbox", standing.reviews);
        out.object("totals", |out| {
            for what in TOTALS {
                out.number(what.name(), self.total(what));
            }
        });
    }

    fn write_series(&self, out: &mut Object) {
        out.object("series", |out| {
            let seconds = self.window.span.seconds();
            out.number("step_seconds", seconds.into())
                .time("from", self.window.from);
            for what in SERIES {
                let none = vec![0; self.window.length()];
                let series = self.whole.get(what.name()).unwrap_or(&none);
                let numbers: Vec<String> = series.iter().map(u64::to_string).collect();
                out.raw(what.name(), &format!("[{}]", numbers.join(",")));
            }
        });
    }
}

/// What was counted on this node and is not yet in the store.
fn fresh(app: &App, now: Time) -> impl Iterator<Item = Count> {
    app.engine.counts().look(now).into_iter()
}

/// Those under way as they stand, those that are over as they were counted in the window.
fn states(tallied: &Tallied, standing: &Standing) -> Vec<(RunState, u64)> {
    let count = |state: RunState| match state {
        RunState::Done => tallied.total(What::Done),
        RunState::Failed => tallied.total(What::Failed),
        RunState::Undone => tallied.total(What::Undone),
        RunState::Cancelled => tallied.total(What::Cancelled),
        open => {
            let found = standing.runs.iter().find(|(state, _)| *state == open);
            found.map_or(0, |(_, count)| *count)
        }
    };
    RunState::ALL.map(|state| (state, count(state))).to_vec()
}

/// What was counted under each name, the spans taken together: of flows, or of the steps of one.
pub(crate) async fn together(
    app: &App,
    window: Window,
    part: &Part,
    only: &[What],
) -> Result<BTreeMap<Box<str>, BTreeMap<Box<str>, u64>>, Problem> {
    let _still = app.counting.read().await;
    let only: Vec<&'static str> = only.iter().map(|what| what.name()).collect();
    let kept = app
        .store
        .counts_together(window.span, part, window.from, &only)
        .await?;
    let mut all = BTreeMap::<Box<str>, BTreeMap<Box<str>, u64>>::new();
    let mut add = |name: &str, what: &str, count: u64| {
        let counts = all.entry(name.into()).or_default();
        *counts.entry(what.into()).or_default() += count;
    };
    for it in &kept {
        add(&it.name, &it.what, it.count);
    }
    for it in fresh(app, window.now) {
        match part {
            Part::Flows if it.step.is_empty() && !it.flow.is_empty() => {
                add(&it.flow, &it.what, it.count);
            }
            Part::StepsOf(flow) if it.flow == *flow && !it.step.is_empty() => {
                add(&it.step, &it.what, it.count);
            }
            _ => {}
        }
    }
    Ok(all)
}

/// `GET /v1/overview`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let query = Query::parse(request.uri().query(), &["since"])?;
    let window = Window::new(app.store.now(), query.time("since")?);
    let tallied = Tallied::read(&app, window).await?;
    let flows = together(&app, window, &Part::Flows, &OF_FLOWS).await?;
    let standing = app.store.standing().await?;
    let mut out = Object::new();
    out.time("now", window.now);
    tallied.write(&mut out, &standing);
    tallied.write_series(&mut out);
    let worst = destinations::worst(&app).into_iter().take(DESTINATIONS);
    out.list("destinations", worst, |out, it| {
        destinations::write(out, &it, window.now);
    });
    out.list("flows", &flows, |out, (flow, counts)| {
        out.text("flow", flow);
        for what in OF_FLOWS {
            out.number(what.name(), counts.get(what.name()).copied().unwrap_or(0));
        }
    });
    Ok(out.respond(StatusCode::OK))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_800_000_030_000);

    #[test]
    fn what_is_longer_ago_is_shown_by_the_hour_and_never_without_end() {
        let ago = |seconds: i64| Some(Time(NOW.0 - seconds * 1000));
        for (since, span, length) in [
            (None, Span::Minute, 61),
            (ago(600), Span::Minute, 11),
            (ago(3 * 3600), Span::Minute, 181),
            (ago(3 * 3600 + 1), Span::Hour, 4),
            (ago(-600), Span::Minute, 1),
            (ago(7 * 86_400), Span::Hour, 7 * 24 + 1),
            (Some(Time(0)), Span::Day, 32),
        ] {
            let window = Window::new(NOW, since);
            let found = (window.span, window.length());
            assert_eq!(found, (span, length), "{since:?}");
            assert_eq!(window.place(NOW), length - 1);
        }
    }
}
