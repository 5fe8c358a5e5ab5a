//! What is aimed for, and whether it was reached.

use super::flows::Flowing;
use super::ledger::Work;
use super::load;
use super::report::{Aim, FlowLine, Line, Report};

/// Everything aimed for that was measured.
pub(super) fn aims(report: &Report) -> Vec<Aim> {
    let mut aims = Vec::new();
    let busy = |line: &&Line| line.measured.callers >= 64 && line.work != Work::Duplicates.name();
    for line in report.through_store.iter().filter(busy) {
        let name = format!(
            "{} through the store, {} callers, of the ceiling",
            line.work, line.measured.callers
        );
        let wanted = if report.store == "postgres" { 3.0 } else { 0.6 };
        aims.extend(line.ratio.map(|ratio| Aim::at_least(name, wanted, ratio)));
    }
    for line in report
        .through_http
        .iter()
        .filter(busy)
        .filter(|_| report.store == "sqlite")
    {
        let name = format!(
            "{} through HTTP, {} callers, of the bare handler",
            line.work, line.measured.callers
        );
        aims.extend(line.ratio.map(|ratio| Aim::at_least(name, 0.75, ratio)));
    }
    aims.extend(of_flows(&report.flows));
    aims.extend(report.for_each.iter().map(|found| {
        let name = format!("memory after {} items over that at a tenth", found.count);
        let [early, late] = found.memory_mb;
        Aim::at_most(name, 1.5, late / early)
    }));
    aims.extend(report.proved.iter().map(|proved| {
        let wanted = if proved.depth == 1 { 3.0 } else { 60.0 };
        let name = format!(
            "every schedule of a five-step flow at depth {}, seconds",
            proved.depth
        );
        Aim::at_most(name, wanted, proved.seconds)
    }));
    if let (Some(small), Some(large)) = (report.growth.first(), report.growth.last())
        && large.entries > small.entries
    {
        let (from, to) = (load::to_f64(small.entries), load::to_f64(large.entries));
        let time = small.claim.per_second / large.claim.per_second;
        let name = format!(
            "time of a claim at {} entries over that at {}",
            large.entries, small.entries
        );
        aims.push(Aim::at_most(name, to.log2() / from.log2(), time));
        let memory = large.claim.memory_mb / small.claim.memory_mb;
        let name = format!(
            "memory at {} entries over that at {}",
            large.entries, small.entries
        );
        aims.push(Aim::at_most(name, 1.5, memory));
    }
    aims
}

/// Against the server written by hand; and a resend against an event that is new.
fn of_flows(flows: &[FlowLine]) -> Vec<Aim> {
    let mut aims = Vec::new();
    for line in flows.iter().filter(|line| line.measured.callers >= 64) {
        let callers = line.measured.callers;
        let name = |what: &str| format!("{}, {callers} callers, {what}", line.work);
        match line.flowing {
            Flowing::Accept => aims.push(Aim::at_least(name("of a bare handler"), 0.7, line.ratio)),
            Flowing::Resend => {
                let accept = flows.iter().find(|other| {
                    other.flowing == Flowing::Accept && other.measured.callers == callers
                });
                let times =
                    accept.map(|accept| line.measured.per_second / accept.measured.per_second);
                aims.extend(times.map(|times| Aim::at_least(name("over accept"), 2.0, times)));
            }
            Flowing::ThreeSteps => {
                aims.push(Aim::at_least(
                    name("of one written by hand"),
                    0.6,
                    line.ratio,
                ));
                let name = name("processor time, ms");
                aims.push(Aim::at_most(name, 0.25, line.cpu_us / 1000.0));
            }
            Flowing::Kv => {
                let plain = flows.iter().find(|other| {
                    other.flowing == Flowing::ThreeSteps && other.measured.callers == callers
                });
                let times = plain.map(|plain| line.measured.per_second / plain.measured.per_second);
                let name = name("over the three-step flow");
                aims.extend(times.map(|times| Aim::at_least(name, 1.0, times)));
            }
        }
    }
    aims
}
