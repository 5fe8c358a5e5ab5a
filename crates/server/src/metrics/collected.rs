//! Numbers that are kept elsewhere, and read when somebody asks for them.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use semel_act::{Breaker, Destination, LATENCIES, Perform};
use semel_engine::Engine;
use semel_store::count::Count;
use semel_store::store::Written;

/// What flows and their steps count.
#[derive(Debug)]
pub(super) struct OfFlows(pub(super) Engine);

impl Collector for OfFlows {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let all = self.0.counts().totals();
        let flow = |it: &Count| vec![("flow", it.flow.to_string())];
        for (name, help, what) in [
            ("runs_started", "Runs started from outside, by flow", "runs"),
            (
                "effects",
                "Changes to the world that were made, by flow",
                "effects",
            ),
            (
                "effects_blocked",
                "Repeated changes that the ledger refused, by flow",
                "blocked",
            ),
        ] {
            let wanted = |it: &&Count| it.step.is_empty() && *it.what == *what;
            counters(&mut encoder, (name, help), all.iter().filter(wanted), flow)?;
        }
        let ended = ["done", "failed", "undone", "cancelled"];
        let help = "Runs started from outside that ended, by flow and state";
        let wanted = |it: &&Count| it.step.is_empty() && ended.contains(&&*it.what);
        let labels = |it: &Count| [flow(it), vec![("state", it.what.to_string())]].concat();
        counters(
            &mut encoder,
            ("runs_ended", help),
            all.iter().filter(wanted),
            labels,
        )?;
        let help = "What became of steps, by flow, step and outcome";
        let wanted = |it: &&Count| !it.step.is_empty();
        let labels = |it: &Count| {
            let step = ("step", it.step.to_string());
            [flow(it), vec![step, ("outcome", it.what.to_string())]].concat()
        };
        counters(
            &mut encoder,
            ("steps", help),
            all.iter().filter(wanted),
            labels,
        )?;
        written(&mut encoder, self.0.store().written())
    }
}

fn written(encoder: &mut DescriptorEncoder<'_>, written: Written) -> fmt::Result {
    let help = "What this node made durable, by kind";
    let kind = MetricType::Counter;
    let mut family = encoder.encode_descriptor("store_written", help, None, kind)?;
    for (kind, count) in [
        ("commits", written.commits),
        ("effects", written.effects),
        ("rows", written.rows),
    ] {
        let labels = [("kind", kind)];
        ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
    }
    Ok(())
}

fn counters<'a>(
    encoder: &mut DescriptorEncoder<'_>,
    (name, help): (&str, &str),
    counts: impl Iterator<Item = &'a Count>,
    labels: impl Fn(&Count) -> Vec<(&'static str, String)>,
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for count in counts {
        let labels = labels(count);
        let metric = family.encode_family(&labels)?;
        ConstCounter::new(count.count).encode(metric)?;
    }
    Ok(())
}

/// One number of a destination.
type Read = fn(&Destination) -> i64;

/// How destinations are doing.
pub(super) struct OfDestinations(pub(super) Arc<dyn Perform>);

impl fmt::Debug for OfDestinations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfDestinations").finish_non_exhaustive()
    }
}

impl Collector for OfDestinations {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let all = self.0.destinations();
        let help = "Calls that ended, by destination and outcome";
        let kind = MetricType::Counter;
        let mut family = encoder.encode_descriptor("destination_calls", help, None, kind)?;
        for it in &all {
            let done = it.calls.saturating_sub(it.failed + it.unknown);
            for (outcome, count) in [
                ("done", done),
                ("failed", it.failed),
                ("unknown", it.unknown),
            ] {
                let labels = [("destination", it.name.as_str()), ("outcome", outcome)];
                ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
            }
        }
        let gauges: [(&str, &str, Read); 3] = [
            (
                "destination_open",
                "Calls under way, by destination",
                |it| number(it.open),
            ),
            (
                "destination_waiting",
                "Calls that wait for their turn, by destination",
                |it| number(it.waiting),
            ),
            (
                "destination_left_alone",
                "1 while a destination is left alone after failures, by destination",
                |it| i64::from(matches!(it.breaker, Breaker::Open(_))),
            ),
        ];
        for (name, help, read) in gauges {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for it in &all {
                let labels = [("destination", it.name.as_str())];
                ConstGauge::new(read(it)).encode(family.encode_family(&labels)?)?;
            }
        }
        durations(&mut encoder, &all)
    }
}

fn durations(encoder: &mut DescriptorEncoder<'_>, all: &[Destination]) -> fmt::Result {
    let (name, help) = (
        "destination_call_duration_seconds",
        "How long calls took, by destination",
    );
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
    let seconds = |millis: u64| f64::from(u32::try_from(millis).unwrap_or(u32::MAX)) / 1000.0;
    for it in all {
        let bounds = LATENCIES.map(seconds).into_iter().chain([f64::MAX]);
        let buckets: Vec<(f64, u64)> = bounds.zip(it.took).collect();
        let labels = [("destination", it.name.as_str())];
        let mut metric = family.encode_family(&labels)?;
        let (sum, count) = (seconds(it.took_in_all.0), it.took.iter().sum());
        metric.encode_histogram::<[(&str, &str); 0]>(sum, count, &buckets, None)?;
    }
    Ok(())
}

fn number(it: usize) -> i64 {
    i64::try_from(it).unwrap_or(i64::MAX)
}
