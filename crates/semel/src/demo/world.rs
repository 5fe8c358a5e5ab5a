//! What the world saw: every effect, counted where it arrived.
//!
//! Owns the counts that the picture and the verdict are made of. Nothing of it comes from Semel: the
//! shop counts what it did, the sender what it was promised.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// What can be noticed outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Effect {
    Contact,
    Mail,
    Charge,
    Parcel,
}

impl Effect {
    pub(super) const ALL: [Effect; 4] = [
        Effect::Contact,
        Effect::Mail,
        Effect::Charge,
        Effect::Parcel,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Effect::Contact => "contacts",
            Effect::Mail => "mails",
            Effect::Charge => "charges",
            Effect::Parcel => "parcels",
        }
    }

    pub(super) fn place(self) -> &'static str {
        match self {
            Effect::Contact => "in the CRM",
            Effect::Mail => "in mailboxes",
            Effect::Charge => "at Stripe",
            Effect::Parcel => "from the depot",
        }
    }
}

/// How often an effect was promised and seen.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    promised: bool,
    seen: u32,
}

/// What came of the effects of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Tally {
    pub(super) once: u64,
    pub(super) twice: u64,
    /// Promised to a sender, and not seen.
    pub(super) to_come: u64,
}

/// What went over the wires.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Traffic {
    /// Events that are different from each other.
    pub(super) events: u64,
    /// Requests that carried one, the first and every other.
    pub(super) deliveries: u64,
    pub(super) accepted: u64,
    pub(super) blocked: u64,
    /// Answers that never reached who had asked.
    pub(super) answers_lost: u64,
    /// Requests that a destination knew by their key, and dropped.
    pub(super) dropped_by_key: u64,
    pub(super) kills: u64,
}

#[derive(Debug, Default)]
struct Seen {
    effects: HashMap<(Effect, String), Fate>,
    tallies: [Tally; 4],
    traffic: Traffic,
    last: String,
}

/// Everything that was seen, shared by the shop, the senders and the picture.
#[derive(Debug, Default)]
pub(super) struct World {
    seen: Mutex<Seen>,
}

impl World {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A sender was told that this will be done.
    pub(super) fn promise(&self, effect: Effect, of: &str) {
        self.seen().change(effect, of, |fate| fate.promised = true);
    }

    /// It happened.
    pub(super) fn happened(&self, effect: Effect, of: &str) {
        self.seen().change(effect, of, |fate| fate.seen += 1);
    }

    pub(super) fn count(&self, count: impl FnOnce(&mut Traffic)) {
        count(&mut self.seen().traffic);
    }

    /// What is told below the picture.
    pub(super) fn tell(&self, line: String) {
        self.seen().last = line;
    }

    pub(super) fn tally(&self, effect: Effect) -> Tally {
        self.seen().tallies[effect as usize]
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.seen().traffic
    }

    pub(super) fn last(&self) -> String {
        self.seen().last.clone()
    }

    /// How many effects were seen more than once.
    pub(super) fn twice(&self) -> u64 {
        self.seen().tallies.iter().map(|tally| tally.twice).sum()
    }

    /// How many effects were promised and not seen yet.
    pub(super) fn to_come(&self) -> u64 {
        self.seen().tallies.iter().map(|tally| tally.to_come).sum()
    }
}

impl Seen {
    fn change(&mut self, effect: Effect, of: &str, change: impl FnOnce(&mut Fate)) {
        let fate = self.effects.entry((effect, of.to_owned())).or_default();
        let tally = &mut self.tallies[effect as usize];
        tally.take(*fate);
        change(fate);
        tally.add(*fate);
    }
}

impl Tally {
    fn cell(&mut self, fate: Fate) -> Option<&mut u64> {
        match fate {
            Fate { seen: 0, promised } => promised.then_some(&mut self.to_come),
            Fate { seen: 1, .. } => Some(&mut self.once),
            _ => Some(&mut self.twice),
        }
    }

    fn add(&mut self, fate: Fate) {
        if let Some(cell) = self.cell(fate) {
            *cell += 1;
        }
    }

    fn take(&mut self, fate: Fate) {
        if let Some(cell) = self.cell(fate) {
            *cell -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_is_in_one_cell() {
        let world = World::default();
        world.promise(Effect::Mail, "a");
        world.promise(Effect::Mail, "b");
        world.happened(Effect::Mail, "b");
        // Seen before the sender had its answer.
        world.happened(Effect::Mail, "c");
        world.promise(Effect::Mail, "c");
        world.happened(Effect::Mail, "d");
        world.happened(Effect::Mail, "d");
        world.happened(Effect::Mail, "d");
        let tally = world.tally(Effect::Mail);
        let expected = Tally {
            once: 2,
            twice: 1,
            to_come: 1,
        };
        assert_eq!(tally, expected);
        assert_eq!((world.twice(), world.to_come()), (1, 1));
    }
}
