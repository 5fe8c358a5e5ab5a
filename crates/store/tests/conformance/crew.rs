//! A store that serves as a node, spoken to about runs.

use std::sync::Arc;

use semel_ledger::{Millis, Time};
use semel_store::run::{Advance, Loaded, Run, RunId, RunState, Start, StartOutcome, Started};
use semel_store::{Answer, Change, Store};

use crate::fixture::World;
use crate::shared::runs::run_id;

/// One node, its store, and the world it lives in.
pub(crate) struct Crew {
    pub(crate) world: World,
    pub(crate) node: u64,
}

impl Crew {
    /// Makes the world's store serve.
    pub(crate) async fn join(world: World) -> Crew {
        let node = world.store.join("crew").await.expect("it joins").node;
        Crew { world, node }
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.world.store
    }

    pub(crate) fn now(&self) -> Time {
        self.store().now()
    }

    pub(crate) fn pass(&self, span: Millis) {
        self.world.pass(span);
    }

    pub(crate) async fn change(&self, change: Change) -> Answer {
        let mut answers = self.changes(vec![change]).await;
        answers.pop().expect("an answer")
    }

    pub(crate) async fn changes(&self, changes: Vec<Change>) -> Vec<Answer> {
        self.store().commit(changes).await.expect("answers")
    }

    pub(crate) async fn start(&self, start: Start) -> Started {
        self.store().start(start).await.expect("an answer")
    }

    /// Starts a run that the node must hold afterwards.
    pub(crate) async fn begin(&self, start: Start) {
        let started = self.start(start).await;
        assert_eq!(started.outcome, StartOutcome::Started { held: true });
    }

    pub(crate) async fn advance(&self, advance: Advance) -> bool {
        match self.change(Change::Advance(Box::new(advance))).await {
            Answer::Advanced(done) => done,
            other => panic!("{other:?} is not of a run"),
        }
    }

    pub(crate) async fn mail(&self, n: u64, note: &str) -> bool {
        match self.change(crate::shared::runs::mail(n, note)).await {
            Answer::Mailed(sent) => sent,
            other => panic!("{other:?} is not of mail"),
        }
    }

    pub(crate) async fn take(&self, limit: u32) -> Vec<RunId> {
        match self.change(Change::Take { limit }).await {
            Answer::Taken(runs) => runs,
            other => panic!("{other:?} is not of taking"),
        }
    }

    pub(crate) async fn find(&self, n: u64) -> Option<Run> {
        self.store().run(run_id(n)).await.expect("an answer")
    }

    pub(crate) async fn run(&self, n: u64) -> Run {
        self.find(n).await.expect("the run is there")
    }

    pub(crate) async fn state(&self, n: u64) -> RunState {
        self.run(n).await.state
    }

    pub(crate) async fn load(&self, n: u64) -> Loaded {
        let loaded = self.store().load_run(run_id(n)).await.expect("an answer");
        loaded.expect("the run is there")
    }

    /// What a run was told and has not read.
    pub(crate) async fn notes(&self, n: u64) -> Vec<Box<str>> {
        let mail = self.load(n).await.mail;
        mail.into_iter().map(|mail| mail.note).collect()
    }

    /// The positions in a run's journal.
    pub(crate) async fn positions(&self, n: u64) -> Vec<u32> {
        let journal = self.load(n).await.journal;
        journal.into_iter().map(|row| row.at).collect()
    }
}
