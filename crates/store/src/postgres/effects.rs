//! Writing a plan: every kind of write once, for all effects of the batch.
//!
//! Owns the order of the statements, which is the order of locks: nodes, effects that exist, new
//! effects, then what hangs on them, each sorted. All writers of all nodes keep to it, so they
//! may wait for each other but never in a circle.
//!
//! The invariant: if what was read is no longer so, [`write()`] says so and nothing may be committed.

use std::collections::{BTreeSet, HashMap, HashSet};

use semel_ledger::Cause;
use tokio_postgres::Error;

use super::columns::{Columns, state_number, text};
use super::pipeline::Pipeline;
use super::plan::{Plan, Slot};
use super::receipts::Blocked;
use super::statements::Statements;
use super::writer::Line;
use crate::node::Membership;
use crate::record::{Record, Turn};
use crate::run::RunId;

/// Which commit of which writer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) writer: [u8; 16],
    pub(super) commit: i64,
}

/// How writing went.
pub(super) enum Written {
    /// Everything is in the open transaction.
    All(New),
    /// Somebody else was there in between.
    RaceLost,
}

/// What came of a plan.
pub(super) struct New {
    /// The positions of new effects.
    pub(super) seqs: HashMap<[u8; 16], i64>,
    /// The runs that were started.
    pub(super) started: HashSet<RunId>,
}

/// Writes `plan` into a transaction: opens one if `begin`, does not end it.
pub(super) async fn write(
    line: &Line,
    plan: &Plan<'_>,
    mark: Mark,
    begin: bool,
) -> Result<Written, Error> {
    let Line {
        session,
        statements,
        ..
    } = line;
    let (rows, runs) = (Rows::of(plan), plan.starts.columns(plan.now));
    let values = plan.values.columns(plan.now);
    let (writer, now) = (mark.writer.as_slice(), plan.now.0);
    let mut pipe = Pipeline::new(session);
    if begin {
        pipe.control("BEGIN");
    }
    let held = (!rows.nodes.is_empty()).then(|| pipe.query(&statements.hold, vec![&rows.nodes]));
    if begin && !rows.existing.is_empty() {
        pipe.execute(&statements.hold_effects, vec![&rows.existing]);
    }
    let removed = pipe_removals(&mut pipe, statements, &rows);
    let inserted = (!rows.inserted.is_empty())
        .then(|| pipe.query(&statements.insert, rows.inserted.parameters()));
    let updated = (!rows.updated.is_empty())
        .then(|| pipe.execute(&statements.update, rows.updated.parameters_and_revision()));
    if !rows.turns.id.is_empty() {
        pipe.execute(&statements.turns, rows.turns.parameters());
    }
    if !rows.blob_hashes.is_empty() {
        let parameters = vec![&rows.blob_hashes as _, &rows.blob_bytes as _, &now as _];
        pipe.execute(&statements.blobs, parameters);
    }
    if !rows.use_hashes.is_empty() {
        pipe.execute(
            &statements.add_uses,
            vec![&rows.use_hashes, &rows.use_effects],
        );
    }
    rows.blocked.pipe(&mut pipe, statements);
    let started = runs.pipe(&mut pipe, line);
    values.pipe(&mut pipe, line);
    pipe.execute(&statements.mark, vec![&writer, &mark.commit, &now]);
    let mut replies = pipe.run().await?;

    let mut count = |place: Option<_>| place.map_or(0, |place| replies.take(place).count);
    let whole = count(removed) == rows.removed_ids.len() as u64
        && count(updated) == rows.updated.len() as u64;
    let alive = held.map(|place| super::nodes::memberships(&replies.take(place).rows));
    let fenced = alive.is_some_and(|alive| !plan.members.iter().all(|m| alive.contains(m)));
    let new = inserted.map(|place| replies.take(place).rows);
    let new = new.unwrap_or_default();
    if !whole || fenced || new.len() != rows.inserted.len() {
        return Ok(Written::RaceLost);
    }
    let seqs = new.iter().filter_map(|row| {
        let id: &[u8] = row.try_get(0).ok()?;
        Some((id.try_into().ok()?, row.try_get(1).ok()?))
    });
    let started = started.map(|place| replies.take(place).rows);
    let started = started.iter().flatten().filter_map(|row| {
        let id: &[u8] = row.try_get(0).ok()?;
        Some(RunId(id.try_into().ok()?))
    });
    Ok(Written::All(New {
        seqs: seqs.collect(),
        started: started.collect(),
    }))
}

fn pipe_removals<'c>(
    pipe: &mut Pipeline<'c>,
    statements: &'c Statements,
    rows: &'c Rows<'_>,
) -> Option<super::pipeline::Place> {
    let removed = (!rows.removed_ids.is_empty()).then(|| {
        pipe.execute(&statements.forget_turns, vec![&rows.removed_seqs]);
        pipe.execute(
            &statements.remove,
            vec![&rows.removed_ids, &rows.removed_revisions],
        )
    });
    if !rows.receipts_gone.is_empty() {
        pipe.execute(&statements.forget_receipts, vec![&rows.receipts_gone]);
    }
    if !rows.uses_gone.is_empty() {
        pipe.execute(&statements.drop_uses, vec![&rows.uses_gone]);
    }
    removed
}

/// A plan turned on its side: arrays for every statement.
#[derive(Default)]
struct Rows<'a> {
    nodes: Vec<i64>,
    /// Effects that are there and will be touched.
    existing: Vec<Vec<u8>>,
    removed_ids: Vec<&'a [u8]>,
    removed_revisions: Vec<i64>,
    removed_seqs: Vec<i64>,
    inserted: Columns<'a>,
    updated: Columns<'a>,
    turns: Turns<'a>,
    receipts_gone: Vec<i64>,
    uses_gone: Vec<&'a [u8]>,
    blob_hashes: Vec<&'a [u8]>,
    blob_bytes: Vec<&'a [u8]>,
    use_hashes: Vec<Vec<u8>>,
    use_effects: Vec<&'a [u8]>,
    blocked: Blocked<'a>,
}

impl<'a> Rows<'a> {
    fn of(plan: &'a Plan<'_>) -> Rows<'a> {
        let node = |member: &Membership| member.node.cast_signed();
        let mut rows = Rows {
            nodes: plan.members.iter().map(node).collect(),
            blob_hashes: plan.blobs.keys().map(<[u8; 32]>::as_slice).collect(),
            blob_bytes: plan.blobs.values().map(Vec::as_slice).collect(),
            blocked: Blocked::of(&plan.receipts),
            ..Rows::default()
        };
        for slot in &plan.slots {
            rows.push(slot);
        }
        rows.existing.extend(rows.blocked.effects());
        rows
    }

    fn push(&mut self, slot: &'a Slot) {
        if let Some(before) = slot.removed() {
            self.existing.push(slot.id.to_vec());
            self.removed_ids.push(&slot.id);
            self.removed_revisions.push(before.revision);
            self.removed_seqs.push(before.record.seq);
        }
        if let Some(record) = slot.inserted() {
            self.inserted.push(&slot.id, record, 0);
        }
        if let Some((record, revision)) = slot.updated() {
            self.existing.push(slot.id.to_vec());
            self.updated.push(&slot.id, record, revision);
        }
        for turn in &slot.turns {
            self.turns.push(&slot.id, turn);
        }
        self.receipts_gone.extend(slot.forgets_receipts());
        self.push_uses(slot);
    }

    fn push_uses(&mut self, slot: &'a Slot) {
        let uses = |record: &Record| record.kept_blobs().collect::<BTreeSet<_>>();
        let before = slot.before.as_ref().map(|before| uses(&before.record));
        let after = slot.after.as_ref().map(uses).unwrap_or_default();
        let before = before.unwrap_or_default();
        if before == after {
            return;
        }
        if !before.is_empty() {
            self.uses_gone.push(&slot.id);
        }
        for hash in after {
            self.use_hashes.push(hash.to_vec());
            self.use_effects.push(&slot.id);
        }
    }
}

#[derive(Default)]
struct Turns<'a> {
    id: Vec<&'a [u8]>,
    attempt: Vec<i64>,
    claimed_at: Vec<i64>,
    at: Vec<i64>,
    from: Vec<i16>,
    to: Vec<i16>,
    cause: Vec<i16>,
    by: Vec<Option<std::borrow::Cow<'a, str>>>,
    note: Vec<Option<std::borrow::Cow<'a, str>>>,
}

impl<'a> Turns<'a> {
    fn push(&mut self, id: &'a [u8; 16], turn: &'a Turn) {
        let transition = &turn.transition;
        self.id.push(id);
        self.attempt.push(transition.attempt.into());
        self.claimed_at.push(transition.claimed_at.0);
        self.at.push(transition.at.0);
        self.from.push(state_number(transition.from));
        self.to.push(state_number(transition.to));
        let cause = Cause::ALL.iter().position(|c| *c == transition.cause);
        let number = i16::try_from(cause.unwrap_or_default());
        self.cause.push(number.unwrap_or_default());
        self.by.push(turn.by.as_deref().map(text));
        self.note.push(turn.note.as_deref().map(text));
    }

    fn parameters(&self) -> Vec<&(dyn tokio_postgres::types::ToSql + Sync)> {
        vec![
            &self.id,
            &self.attempt,
            &self.claimed_at,
            &self.at,
            &self.from,
            &self.to,
            &self.cause,
            &self.by,
            &self.note,
        ]
    }
}
