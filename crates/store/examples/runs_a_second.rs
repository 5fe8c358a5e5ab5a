//! How much a run costs next to an effect alone, with 64 callers at a time.
//!
//! `cargo run --release -p semel-store --example runs_a_second [postgres://…]`; without an address it
//! is SQLite, in the directory for temporary files.

#[path = "../tests/shared/mod.rs"]
mod shared;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use semel_store::run::{Next, RunState, Start};
use semel_store::{Change, EffectChange, Location, Options, Store};

use shared::runs::{FLOW, Starting as _, advance, finish, start};
use shared::{Saying as _, once};

const CALLERS: u64 = 64;
const EACH: u64 = 400;
const ROUNDS: u32 = 3;

fn key(n: u64) -> EffectChange {
    let result = format!("{{\"run\":\"run_{n:032x}\"}}");
    once(&format!("order/{n}"), n)
        .of_scope(FLOW)
        .result(&result)
}

/// What a webhook with a body of 300 bytes becomes.
fn webhook(store: &Store, n: u64) -> Start {
    let body = format!("{{\"event\":{{\"id\":{n},\"text\":\"{:300}\"}}}}", "x");
    start(n).once(key(n)).run(|run| {
        run.id = store.new_run_id();
        run.opening = body.into();
    })
}

async fn fresh(directory: &Path, name: &str) -> Arc<Store> {
    let location = match std::env::args().nth(1) {
        Some(url) => {
            let process = std::process::id();
            Location::Postgres(format!("{url}?semel_schema=speed_{name}_{process}"))
        }
        None => Location::Sqlite(directory.join(name)),
    };
    let store = Store::open(&location, Options::default()).await;
    let store = Arc::new(store.expect("it opens"));
    store.join("speed").await.expect("it joins");
    store
}

/// Lets all callers do `work` for their numbers; gives how many a second.
async fn rate<W>(store: &Arc<Store>, work: fn(Arc<Store>, u64) -> W) -> f64
where
    W: Future<Output = ()> + Send + 'static,
{
    let began = Instant::now();
    let callers = (0..CALLERS).map(|caller| {
        let store = Arc::clone(store);
        tokio::spawn(async move {
            for n in 0..EACH {
                work(Arc::clone(&store), caller * EACH + n).await;
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        caller.await.expect("it ends");
    }
    let count = u32::try_from(CALLERS * EACH).expect("few");
    f64::from(count) / began.elapsed().as_secs_f64()
}

async fn only_once(store: Arc<Store>, n: u64) {
    store.step(key(n)).await.expect("an answer");
}

async fn only_start(store: Arc<Store>, n: u64) {
    store.start(webhook(&store, n)).await.expect("an answer");
}

async fn whole_run(store: Arc<Store>, n: u64) {
    let begin = webhook(&store, n);
    let run = begin.run.id;
    store.start(begin).await.expect("an answer");
    for (at, next) in [
        (1, Next::GoOn),
        (2, Next::GoOn),
        (3, finish(RunState::Done)),
    ] {
        let mut row = advance(n, at, next);
        row.run = run;
        let change = Change::Advance(Box::new(row));
        store.commit(vec![change]).await.expect("an answer");
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let place = tempfile::tempdir().expect("a directory");
    for round in 0..ROUNDS {
        let name = |what: &str| format!("{what}{round}");
        let effects = rate(&fresh(place.path(), &name("once")).await, only_once).await;
        let starts = rate(&fresh(place.path(), &name("start")).await, only_start).await;
        let whole = rate(&fresh(place.path(), &name("whole")).await, whole_run).await;
        println!("once {effects:.0}/s, start {starts:.0}/s, start and three rows {whole:.0}/s");
    }
}
