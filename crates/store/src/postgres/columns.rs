//! Effects on their way into the table: one array a column, one statement for many effects.
//!
//! Owns the list of columns: every statement that reads or writes whole effects is made from it,
//! so a column cannot be forgotten in one of them. [`super::row`] reads them back.

use std::borrow::Cow;

use semel_ledger::{OnUnknown, Owner, State};
use tokio_postgres::types::ToSql;

use crate::blob::Stored;
use crate::record::Record;

/// The columns that a change may write, with their types, in the order of [`Columns::parameters`].
pub(super) const WRITTEN: [(&str, &str); 30] = [
    ("id", "bytea"),
    ("scope", "text"),
    ("key", "text"),
    ("state", "smallint"),
    ("attempt", "bigint"),
    ("fence", "bytea"),
    ("owner_node", "bigint"),
    ("owner_epoch", "bigint"),
    ("owner_machine", "bytea"),
    ("owner_pid", "bigint"),
    ("owner_started", "bigint"),
    ("fingerprint", "bytea"),
    ("on_unknown", "text"),
    ("remember", "bigint"),
    ("created_at", "bigint"),
    ("claimed_at", "bigint"),
    ("lease_until", "bigint"),
    ("changed_at", "bigint"),
    ("settled", "bytea"),
    ("tombstone", "boolean"),
    ("\"by\"", "text"),
    ("input", "text"),
    ("input_blob", "bytea"),
    ("input_bytes", "bigint"),
    ("result", "text"),
    ("result_blob", "bytea"),
    ("result_bytes", "bigint"),
    ("external_id", "text"),
    ("note", "text"),
    ("blobs", "bytea"),
];

/// The columns of a whole effect, as [`super::row::Stamped::read`] expects them, each after `prefix`.
pub(super) fn read_columns(prefix: &str) -> String {
    let names = WRITTEN.iter().map(|(name, _)| *name);
    let all: Vec<String> = names
        .chain(["seq", "blocked", "revision"])
        .map(|name| format!("{prefix}{name}"))
        .collect();
    all.join(", ")
}

/// PostgreSQL's text cannot hold U+0000. It stands for nothing in these texts, so the replacement
/// character takes its place rather than one caller's text failing the whole group.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        return Cow::Owned(text.replace('\0', "\u{fffd}"));
    }
    Cow::Borrowed(text)
}

fn optional(value: Option<&str>) -> Option<Cow<'_, str>> {
    value.map(text)
}

/// Effects turned on their side: one array a column.
#[derive(Default)]
pub(super) struct Columns<'a> {
    id: Vec<&'a [u8]>,
    scope: Vec<&'a str>,
    key: Vec<&'a str>,
    state: Vec<i16>,
    attempt: Vec<i64>,
    fence: Vec<&'a [u8]>,
    owner_node: Vec<Option<i64>>,
    owner_epoch: Vec<Option<i64>>,
    owner_machine: Vec<Option<&'a [u8]>>,
    owner_pid: Vec<Option<i64>>,
    owner_started: Vec<Option<i64>>,
    fingerprint: Vec<Option<&'a [u8]>>,
    on_unknown: Vec<Option<&'static str>>,
    remember: Vec<i64>,
    created_at: Vec<i64>,
    claimed_at: Vec<i64>,
    lease_until: Vec<i64>,
    changed_at: Vec<i64>,
    settled: Vec<Option<&'a [u8]>>,
    tombstone: Vec<bool>,
    by: Vec<Option<Cow<'a, str>>>,
    input: StoredColumns<'a>,
    result: StoredColumns<'a>,
    external_id: Vec<Option<Cow<'a, str>>>,
    note: Vec<Option<Cow<'a, str>>>,
    blobs: Vec<Option<Vec<u8>>>,
    revision: Vec<i64>,
}

#[derive(Default)]
struct StoredColumns<'a> {
    inline: Vec<Option<Cow<'a, str>>>,
    blob: Vec<Option<&'a [u8]>>,
    bytes: Vec<Option<i64>>,
}

impl<'a> StoredColumns<'a> {
    fn push(&mut self, stored: Option<&'a Stored>) {
        let (inline, blob) = match stored {
            None => (None, None),
            Some(Stored::Inline(inline)) => (Some(text(inline)), None),
            Some(Stored::Blob(blob)) => (None, Some(blob)),
        };
        self.inline.push(inline);
        self.blob.push(blob.map(|blob| blob.hash.as_slice()));
        self.bytes.push(blob.map(|blob| blob.bytes.cast_signed()));
    }
}

impl<'a> Columns<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.id.len()
    }

    /// Adds one effect; `revision` is that of the row it takes the place of.
    pub(super) fn push(&mut self, id: &'a [u8; 16], record: &'a Record, revision: i64) {
        let entry = &record.entry;
        self.id.push(id);
        self.scope.push(record.effect.scope.as_str());
        self.key.push(record.effect.key.as_str());
        self.state.push(state_number(entry.state));
        self.attempt.push(entry.attempt.into());
        self.fence.push(&entry.fence.0);
        self.push_owner(&entry.owner);
        self.fingerprint
            .push(entry.fingerprint.as_ref().map(|f| f.0.as_slice()));
        self.on_unknown.push(entry.on_unknown.map(OnUnknown::name));
        self.remember.push(entry.remember.0.cast_signed());
        self.created_at.push(entry.created_at.0);
        self.claimed_at.push(entry.claimed_at.0);
        self.lease_until.push(entry.lease_until.0);
        self.changed_at.push(entry.changed_at.0);
        self.settled
            .push(entry.settled.as_ref().map(|d| d.0.as_slice()));
        self.tombstone.push(entry.tombstone);
        self.by.push(optional(record.by.as_deref()));
        self.input.push(record.input.as_ref());
        self.result.push(record.result.as_ref());
        self.external_id
            .push(optional(record.external_id.as_deref()));
        self.note.push(optional(record.note.as_deref()));
        let blobs = (!record.blobs.is_empty()).then(|| record.blobs.concat());
        self.blobs.push(blobs);
        self.revision.push(revision);
    }

    fn push_owner(&mut self, owner: &'a Owner) {
        let (node, process) = match owner {
            Owner::Client => (None, None),
            Owner::Process(process) => (None, Some(process)),
            Owner::Node { node, epoch } => (Some((node.cast_signed(), epoch.cast_signed())), None),
        };
        self.owner_node.push(node.map(|(node, _)| node));
        self.owner_epoch.push(node.map(|(_, epoch)| epoch));
        self.owner_machine
            .push(process.map(|process| process.machine.as_slice()));
        self.owner_pid
            .push(process.map(|process| process.pid.into()));
        self.owner_started
            .push(process.map(|process| process.started.cast_signed()));
    }

    /// The columns as they are [`WRITTEN`].
    pub(super) fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        vec![
            &self.id,
            &self.scope,
            &self.key,
            &self.state,
            &self.attempt,
            &self.fence,
            &self.owner_node,
            &self.owner_epoch,
            &self.owner_machine,
            &self.owner_pid,
            &self.owner_started,
            &self.fingerprint,
            &self.on_unknown,
            &self.remember,
            &self.created_at,
            &self.claimed_at,
            &self.lease_until,
            &self.changed_at,
            &self.settled,
            &self.tombstone,
            &self.by,
            &self.input.inline,
            &self.input.blob,
            &self.input.bytes,
            &self.result.inline,
            &self.result.blob,
            &self.result.bytes,
            &self.external_id,
            &self.note,
            &self.blobs,
        ]
    }

    /// As [`Columns::parameters`], and the revisions that must still be there.
    pub(super) fn parameters_and_revision(&self) -> Vec<&(dyn ToSql + Sync)> {
        let mut parameters = self.parameters();
        parameters.push(&self.revision);
        parameters
    }
}

/// The number of a state in the table.
pub(super) fn state_number(state: State) -> i16 {
    let place = State::ALL.iter().position(|other| *other == state);
    i16::try_from(place.unwrap_or_default()).unwrap_or_default()
}
