//! What a batch must know, and hold, before it can be planned.
//!
//! Owns the first round trips of an attempt. Effects are read without locks if they can be; but a
//! lane is held from before it is looked at, so that nobody enters or leaves it until the commit;
//! and so is the key of a value. Both are held before effects, and all in order.

use std::collections::{BTreeSet, HashMap};

use tokio_postgres::Row;

use super::ask::Ask;
use super::fault::Fault;
use super::kv::{self, Values};
use super::nodes;
use super::pipeline::{Pipeline, Place, Replies};
use super::row::{Reader, Stamped, Unreadable};
use super::starts::Known;
use super::writer::Line;
use crate::change::Change;
use crate::node::Membership;
use crate::run::{Next, RunId};
use crate::seen::Seen;

/// What was read before planning.
pub(super) struct Ground {
    pub(super) effects: HashMap<[u8; 16], Stamped>,
    pub(super) alive: Vec<Membership>,
    pub(super) known: Known,
    pub(super) values: Values,
    /// No part of it was taken from a hint.
    pub(super) sure: bool,
}

/// What a batch asks of lanes, versions and values.
#[derive(Debug, Default)]
pub(super) struct Needs {
    lanes: BTreeSet<Vec<u8>>,
    things: BTreeSet<Vec<u8>>,
    /// Runs that may be there already, although they are to enter a lane.
    entering: Vec<Vec<u8>>,
    /// Runs that end or let others pass.
    leaving: Vec<Vec<u8>>,
    /// Keys whose values are asked for or written, and what is held for them.
    keys: BTreeSet<String>,
    locks: BTreeSet<i64>,
}

impl Needs {
    pub(super) fn of(asks: &[Ask]) -> Needs {
        let mut needs = Needs::default();
        for change in asks.iter().flat_map(|ask| &ask.changes) {
            needs.add(change);
        }
        needs
    }

    fn add(&mut self, change: &Change) {
        match change {
            Change::Start(start) => {
                if let Some(lane) = &start.run.lane {
                    self.lanes.insert(lane.id.to_vec());
                    self.entering.push(start.run.id.0.to_vec());
                }
                if let Some(latest) = &start.latest {
                    self.things.insert(latest.of.to_vec());
                }
            }
            Change::Advance(advance) => {
                if let Next::Finish { .. } | Next::Rest { yields: true, .. } = advance.next {
                    self.leaving.push(advance.run.0.to_vec());
                }
                for put in &advance.puts {
                    self.locks.insert(kv::lock(&put.key));
                }
            }
            Change::Kv(change) => {
                self.locks.insert(kv::lock(&change.key));
                self.keys.insert(change.key.as_str().to_owned());
            }
            _ => {}
        }
    }

    /// Only a transaction can give what is needed.
    pub(super) fn any(&self) -> bool {
        let asked = [&self.lanes, &self.things].iter().any(|it| !it.is_empty());
        asked || !self.leaving.is_empty() || !self.locks.is_empty()
    }
}

/// Reads without a lock what `asks` are about, as far as it cannot be guessed.
pub(super) async fn read(line: &Line, asks: &[Ask], seen: &Seen) -> Result<Ground, Fault> {
    let ids = sorted(asks.iter().flat_map(|ask| ask.must_read(seen)));
    let members: Vec<Membership> = asks.iter().filter_map(|ask| ask.member).collect();
    let sure = asks.iter().all(|ask| ask.guesses(seen) == 0);
    if !sure && ids.is_empty() {
        // The write holds the members' epochs and so finds out who is not alive.
        return Ok(Ground {
            effects: HashMap::new(),
            alive: members,
            known: Known::default(),
            values: Values::default(),
            sure,
        });
    }
    let nodes = numbers(&members);
    let mut pipe = Pipeline::new(&line.session);
    let alive = (!nodes.is_empty()).then(|| pipe.query(&line.statements.alive, vec![&nodes]));
    let effects = (!ids.is_empty()).then(|| pipe.query(&line.statements.load, vec![&ids]));
    let mut replies = pipe.run().await?;
    Ok(Ground {
        effects: stamped(&take(&mut replies, effects))?,
        alive: nodes::memberships(&take(&mut replies, alive)),
        known: Known::default(),
        values: Values::default(),
        sure,
    })
}

/// Opens a transaction and holds everything that `asks` are about.
pub(super) async fn hold(line: &Line, asks: &[Ask], mut needs: Needs) -> Result<Ground, Fault> {
    let ids = sorted(asks.iter().flat_map(Ask::touches));
    let members: Vec<Membership> = asks.iter().filter_map(|ask| ask.member).collect();
    let nodes = numbers(&members);
    let mut pipe = Pipeline::new(&line.session);
    pipe.control("BEGIN");
    let alive = (!nodes.is_empty()).then(|| pipe.query(&line.statements.hold, vec![&nodes]));
    let leaving = &needs.leaving;
    let lanes_of = (!leaving.is_empty()).then(|| pipe.query(&line.runs.lanes_of, vec![leaving]));
    let mut replies = pipe.run().await?;
    let alive = nodes::memberships(&take(&mut replies, alive));
    for row in take(&mut replies, lanes_of) {
        needs.lanes.insert(Reader::new(&row).next()?);
    }

    let lanes: Vec<Vec<u8>> = needs.lanes.into_iter().collect();
    let things: Vec<Vec<u8>> = needs.things.into_iter().collect();
    needs
        .locks
        .extend(lanes.iter().map(|lane| lock_of_lane(lane)));
    let locks: Vec<i64> = needs.locks.into_iter().collect();
    let keys: Vec<String> = needs.keys.into_iter().collect();
    let mut pipe = Pipeline::new(&line.session);
    if !locks.is_empty() {
        pipe.query(&line.runs.hold_lanes, vec![&locks]);
    }
    let values = (!keys.is_empty()).then(|| pipe.query(&line.kv.load, vec![&keys]));
    let inside = (!lanes.is_empty()).then(|| pipe.query(&line.runs.inside, vec![&lanes]));
    let latest = (!things.is_empty()).then(|| pipe.query(&line.runs.latest, vec![&things]));
    let entering = &needs.entering;
    let there = (!entering.is_empty()).then(|| pipe.query(&line.runs.there, vec![entering]));
    let effects = (!ids.is_empty()).then(|| pipe.query(&line.statements.load_held, vec![&ids]));
    let mut replies = pipe.run().await?;
    let known = known(
        &take(&mut replies, inside),
        &take(&mut replies, latest),
        &take(&mut replies, there),
    )?;
    Ok(Ground {
        effects: stamped(&take(&mut replies, effects))?,
        alive,
        known,
        values: Values::read(&take(&mut replies, values))?,
        sure: true,
    })
}

fn known(inside: &[Row], latest: &[Row], there: &[Row]) -> Result<Known, Unreadable> {
    let mut known = Known::default();
    for row in inside {
        let mut reader = Reader::new(row);
        let (lane, count) = (reader.hash()?, reader.next::<i64>()?);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        known.inside.insert(lane, count);
    }
    for row in latest {
        let mut reader = Reader::new(row);
        known.latest.insert(reader.hash()?, reader.next()?);
    }
    for row in there {
        known.there.insert(RunId(Reader::new(row).hash()?));
    }
    Ok(known)
}

fn take(replies: &mut Replies, place: Option<Place>) -> Vec<Row> {
    place.map_or_else(Vec::new, |place| replies.take(place).rows)
}

fn numbers(members: &[Membership]) -> Vec<i64> {
    members.iter().map(|m| m.node.cast_signed()).collect()
}

fn sorted(ids: impl Iterator<Item = [u8; 16]>) -> Vec<Vec<u8>> {
    let ids: BTreeSet<[u8; 16]> = ids.collect();
    ids.into_iter().map(Into::into).collect()
}

/// A lane as the number that is held. Two lanes with the same number only wait for each other.
fn lock_of_lane(lane: &[u8]) -> i64 {
    let short = lane.first_chunk().copied().unwrap_or_default();
    i64::from_be_bytes(short)
}

fn stamped(rows: &[Row]) -> Result<HashMap<[u8; 16], Stamped>, Unreadable> {
    rows.iter().map(Stamped::read).collect()
}
