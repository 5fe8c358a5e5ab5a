//! Concurrent callers on a recorded disk, each noting what was acknowledged to it and when.

use std::sync::{Arc, Mutex, PoisonError};

use semel_faults::Disk;
use semel_ledger::{Decision, EffectId, Millis, OnUnknown, Outcome, Verdict};
use semel_store::run::{Next, RunState};
use semel_store::{Change, EffectChange, Location, ManualClock, Options, Store};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::shared::history::{Found, History, Known};
use crate::shared::runs::{Starting as _, advance, finish, mail, rest, run_id, show, start};
use crate::shared::{LEASE, START, Saying as _, claim, decide, once, settle};

const CALLERS: u64 = 8;
const ROUNDS: u64 = 10;

/// A finished run: the disk's record and what was acknowledged.
pub(crate) struct Run {
    pub(crate) disk: Arc<Disk>,
    pub(crate) history: History,
    /// The position at which the store was open.
    pub(crate) opened: usize,
    _directory: TempDir,
}

#[derive(Clone)]
struct Caller {
    store: Arc<Store>,
    disk: Arc<Disk>,
    history: Arc<Mutex<History>>,
}

impl Caller {
    /// Takes one step and, if it wrote, notes the state it led to.
    async fn step(&self, change: EffectChange, result: Option<&str>) -> Verdict {
        let effect = change.effect.clone();
        let answered = self.store.step(change).await.expect("an answer");
        let at = self.disk.position();
        let wrote = !answered.verdict.is_refusal() && answered.verdict != Verdict::Stale;
        if let Some(entry) = answered.entry.filter(|_| wrote) {
            let result = result.map(Into::into);
            self.note(&effect, at, Known::Effect { entry, result });
        }
        answered.verdict
    }

    /// Commits changes to a run that nobody else writes to, and notes what it is then.
    async fn moves(&self, n: u64, changes: Vec<Change>) {
        self.store.commit(changes).await.expect("answers");
        let loaded = self.store.load_run(run_id(n)).await.expect("an answer");
        let at = self.disk.position();
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.acknowledged_run(loaded.expect("it is there"), at);
    }

    fn note(&self, effect: &EffectId, at: usize, known: Known) {
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.acknowledged(effect, at, known);
    }

    /// Whatever a reader sees is durable, so all of it counts as acknowledged.
    async fn note_all(&self) {
        let found = Found::read(&self.store).await.expect("it is read");
        let at = self.disk.position();
        let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.acknowledge_all(found, at);
    }
}

/// Runs the workload over a disk of that name, with or without the sync at each commit.
pub(crate) fn run(vfs: &str, unsafe_no_sync: bool) -> Run {
    let directory = tempfile::tempdir().expect("a directory");
    let disk = Disk::register(vfs, directory.path()).expect("the name is free");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .expect("a runtime");
    let clock = Arc::new(ManualClock::at(START));
    let options = Options {
        clock: Some(Arc::clone(&clock) as _),
        connections: 2,
        vfs: Some(vfs.to_owned()),
        checkpoint_pages: 60,
        unsafe_no_sync,
        ..Options::default()
    };
    let location = Location::Sqlite(directory.path().join("semel.db"));
    let (history, opened) = runtime.block_on(async {
        let store = Store::open(&location, options).await.expect("it opens");
        let caller = Caller {
            store: Arc::new(store),
            disk: Arc::clone(&disk),
            history: Arc::default(),
        };
        caller.store.join("power cut").await.expect("it joins");
        let opened = disk.position();
        live(&caller, &clock).await;
        let history = std::mem::take(&mut *caller.history.lock().expect("nobody panicked"));
        (history, opened)
    });
    Run {
        disk,
        history,
        opened,
        _directory: directory,
    }
}

async fn live(caller: &Caller, clock: &ManualClock) {
    for phase in 0..2 {
        let mut callers = JoinSet::new();
        for me in 0..CALLERS {
            let caller = caller.clone();
            callers.spawn(async move {
                for round in 0..ROUNDS {
                    work(&caller, phase, me, round).await;
                }
            });
        }
        callers.join_all().await;
        caller.store.write_receipts().await.expect("receipts");
        caller.note_all().await;
        go_on_with_runs(caller, phase).await;
        clock.advance(LEASE);
        let lapsed = caller.store.lapse_due().await.expect("a count");
        assert!(lapsed > 0);
        caller.note_all().await;
        settle_the_unknown(caller, phase).await;
    }
    clock.advance(Millis::days(31));
    let swept = caller.store.sweep_bite(0).await.expect("a sweep");
    assert!(swept.swept > 0);
    caller.note_all().await;
    caller.store.give_back().await.expect("it gives back");
    caller.note_all().await;
}

/// One caller's round: an effect of its own, one that all callers want, one done at once, and
/// one that it leaves behind.
async fn work(caller: &Caller, phase: u64, me: u64, round: u64) {
    let n = number(phase, me, round);
    let own = format!("own/{n}");
    caller
        .step(claim(&own, n).input(&n.to_string()), None)
        .await;
    // Every third result is too long for its row.
    let result = match round % 3 {
        0 => format!("\"{n} {}\"", "long ".repeat(7000)),
        _ => format!("{{\"n\": {n}}}"),
    };
    let done = settle(&own, n, Outcome::Done).result(&result);
    caller.step(done, Some(&result)).await;

    let wanted = format!("wanted/{phase}/{round}");
    let verdict = caller.step(claim(&wanted, n), None).await;
    if verdict == Verdict::Granted {
        let failed = settle(&wanted, n, Outcome::Unknown).note("reset");
        caller.step(failed, None).await;
    }
    caller
        .step(once(&format!("once/{n}"), n).result("1"), Some("1"))
        .await;
    if round.is_multiple_of(3) {
        start_run(caller, n).await;
    }
    if me.is_multiple_of(4) {
        caller.step(claim(&format!("left/{n}"), n), None).await;
    }
}

/// One run until it rests with mail, with a long value on the way.
async fn start_run(caller: &Caller, n: u64) {
    let begin = start(n).run(|run| run.contents = vec![n.to_be_bytes().repeat(5000)]);
    caller.moves(n, vec![Change::Start(Box::new(begin))]).await;
    let row = |at, next| Change::Advance(Box::new(advance(n, at, next)));
    caller.moves(n, vec![row(1, Next::GoOn)]).await;
    let told = vec![mail(n, "hello"), row(2, rest(RunState::Waiting))];
    caller.moves(n, told).await;
}

/// Takes all runs that have mail, reads it, and ends every other one.
async fn go_on_with_runs(caller: &Caller, phase: u64) {
    let take = vec![Change::Take { limit: 1000 }];
    caller.store.commit(take).await.expect("answers");
    caller.note_all().await;
    for me in 0..CALLERS {
        let n = number(phase, me, 0);
        let next = match me % 2 {
            0 => finish(RunState::Done),
            _ => show(RunState::Running),
        };
        let mut read = advance(n, 3, next);
        read.read_mail = Some(i64::MAX);
        caller.moves(n, vec![Change::Advance(Box::new(read))]).await;
    }
}

fn number(phase: u64, me: u64, round: u64) -> u64 {
    phase << 32 | me << 16 | round
}

async fn settle_the_unknown(caller: &Caller, phase: u64) {
    for round in 0..ROUNDS {
        let left = format!("left/{}", phase << 32 | round);
        match round % 3 {
            0 => {
                let said = decide(&left, Decision::Happened).by("ada").result("2");
                caller.step(said, Some("2")).await;
            }
            1 => {
                let again = claim(&left, 1 << 60 | round).rule(OnUnknown::Retry);
                caller.step(again, None).await;
            }
            _ => {
                caller.step(decide(&left, Decision::Resend), None).await;
            }
        }
    }
}
