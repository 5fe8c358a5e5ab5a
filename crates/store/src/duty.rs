//! What must be done although nobody asks: one small step of each background duty.
//!
//! Owns finding what is due and putting it through the machine like any other change. When and
//! how often is for the caller. Each step is safe to repeat and safe to do on several nodes at
//! once: whoever comes second finds nothing left.

use semel_ledger::{Command, EffectId, Fence, Time, Verdict};

use crate::change::{Answer, Change, EffectChange};
use crate::error::StoreError;
use crate::node::{Membership, NodeChange, NodeState};
use crate::record::Record;
use crate::run::{Ended, RunId};
use crate::store::Store;

/// How many effects one step looks at.
pub const BITE: usize = 500;
/// How many runs one step frees.
const RUNS_BITE: u32 = 500;

/// What one step of the sweeper did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Where to go on; 0 when the end was reached and the walk starts anew.
    pub next: i64,
    /// How many were looked at.
    pub seen: usize,
    /// How many were forgotten or reduced to a tombstone.
    pub swept: usize,
}

/// What one step of the sweeper did with runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweptRuns {
    /// Where to go on; `None` when the end was reached and the walk starts anew.
    pub next: Option<RunId>,
    /// How many were looked at.
    pub seen: usize,
    /// How many were forgotten.
    pub swept: usize,
}

impl Store {
    /// Notices leases that ran out. Gives how many; if that is [`BITE`], there may be more.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn lapse_due(&self) -> Result<usize, StoreError> {
        let due = self.overdue(None, BITE).await?;
        self.put_through(
            due.into_iter()
                .map(|record| (record.effect, Command::Lapse)),
        )
        .await
    }

    /// Walks over one bite of the ledger and gives back what is no longer needed.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn sweep_bite(&self, after: i64) -> Result<Swept, StoreError> {
        let records = self.walk(after, BITE).await?;
        let (now, keep) = (self.now(), self.keep());
        let seen = records.len();
        let next = records
            .last()
            .filter(|_| seen == BITE)
            .map_or(0, |record| record.seq);
        let command = Command::Sweep { keep };
        let is_due = |record: &Record| {
            semel_ledger::apply(Some(&record.entry), &command, now).verdict == Verdict::Swept
        };
        let due = records
            .into_iter()
            .filter(is_due)
            .map(|record| (record.effect, command));
        let swept = self.put_through(due).await?;
        Ok(Swept { next, seen, swept })
    }

    async fn put_through(
        &self,
        due: impl Iterator<Item = (EffectId, Command)>,
    ) -> Result<usize, StoreError> {
        let changes: Vec<Change> = due
            .map(|(effect, command)| EffectChange::bare(effect, command).into())
            .collect();
        if changes.is_empty() {
            return Ok(0);
        }
        let answers = self.commit(changes).await?;
        let swept = |answer: &&Answer| matches!(answer, Answer::Effect(answered) if answered.verdict == Verdict::Swept);
        Ok(answers.iter().filter(swept).count())
    }

    /// Starts to serve as a node: from now on every commit is fenced by its epoch.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn join(&self, name: &str) -> Result<NodeState, StoreError> {
        let state = self
            .node(NodeChange::Join {
                name: name.to_owned(),
            })
            .await?;
        let state = state.ok_or(StoreError::Fenced)?;
        self.become_member(Some(Membership {
            node: state.node,
            epoch: state.epoch,
        }));
        Ok(state)
    }

    /// Goes on serving.
    ///
    /// # Errors
    /// [`StoreError::Fenced`] if another node has taken over: [`Store::join`] again.
    pub async fn renew(&self) -> Result<(), StoreError> {
        let Some(member) = self.member() else {
            return Err(StoreError::Fenced);
        };
        let state = self.node(NodeChange::Renew(member)).await?;
        let alive = state.is_some_and(|state| state.epoch == member.epoch && !state.fenced);
        if alive {
            Ok(())
        } else {
            Err(StoreError::Fenced)
        }
    }

    /// Leaves in good order.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn leave(&self) -> Result<(), StoreError> {
        let Some(member) = self.member() else {
            return Ok(());
        };
        // Whatever it still holds nobody will settle, and without its row nobody would look for it.
        self.abandon_all(member.node).await?;
        self.free_all(member.node).await?;
        self.node(NodeChange::Leave(member)).await?;
        self.become_member(None);
        Ok(())
    }

    /// Takes over from nodes that are dead: fences each, calls its claims unknown, frees its runs.
    /// With `all`, every other node is certainly dead (its lock was free). Gives the claims.
    ///
    /// Who knows more of what a dead node was doing does the same in three steps, and settles
    /// what it can between [`Store::fence`] and [`Store::bury`].
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn take_over(&self, all: bool) -> Result<usize, StoreError> {
        let mut unknown = 0;
        for node in self.dead_nodes(all).await? {
            if self.fence(&node, all).await? {
                unknown += self.bury(&node).await?;
            }
        }
        Ok(unknown)
    }

    /// The other nodes that are fenced or did not renew in time; with `all`, every other one.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn dead_nodes(&self, all: bool) -> Result<Vec<NodeState>, StoreError> {
        let (now, mine) = (self.now(), self.member());
        let mut nodes = self.nodes().await?;
        nodes.retain(|node| {
            let own = mine.is_some_and(|member| member.node == node.node);
            !own && (all || node.fenced || now >= node.lease_until)
        });
        Ok(nodes)
    }

    /// Lets a node commit nothing any more; with `force`, also before its lease has run out. Gives
    /// whether it is so: if not, it has renewed in the meantime.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn fence(&self, node: &NodeState, force: bool) -> Result<bool, StoreError> {
        if node.fenced {
            return Ok(true);
        }
        let member = Membership {
            node: node.node,
            epoch: node.epoch,
        };
        let after = self.node(NodeChange::Fence { member, force }).await?;
        Ok(after.is_some_and(|after| after.fenced))
    }

    /// Up to `limit` open claims of a node. Once it is fenced, anybody may settle them by their
    /// fences.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn held_by(&self, node: u64, limit: usize) -> Result<Vec<Record>, StoreError> {
        self.overdue(Some(node), limit).await
    }

    /// Ends a fenced node: what it still claims becomes unknown, its runs are free, its row goes.
    /// Gives how many claims became unknown.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn bury(&self, node: &NodeState) -> Result<usize, StoreError> {
        let unknown = self.abandon_all(node.node).await?;
        let runs = self.free_all(node.node).await?;
        // Nothing is left of it, so the row may go; if this process dies first, the next one goes on.
        self.node(NodeChange::Leave(Membership {
            node: node.node,
            epoch: node.epoch + 1,
        }))
        .await?;
        tracing::warn!(node = node.node, name = %node.name, unknown, runs, "took over from a dead node");
        Ok(unknown)
    }

    /// Calls everything unknown that a node holds; gives how much that was.
    async fn abandon_all(&self, node: u64) -> Result<usize, StoreError> {
        let mut unknown = 0;
        loop {
            let held = self.overdue(Some(node), BITE).await?;
            let last = held.len() < BITE;
            let abandon = |record: Record| {
                let fence: Fence = record.entry.fence;
                (record.effect, Command::Abandon { fence })
            };
            unknown += self.put_through(held.into_iter().map(abandon)).await?;
            if last {
                return Ok(unknown);
            }
        }
    }

    /// Lets go of every run that a node holds; gives how many.
    async fn free_all(&self, node: u64) -> Result<usize, StoreError> {
        let mut freed = 0;
        loop {
            let limit = RUNS_BITE;
            let bite = self.counted(Change::Free { node, limit }).await?;
            freed += bite;
            if bite < limit as usize {
                return Ok(freed);
            }
        }
    }

    /// Walks over one bite of the runs and forgets those that ended long enough ago.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn sweep_runs_bite(&self, after: Option<RunId>) -> Result<SweptRuns, StoreError> {
        let after = after.unwrap_or(RunId([0; 16]));
        let runs = self.ended_runs(after, BITE).await?;
        let keep = i64::try_from(self.keep().0).unwrap_or(i64::MAX);
        let until = Time(self.now().0.saturating_sub(keep));
        let seen = runs.len();
        let next = runs.last().filter(|_| seen == BITE).map(|run| run.id);
        let due = |run: &Ended| run.at.is_some_and(|at| at <= until).then_some(run.id);
        let runs: Vec<RunId> = runs.iter().filter_map(due).collect();
        let swept = if runs.is_empty() {
            0
        } else {
            self.counted(Change::Forget { runs, until }).await?
        };
        Ok(SweptRuns { next, seen, swept })
    }

    /// Forgets one bite of values that have expired; gives how many. If that is [`BITE`], there may be
    /// more.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn sweep_kv_bite(&self) -> Result<usize, StoreError> {
        let limit = u32::try_from(BITE).unwrap_or(u32::MAX);
        self.counted(Change::SweepKv { limit }).await
    }

    async fn counted(&self, change: Change) -> Result<usize, StoreError> {
        match self.commit(vec![change]).await?.pop() {
            Some(Answer::Counted(count)) => Ok(count),
            _ => Err(StoreError::Closed),
        }
    }

    async fn node(&self, change: NodeChange) -> Result<Option<NodeState>, StoreError> {
        match self.commit(vec![Change::Node(change)]).await?.pop() {
            Some(Answer::Node(state)) => Ok(state),
            _ => Err(StoreError::Closed),
        }
    }
}
