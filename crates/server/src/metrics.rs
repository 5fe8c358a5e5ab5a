//! What is counted, for Prometheus. Handles of the hot path are resolved once.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::http::StatusCode;
use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use semel_engine::Engine;
use semel_ledger::{Decision, Outcome, Verdict};
use semel_store::Store;
use semel_store::run::RunState;

/// Upper bounds of the duration histogram, in seconds.
const BOUNDS: [f64; 12] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0,
];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Claims {
    verdict: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Settles {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Decisions {
    decision: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Events {
    flow: String,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Moves {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Requests {
    route: &'static str,
    status: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Durations {
    route: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModelTokens {
    model: String,
    direction: &'static str,
}

/// Everything that is counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    claims: Family<Claims, Counter>,
    blocked: Counter,
    settles: Family<Settles, Counter>,
    decisions: Family<Decisions, Counter>,
    events: Family<Events, Counter>,
    moves: Family<Moves, Counter>,
    runs_held: Gauge,
    requests: Family<Requests, Counter>,
    durations: Family<Durations, Histogram>,
    queue_depth: Gauge,
    clock_drift: Gauge<f64, std::sync::atomic::AtomicU64>,
    ai_tokens: Family<ModelTokens, Counter>,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("semel"),
            claims: Family::default(),
            blocked: Counter::default(),
            settles: Family::default(),
            decisions: Family::default(),
            events: Family::default(),
            moves: Family::default(),
            runs_held: Gauge::default(),
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BOUNDS)),
            queue_depth: Gauge::default(),
            clock_drift: Gauge::default(),
            ai_tokens: Family::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let it = &mut self.registry;
        it.register("claims", "Claims by verdict", self.claims.clone());
        it.register("duplicates_blocked", "Refused claims", self.blocked.clone());
        it.register("settles", "Settlements by outcome", self.settles.clone());
        it.register("decisions", "Decisions by people", self.decisions.clone());
        it.register(
            "events",
            "Events by flow and what became of them",
            self.events.clone(),
        );
        it.register(
            "runs",
            "Runs that came to rest or ended on this node, by state",
            self.moves.clone(),
        );
        it.register(
            "runs_held",
            "Runs in this node's hands",
            self.runs_held.clone(),
        );
        it.register(
            "http_requests",
            "Answers by route and status",
            self.requests.clone(),
        );
        it.register(
            "http_request_duration_seconds",
            "How long answers took, by route",
            self.durations.clone(),
        );
        it.register(
            "store_queue_depth",
            "Calls that wait for the writer",
            self.queue_depth.clone(),
        );
        it.register(
            "clock_drift_seconds",
            "How far the wall clock is ahead of the ledger's",
            self.clock_drift.clone(),
        );
        it.register(
            "ai_tokens",
            "Tokens that models read (input) and said (output) for this node",
            self.ai_tokens.clone(),
        );
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        it.register("build", "Which semel this is", build);
    }

    pub(crate) fn claimed(&self, verdict: Verdict) {
        let label = Claims {
            verdict: verdict.name(),
        };
        self.claims.get_or_create(&label).inc();
        if !matches!(verdict, Verdict::Granted | Verdict::First) {
            self.blocked.inc();
        }
    }

    pub(crate) fn settled(&self, outcome: Outcome) {
        let label = Settles {
            outcome: outcome.name(),
        };
        self.settles.get_or_create(&label).inc();
    }

    pub(crate) fn decided(&self, decision: Decision) {
        let label = Decisions {
            decision: decision.name(),
        };
        self.decisions.get_or_create(&label).inc();
    }

    /// A run came to rest or ended.
    pub(crate) fn moved(&self, state: RunState) {
        let label = Moves {
            state: state.name(),
        };
        self.moves.get_or_create(&label).inc();
    }

    /// What is counted for the events of one flow.
    pub(crate) fn events(&self, flow: &str) -> EventCounts {
        EventCounts(EventStatus::ALL.map(|status| {
            self.events.get_or_create_owned(&Events {
                flow: flow.to_owned(),
                status: status.name(),
            })
        }))
    }

    /// What is counted for one route.
    pub(crate) fn route(&self, route: &'static str) -> RouteMetrics {
        let duration = self.durations.get_or_create_owned(&Durations { route });
        RouteMetrics {
            route,
            requests: self.requests.clone(),
            duration,
        }
    }

    /// The engine has the sum; it only grows, so that whoever asks at the same time sets it no further.
    fn spent(&self, model: &str, direction: &'static str, sum: u64) {
        let label = ModelTokens {
            model: model.to_owned(),
            direction,
        };
        let counter = self.ai_tokens.get_or_create(&label);
        counter.inner().fetch_max(sum, Ordering::Relaxed);
    }

    /// Everything as text.
    pub(crate) fn scrape(&self, store: &Store, engine: &Engine) -> String {
        let held = i64::try_from(engine.held()).unwrap_or(i64::MAX);
        self.runs_held.set(held);
        let depth = i64::try_from(store.queue_depth()).unwrap_or(i64::MAX);
        self.queue_depth.set(depth);
        let drift = i32::try_from(store.clock().wall_drift()).unwrap_or(i32::MAX);
        self.clock_drift.set(f64::from(drift) / 1000.0);
        for (model, tokens) in engine.spent() {
            self.spent(&model, "input", tokens.input);
            self.spent(&model, "output", tokens.output);
        }
        let mut text = String::new();
        // Writing to a string cannot fail.
        let written = encode(&mut text, &self.registry);
        debug_assert!(written.is_ok());
        text
    }
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventStatus {
    /// It started a run.
    Accepted,
    /// It came before.
    Duplicate,
    /// Something newer was applied.
    Stale,
    /// The flow does not want it.
    Ignored,
    /// The same key came before with another payload.
    Conflict,
    /// Another run was under way.
    Skipped,
}

impl EventStatus {
    /// All of them, in the order they stand in.
    const ALL: [EventStatus; 6] = [
        EventStatus::Accepted,
        EventStatus::Duplicate,
        EventStatus::Stale,
        EventStatus::Ignored,
        EventStatus::Conflict,
        EventStatus::Skipped,
    ];

    /// The word for it, the same everywhere.
    pub(crate) fn name(self) -> &'static str {
        match self {
            EventStatus::Accepted => "accepted",
            EventStatus::Duplicate => "duplicate",
            EventStatus::Stale => "stale",
            EventStatus::Ignored => "ignored",
            EventStatus::Conflict => "conflict",
            EventStatus::Skipped => "skipped",
        }
    }
}

/// What is counted for the events of one flow.
#[derive(Debug)]
pub(crate) struct EventCounts([Counter; EventStatus::ALL.len()]);

impl EventCounts {
    pub(crate) fn count(&self, status: EventStatus) {
        self.0[status as usize].inc();
    }
}

/// What is counted for one route.
#[derive(Debug)]
pub(crate) struct RouteMetrics {
    route: &'static str,
    requests: Family<Requests, Counter>,
    duration: Histogram,
}

impl RouteMetrics {
    pub(crate) fn answered(&self, status: StatusCode, took: Duration) {
        let label = Requests {
            route: self.route,
            status: status.as_u16().into(),
        };
        self.requests.get_or_create(&label).inc();
        self.duration.observe(took.as_secs_f64());
    }
}
