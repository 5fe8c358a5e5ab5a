//! Measures flows beside servers written by hand, one after the other on the same disk.

use std::net::SocketAddr;
use std::sync::Arc;

use semel_store::Options;

use super::flows::{self, ByHand, Flowing, RESENT, Sink};
use super::load::{Bounds, Measured};
use super::report::FlowLine;
use super::server::Server;
use super::{Bench, FRESH, apart, disk};

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
        let (sink, to) = self.sink().await?;
        let name = format!(
            "by-hand-{}-{callers}",
            flowing.name().replace([' ', '%'], "-")
        );
        let table = disk::RawTable::create(self.directory(), &name, EVENT_BYTES)?;
        let group = table.behind_group_commit(Options::default().batch);
        let steps = flowing.has_steps().then_some(to);
        let address = ByHand::new(group, steps, flowing).serve().await?;
        let before = apart::cpu_us();
        let measured = self.load(address, &sink, flowing, callers).await?;
        Ok((measured.clone(), each(before, &measured)))
    }

    async fn sink(&self) -> anyhow::Result<(Arc<Sink>, SocketAddr)> {
        let sink = Arc::new(Sink::default());
        let serving = Arc::clone(&sink);
        let to = self.apart.run(async move { serving.serve().await }).await?;
        Ok((sink, to))
    }

    async fn load(
        &self,
        address: SocketAddr,
        sink: &Arc<Sink>,
        flowing: Flowing,
        callers: usize,
    ) -> anyhow::Result<Measured> {
        let (sink, bounds) = (Arc::clone(sink), self.bounds);
        let load =
            async move { flows::measure(address, &sink, flowing, callers, bounds, FRESH).await };
        self.apart.run(load).await
    }

    async fn by_semel(
        &mut self,
        flowing: Flowing,
        callers: usize,
    ) -> anyhow::Result<(Measured, f64)> {
        let (sink, to) = self.sink().await?;
        let flow = flows::flow(to, flowing);
        let store = self.open_empty().await?;
        let data = flows::data(self.directory(), &format!("flight-{}", self.opened))?;
        // Accepting is measured by itself, as the handler by hand does nothing else either.
        let runs = if flowing.has_steps() { 1024 } else { 0 };
        let server = Server::of_flow(store, data, &flow, runs).await?;
        let address = server.target.address;
        if flowing == Flowing::Resend {
            let all = Bounds {
                operations: RESENT,
                ..super::DONE_KEYS
            };
            flows::measure(address, &sink, Flowing::Accept, 64, all, 0).await?;
        }
        let before = apart::cpu_us();
        let measured = self.load(address, &sink, flowing, callers).await?;
        let cpu = each(before, &measured);
        server.stop().await?;
        Ok((measured, cpu))
    }
}

/// Processor time for each, without that of the load and the destination.
fn each(before: f64, measured: &Measured) -> f64 {
    (apart::cpu_us() - before) / super::load::to_f64(measured.operations.max(1))
}
