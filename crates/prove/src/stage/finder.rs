//! Every call to the world in a flow, and what its answer must look like.

use semel_engine::places;
use semel_flow::check::{Due, Part, Read, reads_of};
use semel_flow::model::{Act, Action, Block, Class, Kind, Step, Trigger};
use semel_flow::{Expr, Flow};
use semel_ledger::Millis;

use super::{Place, READ_DELAY, Role, results};
use crate::answers::given;
use crate::shape::Shape;

pub(super) struct Finder<'f> {
    pub(super) flow: &'f Flow,
    pub(super) reads: &'f [Read],
    pub(super) loops: usize,
    pub(super) found: Vec<((usize, usize), Place)>,
}

impl Finder<'_> {
    pub(super) fn flow(&mut self) {
        for trigger in &self.flow.triggers {
            if let Trigger::Sync(sync) = trigger {
                let exprs = [Some(&sync.items), sync.cursor.as_ref(), sync.more.as_ref()];
                let mut answer = self.answer(&exprs);
                self.items(&mut answer, &sync.items);
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
        for (rest, due) in results(self.reads, &step.id.it) {
            let mut path = vec![body.clone()];
            path.extend(rest.iter().cloned());
            shape.add(&path, due);
        }
        shape
    }

    /// How long a destination takes to show what it did: as long as the file allows for, and not at once over HTTP.
    fn delay(&self, step: &str, kind: Kind) -> Millis {
        let settle =
            places::find(self.flow, step).and_then(|step| match (&step.lookup, &step.action) {
                (Some(lookup), _) => Some(lookup.settle),
                (None, Action::Ensure(ensure)) => Some(ensure.settle),
                (None, _) => None,
            });
        let least = if kind == Kind::Http {
            READ_DELAY
        } else {
            Millis(0)
        };
        settle.unwrap_or(least).max(least)
    }

    /// An item of a fetched list is the event of its run.
    fn items(&self, answer: &mut Shape, items: &Expr) {
        let Some(list) = reads_of(self.flow, items, Due::List).into_iter().next() else {
            return;
        };
        let mut item = vec![Part::Member(list.root)];
        item.extend(list.path);
        item.push(Part::Item);
        let named = |read: &&Read| matches!(&*read.root, "event" | "item");
        for read in self.reads.iter().filter(named) {
            let mut path = item.clone();
            path.extend(read.path.iter().cloned());
            answer.add(&path, &read.due);
        }
    }

    fn put(&mut self, step: &str, role: Role, act: &Act, class: Class, answer: Shape) {
        // A value is written in the commit that records it: there is no destination to see it twice.
        if act.kind == Kind::Kv {
            return;
        }
        // What is found out about a step follows from what it did; only its own answer is given.
        let own = matches!(role, Role::Main | Role::Update);
        let answers = self.flow.examples.answer(step).filter(|_| own);
        let place = Place {
            given: answers.map(|answer| given(act, answer)),
            step: step.into(),
            role,
            class,
            kind: act.kind,
            in_loop: self.loops > 0,
            answer,
            delay: self.delay(step, act.kind),
        };
        self.found.push(((act.span.start, act.span.end), place));
    }
}
