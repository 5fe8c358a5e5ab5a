//! One run for each item of a list.
//!
//! Items are started a piece of the list at a time and go through a lane of their own, so the
//! run that waits is woken once a piece, however many items there are. Each item is an effect: done
//! once, whichever run does it.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::{ForEach, Step};
use semel_ledger::{Claim, Command, EffectId, Key, Millis, Owner, Scope};
use semel_store::run::{Lane, RunFilter, RunId, RunState, Start, WhenFull};
use semel_store::{Answer, BlobRef, Change, Content, EffectChange, StoreError};

use super::{Became, what_became};
use crate::decide::names;
use crate::engine::{Inner, fence};
use crate::journal::{Done, Happening, Kept, Origin, Spawned, Within};
use crate::load;
use crate::places;
use crate::start::{RunOf, child_opening, short_hash};
use crate::state::Phase;
use crate::worker::Active;
use crate::worker::book::Gone;

/// How many items are started in one commit.
const PIECE: usize = 1000;
/// The longest list.
const MAX_ITEMS: usize = 1_000_000;
/// How many failed items are looked at to tell of them.
const TOLD: usize = 200;

impl Active {
    pub(super) async fn spawn_items(
        &mut self,
        inner: &Arc<Inner>,
        step: &Step,
        each: &ForEach,
    ) -> Result<(), Gone> {
        let name = places::name(step);
        let spawned = match self.state.phase(&name) {
            Some(Phase::Returned(spawned) | Phase::Spawned(spawned)) => spawned.clone(),
            _ => match self.list(inner, step, each) {
                Ok(spawned) => spawned,
                Err(message) => {
                    self.give_up(&name, message);
                    return Ok(());
                }
            },
        };
        if spawned.total == 0 {
            self.note(Happening::Spawned(Box::new(spawned)));
            return Ok(());
        }
        let index = usize::try_from(spawned.begun).unwrap_or(0) / PIECE;
        let items = match spawned.pieces.get(index) {
            Some(piece) => self.piece(inner, piece).await?,
            None => None,
        };
        let Some(items) = items else {
            let first = spawned.begun + 1;
            self.give_up(
                &name,
                format!("the items from {first} on are not kept any more"),
            );
            return Ok(());
        };
        let mut starts = Vec::with_capacity(items.len());
        for (offset, item) in items.iter().enumerate() {
            let index = spawned.begun + offset as u64;
            match self.item_start(inner, &name, each, item, index) {
                Ok(start) => starts.push(start),
                Err(message) => {
                    self.give_up(&name, format!("item {}: {message}", index + 1));
                    return Ok(());
                }
            }
        }
        self.start_piece(inner, spawned, starts).await
    }

    /// The whole list, cut into pieces that are kept apart.
    fn list(&mut self, inner: &Arc<Inner>, step: &Step, each: &ForEach) -> Result<Spawned, String> {
        let items = {
            let scene = self.scene(inner.store.now());
            let value = each.items.eval(&names(&scene, &self.state, &[]));
            match value.map_err(|error| format!("for_each: {error}"))? {
                Value::List(items) => items,
                Value::Null => Arc::default(),
                other => {
                    return Err(format!(
                        "for_each: `{}` is {}, not a list",
                        each.items.source,
                        other.kind()
                    ));
                }
            }
        };
        if items.len() > MAX_ITEMS {
            let count = items.len();
            return Err(format!(
                "for_each: the list has {count} items; the limit is {MAX_ITEMS}"
            ));
        }
        let pieces = items
            .chunks(PIECE)
            .map(|piece| Kept::apart(&Value::list(piece.to_vec()), &mut self.journal.contents));
        Ok(Spawned {
            step: places::name(step),
            total: items.len() as u64,
            begun: 0,
            reused: 0,
            pieces: pieces.collect(),
            run: None,
            waits: false,
        })
    }

    /// The items of a piece; `None` if they are not kept any more.
    async fn piece(
        &self,
        inner: &Inner,
        piece: &Kept,
    ) -> Result<Option<Arc<Vec<Value>>>, StoreError> {
        let value = match piece {
            Kept::Blob(blob) => {
                let mut here = self.journal.contents.iter();
                let bytes = match here.find(|content| BlobRef::of(content) == *blob) {
                    Some(bytes) => Some(bytes.clone()),
                    None => inner.store.blob(blob.hash).await?,
                };
                bytes.and_then(|bytes| Value::read(&bytes).ok())
            }
            kept => Some(kept.value()),
        };
        Ok(match value {
            Some(Value::List(items)) => Some(items),
            _ => None,
        })
    }

    fn item_start(
        &self,
        inner: &Inner,
        step: &Arc<str>,
        each: &ForEach,
        item: &Value,
        index: u64,
    ) -> Result<Start, String> {
        let now = inner.store.now();
        let scene = self.scene(now);
        let more = [(each.name.as_str(), item.clone())];
        let key = each.key.key(&names(&scene, &self.state, &more));
        let key: Key = key.map_err(|fault| fault.to_string())?;
        let flow = &self.compiled.flow;
        let scope = Scope::new(&format!("{}/{step}", flow.name.it)).map_err(|e| e.to_string())?;
        let (id, fence) = (inner.store.new_run_id(), fence());
        let claim = Claim {
            fence,
            owner: Owner::Client,
            fingerprint: None,
            on_unknown: None,
            // The item's run holds it, and runs outlive nodes: only its end settles it.
            lease: Millis(u64::MAX),
            remember: flow
                .remember
                .as_ref()
                .map_or(inner.settings.remember, |r| r.it),
        };
        let once = EffectChange {
            effect: EffectId::new(scope, key.clone()),
            command: Command::Claim(claim),
            content: Content {
                by: Some(id.text().into()),
                ..Content::default()
            },
        };
        let within = Within {
            step: Arc::clone(step),
            fence: Some(fence),
            index: Some(index),
            maker: None,
        };
        let run = RunOf {
            compiled: &self.compiled,
            id,
            key,
            parent: Some(self.id),
            lane: Some(Lane {
                id: short_hash(&["items", &self.identity.id, step]),
                width: each.parallel,
                when_full: WhenFull::Queue,
            }),
            begin: false,
            now,
        };
        let opening = child_opening(Origin::Item, item.clone(), self.state.opening.at, within);
        Ok(Start {
            once: Some(once),
            latest: None,
            otherwise: None,
            run: run.with(opening),
        })
    }

    /// Starts one piece in one commit with the row that says so.
    async fn start_piece(
        &mut self,
        inner: &Arc<Inner>,
        spawned: Spawned,
        starts: Vec<Start>,
    ) -> Result<(), Gone> {
        let (step, begun) = (
            Arc::clone(&spawned.step),
            spawned.begun + starts.len() as u64,
        );
        let before = self.journal.changes.len();
        let changes = starts
            .into_iter()
            .map(|start| Change::Start(Box::new(start)));
        self.journal.changes.extend(changes);
        self.note(Happening::Spawned(Box::new(Spawned {
            begun,
            waits: true,
            ..spawned.clone()
        })));
        let answers = self.flush(inner).await?;
        let (mut open, mut reused) = (0, 0);
        for answer in answers.into_iter().skip(before) {
            let Answer::Started(started) = answer else {
                continue;
            };
            match what_became(&started) {
                Became::Started => open += 1,
                Became::Done => reused += 1,
                Became::Elsewhere => {}
            }
        }
        inner.due.notify_one();
        if reused > 0 || open == 0 {
            self.note(Happening::Spawned(Box::new(Spawned {
                begun,
                reused: spawned.reused + reused,
                waits: open > 0,
                ..spawned
            })));
        }
        tracing::debug!(%step, open, reused, "started a piece of a list");
        Ok(())
    }

    pub(super) async fn collect_items(
        &mut self,
        inner: &Arc<Inner>,
        step: &Arc<str>,
        spawned: &Spawned,
    ) -> Result<(), Gone> {
        let filter = RunFilter {
            parent: Some(self.id),
            states: vec![RunState::Failed, RunState::Cancelled, RunState::Undone],
            limit: TOLD,
            ..RunFilter::default()
        };
        let page = inner.store.runs(&filter).await?;
        let ids: Vec<RunId> = page.items.iter().map(|run| run.id).collect();
        let mut failed = Vec::new();
        for loaded in inner.store.load_runs(&ids).await? {
            let folded = load::fold(&inner.store, &loaded.journal[..1]).await;
            let mine = folded.is_ok_and(|folded| {
                folded
                    .state
                    .opening
                    .within
                    .is_some_and(|within| within.step == *step)
            });
            if mine {
                failed.push(loaded.run);
            }
        }
        let total = spawned.total;
        if let Some(first) = failed.first() {
            let (count, id, why) = (failed.len(), first.id.text(), &first.why);
            let message = format!("{count} of {total} items failed, such as {id} ({why})");
            self.give_up(step, message);
            return Ok(());
        }
        let number = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let result = Value::map([("count", number(total)), ("reused", number(spawned.reused))]);
        self.note(Happening::Done(Box::new(Done::plain(
            Arc::clone(step),
            Kept::Is(result),
        ))));
        Ok(())
    }
}
