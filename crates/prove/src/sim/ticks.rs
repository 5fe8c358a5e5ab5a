//! Ticks: the engine's own clockwork starts runs; here only time passes, and nodes are there or not.

use semel_flow::model::Missed;
use semel_flow::schedule::next_tick;
use semel_ledger::{Millis, Time};
use semel_store::run::Run;

use super::{MOMENT, Sim, SimError};
use crate::schedule::Delivery;
use crate::stage::Clockwork;

/// How long after a missed tick somebody is there again.
const LATE: Millis = Millis::seconds(300);

impl Sim<'_> {
    pub(super) async fn ticks(&mut self, clockwork: &Clockwork) -> Result<(), SimError> {
        if self.delivery == Delivery::Nodes {
            self.join_other().await?;
        }
        // Ticks count from the first look.
        let looked = self.root.now();
        self.settle().await?;
        let mut tick = self.pass_to_tick(clockwork, looked)?;
        if self.delivery == Delivery::Missed {
            tick = self.miss(clockwork, tick).await?;
        } else {
            self.world.tell("the tick comes");
            self.let_look().await?;
        }
        if self.delivery == Delivery::NextTick {
            let next = next_tick(&clockwork.schedule.timing, tick).ok_or(SimError::NoTick)?;
            self.world.clock.pass(next.since(self.root.now()));
            self.world
                .tell("the next tick comes, and the list is the same");
            self.let_look().await?;
        }
        Ok(())
    }

    fn pass_to_tick(&mut self, clockwork: &Clockwork, looked: Time) -> Result<Time, SimError> {
        let now = self.root.now();
        let after = now.max(looked);
        let tick = next_tick(&clockwork.schedule.timing, after).ok_or(SimError::NoTick)?;
        // A moment before, so that it comes while somebody looks.
        let before = Millis(tick.since(now).0.saturating_sub(1));
        self.world.clock.pass(before);
        Ok(tick)
    }

    /// Every node looks at the clock once a second at the latest.
    async fn let_look(&mut self) -> Result<(), SimError> {
        for _ in 0..3 {
            self.settle().await?;
            let conductor = std::sync::Arc::clone(&self.conductor);
            tokio::select! {
                biased;
                signal = conductor.signal() => self.obey(signal).await?,
                () = tokio::time::sleep(super::LONG_MOMENT) => {}
            }
        }
        self.settle().await
    }

    /// Nobody is there when the tick is due, nor at the next one; then somebody is.
    async fn miss(&mut self, clockwork: &Clockwork, tick: Time) -> Result<Time, SimError> {
        self.world.tell("the process dies");
        self.node.kill();
        tokio::time::sleep(MOMENT).await;
        let next = next_tick(&clockwork.schedule.timing, tick).unwrap_or(tick);
        self.world.clock.pass(next.since(self.root.now()));
        self.world.clock.pass(LATE);
        self.world.tell("two ticks have passed with nobody there");
        self.node = self.successor(true).await?;
        self.world.tell("another process begins");
        self.let_look().await?;
        // What is due is the file's to say.
        self.ticks_due = match clockwork.schedule.missed {
            Missed::Skip => 0,
            Missed::Once => 1,
            Missed::All => 2,
        };
        Ok(next)
    }
}

/// Whether a run only fetches a list.
pub(super) fn is_fetch(run: &Run) -> bool {
    run.key.as_str().starts_with("fetch/")
}
