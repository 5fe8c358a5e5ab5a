//! Lanes in memory: who is in, who waits, who is let in next.

use semel_ledger::Time;

use super::runs::{Row, Runs};
use crate::run::{Lane, Place, REPLACED, RunId};

impl Runs {
    fn in_lane(&self, lane: [u8; 16], place: Place) -> impl Iterator<Item = &Row> {
        let there =
            move |row: &&Row| row.lane == Some(lane) && row.place == Some(place) && row.is_open();
        self.rows.values().filter(there)
    }

    pub(super) fn is_full(&self, lane: &Lane) -> bool {
        self.in_lane(lane.id, Place::In).count() >= lane.width as usize
    }

    /// Asks everybody who is in the lane, or waits for it, to end.
    pub(super) fn replace(&mut self, lane: [u8; 16], now: Time) {
        let inside = self.in_lane(lane, Place::In);
        let all = inside.chain(self.in_lane(lane, Place::Waits));
        let mut all: Vec<RunId> = all.map(|row| row.run.id).collect();
        all.sort_unstable();
        for run in all {
            self.mail(run, REPLACED.into(), now);
        }
    }

    /// Lets in whoever has waited longest.
    pub(super) fn let_in(&mut self, lane: Option<[u8; 16]>, now: Time) {
        let next = lane.and_then(|lane| self.in_lane(lane, Place::Waits).next());
        let Some(next) = next.map(|row| row.run.id) else {
            return;
        };
        if let Some(row) = self.rows.get_mut(&next) {
            row.stand(Place::In);
            row.run.wake = Some(now);
        }
    }

    /// What the end of a run means for its lane, and for the run that waits for it.
    pub(super) fn leave_lane(&mut self, id: RunId, tell: Option<Box<str>>, now: Time) {
        let Some(row) = self.rows.get_mut(&id) else {
            return;
        };
        let (lane, parent) = (row.lane, row.run.parent);
        let was = row.place;
        if lane.is_some() {
            row.stand(Place::Left);
        }
        if was == Some(Place::In) {
            self.let_in(lane, now);
        }
        let open = |row: &Row| row.lane == lane && row.is_open();
        let last = lane.is_none() || !self.rows.values().any(open);
        if let (Some(parent), Some(note), true) = (parent, tell, last) {
            self.mail(parent, note, now);
        }
    }
}
