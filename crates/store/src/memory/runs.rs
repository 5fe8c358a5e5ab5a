//! Runs in memory: starting, going on, mail, taking, letting go, forgetting.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use semel_ledger::Time;

use super::World;
use super::listeners::Listeners;
use crate::blob::BlobRef;
use crate::node::Membership;
use crate::run::{
    Advance, Beginning, JournalRow, Lane, Mail, NewRun, Next, Place, Run, RunId, Start,
    StartOutcome, Started, WhenFull,
};

/// Everything that is kept of runs.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) rows: BTreeMap<RunId, Row>,
    /// By run and position.
    pub(super) journal: BTreeMap<(RunId, u32), JournalRow>,
    /// By run and position.
    pub(super) mail: BTreeMap<(RunId, i64), Mail>,
    pub(super) last_mail: i64,
    /// Which run needs which blob.
    pub(super) blobs: BTreeSet<(RunId, [u8; 32])>,
    /// The newest version of each thing that was applied.
    pub(super) latest: HashMap<[u8; 16], i64>,
    pub(super) listeners: Listeners,
}

/// One run.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) run: Run,
    pub(super) lane: Option<[u8; 16]>,
    pub(super) place: Option<Place>,
}

impl Row {
    pub(super) fn is_open(&self) -> bool {
        self.run.state.is_open()
    }

    pub(super) fn stand(&mut self, place: Place) {
        self.place = Some(place);
        self.run.waits = place == Place::Waits;
    }
}

impl World {
    pub(super) fn start(&mut self, start: Start, member: Option<Membership>, now: Time) -> Started {
        let Start {
            once,
            latest,
            otherwise,
            run,
        } = start;
        let applied = latest.and_then(|latest| self.runs.latest.get(&latest.of).copied());
        let stale = latest.is_some_and(|latest| applied.is_some_and(|at| latest.version < at));
        let full = run.lane.is_some_and(|lane| self.runs.is_full(&lane));
        let skipped = full
            && run
                .lane
                .is_some_and(|lane| lane.when_full == WhenFull::Skip);
        let answered = once.map(|mut change| {
            if stale || skipped {
                change.content.result = otherwise;
            }
            self.effect(change, now)
        });
        let refused = answered
            .as_ref()
            .is_some_and(|answered| !answered.verdict.is_grant());
        let outcome = if refused {
            StartOutcome::Refused
        } else if stale {
            StartOutcome::Stale
        } else if skipped {
            StartOutcome::Skipped
        } else if self.runs.rows.contains_key(&run.id) {
            StartOutcome::Refused
        } else {
            if let Some(latest) = latest {
                self.runs.latest.insert(latest.of, latest.version);
            }
            let beginning = Beginning::of(&run, full, member, now);
            self.insert_run(run, beginning, now);
            StartOutcome::Started {
                held: beginning.is_held(),
            }
        };
        Started { answered, outcome }
    }

    fn insert_run(&mut self, new: NewRun, beginning: Beginning, now: Time) {
        let lane = new.lane;
        let waits = beginning.place == Some(Place::Waits);
        if let Some(Lane { id, when_full, .. }) = lane
            && waits
            && when_full == WhenFull::Replace
        {
            self.runs.replace(id, now);
        }
        let run = Run {
            id: new.id,
            flow: new.flow,
            release: new.release,
            key: new.key,
            parent: new.parent,
            state: beginning.state,
            why: new.why,
            created_at: now,
            changed_at: now,
            wake: beginning.wake,
            node: beginning.node,
            waits,
        };
        let row = Row {
            run,
            lane: lane.map(|lane| lane.id),
            place: beginning.place,
        };
        self.runs.write(new.id, 0, new.opening, now);
        self.keep_for_run(new.id, new.contents, now);
        self.runs.rows.insert(new.id, row);
    }

    fn keep_for_run(&mut self, run: RunId, contents: Vec<Vec<u8>>, now: Time) {
        for bytes in contents {
            let hash = BlobRef::of(&bytes).hash;
            self.blobs.insert(hash, (bytes, now));
            self.runs.blobs.insert((run, hash));
        }
    }

    pub(super) fn advance_run(
        &mut self,
        advance: Advance,
        member: Option<Membership>,
        now: Time,
    ) -> bool {
        let run = advance.run;
        let held = |row: &Row| member.is_some_and(|member| row.run.node == Some(member.node));
        let may = match advance.next {
            Next::GoOn => member.is_some(),
            _ => self.runs.rows.get(&run).is_some_and(held),
        };
        if !may || self.runs.journal.contains_key(&(run, advance.at)) {
            return false;
        }
        if let Some(row) = advance.row {
            self.runs.write(run, advance.at, row, now);
        }
        self.keep_for_run(run, advance.contents, now);
        if let Some(read) = advance.read_mail {
            self.runs.drop_mail(run, read);
        }
        self.runs.go_on(run, advance.next, now);
        true
    }

    /// Takes the runs of a node away from it, if it can no longer be working on them.
    pub(super) fn free(
        &mut self,
        node: u64,
        limit: u32,
        member: Option<Membership>,
        now: Time,
    ) -> usize {
        let own = member.is_some_and(|member| member.node == node);
        if !own && self.nodes.get(&node).is_some_and(|node| !node.fenced) {
            return 0;
        }
        let held = self.runs.rows.values_mut();
        let held = held.filter(|row| row.run.node == Some(node));
        let mut count = 0;
        for row in held.take(limit as usize) {
            row.run.node = None;
            row.run.wake = Some(now);
            count += 1;
        }
        count
    }
}

impl Runs {
    fn write(&mut self, run: RunId, at: u32, row: Box<str>, now: Time) {
        let written_at = now;
        let row = JournalRow {
            at,
            written_at,
            row,
        };
        self.journal.insert((run, at), row);
    }

    fn go_on(&mut self, id: RunId, next: Next, now: Time) {
        let unread = self.mail_of(id).next().is_some();
        let Some(row) = self.rows.get_mut(&id) else {
            return;
        };
        match next {
            Next::GoOn => {}
            Next::Show { state, why } => row.show(state, why, now),
            Next::Rest {
                state,
                why,
                wake,
                yields,
            } => {
                row.show(state, why, now);
                row.run.node = None;
                // A wake that came while it was held stands: its lane let it in.
                let own = [wake, row.run.wake].into_iter().flatten().min();
                row.run.wake = if unread { Some(now) } else { own };
                if yields && row.place == Some(Place::In) {
                    row.stand(Place::Left);
                    let lane = row.lane;
                    self.let_in(lane, now);
                }
            }
            Next::Finish { state, why, tell } => {
                row.show(state, why, now);
                row.run.node = None;
                row.run.wake = None;
                self.drop_mail(id, i64::MAX);
                self.leave_lane(id, tell, now);
            }
        }
    }

    pub(super) fn mail_of(&self, run: RunId) -> impl Iterator<Item = &Mail> {
        let all = (run, i64::MIN)..=(run, i64::MAX);
        self.mail.range(all).map(|(_, mail)| mail)
    }

    fn drop_mail(&mut self, run: RunId, up_to: i64) {
        self.mail.retain(|(of, seq), _| *of != run || *seq > up_to);
    }

    pub(super) fn mail(&mut self, id: RunId, note: Box<str>, now: Time) -> bool {
        let Some(row) = self.rows.get_mut(&id).filter(|row| row.is_open()) else {
            return false;
        };
        if row.run.node.is_none() {
            row.run.wake = Some(row.run.wake.map_or(now, |wake| wake.min(now)));
        }
        self.last_mail += 1;
        let (seq, at) = (self.last_mail, now);
        self.mail.insert((id, seq), Mail { seq, at, note });
        true
    }

    pub(super) fn take(&mut self, limit: u32, member: Option<Membership>, now: Time) -> Vec<RunId> {
        let Some(member) = member else {
            return Vec::new();
        };
        let due = |row: &Row| {
            let wake = row.run.wake.filter(|wake| *wake <= now)?;
            row.run.node.is_none().then_some((wake, row.run.id))
        };
        let mut due: Vec<(Time, RunId)> = self.rows.values().filter_map(due).collect();
        due.sort_unstable();
        due.truncate(limit as usize);
        for (_, id) in &due {
            if let Some(row) = self.rows.get_mut(id) {
                row.run.node = Some(member.node);
                row.run.wake = None;
            }
        }
        due.into_iter().map(|(_, id)| id).collect()
    }

    pub(super) fn forget(&mut self, runs: &[RunId], until: Time) -> usize {
        let mut count = 0;
        for id in runs {
            let Some(Row { run, .. }) = self.rows.get(id) else {
                continue;
            };
            let parent = run.parent.and_then(|parent| self.rows.get(&parent));
            let needed = parent.is_some_and(Row::is_open);
            if run.state.is_open() || run.changed_at > until || needed {
                continue;
            }
            self.rows.remove(id);
            self.journal.retain(|(of, _), _| of != id);
            self.blobs.retain(|(of, _)| of != id);
            self.listeners.places.retain(|(of, _), _| of != id);
            self.drop_mail(*id, i64::MAX);
            count += 1;
        }
        count
    }
}

impl Row {
    fn show(&mut self, state: crate::run::RunState, why: Box<str>, now: Time) {
        self.run.state = state;
        self.run.why = why;
        self.run.changed_at = now;
    }
}
