//! Measures flows beside servers written by hand, one after the other on the same disk.

use std::sync::Arc;

use semel_store::Options;

use super::flows::{self, ByHand, Flowing, RESENT, Sink};
use super::load::{Bounds, Measured};
use super::report::FlowLine;
use super::server::Server;
use super::{Bench, FRESH, disk};

/// The bytes of one event's row.
const EVENT_BYTES: usize = 1100;

impl Bench {
    pub(super) async fn flows(&mut self) -> anyhow::Result<Vec<FlowLine>> {
        let mut lines = Vec::new();
        if self.plan.postgres.is_some() || self.plan.through == super::Through::Store {
            return Ok(lines);
        }
        for flowing in Flowing::ALL {
            for callers in self.plan.callers.clone() {
                self.say(&format!("{} by hand", flowing.name()));
                let (reference, reference_cpu_us) = self.by_hand(flowing, callers).await?;
                self.say(flowing.name());
                let (measured, cpu_us) = self.by_semel(flowing, callers).await?;
                let ratio = measured.per_second / reference.per_second;
                lines.push(FlowLine {
                    flowing,
                    work: flowing.name(),
                    measured,
                    cpu_us,
                    reference,
                    reference_cpu_us,
                    ratio,
                });
            }
        }
        Ok(lines)
    }

    async fn by_hand(&self, flowing: Flowing, callers: usize) -> anyhow::Result<(Measured, f64)> {
        let sink = Arc::new(Sink::default());
        let to = sink.serve().await?;
        let name = format!(
            "by-hand-{}-{callers}",
            flowing.name().replace([' ', '%'], "-")
        );
        let table = disk::RawTable::create(self.directory(), &name, EVENT_BYTES)?;
        let group = table.behind_group_commit(Options::default().batch);
        let steps = (flowing == Flowing::ThreeSteps).then_some(to);
        let address = ByHand::new(group, steps).serve().await?;
        let before = flows::cpu_us();
        let measured = flows::measure(address, &sink, flowing, callers, self.bounds, FRESH).await?;
        Ok((measured.clone(), each(before, &measured)))
    }

    async fn by_semel(
        &mut self,
        flowing: Flowing,
        callers: usize,
    ) -> anyhow::Result<(Measured, f64)> {
        let sink = Arc::new(Sink::default());
        let flow = flows::flow(sink.serve().await?, flowing == Flowing::ThreeSteps);
        let store = self.open_empty().await?;
        let data = flows::data(self.directory(), &format!("flight-{}", self.opened))?;
        // Accepting is measured by itself, as the handler by hand does nothing else either.
        let runs = if flowing == Flowing::ThreeSteps {
            1024
        } else {
            0
        };
        let server = Server::of_flow(store, data, &flow, runs).await?;
        let address = server.target.address;
        if flowing == Flowing::Resend {
            let all = Bounds {
                operations: RESENT,
                ..super::DONE_KEYS
            };
            flows::measure(address, &sink, Flowing::Accept, 64, all, 0).await?;
        }
        let before = flows::cpu_us();
        let measured = flows::measure(address, &sink, flowing, callers, self.bounds, FRESH).await?;
        let cpu = each(before, &measured);
        server.stop().await?;
        Ok((measured, cpu))
    }
}

/// Processor time for each, with that of the load and the destination, which run in this process too.
fn each(before: f64, measured: &Measured) -> f64 {
    (flows::cpu_us() - before) / super::load::to_f64(measured.operations.max(1))
}
