//! Nodes that die, are followed by others, or are only taken for dead.

use std::sync::Arc;

use super::{MOMENT, Sim, SimError};
use crate::conductor::{Outside, Signal};
use crate::node::{Life, Node, accept};

/// The number of the second node's life; no other gets as far.
const OTHER: u32 = 1_000;

impl Sim<'_> {
    pub(super) async fn obey(&mut self, signal: Signal) -> Result<(), SimError> {
        match signal {
            Signal::Crash { life: OTHER, .. } => {
                self.world.tell("the second node dies");
                self.other.take().iter_mut().for_each(Node::kill);
                Ok(())
            }
            Signal::Crash { power, .. } => {
                self.world.tell(if power {
                    "the power fails"
                } else {
                    "the process dies"
                });
                self.follow(power).await
            }
            Signal::Outside(outside, go_on) => {
                Box::pin(self.comes(outside)).await?;
                let _ = go_on.send(());
                Ok(())
            }
            Signal::Meanwhile => {
                self.world.tell("the same event comes at the same time");
                for at in 0..self.stage.events.len() {
                    let (engine, stage) = (self.node.engine.clone(), Arc::clone(self.stage));
                    let arrival = self.arrival(at);
                    self.meanwhile.spawn(async move {
                        // Whoever sent it has been told of it before, or is told what became of the first.
                        let _ = accept(engine, stage, arrival).await;
                    });
                }
                Ok(())
            }
            Signal::Overtaken(wake) => {
                let next = self.successor(false).await?;
                let old = std::mem::replace(&mut self.node, next);
                self.zombies.push((old, wake));
                Ok(())
            }
        }
    }

    async fn comes(&mut self, outside: Outside) -> Result<(), SimError> {
        match outside {
            Outside::Resend => {
                self.world.tell("the same event comes in the middle");
                for at in 0..self.stage.events.len() {
                    self.deliver(at).await?;
                }
                Ok(())
            }
            Outside::Retry => self.retry().await,
            Outside::Jump(millis) => {
                self.world.clock.jump(millis);
                self.jumped |= millis > 0;
                self.world.tell(if millis > 0 {
                    "the clock jumps a day ahead"
                } else {
                    "the clock jumps an hour back"
                });
                Ok(())
            }
            Outside::CallBack => self.call_back().await.map(drop),
            Outside::Yes => self.say_yes(2).await.map(drop),
        }
    }

    /// Another process takes the place of one that died.
    async fn follow(&mut self, power: bool) -> Result<(), SimError> {
        self.node.kill();
        // What was aborted is dropped before anybody else goes on.
        tokio::time::sleep(MOMENT).await;
        if power {
            self.recorder.lose_power();
        }
        self.node = self.successor(true).await?;
        self.world.tell("another process begins");
        Ok(())
    }

    /// A node that takes over; it may die while it begins.
    pub(super) async fn successor(&mut self, records: bool) -> Result<Node, SimError> {
        loop {
            let conductor = Arc::clone(&self.conductor);
            let signal = tokio::select! {
                biased;
                signal = conductor.signal() => signal,
                node = self.next_life(records) => return node,
            };
            match signal {
                Signal::Crash { power, .. } => {
                    self.world.tell("it dies while it begins");
                    if power {
                        self.recorder.lose_power();
                    }
                }
                // Whoever comes meets nobody, and does so later.
                Signal::Outside(_, go_on) | Signal::Overtaken(go_on) => {
                    let _ = go_on.send(());
                }
                Signal::Meanwhile => {}
            }
        }
    }

    /// On the same machine it finds what was recorded there.
    async fn next_life(&mut self, records: bool) -> Result<Node, SimError> {
        self.life += 1;
        let life = Life {
            number: self.life,
            recorder: records.then_some(&self.recorder),
            alone: self.other.is_none(),
        };
        Ok(Node::begin(&self.root, &self.world, self.stage, life).await?)
    }

    /// A second node serves, too.
    pub(super) async fn join_other(&mut self) -> Result<(), SimError> {
        let life = Life {
            number: OTHER,
            recorder: None,
            alone: false,
        };
        self.world.tell("a second node serves");
        let other = Node::begin(&self.root, &self.world, self.stage, life).await?;
        self.other = Some(other);
        Ok(())
    }

    /// Nodes that were taken for dead go on where they were.
    pub(super) fn wake_up(&mut self) {
        for (node, wake) in self.zombies.drain(..) {
            let _ = wake.send(());
            self.woken.push(node);
        }
    }
}
