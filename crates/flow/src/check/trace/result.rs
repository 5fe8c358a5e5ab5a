//! Where the event, the run and the results of steps come from.

use super::path::{self, Seg};
use super::{Source, Walk, changes};
use crate::check::headers::{Resent, resent};
use crate::diagnostic::Span;
use crate::model::{Action, Ensure, Kind, Step};

/// Names that senders give to what changes with every delivery.
const DELIVERY: [&str; 14] = [
    "attempt",
    "attempt_number",
    "attempts",
    "delivered_at",
    "delivery_attempt",
    "delivery_id",
    "delivery_time",
    "num_attempts",
    "received_at",
    "redelivered",
    "retry",
    "retry_count",
    "retry_num",
    "sent_at",
];

/// Whether a member of an event is called like something that changes with every delivery.
#[must_use]
pub fn is_of_delivery(name: &str) -> bool {
    DELIVERY.contains(&snake_case(name).as_str())
}

impl<'f> Walk<'_, 'f> {
    pub(super) fn event(&mut self, segs: &[Seg], span: Span) {
        let names = path::names(segs);
        let text = || path::text("event", segs);
        if names.last().is_some_and(|name| is_of_delivery(name)) {
            self.push(Source::Delivery(text()), span);
        }
        if segs.iter().any(|seg| matches!(seg, Seg::At(_))) {
            self.push(Source::Element(text()), span);
        }
        self.push(Source::Event(names), span);
    }

    /// A header is what its sender makes of it when it sends the event again.
    pub(super) fn request(&mut self, segs: &[Seg], span: Span) {
        let name = match segs {
            [_, Seg::Name(name), ..] => &**name,
            _ => "",
        };
        let text = format!("request.headers[\"{name}\"]");
        let source = match resent(name) {
            Resent::Event => Source::Header { name: None },
            Resent::Kind => Source::Header {
                name: Some(name.to_owned()),
            },
            Resent::Differs => Source::Moment(text),
            Resent::Unknown => Source::Delivery(text),
        };
        self.push(source, span);
    }

    pub(super) fn run(&mut self, root: &str, segs: &[Seg], span: Span) {
        let member = match segs.first() {
            Some(Seg::Name(name)) => &**name,
            _ => "",
        };
        match (root, member) {
            (_, "key") => self.push(Source::RunKey, span),
            // The same for all runs of the flow.
            ("run", "flow") | ("step", "id") => {}
            _ => self.push(
                Source::Moment(path::text(root, &segs[..segs.len().min(1)])),
                span,
            ),
        }
    }

    pub(super) fn steps(&mut self, segs: &[Seg], span: Span) {
        let [Seg::Name(id), rest @ ..] = segs else {
            return self.push(Source::Unknown, span);
        };
        let Some(at) = self.tracer.index.get(id) else {
            return self.push(Source::Unknown, span);
        };
        let step = at.step;
        let [Seg::Name(member), rest @ ..] = rest else {
            return self.push(answer_of(step), span);
        };
        if &**member != "result" {
            return self.push(answer_of(step), span);
        }
        if step.when.is_some() {
            self.push(Source::Skipped(step.id.it.clone()), span);
        }
        let loops = at.loops();
        let name = path::text(id, rest);
        let hop = match &step.result {
            Some(result) => (result.span, format!("the result of `{id}` is this")),
            None => (step.id.span, format!("the result of `{id}`")),
        };
        self.follow(&name, span, hop, |walk| {
            let inner = std::mem::replace(&mut walk.loops, loops);
            walk.result(step, rest);
            walk.loops = inner;
        });
    }

    fn result(&mut self, step: &'f Step, rest: &[Seg]) {
        let outer = self.answer.replace(step);
        if let Some(result) = &step.result {
            self.ast(result.ast(), rest);
        } else {
            match &step.action {
                Action::Act(_) => self.answered(rest, step.id.span),
                Action::Ensure(ensure) => self.ensured(step, ensure, rest),
                Action::Set(members) => {
                    let wanted = |name: &str| match rest.first() {
                        Some(Seg::Name(seg)) => **seg == *name,
                        _ => true,
                    };
                    for (name, tree) in members.iter().filter(|(name, _)| wanted(&name.it)) {
                        let label = format!("`{}` is set here", name.it);
                        if let Some(last) = self.hops.last_mut() {
                            *last = (name.span, label);
                        }
                        self.tree(tree, rest.get(1..).unwrap_or_default());
                    }
                }
                Action::ForEach(_)
                | Action::Call { .. }
                | Action::Emit { .. }
                | Action::Wait(_)
                | Action::Approve(_) => {
                    self.push(answer_of(step), step.id.span);
                }
                // They have no result unless they say which.
                Action::Switch { .. }
                | Action::Parallel(_)
                | Action::Lock { .. }
                | Action::Stop { .. }
                | Action::Fail { .. } => {}
            }
        }
        self.answer = outer;
    }

    fn ensured(&mut self, step: &'f Step, ensure: &'f Ensure, rest: &[Seg]) {
        let made = [Some(&ensure.create), ensure.update.as_ref()];
        let made = made.into_iter().flatten().map(|made| &made.result);
        for result in std::iter::once(&ensure.find.result).chain(made) {
            match result {
                Some(result) => self.ast(result.ast(), rest),
                None => self.answered(rest, step.id.span),
            }
        }
    }

    /// `body` and what comes with it.
    pub(super) fn answered(&mut self, segs: &[Seg], span: Span) {
        let Some(step) = self.answer else {
            return self.push(Source::Unknown, span);
        };
        let placed = segs.iter().any(|seg| matches!(seg, Seg::At(_)));
        // What was created or found by its id is one thing, wherever it stands in the answer.
        if placed && changes(step) {
            self.push(Source::Position(step.id.it.clone()), span);
        }
        self.push(answer_of(step), span);
    }
}

/// What a step's answer is as a source.
fn answer_of(step: &Step) -> Source {
    let id = step.id.it.clone();
    match &step.action {
        Action::Act(act) if act.kind == Kind::Ai => Source::Ai(id),
        _ => Source::Answer {
            step: id,
            changes: changes(step),
        },
    }
}

/// `deliveryId` as `delivery_id`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && lower {
            snake.push('_');
        }
        lower = c.is_ascii_lowercase();
        snake.push(if c == '-' {
            '_'
        } else {
            c.to_ascii_lowercase()
        });
    }
    snake
}
