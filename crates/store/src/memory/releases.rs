//! Releases and saved positions in memory.

use std::collections::HashMap;

use semel_ledger::Time;

use crate::blob::Stored;
use crate::run::{CursorChange, Release, ReleaseChange, ReleaseId};

/// Every text that was deployed, oldest first.
#[derive(Debug, Default)]
pub(super) struct Releases {
    pub(super) all: Vec<Release>,
    /// Grows whenever another text goes live, or none is any more.
    pub(super) live_revision: i64,
}

impl Releases {
    pub(super) fn change(&mut self, change: ReleaseChange, now: Time) -> bool {
        match change {
            ReleaseChange::Deploy {
                id,
                flow,
                source,
                by,
                live,
            } => {
                let known = self.find(id).map(|release| release.flow == flow);
                if known == Some(false) {
                    return false;
                }
                if known.is_none() {
                    self.all.push(Release {
                        id,
                        flow: flow.clone(),
                        source: Stored::Inline(source),
                        created_at: now,
                        by,
                        live: false,
                        live_at: None,
                    });
                }
                let went_live = live && self.make_live(&flow, Some(id), now);
                known.is_none() || went_live
            }
            ReleaseChange::GoLive { flow, id, was } => {
                let live = self.live(&flow).map(|release| release.id);
                let known = self.find(id).is_some_and(|release| release.flow == flow);
                known && live == was && self.make_live(&flow, Some(id), now)
            }
            ReleaseChange::Retire { flow } => self.make_live(&flow, None, now),
        }
    }

    fn find(&self, id: ReleaseId) -> Option<&Release> {
        self.all.iter().find(|release| release.id == id)
    }

    fn live(&self, flow: &str) -> Option<&Release> {
        self.all.iter().find(|it| it.live && *it.flow == *flow)
    }

    /// Makes one text of a flow, or none, the one that takes triggers; gives whether that is new.
    fn make_live(&mut self, flow: &str, id: Option<ReleaseId>, now: Time) -> bool {
        let mut changed = false;
        for release in self.all.iter_mut().filter(|it| *it.flow == *flow) {
            let live = Some(release.id) == id;
            if live != release.live {
                release.live = live;
                release.live_at = Some(now);
                changed = true;
            }
        }
        self.live_revision += i64::from(changed);
        changed
    }
}

/// Moves a saved position, if it is what it is said to be.
pub(super) fn move_cursor(cursors: &mut HashMap<Box<str>, Box<str>>, change: CursorChange) -> bool {
    let fits = cursors.get(&change.name) == change.was.as_ref();
    if fits {
        cursors.insert(change.name, change.becomes);
    }
    fits
}
