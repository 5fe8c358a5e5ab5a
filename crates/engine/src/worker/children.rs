//! Runs that a run starts: one for each item, one for a call, one for each receiver of an event.
//!
//! Items are started a piece of the list at a time and go through a lane of their own, so the
//! run that waits is woken once a piece, however many items there are.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::{Action, ForEach, Step, Tree};
use semel_ledger::{Claim, Command, EffectId, Key, Millis, Owner, Scope, Verdict};
use semel_store::run::{Lane, RunFilter, RunId, RunState, Start, StartOutcome, Started, WhenFull};
use semel_store::{Answer, Change, Content, EffectChange, StoreError};

use super::Active;
use super::book::Gone;
use crate::decide::{KEPT_SECRET, names};
use crate::engine::{Inner, fence};
use crate::flows::Compiled;
use crate::journal::{Done, Happening, Kept, Origin, Spawned, Within};
use crate::load;
use crate::places;
use crate::start::{Incoming, RunOf, child_opening, short_hash, started_run};
use crate::state::Phase;

/// How many items are started in one commit.
const PIECE: usize = 1000;
/// The longest list.
const MAX_ITEMS: usize = 1_000_000;
/// How many failed items are looked at to tell of them.
const TOLD: usize = 200;
/// How long until a called run that somebody else started is looked at again.
const CALL_PAUSE: Millis = Millis::seconds(2);

impl Active {
    pub(super) async fn spawn(&mut self, inner: &Arc<Inner>, step: &Arc<str>) -> Result<(), Gone> {
        let compiled = Arc::clone(&self.compiled);
        let Some(found) = places::find(&compiled.flow, step) else {
            return Ok(());
        };
        match &found.action {
            Action::ForEach(each) => self.spawn_items(inner, found, each).await,
            Action::Call { flow, input } => self.spawn_call(inner, found, &flow.it, input).await,
            Action::Emit { event, data } => self.emit(inner, found, &event.it, data).await,
            _ => Ok(()),
        }
    }

    async fn spawn_items(
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
            None => Vec::new(),
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

    async fn piece(&self, inner: &Inner, piece: &Kept) -> Result<Vec<Value>, StoreError> {
        let kept_here = |blob: &semel_store::BlobRef| {
            let contents = self.journal.contents.iter();
            contents
                .into_iter()
                .find(|c| semel_store::BlobRef::of(c) == *blob)
                .cloned()
        };
        let value = match piece {
            Kept::Is(value) => value.clone(),
            Kept::Blob(blob) => {
                let bytes = match kept_here(blob) {
                    Some(bytes) => Some(bytes),
                    None => inner.store.blob(blob.hash).await?,
                };
                bytes
                    .and_then(|bytes| Value::read(&bytes).ok())
                    .unwrap_or(Value::Null)
            }
        };
        Ok(match value {
            Value::List(items) => items.to_vec(),
            _ => Vec::new(),
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
            match answer {
                Answer::Started(started) => match what_became(&started) {
                    Became::Started => open += 1,
                    Became::Done => reused += 1,
                    Became::Elsewhere => {}
                },
                _ => continue,
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

    async fn spawn_call(
        &mut self,
        inner: &Arc<Inner>,
        step: &Step,
        flow: &str,
        input: &Tree,
    ) -> Result<(), Gone> {
        let name = places::name(step);
        let now = inner.store.now();
        let live = inner.flows.live();
        let Some(callee) = live.flows.get(flow).cloned() else {
            self.give_up(&name, format!("call: there is no live flow `{flow}`"));
            return Ok(());
        };
        let event = {
            let scene = self.scene(now);
            input.render(&names(&scene, &self.state, &[]))
        };
        let event = match event {
            Ok(event) if event.hides_secret() => {
                self.give_up(&name, format!("call.input: {KEPT_SECRET}"));
                return Ok(());
            }
            Ok(event) => event,
            Err(error) => {
                self.give_up(&name, format!("call.input: {error}"));
                return Ok(());
            }
        };
        let id = inner.store.new_run_id();
        let mut start = match self
            .incoming(inner, &callee, id, Origin::Call, event, &name)
            .into_start()
        {
            Ok(start) => start,
            Err(error) => {
                self.give_up(&name, format!("call: {error}"));
                return Ok(());
            }
        };
        start.run.parent = Some(self.id);
        start.run.opening = within(&start.run.opening, &name);
        self.journal.changes.push(Change::Start(Box::new(start)));
        let before = self.journal.changes.len() - 1;
        let spawned = |run: RunId, waits| Spawned {
            step: Arc::clone(&name),
            total: 1,
            begun: 1,
            reused: 0,
            pieces: Vec::new(),
            run: Some(run.text().into()),
            waits,
        };
        self.note(Happening::Spawned(Box::new(spawned(id, true))));
        let mut answers = self.flush(inner).await?.into_iter().skip(before);
        let Some(Answer::Started(started)) = answers.next() else {
            return Ok(());
        };
        inner.due.notify_one();
        if matches!(what_became(&started), Became::Started) {
            return Ok(());
        }
        // The same call was made before: its run is whose result counts.
        let first = self.first_run(inner, &started).await?.unwrap_or(id);
        self.note(Happening::Spawned(Box::new(spawned(first, false))));
        Ok(())
    }

    async fn first_run(
        &self,
        inner: &Inner,
        started: &Started,
    ) -> Result<Option<RunId>, StoreError> {
        let record = started.answered.as_ref().and_then(|a| a.record.as_ref());
        let Some(result) = record.and_then(|record| record.result.as_ref()) else {
            return Ok(None);
        };
        let text = inner.store.text(result).await?;
        Ok(text.as_deref().and_then(started_run))
    }

    fn incoming<'a>(
        &self,
        inner: &Inner,
        compiled: &'a Compiled,
        id: RunId,
        by: Origin,
        event: Value,
        step: &str,
    ) -> Incoming<'a> {
        let own_key = self.identity.key.parse::<Key>().ok().and_then(|key| {
            let mut parts: Vec<String> = key.parts().collect();
            parts.push(step.to_owned());
            Key::from_parts(&parts).ok()
        });
        Incoming {
            compiled,
            id,
            by,
            event,
            canonical: None,
            raw: None,
            at: self.state.opening.at,
            from: Some(self.identity.id.as_ref().into()),
            key: None,
            own_key,
            begin: false,
            remember: inner.settings.remember,
            now: inner.store.now(),
            fence: fence(),
        }
    }

    /// An event for other flows: it exists if and only if the step is recorded done.
    async fn emit(
        &mut self,
        inner: &Arc<Inner>,
        step: &Step,
        event: &str,
        data: &Tree,
    ) -> Result<(), Gone> {
        let name = places::name(step);
        let rendered = {
            let scene = self.scene(inner.store.now());
            data.render(&names(&scene, &self.state, &[]))
        };
        let value = match rendered {
            Ok(value) if value.hides_secret() => {
                self.give_up(&name, format!("emit.data: {KEPT_SECRET}"));
                return Ok(());
            }
            Ok(value) => value,
            Err(error) => {
                self.give_up(&name, format!("emit.data: {error}"));
                return Ok(());
            }
        };
        let live = inner.flows.live();
        let mut receivers = Vec::new();
        for compiled in live.receivers(event) {
            let id = inner.store.new_run_id();
            let incoming = self.incoming(inner, compiled, id, Origin::Emit, value.clone(), &name);
            if !crate::intake::wanted(&compiled.flow, event, &incoming.names()) {
                continue;
            }
            match incoming.into_start() {
                Ok(start) => receivers.push(start),
                Err(error) => {
                    let flow = &compiled.flow.name.it;
                    self.give_up(&name, format!("emit: flow `{flow}`: {error}"));
                    return Ok(());
                }
            }
        }
        let count = i64::try_from(receivers.len()).unwrap_or(i64::MAX);
        let starts = receivers
            .into_iter()
            .map(|start| Change::Start(Box::new(start)));
        self.journal.changes.extend(starts);
        let result = Value::map([("receivers", Value::Int(count))]);
        self.note(Happening::Done(Box::new(Done::plain(
            name,
            Kept::Is(result),
        ))));
        self.flush(inner).await?;
        for compiled in live.receivers(event) {
            inner.has_started(&compiled.flow);
        }
        Ok(())
    }

    /// The runs that a step waited for are over.
    pub(super) async fn collect(
        &mut self,
        inner: &Arc<Inner>,
        step: &Arc<str>,
    ) -> Result<(), Gone> {
        let Some(Phase::Returned(spawned)) = self.state.phase(step).cloned() else {
            return Ok(());
        };
        match spawned.run.as_deref().map(RunId::parse) {
            None => self.collect_items(inner, step, &spawned).await,
            Some(run) => self.collect_call(inner, step, run).await,
        }
    }

    async fn collect_items(
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

    async fn collect_call(
        &mut self,
        inner: &Arc<Inner>,
        step: &Arc<str>,
        run: Option<RunId>,
    ) -> Result<(), Gone> {
        let loaded = match run {
            Some(run) => inner.store.load_run(run).await?,
            None => None,
        };
        let Some(loaded) = loaded else {
            self.give_up(step, "call: the called run is gone".to_owned());
            return Ok(());
        };
        match loaded.run.state {
            state if state.is_open() => self.note(Happening::Busy {
                step: Arc::clone(step),
                until: inner.store.now().after(CALL_PAUSE),
                since: inner.store.now(),
            }),
            RunState::Done => match self.result_of(inner, &loaded).await {
                Ok(result) => {
                    let result = Kept::new(result, &mut self.journal.contents);
                    self.note(Happening::Done(Box::new(Done::plain(
                        Arc::clone(step),
                        result,
                    ))));
                }
                Err(error) => self.give_up(step, format!("call: {error}")),
            },
            _ => {
                let (id, why) = (loaded.run.id.text(), &loaded.run.why);
                self.give_up(step, format!("call: {id} failed: {why}"));
            }
        }
        Ok(())
    }

    /// What a called flow gives: the result of its last step that is done.
    async fn result_of(
        &self,
        inner: &Inner,
        loaded: &semel_store::run::Loaded,
    ) -> Result<Value, load::LoadError> {
        let folded = load::fold(&inner.store, &loaded.journal).await?;
        let compiled = inner
            .flows
            .release(&inner.store, loaded.run.release)
            .await?;
        let steps = compiled.flow.steps.iter().rev();
        let last = steps
            .into_iter()
            .find_map(|step| folded.state.result(&step.id.it).cloned());
        Ok(last.unwrap_or(Value::Null))
    }

    pub(super) fn give_up(&mut self, step: &Arc<str>, message: String) {
        self.note(Happening::GaveUp {
            step: Arc::clone(step),
            message: message.into(),
        });
    }
}

enum Became {
    Started,
    Done,
    Elsewhere,
}

fn what_became(started: &Started) -> Became {
    let verdict = started.answered.as_ref().map(|answered| answered.verdict);
    match (started.outcome, verdict) {
        (StartOutcome::Started { .. }, _) => Became::Started,
        // Written before, and its answer was lost: it is there.
        (_, Some(Verdict::Granted | Verdict::First)) => Became::Started,
        (_, Some(Verdict::Done)) => Became::Done,
        _ => Became::Elsewhere,
    }
}

/// A called run's opening with the step that waits for it.
fn within(opening: &str, step: &Arc<str>) -> Box<str> {
    let mut happenings = crate::journal::read(0, opening).unwrap_or_default();
    if let Some(Happening::Opened(opening)) = happenings.first_mut() {
        opening.within = Some(Within {
            step: Arc::clone(step),
            fence: None,
            index: None,
        });
    }
    crate::journal::write(&happenings)
}
