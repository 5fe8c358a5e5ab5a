//! Threads of their own for the load and the destination.
//!
//! Owns telling the processor time of what is measured from that of whatever measures it: all of it
//! runs in one process, and only the names of the threads keep it apart.

use std::future::Future;

use tokio::runtime::{Builder, Runtime};

/// What the threads are called.
const NAME: &str = "bench-load";

/// Where the load and the destination run.
pub(super) struct Apart(Option<Runtime>);

impl Apart {
    pub(super) fn new() -> anyhow::Result<Apart> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut builder = Builder::new_multi_thread();
        let builder = builder.worker_threads(cores).thread_name(NAME).enable_all();
        Ok(Apart(Some(builder.build()?)))
    }

    /// Runs something there.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        what: impl Future<Output = anyhow::Result<T>> + Send + 'static,
    ) -> anyhow::Result<T> {
        match &self.0 {
            Some(runtime) => runtime.spawn(what).await?,
            None => what.await,
        }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // A runtime must not wait for its threads inside another.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// The processor time in microseconds that this process has used so far without the load's threads.
pub(super) fn cpu_us() -> f64 {
    let all = ticks("/proc/self/stat");
    let mut load = 0;
    for task in std::fs::read_dir("/proc/self/task").into_iter().flatten() {
        let Ok(task) = task.map(|task| task.path()) else {
            continue;
        };
        let name = std::fs::read_to_string(task.join("comm")).unwrap_or_default();
        if name.trim_end() == NAME {
            load += ticks(task.join("stat"));
        }
    }
    let per_second = super::load::to_f64(rustix::param::clock_ticks_per_second());
    super::load::to_f64(all.saturating_sub(load)) * 1_000_000.0 / per_second
}

/// Time in user and kernel mode.
fn ticks(stat: impl AsRef<std::path::Path>) -> u64 {
    let stat = std::fs::read_to_string(stat).unwrap_or_default();
    // The name, in brackets, may have spaces in it.
    let after = stat.rsplit(')').next().unwrap_or_default();
    let mut fields = after.split_whitespace().skip(11);
    let mut next = || fields.next().and_then(|t| t.parse().ok()).unwrap_or(0u64);
    next() + next()
}
