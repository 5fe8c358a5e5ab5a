//! Events on their way: once, again, together, in another order; and senders who wait for their answer.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::Trigger;
use semel_ledger::Millis;
use semel_store::ReceiptFilter;

use super::{DELIVERIES, Sim, SimError};
use crate::conductor::Signal;
use crate::events::Arrival;
use crate::node::{Arrived, Refused, accept};
use crate::schedule::Delivery;

/// When an event comes again that was done.
const AGAIN: Millis = Millis::seconds(60);
/// How long a sender may send again of which nobody knows.
const SENDS_FOR: Millis = Millis::days(1);

impl Sim<'_> {
    pub(super) async fn events(&mut self) -> Result<(), SimError> {
        if self.delivery == Delivery::Nodes {
            self.join_other().await?;
        }
        for at in 0..self.stage.events.len() {
            self.world.tell("the event comes");
            self.deliver(at).await?;
        }
        self.settle().await?;
        let pause = match self.delivery {
            Delivery::Again => AGAIN,
            Delivery::Later => self.sends_for(),
            _ => return Ok(()),
        };
        self.world.clock.pass(pause);
        for at in 0..self.stage.events.len() {
            self.world.tell("the same event comes again");
            self.deliver(at).await?;
        }
        self.settle().await?;
        self.is_on_record().await
    }

    /// What was sent again and started nothing is on record as that.
    async fn is_on_record(&mut self) -> Result<(), SimError> {
        self.node.engine.store().write_receipts().await?;
        let filter = ReceiptFilter {
            limit: 1,
            ..ReceiptFilter::default()
        };
        let receipts = self.root.receipts(&filter).await?;
        self.unrecorded = receipts.items.is_empty();
        Ok(())
    }

    /// For how long its sender sends an event again; who remembers keys for less time says how long that is.
    fn sends_for(&self) -> Millis {
        let flow = self.stage.flow();
        let known = flow.triggers.iter().find_map(|trigger| match trigger {
            Trigger::Webhook(hook) => hook.verify.preset.it.retry_horizon(),
            _ => None,
        });
        let remember = flow.remember.as_ref();
        let said = remember.map_or(SENDS_FOR, |it| Millis(it.it.0.saturating_sub(AGAIN.0)));
        known.unwrap_or(SENDS_FOR.min(said))
    }

    pub(super) async fn in_order(&mut self) -> Result<(), SimError> {
        let mut order: Vec<usize> = (0..self.stage.ordered.len()).collect();
        if let Delivery::Swapped(one, other) = self.delivery {
            let last = order.len().saturating_sub(1);
            let at = |number: u8| usize::from(number.saturating_sub(1)).min(last);
            order.swap(at(one), at(other));
        }
        for at in order {
            self.world.tell(format!("event {} comes", at + 1));
            self.deliver(at).await?;
            self.settle().await?;
            self.world.clock.pass(AGAIN);
        }
        Ok(())
    }

    /// The next delivery of an event.
    pub(super) fn arrival(&mut self, at: usize) -> Arrival {
        let ordered = self.delivery.is_ordered();
        let events: &[Value] = if ordered {
            &self.stage.ordered
        } else {
            &self.stage.events
        };
        self.sent[at] += 1;
        self.stage.sender.sends(&events[at], self.sent[at])
    }

    /// Sends an event until it is acknowledged.
    pub(super) async fn deliver(&mut self, at: usize) -> Result<(), SimError> {
        for _ in 0..DELIVERIES {
            let (conductor, stage) = (Arc::clone(&self.conductor), Arc::clone(self.stage));
            let arrivals = match self.delivery {
                Delivery::Together | Delivery::Nodes => vec![self.arrival(at), self.arrival(at)],
                _ => vec![self.arrival(at)],
            };
            let engines = self
                .nodes()
                .map(|node| node.engine.clone())
                .collect::<Vec<_>>();
            let taking = arrivals.into_iter().zip(engines.into_iter().cycle());
            let taking = taking.map(|(it, engine)| accept(engine, Arc::clone(&stage), it));
            let mut taking = Box::pin(all(taking.collect()));
            loop {
                let signal = tokio::select! {
                    biased;
                    taken = &mut taking => match taken {
                        Ok(late) => {
                            self.stale += late;
                            return Ok(());
                        }
                        // It was killed meanwhile; who sent it does not know.
                        Err(Refused::Store(_)) => break,
                        Err(refused) => return Err(refused.into()),
                    },
                    signal = conductor.signal() => signal,
                };
                let is_over = matches!(signal, Signal::Crash { .. });
                Box::pin(self.obey(signal)).await?;
                if is_over {
                    break;
                }
            }
            self.world
                .tell("nobody acknowledged the event: it is sent again");
        }
        Ok(())
    }
}

/// Waits for all; gives how many of them were stale.
async fn all<F>(taking: Vec<F>) -> Result<usize, Refused>
where
    F: Future<Output = Result<Arrived, Refused>>,
{
    let mut taking = taking.into_iter();
    let stale = |arrived: Arrived| usize::from(arrived == Arrived::Stale);
    match (taking.next(), taking.next()) {
        (Some(one), Some(other)) => {
            let (one, other) = tokio::join!(one, other);
            Ok(stale(one?) + stale(other?))
        }
        (Some(one), None) => one.await.map(stale),
        _ => Ok(0),
    }
}
