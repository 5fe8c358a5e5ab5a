//! How fast flows are proved: a flow of five steps under every schedule, with one thing going wrong and with two.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use semel_prove::{Options, Stage};
use serde::Serialize;

use super::load::to_f64;
use super::{Bench, Through};

/// Five steps of every class that matters.
const FLOW: &str = include_str!("prove.yaml");

/// One proof.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Proved {
    /// How many things went wrong in one try.
    pub(super) depth: usize,
    pub(super) schedules: usize,
    pub(super) crashes: usize,
    pub(super) seconds: f64,
    pub(super) per_second: f64,
}

impl Bench {
    pub(super) async fn proved(&self) -> anyhow::Result<Vec<Proved>> {
        if !matches!(self.plan.through, Through::Flows | Through::All) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for depth in [1, 2] {
            self.say("prove");
            // A proof has its own threads and its own time.
            found.push(tokio::task::spawn_blocking(move || prove(depth)).await??);
        }
        Ok(found)
    }
}

fn prove(depth: usize) -> anyhow::Result<Proved> {
    let stage = Arc::new(Stage::new(FLOW, Vec::new()).context("reading the flow")?);
    let options = Options {
        depth,
        ..Options::default()
    };
    let began = Instant::now();
    let proof = semel_prove::prove(&stage, &options, &|_, _| {})?;
    let seconds = began.elapsed().as_secs_f64();
    ensure!(proof.holds(), "the flow of the bench does not hold");
    Ok(Proved {
        depth,
        schedules: proof.schedules,
        crashes: proof.crashes,
        seconds,
        per_second: to_f64(proof.schedules as u64) / seconds,
    })
}
