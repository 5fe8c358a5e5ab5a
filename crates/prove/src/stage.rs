//! What a flow is proved on: its steps as places where the world can be touched, and events that start it.
//!
//! Owns finding every call to the world in the flow and what its answers must look like. The same for all
//! schedules; nothing here changes while one runs.

mod finder;

use std::collections::HashMap;
use std::sync::Arc;

use semel_act::Answer;
use semel_engine::flows::{Compiled, ReleaseError};
use semel_engine::places;
use semel_flow::check::{Due, Part, Read, reads};
use semel_flow::model::{Act, Action, Class, Kind, Schedule, Step, Trigger, Wait};
use semel_flow::{Flow, Value};
use semel_ledger::Millis;
use semel_store::run::ReleaseId;

use crate::answers::answer;
use crate::events::{Sender, sibling};
use crate::examples::{self, Event};
use crate::shape::Shape;
use finder::Finder;

/// How long any destination over HTTP may take to show what it did, if the file says less.
const READ_DELAY: Millis = Millis::seconds(1);

/// Why a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It is what the step does.
    Main,
    /// To find out whether something is there.
    Question,
    /// To change what was found.
    Update,
    /// To take it back.
    Undo,
    /// To fetch a list.
    Fetch,
}

/// A call to the world, as the file has it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) step: Arc<str>,
    pub(crate) role: Role,
    pub(crate) class: Class,
    pub(crate) kind: Kind,
    /// An item's run does it, and takes back only what itself has done.
    pub(crate) in_loop: bool,
    /// What is read of its answer.
    pub(crate) answer: Shape,
    /// How long its destination takes to show what it did.
    pub(crate) delay: Millis,
    /// What it answers, as far as the file says so.
    pub(crate) given: Option<Value>,
}

impl Place {
    /// What it is called in a report.
    pub(crate) fn name(&self) -> Arc<str> {
        match self.role {
            Role::Undo => format!("{} (undo)", self.step).into(),
            _ => Arc::clone(&self.step),
        }
    }
}

/// A flow, ready to be proved.
#[derive(Debug)]
pub struct Stage {
    pub(crate) compiled: Arc<Compiled>,
    pub(crate) places: Vec<Place>,
    by_span: HashMap<(usize, usize), usize>,
    /// What starts it; each another unit of work.
    pub(crate) events: Vec<Value>,
    /// What is told of one thing, in its order; empty if nobody can say.
    pub(crate) ordered: Vec<Value>,
    pub(crate) sender: Sender,
    /// The clock alone starts it.
    pub(crate) clockwork: Option<Clockwork>,
    /// Somebody is to call back.
    pub(crate) callbacks: bool,
    /// What is posted to steps that wait for it.
    pub(crate) bodies: HashMap<Arc<str>, Value>,
    /// Somebody is asked for leave.
    pub(crate) gates: bool,
}

/// When the clock starts it.
#[derive(Clone, Debug)]
pub(crate) struct Clockwork {
    pub(crate) schedule: Schedule,
    /// Its items are listed, and each is a unit of work.
    pub(crate) lists: bool,
}

impl Stage {
    /// Reads a flow, which these events start; without, the first that the file itself leads to.
    ///
    /// # Errors
    /// [`ReleaseError`] if the flow cannot be read.
    pub fn new(source: &str, events: Vec<Value>) -> Result<Stage, ReleaseError> {
        Stage::read(source, |flow| {
            if events.is_empty() {
                examples::of_flow(flow).into_iter().take(1).collect()
            } else {
                let events = events.into_iter();
                events.map(|it| examples::given(flow, "", it)).collect()
            }
        })
    }

    /// Reads a flow, which one event starts.
    ///
    /// # Errors
    /// [`ReleaseError`] if the flow cannot be read.
    pub fn on(source: &str, event: Event) -> Result<Stage, ReleaseError> {
        Stage::read(source, |_| vec![event])
    }

    fn read(source: &str, events: impl FnOnce(&Flow) -> Vec<Event>) -> Result<Stage, ReleaseError> {
        let id = ReleaseId(*blake3::hash(source.as_bytes()).as_bytes());
        let compiled = Compiled::read(id, source.into())?;
        let flow = &compiled.flow;
        let all = reads(flow);
        let mut places = Finder {
            flow,
            reads: &all,
            loops: 0,
            found: Vec::new(),
        };
        places.flow();
        let (spans, places): (Vec<_>, Vec<_>) = places.found.into_iter().unzip();
        let by_span = spans.into_iter().zip(0..).collect();
        let events = events(flow);
        let headers = events.first().map(|first| first.headers.clone());
        let events: Vec<Value> = events.into_iter().map(|it| it.event).collect();
        let clockwork = clockwork(flow);
        let ordered = match events.as_slice() {
            _ if clockwork.is_some() => Vec::new(),
            [first] => {
                sibling(flow, &all, first).map_or_else(Vec::new, |it| vec![first.clone(), it])
            }
            several => several.to_vec(),
        };
        let has = |wanted: fn(&Action) -> bool| {
            let mut all = steps(flow).into_iter();
            all.any(|step| wanted(&step.action))
        };
        Ok(Stage {
            places,
            by_span,
            events,
            ordered,
            sender: Sender::of(headers.unwrap_or_default(), &all),
            clockwork,
            bodies: bodies(flow, &all),
            callbacks: has(|action| matches!(action, Action::Wait(Wait::Callback(_)))),
            gates: has(|action| matches!(action, Action::Approve(_))),
            compiled: Arc::new(compiled),
        })
    }

    /// The flow.
    #[must_use]
    pub fn flow(&self) -> &Flow {
        &self.compiled.flow
    }

    /// What starts it.
    #[must_use]
    pub fn events(&self) -> &[Value] {
        &self.events
    }

    /// What a destination could answer to a call of this flow; `None` if it makes no such call.
    #[must_use]
    pub fn believable(&self, act: &Act) -> Option<Answer> {
        let place = &self.places[self.place(act)?];
        Some(answer(place, 1))
    }

    /// Whether the destination can be asked if a call of this flow happened.
    #[must_use]
    pub fn can_be_asked(&self, act: &Act) -> bool {
        let place = self.place(act).map(|place| &self.places[place]);
        let step = place.and_then(|place| step(self.flow(), &place.step));
        step.is_some_and(|step| step.lookup.is_some())
    }

    pub(crate) fn place(&self, act: &Act) -> Option<usize> {
        self.by_span.get(&(act.span.start, act.span.end)).copied()
    }
}

/// Every step of a flow.
pub(crate) fn steps(flow: &Flow) -> Vec<&Step> {
    let mut open: Vec<&Step> = flow.steps.iter().chain(&flow.on_failure).collect();
    let mut all = Vec::new();
    while let Some(step) = open.pop() {
        open.extend(places::inner(step).flatten());
        all.push(step);
    }
    all
}

/// What is read of what callbacks post.
fn bodies(flow: &Flow, reads: &[Read]) -> HashMap<Arc<str>, Value> {
    let waits = |step: &&Step| matches!(step.action, Action::Wait(Wait::Callback(_)));
    let body = |step: &Step| {
        let mut shape = Shape::Map(std::collections::BTreeMap::new());
        for rest in results(reads, &step.id.it).filter(|(rest, _)| !rest.is_empty()) {
            shape.add(rest.0, rest.1);
        }
        (places::name(step), shape.value("", 1))
    };
    steps(flow).into_iter().filter(waits).map(body).collect()
}

/// What is read of a step's result: the way from there, and what is due.
fn results<'r>(reads: &'r [Read], step: &str) -> impl Iterator<Item = (&'r [Part], &'r Due)> {
    let of_steps = reads.iter().filter(|read| &*read.root == "steps");
    of_steps.filter_map(move |read| match read.path.as_slice() {
        [Part::Member(id), Part::Member(name), rest @ ..]
            if **id == *step && &**name == "result" =>
        {
            Some((rest, &read.due))
        }
        _ => None,
    })
}

/// What starts a flow that nothing else starts.
fn clockwork(flow: &Flow) -> Option<Clockwork> {
    let mut found = flow.triggers.iter().map(|trigger| match trigger {
        Trigger::Schedule(schedule) => Some(Clockwork {
            schedule: schedule.clone(),
            lists: false,
        }),
        Trigger::Sync(sync) => Some(Clockwork {
            schedule: sync.schedule.clone(),
            lists: true,
        }),
        Trigger::Webhook(_) | Trigger::Event { .. } => None,
    });
    let first = found.next()??;
    found.all(|it| it.is_some()).then_some(first)
}

/// The step of that name in a report.
#[must_use]
pub fn step<'f>(flow: &'f Flow, name: &str) -> Option<&'f Step> {
    places::find(flow, name.trim_end_matches(" (undo)"))
}
