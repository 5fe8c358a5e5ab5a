//! Connections that are cut at COMMIT while runs are under way.
//!
//! A row that was written although its answer was lost must be answered as written: whoever tried
//! again without looking would find its own row in the way and believe that it lost the run.

use std::sync::Arc;

use semel_store::run::{Next, RunState, StartOutcome, WhenFull};
use semel_store::{Answer, Change, Location, Options, Store};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cluster::Place;
use crate::proxy::{Cut, Proxy};
use crate::shared::runs::{Starting as _, advance, finish, lane, mail, run_id, show, start};
use crate::shared::{Saying as _, once};

const CALLERS: u64 = 12;
const CUTS: u64 = 20;

/// One whole run, every answer of which must be as if nothing had happened.
async fn live(store: &Store, n: u64) {
    let key = once(&format!("order/{n}"), n).of_scope("orders");
    let narrow = lane(u8::try_from(n % 251).unwrap(), 1000, WhenFull::Queue);
    let begin = start(n).once(key).in_lane(narrow).latest(1, 1);
    let started = store.start(begin).await.unwrap();
    assert_eq!(started.outcome, StartOutcome::Started { held: true });
    for (at, next) in [
        (1, Next::GoOn),
        (2, show(RunState::Retrying)),
        (3, finish(RunState::Done)),
    ] {
        let row = Change::Advance(Box::new(advance(n, at, next)));
        let answers = store.commit(vec![mail(n, "hello"), row]).await.unwrap();
        let as_ever = matches!(answers[..], [Answer::Mailed(true), Answer::Advanced(true)]);
        assert!(as_ever, "run {n}, row {at}: {answers:?}");
    }
}

async fn every_run_goes_through(cut: Cut) {
    let place = Place::new();
    let mut proxy = Proxy::start(place.address(), cut).await;
    let url = Location::Postgres(place.url_through(proxy.port));
    let store = Arc::new(Store::open(&url, Options::default()).await.unwrap());
    store.join("node").await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let (counter, mut ended) = watch::channel(0u64);
    let counter = Arc::new(counter);
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (store, stopped) = (Arc::clone(&store), stopped.clone());
        let counter = Arc::clone(&counter);
        callers.spawn(async move {
            let mut n = caller;
            while !*stopped.borrow() {
                live(&store, n).await;
                n += CALLERS;
                counter.send_modify(|count| *count += 1);
            }
            n
        });
    }
    for _ in 0..CUTS {
        let goal = *ended.borrow() + 3;
        let cut = async {
            proxy.cut_next().await;
            ended.wait_for(|count| *count >= goal).await.unwrap();
        };
        tokio::select! {
            () = cut => {}
            // None ends before it is told to, unless it was answered wrongly.
            caller = callers.join_next() => panic!("{caller:?}"),
        }
    }
    stop.send_replace(true);
    for next in callers.join_all().await {
        // Each caller lived through its numbers up to the one that would have been next.
        for n in (next % CALLERS..next).step_by(usize::try_from(CALLERS).unwrap()) {
            let loaded = store.load_run(run_id(n)).await.unwrap().unwrap();
            assert_eq!(loaded.run.state, RunState::Done, "run {n}");
            assert_eq!(loaded.journal.len(), 4, "run {n}");
            assert!(loaded.mail.is_empty(), "run {n}");
        }
    }
    place.drop_schema().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_whose_answer_is_lost_is_read_back() {
    every_run_goes_through(Cut::AfterCommit).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_never_arrived_is_written_again() {
    every_run_goes_through(Cut::BeforeCommit).await;
}
