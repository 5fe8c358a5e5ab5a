//! Asking the file. Short questions are answered on the caller's thread, as they cost
//! microseconds; long ones go to a thread of their own. None waits for the writer.

use std::sync::{Arc, Mutex};

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};
use semel_ledger::{Cause, EffectId, State, Time, Transition, Verdict};

use super::conditions::{effect_conditions, receipt_conditions};
use super::failure::classify;
use super::row::{self, COLUMNS, NAMES, numbered};
use super::{Ask, Sqlite, blobs, effects, locked, nodes, secrets};
use crate::error::StoreError;
use crate::node::NodeState;
use crate::query::{Filter, Page, ReceiptFilter, Tally};
use crate::receipt::{Receipt, ReceiptId, refusal_named};
use crate::record::{Record, Turn};
use crate::secret::Sealed;
use crate::store::Context;
use crate::token::Token;

/// A few connections, each for one question at a time.
#[derive(Debug)]
pub(super) struct Readers {
    pub(super) connections: Vec<Mutex<Connection>>,
    pub(super) context: Arc<Context>,
}

impl Readers {
    /// Uses whichever is free. The first is kept for short questions, so that they never wait
    /// for a long one.
    pub(super) fn ask<T>(
        &self,
        at_length: bool,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let kept = usize::from(at_length && self.connections.len() > 1);
        let open = &self.connections[kept..];
        let free = open.iter().find_map(|reader| reader.try_lock().ok());
        let reader = free.unwrap_or_else(|| locked(&open[0]));
        ask(&reader).map_err(|error| classify(error, &self.context))
    }
}

impl Sqlite {
    pub(super) async fn ask_at_length<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let readers = Arc::clone(&self.readers);
        let asked = tokio::task::spawn_blocking(move || readers.ask(true, ask));
        asked.await.map_err(|source| StoreError::Unavailable {
            source: source.into(),
        })?
    }

    #[expect(clippy::unused_async, reason = "all backends have the same methods")]
    pub(crate) async fn load(&self, effect: &EffectId) -> Result<Option<Record>, StoreError> {
        self.readers
            .ask(false, |connection| effects::load(connection, effect))
    }

    /// The record of an effect, without its input if it was asked for lately. Only for whoever is
    /// alone with the file.
    pub(crate) fn recall(&self, effect: &EffectId) -> Result<Option<Record>, StoreError> {
        let changes = match self.recent.find(effect) {
            Ok(record) => return Ok(Some(record)),
            Err(changes) => changes,
        };
        let load = |connection: &Connection| effects::load(connection, effect);
        let loaded = self.readers.ask(false, load)?;
        if let Some(record) = &loaded {
            self.recent.keep(record, changes);
        }
        Ok(loaded)
    }

    pub(crate) async fn list(&self, filter: Filter, now: Time) -> Result<Page<Record>, StoreError> {
        let (conditions, values) = effect_conditions(&filter, now);
        let limit = filter.limit;
        let sql = format!(
            "SELECT {COLUMNS}, {NAMES} FROM effects JOIN scopes ON scopes.id = effects.scope
              WHERE {conditions} ORDER BY effects.seq DESC LIMIT {}",
            limit + 1
        );
        let ask = move |connection: &Connection| {
            connection
                .prepare(&sql)?
                .query_map(params_from_iter(values), row::read)?
                .collect()
        };
        Ok(Page::new(
            self.ask_at_length(ask).await?,
            limit,
            |record: &Record| record.seq,
        ))
    }

    pub(crate) async fn turns(&self, seq: i64) -> Result<Vec<Turn>, StoreError> {
        const TURNS: &str = "SELECT attempt, claimed_at, at, was, became, cause, by, note
                               FROM transitions WHERE effect = ? ORDER BY seq";
        let ask = move |connection: &Connection| {
            connection
                .prepare_cached(TURNS)?
                .query_map([seq], read_turn)?
                .collect()
        };
        self.ask_at_length(ask).await
    }

    pub(crate) async fn receipts(
        &self,
        filter: ReceiptFilter,
    ) -> Result<Page<Receipt>, StoreError> {
        let (conditions, values) = receipt_conditions(&filter);
        let limit = filter.limit;
        let sql = format!(
            "SELECT receipts.seq, receipts.id, scopes.name, effects.key, receipts.verdict, receipts.at,
                    receipts.by, receipts.attempt
               FROM receipts JOIN effects ON effects.seq = receipts.effect
               JOIN scopes ON scopes.id = effects.scope
              WHERE {conditions} ORDER BY receipts.seq DESC LIMIT {}",
            limit + 1
        );
        let ask = move |connection: &Connection| {
            connection
                .prepare(&sql)?
                .query_map(params_from_iter(values), read_receipt)?
                .collect()
        };
        Ok(Page::new(
            self.ask_at_length(ask).await?,
            limit,
            |receipt: &Receipt| receipt.seq,
        ))
    }

    pub(crate) async fn tallies(&self, since: Time) -> Result<Vec<Tally>, StoreError> {
        const TALLIES: &str = "SELECT scopes.name, hour, verdict, count FROM tallies
                                 JOIN scopes ON scopes.id = tallies.scope
                                WHERE hour >= ? ORDER BY hour, scopes.name, verdict";
        let ask = move |connection: &Connection| {
            connection
                .prepare_cached(TALLIES)?
                .query_map([since.0], read_tally)?
                .collect()
        };
        self.ask_at_length(ask).await
    }

    pub(crate) async fn blob(&self, hash: [u8; 32]) -> Result<Option<Vec<u8>>, StoreError> {
        self.ask_at_length(move |connection| blobs::get(connection, &hash))
            .await
    }

    pub(crate) async fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        self.ask_at_length(nodes::tokens).await
    }

    pub(crate) async fn secrets(&self) -> Result<Vec<Sealed>, StoreError> {
        self.ask_at_length(secrets::all).await
    }

    pub(crate) async fn secrets_revision(&self) -> Result<i64, StoreError> {
        self.ask_at_length(secrets::revision).await
    }

    pub(crate) async fn nodes(&self) -> Result<Vec<NodeState>, StoreError> {
        self.ask_at_length(nodes::all).await
    }

    pub(crate) async fn overdue(
        &self,
        node: Option<u64>,
        now: Time,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let (condition, value) = match node {
            Some(node) => (
                "effects.node = ?",
                Value::from(i64::try_from(node).unwrap_or(-1)),
            ),
            None => ("effects.lease_until <= ?", Value::from(now.0)),
        };
        let sql = format!(
            "SELECT {COLUMNS}, {NAMES} FROM effects JOIN scopes ON scopes.id = effects.scope
              WHERE effects.state = 0 AND {condition} LIMIT {limit}"
        );
        let ask = move |connection: &Connection| {
            connection
                .prepare(&sql)?
                .query_map([value], row::read)?
                .collect()
        };
        self.ask_at_length(ask).await
    }

    pub(crate) async fn walk(&self, after: i64, limit: usize) -> Result<Vec<Record>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS}, {NAMES} FROM effects JOIN scopes ON scopes.id = effects.scope
              WHERE effects.seq > ? ORDER BY effects.seq LIMIT {limit}"
        );
        let ask = move |connection: &Connection| {
            connection
                .prepare_cached(&sql)?
                .query_map([after], row::read)?
                .collect()
        };
        self.ask_at_length(ask).await
    }

    pub(crate) async fn give_back(&self) -> Result<(), StoreError> {
        self.ask_writer(Ask::GiveBack).await.map(drop)
    }
}

fn read_turn(row: &Row<'_>) -> rusqlite::Result<Turn> {
    let name = row.get_ref(5)?.as_str()?;
    let cause = Cause::ALL.into_iter().find(|cause| cause.name() == name);
    Ok(Turn {
        transition: Transition {
            attempt: row.get(0)?,
            claimed_at: Time(row.get(1)?),
            at: Time(row.get(2)?),
            from: numbered(row, 3, State::ALL)?,
            to: numbered(row, 4, State::ALL)?,
            cause: cause.ok_or_else(|| rusqlite::Error::InvalidColumnName(name.to_owned()))?,
        },
        by: row::text(row, 6)?,
        note: row::text(row, 7)?,
    })
}

fn verdict(row: &Row<'_>, column: usize) -> rusqlite::Result<Verdict> {
    let name = row.get_ref(column)?.as_str()?;
    refusal_named(name).ok_or_else(|| rusqlite::Error::InvalidColumnName(name.to_owned()))
}

fn read_receipt(row: &Row<'_>) -> rusqlite::Result<Receipt> {
    Ok(Receipt {
        seq: row.get(0)?,
        id: ReceiptId(row.get(1)?),
        effect: row::effect(row, 2)?,
        verdict: verdict(row, 4)?,
        at: Time(row.get(5)?),
        by: row::text(row, 6)?,
        attempt: row.get(7)?,
        count: 1,
        counted: false,
    })
}

fn read_tally(row: &Row<'_>) -> rusqlite::Result<Tally> {
    Ok(Tally {
        scope: row.get(0)?,
        hour: Time(row.get(1)?),
        verdict: verdict(row, 2)?,
        count: row.get(3)?,
    })
}
