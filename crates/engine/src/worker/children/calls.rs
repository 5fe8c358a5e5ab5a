//! Calling another flow, and telling flows of an event.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::{Step, Tree};
use semel_ledger::{Key, Millis};
use semel_store::run::{Loaded, RunId, RunState, Started};
use semel_store::{Answer, Change, StoreError};

use super::{Became, what_became};
use crate::decide::{KEPT_SECRET, names};
use crate::engine::{Inner, fence};
use crate::flows::Compiled;
use crate::journal::{self, Done, Emitted, Happening, Headers, Kept, Origin, Spawned, Within};
use crate::load::{self, LoadError};
use crate::places;
use crate::start::{Incoming, started_run};
use crate::worker::Active;
use crate::worker::book::Gone;

/// How long until a called run that somebody else started is looked at again.
const CALL_PAUSE: Millis = Millis::seconds(2);

impl Active {
    pub(super) async fn spawn_call(
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
        start.run.opening = within(&start.run.opening, &name, self.maker());
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
            headers: Headers::new(),
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

    /// An event for other flows: it exists if and only if the step is recorded as emitted. Those who wait for it
    /// are told after that.
    pub(super) async fn emit(
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
        let count = receivers.len() as u64;
        let starts = receivers
            .into_iter()
            .map(|start| Change::Start(Box::new(start)));
        self.journal.changes.extend(starts);
        let data = Kept::new(value, &mut self.journal.contents);
        self.note(Happening::Emitted(Box::new(Emitted {
            step: name,
            event: event.into(),
            data,
            receivers: count,
        })));
        self.flush(inner).await?;
        for compiled in live.receivers(event) {
            inner.has_started(&compiled.flow);
        }
        Ok(())
    }

    pub(super) async fn collect_call(
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
    async fn result_of(&self, inner: &Inner, loaded: &Loaded) -> Result<Value, LoadError> {
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
}

/// A called run's opening with the step that waits for it.
fn within(opening: &str, step: &Arc<str>, maker: Option<&str>) -> Box<str> {
    let mut happenings = journal::read(0, opening).unwrap_or_default();
    if let Some(Happening::Opened(opening)) = happenings.first_mut() {
        opening.within = Some(Within {
            step: Arc::clone(step),
            fence: None,
            index: None,
            maker: maker.map(Into::into),
        });
    }
    journal::write(&happenings)
}
