//! Runs that a batch starts: decided in memory with its effects, written in one statement.
//!
//! The serial order of a batch is: everything that starts, then everything that moves on. A lane
//! that somebody leaves in the same batch therefore lets in whoever was just queued.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use semel_ledger::Time;
use tokio_postgres::Error;
use tokio_postgres::types::ToSql;

use super::ask::By;
use super::columns::text;
use super::pipeline::{Pipeline, Place as Asked};
use super::runs;
use super::writer::Line;
use crate::blob::BlobRef;
use crate::run::{Beginning, Place, REPLACED, RunId, Start, StartOutcome, WhenFull};

/// What is known of lanes, versions and names before a batch is planned.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// How many runs are in a lane.
    pub(super) inside: HashMap<[u8; 16], u32>,
    /// The newest version of a thing that was applied.
    pub(super) latest: HashMap<[u8; 16], i64>,
    /// Runs that are there.
    pub(super) there: HashSet<RunId>,
}

/// What stands in the way of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Obstacles {
    stale: bool,
    full: bool,
    skipped: bool,
}

impl Obstacles {
    /// The effect says so in place of naming the run.
    pub(super) fn prevent(self) -> bool {
        self.stale || self.skipped
    }
}

/// The runs that a batch starts.
#[derive(Debug, Default)]
pub(super) struct Starts<'a> {
    known: Known,
    planned: Vec<Starting<'a>>,
}

#[derive(Debug)]
struct Starting<'a> {
    by: By,
    start: &'a Start,
    beginning: Beginning,
}

impl<'a> Starts<'a> {
    pub(super) fn new(known: Known) -> Starts<'a> {
        Starts {
            known,
            planned: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    pub(super) fn obstacles(&self, start: &Start) -> Obstacles {
        let applied = |of: &[u8; 16]| self.known.latest.get(of).copied();
        let stale = start
            .latest
            .is_some_and(|latest| applied(&latest.of).is_some_and(|at| latest.version < at));
        let inside = |lane: &[u8; 16]| self.known.inside.get(lane).copied().unwrap_or_default();
        let full = start
            .run
            .lane
            .is_some_and(|lane| inside(&lane.id) >= lane.width);
        let skips = |lane: crate::run::Lane| lane.when_full == WhenFull::Skip;
        Obstacles {
            stale,
            full,
            skipped: full && start.run.lane.is_some_and(skips),
        }
    }

    /// Plans a run that its effect does not refuse.
    pub(super) fn plan(
        &mut self,
        by: By,
        start: &'a Start,
        obstacles: Obstacles,
        now: Time,
    ) -> StartOutcome {
        if obstacles.stale {
            return StartOutcome::Stale;
        }
        if obstacles.skipped {
            return StartOutcome::Skipped;
        }
        if !self.known.there.insert(start.run.id) {
            return StartOutcome::Refused;
        }
        if let Some(latest) = start.latest {
            self.known.latest.insert(latest.of, latest.version);
        }
        let beginning = Beginning::of(&start.run, obstacles.full, by.member, now);
        if let (Some(lane), Some(Place::In)) = (start.run.lane, beginning.place) {
            *self.known.inside.entry(lane.id).or_default() += 1;
        }
        self.planned.push(Starting {
            by,
            start,
            beginning,
        });
        StartOutcome::Started {
            held: beginning.is_held(),
        }
    }

    /// Takes what was planned, turned on its side.
    pub(super) fn columns(&self, now: Time) -> Columns<'a> {
        let mut columns = Columns {
            now: now.0,
            ..Columns::default()
        };
        for starting in &self.planned {
            columns.push(starting);
        }
        columns
    }

    /// Which of the planned runs were there already, after all.
    pub(super) fn refused(&self, started: &HashSet<RunId>) -> Vec<By> {
        let refused = |starting: &&Starting<'_>| !started.contains(&starting.start.run.id);
        let refused = self.planned.iter().filter(refused);
        refused.map(|starting| starting.by).collect()
    }

    /// Writes what hangs on the runs that were started.
    pub(super) async fn follow(
        &self,
        line: &Line,
        started: &HashSet<RunId>,
        now: Time,
    ) -> Result<(), Error> {
        let new = |starting: &&Starting<'a>| started.contains(&starting.start.run.id);
        let new: Vec<&Starting<'a>> = self.planned.iter().filter(new).collect();
        let mut uses = Uses::default();
        let (mut things, mut versions) = (Vec::new(), Vec::new());
        for Starting { start, .. } in &new {
            uses.push(&start.run.id, &start.run.contents);
            if let Some(latest) = &start.latest {
                things.push(latest.of.as_slice());
                versions.push(latest.version);
            }
        }
        let mut pipe = Pipeline::new(&line.session);
        uses.pipe(&mut pipe, line);
        if !things.is_empty() {
            pipe.execute(&line.runs.apply_latest, vec![&things, &versions]);
        }
        pipe.run().await?;
        for (place, starting) in new.iter().enumerate() {
            let Some(narrow) = starting.start.run.lane else {
                continue;
            };
            let waits = starting.beginning.place == Some(Place::Waits);
            if waits && narrow.when_full == WhenFull::Replace {
                // Not those either that this batch starts after it.
                let spared = new[place..].iter().map(|it| it.start.run.id.0.as_slice());
                let spared: Vec<&[u8]> = spared.collect();
                replace(line, &narrow.id, spared, now).await?;
            }
        }
        Ok(())
    }
}

/// Asks everybody who is in a lane, or waits for it, to end; all but `spared`.
async fn replace(line: &Line, narrow: &[u8], spared: Vec<&[u8]>, now: Time) -> Result<(), Error> {
    let others = line
        .session
        .query(&line.runs.others_in_lane, &[&narrow, &spared])
        .await?;
    let others: Vec<&[u8]> = others
        .iter()
        .filter_map(|row| row.try_get(0).ok())
        .collect();
    runs::tell(line, &others, REPLACED, now).await?;
    Ok(())
}

/// Runs turned on their side: one array a column.
#[derive(Default)]
pub(super) struct Columns<'a> {
    id: Vec<&'a [u8]>,
    flow: Vec<&'a str>,
    key: Vec<&'a str>,
    release: Vec<&'a [u8]>,
    parent: Vec<Option<&'a [u8]>>,
    state: Vec<i16>,
    why: Vec<Cow<'a, str>>,
    wake: Vec<Option<i64>>,
    node: Vec<Option<i64>>,
    lane: Vec<Option<&'a [u8]>>,
    place: Vec<Option<i16>>,
    opening: Vec<Cow<'a, str>>,
    now: i64,
}

impl<'a> Columns<'a> {
    fn push(&mut self, starting: &Starting<'a>) {
        let (run, beginning) = (&starting.start.run, &starting.beginning);
        self.id.push(&run.id.0);
        self.flow.push(&run.flow);
        self.key.push(run.key.as_str());
        self.release.push(&run.release.0);
        self.parent
            .push(run.parent.as_ref().map(|id| id.0.as_slice()));
        self.state.push(beginning.state as i16);
        self.why.push(text(&run.why));
        self.wake.push(beginning.wake.map(|wake| wake.0));
        self.node.push(beginning.node.map(u64::cast_signed));
        self.lane
            .push(run.lane.as_ref().map(|lane| lane.id.as_slice()));
        self.place.push(beginning.place.map(|place| place as i16));
        self.opening.push(text(&run.opening));
    }

    /// Adds them to what is sent, if there are any.
    pub(super) fn pipe<'c>(&'c self, pipe: &mut Pipeline<'c>, line: &'c Line) -> Option<Asked> {
        if self.id.is_empty() {
            return None;
        }
        let columns: Vec<&(dyn ToSql + Sync)> = vec![
            &self.id,
            &self.flow,
            &self.key,
            &self.release,
            &self.parent,
            &self.state,
            &self.why,
            &self.wake,
            &self.node,
            &self.lane,
            &self.place,
            &self.opening,
            &self.now,
        ];
        Some(pipe.query(&line.runs.start, columns))
    }
}

/// Which run needs which blob.
#[derive(Default)]
pub(super) struct Uses<'a> {
    hashes: Vec<Vec<u8>>,
    runs: Vec<&'a [u8]>,
}

impl<'a> Uses<'a> {
    pub(super) fn push(&mut self, run: &'a RunId, contents: &[Vec<u8>]) {
        for content in contents {
            self.hashes.push(BlobRef::of(content).hash.to_vec());
            self.runs.push(&run.0);
        }
    }

    pub(super) fn pipe<'c>(&'c self, pipe: &mut Pipeline<'c>, line: &'c Line) {
        if !self.hashes.is_empty() {
            pipe.execute(&line.runs.use_blobs, vec![&self.hashes, &self.runs]);
        }
    }
}
