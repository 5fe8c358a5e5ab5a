//! What a flow is proved on: its steps as places where the world can be touched, and events that start it.
//!
//! Owns finding every call to the world in the flow and what its answers must look like. The same for all
//! schedules; nothing here changes while one runs.

use std::collections::HashMap;
use std::sync::Arc;

use semel_act::Answer;
use semel_engine::flows::{Compiled, ReleaseError};
use semel_engine::places;
use semel_flow::check::{Due, Part, Read, reads, reads_of};
use semel_flow::model::{Act, Action, Block, Class, Kind, Step, Trigger};
use semel_flow::{Expr, Flow, Value};
use semel_store::run::ReleaseId;

use crate::shape::Shape;
use crate::world;

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
}

impl Stage {
    /// Reads a flow; without events, some are made up from what it reads.
    ///
    /// # Errors
    /// [`ReleaseError`] if the flow cannot be read.
    pub fn new(source: &str, events: Vec<Value>) -> Result<Stage, ReleaseError> {
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
        let events = if events.is_empty() {
            vec![made_up(&all)]
        } else {
            events
        };
        Ok(Stage {
            compiled: Arc::new(compiled),
            places,
            by_span,
            events,
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
        Some(world::answer(place, place.answer.value("answer", 1)))
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

/// An event with everything that the flow reads of one.
fn made_up(reads: &[Read]) -> Value {
    let mut shape = Shape::Map(std::collections::BTreeMap::new());
    shape.add(&[Part::Member("id".into())], &Due::Any);
    for read in reads.iter().filter(|read| &*read.root == "event") {
        if !read.path.is_empty() {
            shape.add(&read.path, &read.due);
        }
    }
    shape.value("event", 1)
}

/// The step of that name in a report.
#[must_use]
pub fn step<'f>(flow: &'f Flow, name: &str) -> Option<&'f Step> {
    places::find(flow, name.trim_end_matches(" (undo)"))
}

struct Finder<'f> {
    flow: &'f Flow,
    reads: &'f [Read],
    loops: usize,
    found: Vec<((usize, usize), Place)>,
}

impl Finder<'_> {
    fn flow(&mut self) {
        for trigger in &self.flow.triggers {
            if let Trigger::Sync(sync) = trigger {
                let exprs = [Some(&sync.items), sync.cursor.as_ref(), sync.more.as_ref()];
                let answer = self.answer(&exprs);
                self.put("fetch", Role::Fetch, &sync.fetch.act, Class::Read, answer);
            }
        }
        self.block(&self.flow.steps);
        self.block(&self.flow.on_failure);
    }

    fn block(&mut self, block: &Block) {
        for step in block {
            self.step(step);
            let items = usize::from(matches!(step.action, Action::ForEach(_)));
            self.loops += items;
            places::inner(step).for_each(|inner| self.block(inner));
            self.loops -= items;
        }
    }

    fn step(&mut self, step: &Step) {
        let (id, class) = (step.id.it.as_str(), step.class());
        match &step.action {
            Action::Act(act) => {
                let answer = self.result_of(step, step.result.as_ref());
                self.put(id, Role::Main, act, class, answer);
            }
            Action::Ensure(ensure) => {
                let found = self.answer(&[Some(&ensure.find.found), ensure.find.result.as_ref()]);
                self.put(id, Role::Question, &ensure.find.act, Class::Read, found);
                let made = self.result_of(step, ensure.create.result.as_ref());
                self.put(id, Role::Main, &ensure.create.act, class, made);
                if let Some(update) = &ensure.update {
                    let changed = self.result_of(step, update.result.as_ref());
                    self.put(id, Role::Update, &update.act, Class::Set, changed);
                }
            }
            _ => {}
        }
        if let Some(lookup) = &step.lookup {
            let probe = &lookup.probe;
            let answer = self.answer(&[Some(&probe.found), probe.result.as_ref()]);
            self.put(id, Role::Question, &probe.act, Class::Read, answer);
        }
        if let Some(undo) = &step.undo
            && let Action::Act(act) = &undo.action
        {
            self.put(id, Role::Undo, act, undo.class(), Shape::default());
        }
    }

    /// What these expressions read of an answer.
    fn answer(&self, exprs: &[Option<&Expr>]) -> Shape {
        let mut shape = Shape::Map(std::collections::BTreeMap::new());
        for expr in exprs.iter().flatten() {
            for read in reads_of(self.flow, expr, Due::Any) {
                let mut path = vec![Part::Member(read.root)];
                path.extend(read.path);
                shape.add(&path, &read.due);
            }
        }
        shape
    }

    /// What is read of a step's answer: by its own `result`, or else by later steps.
    fn result_of(&self, step: &Step, result: Option<&Expr>) -> Shape {
        if result.is_some() {
            return self.answer(&[result]);
        }
        let body: Part = Part::Member("body".into());
        let mut shape = Shape::Map(std::collections::BTreeMap::new());
        for read in self.reads.iter().filter(|read| &*read.root == "steps") {
            if let [Part::Member(id), Part::Member(name), rest @ ..] = read.path.as_slice()
                && **id == *step.id.it
                && &**name == "result"
            {
                let mut path = vec![body.clone()];
                path.extend(rest.iter().cloned());
                shape.add(&path, &read.due);
            }
        }
        shape
    }

    fn put(&mut self, step: &str, role: Role, act: &Act, class: Class, answer: Shape) {
        // A value is written in the commit that records it: there is no destination to see it twice.
        if act.kind == Kind::Kv {
            return;
        }
        let place = Place {
            step: step.into(),
            role,
            class,
            kind: act.kind,
            in_loop: self.loops > 0,
            answer,
        };
        self.found.push(((act.span.start, act.span.end), place));
    }
}
