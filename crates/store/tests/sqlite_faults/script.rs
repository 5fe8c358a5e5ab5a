//! A short life of a ledger, the same each time, so that a fault can be placed at every write and
//! sync of it.

use std::path::Path;
use std::sync::Arc;

use semel_ledger::{Decision, Millis, OnUnknown, Outcome};
use semel_store::run::{Next, RunState, WhenFull};
use semel_store::{Change, EffectChange, Location, ManualClock, Options, Store, StoreError};

use crate::shared::history::{Found, History};
use crate::shared::runs::{Starting as _, advance, finish, lane, mail, rest, show, start};
use crate::shared::{LEASE, START, Saying as _, claim, decide, once, settle, undo};

/// One thing that happens; all of it is acknowledged or none.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Step(Box<EffectChange>),
    Commit(Vec<EffectChange>),
    Join,
    Runs(Vec<Change>),
    TimePasses(Millis),
    WriteReceipts,
    LapseDue,
    Sweep,
}

/// The acts of the life, numbered from 1.
pub(crate) fn script() -> Vec<Act> {
    let long = format!("\"{}\"", "long ".repeat(7000));
    let step = |change| Act::Step(Box::new(change));
    let done = |key: &str, n| settle(key, n, Outcome::Done);
    let mut acts = vec![
        step(claim("mail", 1).input("{\"to\":\"a\"}")),
        step(done("mail", 1).result("1")),
        step(claim("mail", 2)),
        step(once("hook", 3).result("2")),
        step(once("hook", 4)),
        Act::WriteReceipts,
        step(claim("report", 5)),
        step(done("report", 5).result(&long)),
        Act::Commit(vec![claim("one", 6), done("one", 6), claim("two", 7)]),
        step(settle("two", 7, Outcome::Failed).note("refused")),
        step(claim("two", 8)),
        step(claim("lost", 9)),
        Act::TimePasses(LEASE),
        Act::LapseDue,
        step(decide("lost", Decision::Happened).by("ada").result("3")),
        step(claim("two", 10).rule(OnUnknown::Retry)),
        step(undo("one").note("refunded")),
    ];
    acts.extend(runs());
    acts.extend((20..24).map(|n| step(once(&format!("more/{n}"), n))));
    acts.extend([Act::TimePasses(Millis::days(31)), Act::Sweep]);
    acts
}

/// A run with its key, mail and a long value; one that waits for its lane and is let in.
fn runs() -> Vec<Act> {
    let begin = |start| Change::Start(Box::new(start));
    let go = |n, at, next| Change::Advance(Box::new(advance(n, at, next)));
    let narrow = lane(1, 1, WhenFull::Queue);
    let long = vec![7; 40_000];
    let first = start(1).once(once("order/1", 40)).in_lane(narrow);
    vec![
        Act::Join,
        Act::Runs(vec![begin(first.run(|run| run.contents = vec![long]))]),
        Act::Runs(vec![begin(start(2).in_lane(narrow).latest(1, 1))]),
        Act::Runs(vec![go(1, 1, Next::GoOn), claim("order/1/mail", 41).into()]),
        Act::Runs(vec![mail(1, "hello"), go(1, 2, rest(RunState::Waiting))]),
        Act::Runs(vec![Change::Take { limit: 9 }]),
        Act::Runs(vec![go(1, 3, finish(RunState::Done))]),
        Act::Runs(vec![
            Change::Take { limit: 9 },
            go(2, 1, show(RunState::Running)),
        ]),
    ]
}

/// Options for the script: a log so short that checkpoints come in the middle of it.
pub(crate) fn options(clock: &Arc<ManualClock>, vfs: Option<&str>) -> Options {
    Options {
        clock: Some(Arc::clone(clock) as _),
        vfs: vfs.map(str::to_owned),
        connections: 1,
        checkpoint_pages: 40,
        ..Options::default()
    }
}

pub(crate) async fn perform(
    store: &Store,
    clock: &ManualClock,
    act: &Act,
) -> Result<(), StoreError> {
    match act.clone() {
        Act::Step(change) => store.step(*change).await.map(drop),
        Act::Commit(changes) => {
            let changes = changes.into_iter().map(Into::into).collect();
            store.commit(changes).await.map(drop)
        }
        Act::Join => store.join("script").await.map(drop),
        Act::Runs(changes) => store.commit(changes).await.map(drop),
        Act::TimePasses(span) => {
            clock.advance(span);
            Ok(())
        }
        Act::WriteReceipts => store.write_receipts().await.map(drop),
        Act::LapseDue => store.lapse_due().await.map(drop),
        Act::Sweep => store.sweep_bite(0).await.map(drop),
    }
}

/// What each act leads to, as the ledger in memory has it; the moment is the act's number.
pub(crate) async fn expected() -> History {
    let clock = Arc::new(ManualClock::at(START));
    let store = Store::open(&Location::Memory, options(&clock, None)).await;
    let store = store.expect("it opens");
    let mut history = History::default();
    for (number, act) in (1..).zip(script()) {
        perform(&store, &clock, &act).await.expect("it is done");
        let found = Found::read(&store).await.expect("it is read");
        history.acknowledge_all(found, number);
    }
    history
}

/// What the ledger at `path`, opened as after a restart, lacks of the first `acts` acts.
pub(crate) async fn losses(path: &Path, history: &History, acts: usize) -> Vec<String> {
    let clock = Arc::new(ManualClock::at(START));
    let location = Location::Sqlite(path.to_owned());
    let store = Store::open(&location, options(&clock, None)).await;
    let store = match store {
        Ok(store) => store,
        Err(error) => return vec![format!("it does not open: {error:?}")],
    };
    let found = Found::read(&store).await.expect("it is read");
    let losses = history.losses(&found, acts);
    store.close().await.expect("it closes");
    losses
}
