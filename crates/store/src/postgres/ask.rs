//! What one caller wants written, and which effects that is about.

use crate::change::{Change, EffectChange};
use crate::kv::MAX_VALUE_BYTES;
use crate::node::Membership;
use crate::seen::Seen;

/// What one caller wants written.
#[derive(Debug)]
pub(super) struct Ask {
    /// Under which identity, as it was when the caller asked.
    pub(super) member: Option<Membership>,
    pub(super) changes: Vec<Change>,
    ids: Vec<Option<[u8; 16]>>,
}

impl Ask {
    pub(super) fn new(member: Option<Membership>, changes: Vec<Change>) -> Ask {
        let id = |change: &Change| change.effect().map(|change| change.effect.hash());
        let ids = changes.iter().map(id).collect();
        Ask {
            member,
            changes,
            ids,
        }
    }

    /// For each change the id of its effect, if it is about one.
    pub(super) fn ids(&self) -> &[Option<[u8; 16]>] {
        &self.ids
    }

    /// About how many bytes of content it brings.
    pub(super) fn bytes(&self) -> usize {
        let length = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        let all = |contents: &[Vec<u8>]| contents.iter().map(Vec::len).sum::<usize>();
        let effect = |change: &EffectChange| {
            let content = &change.content;
            let input = content.input.as_ref().map_or(0, |i| i.as_str().len());
            input + length(&content.result) + length(&content.note)
        };
        let own = |change: &Change| match change {
            Change::Blob(bytes) => bytes.len(),
            Change::Start(start) => start.run.opening.len() + all(&start.run.contents),
            Change::Advance(advance) => {
                let puts = advance.puts.iter();
                let puts = puts.map(|put| put.to.as_ref().map_or(0, |to| to.as_str().len()));
                length(&advance.row) + all(&advance.contents) + puts.sum::<usize>()
            }
            // What is there may come back as the effect's result.
            Change::Kv(_) => 2 * MAX_VALUE_BYTES,
            _ => 0,
        };
        let bytes = |change: &Change| own(change) + change.effect().map_or(0, effect);
        self.changes.iter().map(bytes).sum()
    }

    /// The effects that it moves.
    pub(super) fn moves(&self) -> impl Iterator<Item = [u8; 16]> {
        self.ids.iter().copied().flatten()
    }

    /// The effects that must be read before anything can be planned. Those that a first claim is
    /// probably about are not: that nothing is there is proved by the insert, or else all is read.
    pub(super) fn must_read(&self, seen: &Seen) -> impl Iterator<Item = [u8; 16]> {
        let known = |(change, id): (&Change, &Option<[u8; 16]>)| {
            id.filter(|id| !change.may_be_first() || seen.contains(*id))
        };
        self.changes.iter().zip(&self.ids).filter_map(known)
    }

    /// How many of its changes rest on the guess that nothing is there.
    pub(super) fn guesses(&self, seen: &Seen) -> usize {
        self.moves().count() - self.must_read(seen).count()
    }

    /// The effects whose rows it may write to in any way.
    pub(super) fn touches(&self) -> impl Iterator<Item = [u8; 16]> {
        let receipts = self.changes.iter().flat_map(|change| match change {
            Change::Receipts(receipts) => receipts.as_slice(),
            _ => &[],
        });
        self.moves()
            .chain(receipts.map(|receipt| receipt.effect.hash()))
    }
}

/// Whose change it is, and which of theirs.
#[derive(Clone, Copy, Debug)]
pub(super) struct By {
    pub(super) caller: usize,
    pub(super) place: usize,
    pub(super) member: Option<Membership>,
}

/// A change that the database itself answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other<'a> {
    pub(super) by: By,
    pub(super) change: &'a Change,
}
