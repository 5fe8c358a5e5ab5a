//! Events that runs wait for: listening, finding what came before, telling those that wait.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::{Action, ForEvent, Heard, INCOMING, Step, Wait};
use semel_ledger::Time;
use semel_store::listen::Listen;
use semel_store::run::{JournalRow, Loaded, Run, RunFilter, RunId, RunState};
use semel_store::{Change, StoreError};

use super::Active;
use super::book::Gone;
use crate::decide::{KEPT_SECRET, names};
use crate::engine::Inner;
use crate::journal::{self, Done, Emitted, Happening, Kept, Note, Origin, Waits, WaitsFor};
use crate::load;
use crate::places;
use crate::state::Phase;
use crate::topics;

/// How many runs of the flow are looked through for an event that came before the wait began.
const LOOKED_THROUGH: usize = 1000;
/// How many of them are loaded at a time.
const AT_A_TIME: usize = 100;

impl Active {
    /// Begins to listen. What came before is looked for once that is durable.
    pub(super) async fn listen(
        &mut self,
        inner: &Arc<Inner>,
        step: &Arc<str>,
        until: Time,
    ) -> Result<(), Gone> {
        let compiled = Arc::clone(&self.compiled);
        let Some(it) = awaited(places::find(&compiled.flow, step)) else {
            return Ok(());
        };
        match self.listening(inner, step, it) {
            Ok(listen) => self.journal.changes.push(Change::Listen(Box::new(listen))),
            Err(message) => {
                self.give_up(step, format!("match: {message}"));
                return Ok(());
            }
        }
        self.note(Happening::Waits(Box::new(Waits {
            step: Arc::clone(step),
            until,
            what: WaitsFor::Event,
        })));
        self.flush(inner).await?;
        Ok(())
    }

    fn listening(&self, inner: &Inner, step: &Arc<str>, it: &ForEvent) -> Result<Listen, String> {
        let link = it.link();
        let link = link.ok_or("no member of the event is compared with anything of the run")?;
        let scene = self.scene(inner.store.now());
        let ours = link.ours.eval(&names(&scene, &self.state, &[]));
        let ours = ours.map_err(|error| error.to_string())?;
        if ours.hides_secret() {
            return Err(KEPT_SECRET.to_owned());
        }
        let source = topics::source_of(&it.of);
        let place = topics::place(&source, &link.theirs, &ours);
        Ok(Listen {
            run: self.id,
            step: step.as_ref().into(),
            place: place.ok_or("what it is compared with cannot be written down")?,
            source,
            path: link.theirs.into(),
        })
    }

    /// The steps that wait for an event.
    fn listeners(&self) -> Vec<Arc<str>> {
        let waits = |phase: &Phase| {
            matches!(
                phase,
                Phase::Waiting {
                    what: WaitsFor::Event,
                    ..
                }
            )
        };
        let steps = self.state.steps.iter();
        let steps = steps.filter(|(_, step)| waits(&step.phase));
        steps.map(|(id, _)| Arc::clone(id)).collect()
    }

    /// Looks once, whenever the run is taken up, for events that came since it began: before it listened, or
    /// while nobody could tell it.
    pub(super) async fn look_back(&mut self, inner: &Arc<Inner>) -> Result<(), Gone> {
        let compiled = Arc::clone(&self.compiled);
        for step in self.listeners() {
            if !self.looked_back.insert(Arc::clone(&step)) {
                continue;
            }
            let Some(it) = awaited(places::find(&compiled.flow, &step)) else {
                continue;
            };
            for event in self.before(inner, &it.of).await? {
                if self.matches(inner, it, &event) {
                    self.arrived(&step, event, None);
                    self.hush(&step);
                    break;
                }
            }
        }
        Ok(())
    }

    /// The events of a source since this run began, oldest first.
    async fn before(&self, inner: &Inner, of: &Heard) -> Result<Vec<Value>, StoreError> {
        let live = inner.flows.live();
        let flows: Vec<Box<str>> = match of {
            Heard::Flow(flow) => vec![flow.it.as_str().into()],
            Heard::Event(event) => live
                .receivers(&event.it)
                .map(|compiled| compiled.flow.name.it.as_str().into())
                .collect(),
        };
        let mut found = Vec::new();
        for flow in flows {
            for loaded in self.runs_since(inner, &flow).await? {
                // Filed for a person: nobody has said yet that the flow takes it in.
                if loaded.run.state == RunState::Parked && loaded.journal.len() == 1 {
                    continue;
                }
                let opening = opening(inner, &loaded.journal).await;
                let Some((by, from, event)) = opening else {
                    continue;
                };
                match of {
                    Heard::Flow(_) if is_accepted(by) => found.extend(event),
                    Heard::Flow(_) => {}
                    // The name of an event is known to whoever emitted it.
                    Heard::Event(name) if by == Origin::Emit => {
                        let emitter = from.as_deref().and_then(RunId::parse);
                        found.extend(emitted(inner, emitter, |it| *it.event == *name.it).await?);
                    }
                    Heard::Event(_) => {}
                }
            }
        }
        Ok(found)
    }

    async fn runs_since(&self, inner: &Inner, flow: &str) -> Result<Vec<Loaded>, StoreError> {
        let mut filter = RunFilter {
            flow: Some(flow.to_owned()),
            since: Some(began(self.id)),
            limit: AT_A_TIME,
            ..RunFilter::default()
        };
        let mut ids: Vec<RunId> = Vec::new();
        while ids.len() < LOOKED_THROUGH {
            let page: Vec<Run> = inner.store.runs(&filter).await?.items;
            let Some(last) = page.last() else { break };
            filter.before = Some(last.id);
            ids.extend(page.iter().map(|run| run.id).filter(|id| *id != self.id));
        }
        ids.reverse();
        let mut loaded = Vec::with_capacity(ids.len());
        for some in ids.chunks(AT_A_TIME) {
            loaded.extend(inner.store.load_runs(some).await?);
        }
        Ok(loaded)
    }

    /// Mail says that an event came which may be waited for.
    pub(super) async fn heard(
        &mut self,
        inner: &Arc<Inner>,
        run: RunId,
        emit: Option<&str>,
    ) -> Result<(), Gone> {
        let listeners = self.listeners();
        // Its own event is not one that it waits for.
        let own = run == self.id && emit.is_none();
        if listeners.is_empty() || own {
            return Ok(());
        }
        let Some(loaded) = inner.store.load_run(run).await? else {
            return Ok(());
        };
        let (source, event) = match emit {
            None => {
                let opening = opening(inner, &loaded.journal).await;
                let event = opening.and_then(|(_, _, event)| event);
                (topics::of_flow(&loaded.run.flow), event)
            }
            Some(step) => match find_emitted(&loaded.journal, |it| &*it.step == step) {
                Some(it) => (topics::of_event(&it.event), value(inner, it.data).await),
                None => return Ok(()),
            },
        };
        let Some(event) = event else { return Ok(()) };
        let compiled = Arc::clone(&self.compiled);
        for step in listeners {
            let it = awaited(places::find(&compiled.flow, &step));
            let it = it.filter(|it| topics::source_of(&it.of) == source);
            if it.is_some_and(|it| self.matches(inner, it, &event)) {
                self.arrived(&step, event.clone(), None);
                self.hush(&step);
            }
        }
        Ok(())
    }

    /// Whether an event is the one. Where the question has no answer, it is not.
    fn matches(&self, inner: &Inner, it: &ForEvent, event: &Value) -> bool {
        let more = [(INCOMING, event.clone())];
        let scene = self.scene(inner.store.now());
        let holds = it.matches.holds(&names(&scene, &self.state, &more));
        holds.unwrap_or(false)
    }

    /// Tells those that wait for the event which started this run, with the run's next row.
    pub(super) async fn announce_start(&mut self, inner: &Arc<Inner>) -> Result<(), Gone> {
        // Once there is a second row, those who wait have been told with it.
        let first = self.journal.rows == 1 && !self.announced && !self.waits;
        if !first || !is_accepted(self.state.opening.by) {
            return Ok(());
        }
        self.announced = true;
        let paths = inner.topics.fresh(&inner.store).await?;
        let source = topics::of_flow(&self.compiled.flow.name.it);
        if paths.contains_key(&source) {
            let event = self.state.opening.event.value();
            self.tell(topics::places(&paths, &source, &event), None);
        }
        Ok(())
    }

    /// Tells those that wait for the event that a step emitted; then the step is done.
    pub(super) async fn announce(
        &mut self,
        inner: &Arc<Inner>,
        step: &Arc<str>,
    ) -> Result<(), Gone> {
        let Some(Phase::Emitted(emitted)) = self.state.phase(step).cloned() else {
            return Ok(());
        };
        let paths = inner.topics.fresh(&inner.store).await?;
        let source = topics::of_event(&emitted.event);
        if paths.contains_key(&source) {
            let event = emitted.data.value();
            self.tell(topics::places(&paths, &source, &event), Some(step));
        }
        let count = i64::try_from(emitted.receivers).unwrap_or(i64::MAX);
        let result = Value::map([("receivers", Value::Int(count))]);
        self.note(Happening::Done(Box::new(Done::plain(
            Arc::clone(step),
            Kept::Is(result),
        ))));
        Ok(())
    }

    fn tell(&mut self, places: Vec<[u8; 16]>, emit: Option<&Arc<str>>) {
        let note = Note::Heard {
            run: self.identity.id.as_ref().into(),
            emit: emit.cloned(),
        };
        let note: Box<str> = serde_json::to_string(&note).unwrap_or_default().into();
        let tell = |place| Change::Tell {
            place,
            note: note.clone(),
        };
        self.journal.changes.extend(places.into_iter().map(tell));
    }
}

fn awaited(step: Option<&Step>) -> Option<&ForEvent> {
    match &step?.action {
        Action::Wait(Wait::ForEvent(it)) => Some(it),
        _ => None,
    }
}

/// Whether the event of such a run is one that a flow took in, for the first time.
fn is_accepted(by: Origin) -> bool {
    !matches!(by, Origin::Item | Origin::Fetch | Origin::Rerun)
}

/// When a run began, as its name tells.
fn began(run: RunId) -> Time {
    let mut number = [0; 8];
    number.copy_from_slice(&run.0[..8]);
    let millis = u64::from_be_bytes(number) >> 16;
    Time(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// What started a run, and from where; nothing if that cannot be read any more.
async fn opening(
    inner: &Inner,
    rows: &[JournalRow],
) -> Option<(Origin, Option<Box<str>>, Option<Value>)> {
    let first = rows.get(..1)?;
    let opening = load::fold(&inner.store, first).await.ok()?.state.opening;
    Some((opening.by, opening.from, Some(opening.event.value())))
}

/// What a run emitted.
async fn emitted(
    inner: &Inner,
    run: Option<RunId>,
    which: impl Fn(&Emitted) -> bool,
) -> Result<Option<Value>, StoreError> {
    let Some(run) = run else { return Ok(None) };
    let Some(loaded) = inner.store.load_run(run).await? else {
        return Ok(None);
    };
    Ok(match find_emitted(&loaded.journal, which) {
        Some(it) => value(inner, it.data).await,
        None => None,
    })
}

fn find_emitted(rows: &[JournalRow], which: impl Fn(&Emitted) -> bool) -> Option<Emitted> {
    let rows = rows
        .iter()
        .filter_map(|row| journal::read(row.at, &row.row).ok());
    rows.flatten().find_map(|happening| match happening {
        Happening::Emitted(it) if which(&it) => Some(*it),
        _ => None,
    })
}

async fn value(inner: &Inner, mut kept: Kept) -> Option<Value> {
    load::fetch_kept(&inner.store, &mut kept).await.ok()?;
    Some(kept.value())
}
