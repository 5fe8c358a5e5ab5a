//! What other nodes on the same store do to runs: looked for once a second, because they cannot tell.
//!
//! There is no index on when a run changed, as that would cost every run. What is open is little; what
//! was started lately stands together; what was open when it was last seen is looked at again.

use std::collections::{HashMap, VecDeque};

use semel_ledger::{Millis, Time};
use semel_store::run::{Run, RunFilter, RunId, RunState};
use semel_store::{Store, StoreError};

/// A commit becomes visible a little after the time that stands in it.
const OVERLAP: i64 = 3_000;
/// How long ago a run counts as started lately.
const LATELY: Millis = Millis::seconds(600);
/// How many rows are read of each kind.
const MOST: usize = 200;
/// How many of those that were open are looked at again each time.
const AGAIN: usize = 50;
/// How many rows are remembered.
const REMEMBERED: usize = 4096;

#[derive(Debug)]
pub(super) struct Elsewhere {
    since: Time,
    /// What was told of each run last.
    told: HashMap<RunId, (RunState, Time)>,
    /// Those that were open when they were last seen.
    open: VecDeque<RunId>,
}

impl Elsewhere {
    pub(super) fn new(now: Time) -> Elsewhere {
        Elsewhere {
            since: now,
            told: HashMap::new(),
            open: VecDeque::new(),
        }
    }

    /// Whether readers do not know this yet.
    pub(super) fn is_news(&mut self, run: &Run) -> bool {
        let is = (run.state, run.changed_at);
        if self.told.len() >= REMEMBERED {
            self.told.clear();
            self.open.clear();
        }
        let before = self.told.insert(run.id, is);
        let was_open = before.is_some_and(|(state, _)| state.is_open());
        if run.state.is_open() && !was_open {
            self.open.push_back(run.id);
        }
        before != Some(is)
    }

    /// What changed since the last look, as far as it is found; and whether that is all.
    pub(super) async fn look(&mut self, store: &Store) -> Result<(Vec<Run>, bool), StoreError> {
        let now = store.now();
        let changed = Some(Time(self.since.0 - OVERLAP));
        let of = |filter: RunFilter| RunFilter {
            changed,
            limit: MOST,
            ..filter
        };
        let open = of(RunFilter {
            states: RunState::ALL
                .into_iter()
                .filter(|it| it.is_open())
                .collect(),
            ..RunFilter::default()
        });
        let lately = i64::try_from(LATELY.0).unwrap_or(i64::MAX);
        let late = of(RunFilter {
            since: Some(Time(now.0 - lately)),
            ..RunFilter::default()
        });
        let (open, late) = (store.runs(&open).await?, store.runs(&late).await?);
        let whole = open.next.is_none() && late.next.is_none();
        let mut rows = open.items;
        rows.extend(late.items);
        for _ in 0..AGAIN.min(self.open.len()) {
            let Some(id) = self.open.pop_front() else {
                break;
            };
            if let Some(row) = store.run(id).await? {
                if row.state.is_open() {
                    self.open.push_back(id);
                }
                rows.push(row);
            }
        }
        self.since = now;
        Ok((rows, whole))
    }
}
