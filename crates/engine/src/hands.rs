//! The runs in this node's hands: who works on them, and how they hear that mail came.
//!
//! Owns their tasks. What a run does is in [`crate::worker`]. The
//! invariant: whoever is in the list of held runs is told of mail that came after it got there.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use semel_flow::Flow;
use semel_flow::model::OverlapPolicy;
use semel_store::StoreError;
use semel_store::node::Membership;
use semel_store::run::RunId;
use tokio::sync::Notify;

use crate::engine::{Inner, Room};
use crate::flows::Compiled;
use crate::{load, worker};

/// A run in this node's hands.
pub(crate) struct Held {
    /// To tell it that mail came.
    called: Arc<Notify>,
    compiled: Arc<Compiled>,
}

impl Inner {
    /// A task that is waited for when this node stops.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut works = self.works.lock().unwrap_or_else(PoisonError::into_inner);
        while works.try_join_next().is_some() {}
        // It is large, and would be moved several times.
        works.spawn(Box::pin(task));
    }

    /// Takes up a run, in a task of its own.
    fn take(self: &Arc<Inner>, room: Room, active: worker::Active) {
        let inner = Arc::clone(self);
        // Before the task begins, so that mail which comes meanwhile is noticed.
        let called = self.hold(&active);
        self.spawn(async move { inner.work_called(room, Box::new(active), &called).await });
    }

    /// Works on a run until it rests or is over.
    pub(crate) async fn work(self: &Arc<Inner>, room: Room, active: Box<worker::Active>) {
        let called = self.hold(&active);
        self.work_called(room, active, &called).await;
    }

    async fn work_called(
        self: &Arc<Inner>,
        room: Room,
        active: Box<worker::Active>,
        called: &Notify,
    ) {
        let id = active.id;
        worker::work(self, active, called).await;
        self.let_go(id);
        drop(room);
        if self.crowded.swap(false, Ordering::AcqRel) {
            self.due.notify_one();
        }
    }

    /// Notes that this node holds a run; what is given is told when mail came for it.
    fn hold(&self, active: &worker::Active) -> Arc<Notify> {
        let called = Arc::new(Notify::new());
        let it = Held {
            called: Arc::clone(&called),
            compiled: Arc::clone(&active.compiled),
        };
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.insert(active.id, it);
        called
    }

    fn let_go(&self, run: RunId) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.remove(&run);
    }

    /// Mail came for a run: if it is in this node's hands, it looks; else it may be due.
    pub(crate) fn mail_came(&self, run: RunId) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.get(&run) {
            Some(held) => held.called.notify_one(),
            None => self.due.notify_one(),
        }
    }

    /// A run of this flow was started. If the flow's policy is that it replaces others, those in
    /// this node's hands have mail.
    pub(crate) fn has_started(&self, flow: &Flow) {
        let policy = flow.overlap.as_ref().map(|overlap| overlap.policy);
        if policy == Some(OverlapPolicy::Replace) {
            let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            let name = &flow.name.it;
            for held in held.values().filter(|it| it.compiled.flow.name.it == *name) {
                held.called.notify_one();
            }
        }
        self.due.notify_one();
    }

    /// Loads runs that this node has just taken and works on them.
    pub(crate) async fn take_up(
        self: &Arc<Inner>,
        runs: &[RunId],
        member: Membership,
    ) -> Result<(), StoreError> {
        for loaded in self.store.load_runs(runs).await? {
            let id = loaded.run.id;
            match load::active(self, loaded, member).await {
                Ok(active) => {
                    let permit = Arc::clone(&self.room).acquire_owned().await;
                    let Ok(permit) = permit else { return Ok(()) };
                    self.take(Room { permit }, active);
                }
                Err(error) => load::set_aside(self, id, &error).await,
            }
        }
        Ok(())
    }
}
