//! Every expression of a flow, with what it may see and what it is for.

use super::index::{At, Index};
use crate::diagnostic::Spanned;
use crate::expr::{Expr, Template};
use crate::model::{Act, Action, Block, Flow, Kind, Made, Probe, Step, Tree, Trigger, Wait};

/// Which names there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sees {
    /// The event and when it was planned: there is no run yet.
    Event,
    /// The same, and an item of the fetched list.
    Fetched,
    /// A run without steps, and where the last fetch ended.
    Cursor,
    /// The same, and the answer.
    CursorAnswer,
    /// Whatever there is where the name is used.
    Anything,
    /// A run with its steps.
    Run,
    /// The same, and `step`.
    Step,
    /// The same, and its own result.
    OwnResult,
    /// A run with its steps, those inside this one included.
    Ended,
    /// A run with its steps, `step` and the answer.
    Answer,
    /// The answer alone.
    AnswerOnly,
    /// A run with its steps, and an event that may be the one it waits for.
    Incoming,
}

/// What an expression is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// True or false is due.
    Condition,
    /// A list is due.
    List,
    /// A whole number or a time is due.
    Version,
    /// A part of a key.
    Key(Role),
    /// Anything will do.
    Value,
    /// Anything but a secret: it is kept in clear.
    Kept,
    /// A number is due.
    Number,
}

/// What a key is the identity of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A run.
    Flow,
    /// A step's effect.
    Step,
    /// An item's work.
    ForEach,
    /// A lock, across flows.
    Lock,
    /// The runs that must not overlap.
    Per,
    /// The thing that an event is about.
    Latest,
    /// An item of a fetched list.
    Sync,
    /// A value in the server's own store.
    Kv,
}

/// Where something stands.
#[derive(Clone, Debug)]
pub(super) struct Place<'i, 'f> {
    pub(super) sees: Sees,
    /// The step whose field it is.
    pub(super) at: Option<&'i At<'f>>,
    /// The `for_each` steps whose items it sees, the innermost last.
    pub(super) loops: Vec<&'f Step>,
    /// The `let` name that it stands for.
    pub(super) named: Option<&'f Spanned<String>>,
}

/// An expression or a key, where it stands, and what for.
#[derive(Clone, Debug)]
pub(super) enum Spot<'f> {
    Expr(&'f Expr, Use),
    Key(&'f Template, Role),
}

/// Calls `f` for every expression and every key.
pub(super) fn visit<'i, 'f>(
    flow: &'f Flow,
    index: &'i Index<'f>,
    f: &mut dyn FnMut(&Place<'i, 'f>, Spot<'f>),
) {
    let mut visit = Visit { index, f };
    visit.flow(flow);
}

struct Visit<'v, 'i, 'f> {
    index: &'i Index<'f>,
    f: &'v mut dyn FnMut(&Place<'i, 'f>, Spot<'f>),
}

impl<'f> Place<'_, 'f> {
    fn of_flow(sees: Sees) -> Self {
        Place {
            sees,
            at: None,
            loops: Vec::new(),
            named: None,
        }
    }

    fn seeing(&self, sees: Sees) -> Self {
        Place {
            sees,
            ..self.clone()
        }
    }

    /// With the items of a `for_each`.
    fn inside(&self, each: &'f Step) -> Self {
        let mut place = self.clone();
        place.loops.push(each);
        place
    }
}

impl<'i, 'f> Visit<'_, 'i, 'f> {
    fn expr(&mut self, place: &Place<'i, 'f>, expr: &'f Expr, used: Use) {
        (self.f)(place, Spot::Expr(expr, used));
    }

    fn key(&mut self, place: &Place<'i, 'f>, key: &'f Template, role: Role) {
        (self.f)(place, Spot::Key(key, role));
        for expr in key.exprs() {
            self.expr(place, expr, Use::Key(role));
        }
    }

    fn template(&mut self, place: &Place<'i, 'f>, template: &'f Template) {
        for expr in template.exprs() {
            self.expr(place, expr, Use::Value);
        }
    }

    fn tree(&mut self, place: &Place<'i, 'f>, tree: &'f Tree) {
        self.tree_for(place, tree, Use::Value);
    }

    fn tree_for(&mut self, place: &Place<'i, 'f>, tree: &'f Tree, used: Use) {
        match tree {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
            Tree::Text(template) => {
                for expr in template.exprs() {
                    self.expr(place, expr, used);
                }
            }
            Tree::List(items) => {
                for item in items {
                    self.tree_for(place, item, used);
                }
            }
            Tree::Map(members) => {
                for (_, tree) in members {
                    self.tree_for(place, tree, used);
                }
            }
        }
    }

    fn flow(&mut self, flow: &'f Flow) {
        for trigger in &flow.triggers {
            self.trigger(trigger);
        }
        let has_items = flow
            .triggers
            .iter()
            .any(|it| matches!(it, Trigger::Sync(_)));
        let event = if has_items {
            Sees::Fetched
        } else {
            Sees::Event
        };
        let event = Place::of_flow(event);
        if let Some(key) = &flow.key {
            self.key(&event, key, Role::Flow);
        }
        if let Some(per) = flow.overlap.as_ref().and_then(|it| it.per.as_ref()) {
            self.key(&event, per, Role::Per);
        }
        for (name, expr) in &flow.lets {
            let place = Place {
                named: Some(name),
                ..Place::of_flow(Sees::Anything)
            };
            self.expr(&place, expr, Use::Value);
        }
        self.block(&flow.steps);
        self.block(&flow.on_failure);
    }

    fn trigger(&mut self, trigger: &'f Trigger) {
        let event = Place::of_flow(Sees::Event);
        match trigger {
            Trigger::Webhook(hook) => {
                if let Some(filter) = &hook.filter {
                    self.expr(&event, filter, Use::Condition);
                }
                if let Some(latest) = &hook.latest {
                    self.key(&event, &latest.of, Role::Latest);
                    self.expr(&event, &latest.version, Use::Version);
                }
            }
            Trigger::Event { filter, .. } => {
                if let Some(filter) = filter {
                    self.expr(&event, filter, Use::Condition);
                }
            }
            Trigger::Schedule(_) => {}
            Trigger::Sync(sync) => {
                let answer = Place::of_flow(Sees::CursorAnswer);
                self.act(&Place::of_flow(Sees::Cursor), &sync.fetch.act);
                self.expr(&answer, &sync.items, Use::List);
                self.key(&Place::of_flow(Sees::Fetched), &sync.key, Role::Sync);
                if let Some(cursor) = &sync.cursor {
                    self.expr(&answer, cursor, Use::Value);
                }
                if let Some(more) = &sync.more {
                    self.expr(&answer, more, Use::Condition);
                }
            }
        }
    }

    fn block(&mut self, block: &'f Block) {
        for step in block {
            // A second step of the same id has no place of its own; that it is there twice was said.
            let at = self.index.get(&step.id.it);
            if let Some(at) = at.filter(|at| at.step.span == step.span) {
                self.step(step, at);
            }
        }
    }

    fn step(&mut self, step: &'f Step, at: &'i At<'f>) {
        let run = Place {
            sees: Sees::Run,
            at: Some(at),
            loops: at.loops(),
            named: None,
        };
        let (asking, answer) = (run.seeing(Sees::Step), run.seeing(Sees::Answer));
        if let Some(when) = &step.when {
            self.expr(&run, when, Use::Condition);
        }
        if let Some(key) = &step.key {
            self.key(&run, key, Role::Step);
        }
        self.action(step, &run);
        if let Some(lookup) = &step.lookup {
            self.probe(&run, &lookup.probe);
        }
        if let Some(undo) = step.undo.as_deref().and_then(Step::act) {
            self.act(&asking.seeing(Sees::OwnResult), undo);
        }
        if let Some(result) = &step.result {
            let place = match step.action {
                Action::Act(_) | Action::Ensure(_) => &answer,
                _ => &run.seeing(Sees::Ended),
            };
            self.expr(place, result, Use::Value);
        }
    }

    fn action(&mut self, step: &'f Step, run: &Place<'i, 'f>) {
        match &step.action {
            Action::Act(act) => self.act(&run.seeing(Sees::Step), act),
            Action::Ensure(ensure) => {
                self.probe(run, &ensure.find);
                self.made(run, &ensure.create);
                if let Some(update) = &ensure.update {
                    self.made(run, update);
                }
            }
            Action::Set(members) => {
                for (_, tree) in members {
                    self.tree(run, tree);
                }
            }
            Action::Switch { cases, otherwise } => {
                for case in cases {
                    self.expr(run, &case.when, Use::Condition);
                    self.block(&case.steps);
                }
                self.block(otherwise);
            }
            Action::ForEach(each) => {
                self.expr(run, &each.items, Use::List);
                self.key(&run.inside(step), &each.key, Role::ForEach);
                self.block(&each.steps);
            }
            Action::Parallel(branches) => {
                for branch in branches {
                    self.block(&branch.steps);
                }
            }
            Action::Call { input: tree, .. } | Action::Emit { data: tree, .. } => {
                self.tree(run, tree);
            }
            Action::Lock { name, steps, .. } => {
                self.key(run, name, Role::Lock);
                self.block(steps);
            }
            Action::Stop { message } => {
                if let Some(message) = message {
                    self.template(run, message);
                }
            }
            Action::Fail { message } => self.template(run, message),
            Action::Wait(Wait::For(_) | Wait::Callback(_)) => {}
            Action::Wait(Wait::Until(until)) => self.expr(run, until, Use::Value),
            Action::Wait(Wait::ForEvent(it)) => {
                self.expr(&run.seeing(Sees::Incoming), &it.matches, Use::Condition);
            }
            Action::Approve(approve) => {
                self.template(run, &approve.ask);
                if let Some(show) = &approve.show {
                    self.tree(run, show);
                }
            }
        }
    }

    fn act(&mut self, place: &Place<'i, 'f>, act: &'f Act) {
        match act.kv_form().filter(|_| act.kind == Kind::Kv) {
            Some((_, key)) => self.kv(place, act, key),
            None => self.tree(place, &act.input),
        }
        for (name, expr) in &act.exprs {
            let used = if *name == "paging.items" {
                Use::List
            } else {
                Use::Value
            };
            self.expr(&place.seeing(Sees::AnswerOnly), expr, used);
        }
    }

    fn kv(&mut self, place: &Place<'i, 'f>, act: &'f Act, key: &'f Template) {
        self.key(place, key, Role::Kv);
        let uses = [("to", Use::Kept), ("from", Use::Kept), ("by", Use::Number)];
        for (name, used) in uses {
            if let Some(tree) = act.member(name) {
                self.tree_for(place, tree, used);
            }
        }
    }

    fn probe(&mut self, run: &Place<'i, 'f>, probe: &'f Probe) {
        let answer = run.seeing(Sees::Answer);
        self.act(&run.seeing(Sees::Step), &probe.act);
        self.expr(&answer, &probe.found, Use::Condition);
        if let Some(result) = &probe.result {
            self.expr(&answer, result, Use::Value);
        }
    }

    fn made(&mut self, run: &Place<'i, 'f>, made: &'f Made) {
        self.act(&run.seeing(Sees::OwnResult), &made.act);
        if let Some(result) = &made.result {
            self.expr(&run.seeing(Sees::Answer), result, Use::Value);
        }
    }
}

/// Whether every run of a flow has a planned time that all deliveries share.
pub(super) fn is_planned(flow: &Flow) -> bool {
    let planned = |it: &Trigger| matches!(it, Trigger::Schedule(_) | Trigger::Sync(_));
    !flow.triggers.is_empty() && flow.triggers.iter().all(planned)
}
