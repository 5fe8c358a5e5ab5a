//! Where entries come from when Semel was not there yet, and where they go when they are old.

use super::{After, Cause, Entry, Fence, Owner, State, Step, Verdict};
use crate::time::{Millis, Time};

/// Something that happened before Semel was there. Protects from `now` on, whenever it happened.
pub(super) fn imported(at: Time, remember: Millis, now: Time) -> Entry {
    Entry {
        state: State::Done,
        attempt: 0,
        fence: Fence::default(),
        owner: Owner::Client,
        fingerprint: None,
        on_unknown: None,
        remember,
        created_at: at,
        claimed_at: at,
        lease_until: at,
        changed_at: now,
        settled: None,
        tombstone: false,
    }
}

/// An import over what is on record: only where nothing is known to have happened does it say
/// something new.
pub(super) fn import(entry: &Entry, remember: Millis, now: Time) -> Step {
    if !matches!(entry.state, State::Failed | State::Released) {
        return Step::same(Verdict::Exists);
    }
    let done = Entry {
        state: State::Done,
        fingerprint: None,
        remember,
        changed_at: now,
        settled: None,
        tombstone: false,
        ..*entry
    };
    Step::moved(entry, done, Cause::Imported, Verdict::Imported)
}

/// Leaves a tombstone of what is settled and no longer kept in full.
/// (What is no longer remembered at all never reaches this point: it reads as absent.)
pub(super) fn sweep(entry: &Entry, keep: Millis, now: Time) -> Step {
    let due = !entry.state.is_open() && now >= entry.changed_at.after(keep);
    if !due || entry.tombstone {
        return Step::same(Verdict::Kept);
    }
    let after = After::Put(Entry {
        tombstone: true,
        ..*entry
    });
    Step {
        after,
        verdict: Verdict::Swept,
        transitions: Vec::new(),
    }
}
