//! Closed-loop load: so many callers, each asking again as soon as it is answered.
//!
//! Owns counting and timing. Knows nothing of what is asked.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

/// What one load showed.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measured {
    pub(super) callers: usize,
    pub(super) operations: u64,
    pub(super) seconds: f64,
    pub(super) per_second: f64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    pub(super) memory_mb: f64,
}

/// How long a load runs, at the most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) time: Duration,
    pub(super) operations: u64,
}

/// Runs `callers` at once. `ask` gets the number of the operation, which is never used twice.
pub(super) async fn run<F, Fut>(
    callers: usize,
    bounds: Bounds,
    first: u64,
    ask: impl Fn(usize) -> F,
) -> anyhow::Result<Measured>
where
    F: FnMut(u64) -> Fut + Send + 'static,
    Fut: Future<Output = anyhow::Result<()>> + Send,
{
    let next = Arc::new(AtomicU64::new(first));
    let end = first.saturating_add(bounds.operations);
    let started = Instant::now();
    let mut tasks = Vec::with_capacity(callers);
    for caller in 0..callers {
        let (next, mut ask) = (Arc::clone(&next), ask(caller));
        tasks.push(tokio::spawn(async move {
            let mut times = Times::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let asked = Instant::now();
                if number >= end || asked - started >= bounds.time {
                    return anyhow::Ok(times);
                }
                ask(number).await?;
                times.add(asked.elapsed());
            }
        }));
    }
    let mut times = Times::default();
    for task in tasks {
        times.merge(&task.await??);
    }
    Ok(times.measured(callers, started.elapsed()))
}

/// Measures one caller that does `batch` operations with each call.
pub(super) fn run_batched(
    batch: usize,
    bounds: Bounds,
    mut write: impl FnMut(usize) -> anyhow::Result<()>,
) -> anyhow::Result<Measured> {
    let started = Instant::now();
    let mut times = Times::default();
    while started.elapsed() < bounds.time && times.count < bounds.operations {
        let asked = Instant::now();
        write(batch)?;
        let elapsed = asked.elapsed();
        (0..batch).for_each(|_| times.add(elapsed));
    }
    Ok(times.measured(batch, started.elapsed()))
}

const STEPS_PER_DOUBLING: u64 = 16;

/// Latencies in steps of about 5%, in bounded memory.
#[derive(Clone, Debug)]
struct Times {
    count: u64,
    steps: Vec<u64>,
}

impl Default for Times {
    fn default() -> Times {
        Times {
            count: 0,
            steps: vec![0; usize::try_from(64 * STEPS_PER_DOUBLING).unwrap_or(1024)],
        }
    }
}

impl Times {
    fn add(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos())
            .unwrap_or(u64::MAX)
            .max(STEPS_PER_DOUBLING);
        let doubling = u64::from(nanos.ilog2());
        let within = (nanos >> (doubling - 4)) - STEPS_PER_DOUBLING;
        self.count += 1;
        if let Some(step) = usize::try_from(doubling * STEPS_PER_DOUBLING + within)
            .ok()
            .and_then(|i| self.steps.get_mut(i))
        {
            *step += 1;
        }
    }

    fn merge(&mut self, other: &Times) {
        self.count += other.count;
        for (mine, theirs) in self.steps.iter_mut().zip(&other.steps) {
            *mine += theirs;
        }
    }

    /// The time under which that share of the operations stayed, in microseconds.
    fn percentile(&self, share: f64) -> f64 {
        let wanted = (to_f64(self.count) * share).ceil();
        let mut seen = 0;
        for (index, count) in (0u64..).zip(&self.steps) {
            seen += count;
            if to_f64(seen) >= wanted && seen > 0 {
                let (doubling, within) = (index / STEPS_PER_DOUBLING, index % STEPS_PER_DOUBLING);
                let nanos = 2f64.powf(to_f64(doubling))
                    * (1.0 + (to_f64(within) + 0.5) / to_f64(STEPS_PER_DOUBLING));
                return nanos / 1_000.0;
            }
        }
        0.0
    }

    fn measured(&self, callers: usize, elapsed: Duration) -> Measured {
        let seconds = elapsed.as_secs_f64();
        Measured {
            callers,
            operations: self.count,
            seconds,
            per_second: to_f64(self.count) / seconds,
            p50_us: self.percentile(0.50),
            p99_us: self.percentile(0.99),
            memory_mb: memory_mb(),
        }
    }
}

/// Counts stay far below the 2^53 that a double holds exactly.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of a bench stay far below 2^53"
)]
pub(super) fn to_f64(count: u64) -> f64 {
    count as f64
}

/// The memory that this process holds right now.
pub(super) fn memory_mb() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statm
        .split(' ')
        .nth(1)
        .and_then(|field| field.parse().ok())
        .unwrap_or(0);
    to_f64(pages) * to_f64(rustix::param::page_size() as u64) / 1_048_576.0
}
