//! References: whether every name stands for something, there where it is used.
//!
//! Owns the codes `C001` to `C007` and `C009`. Members of events and answers are not known before
//! they come; those of `run`, `schedule`, `step`, `failure`, `request` and of steps are.

mod approvals;
mod callbacks;
mod member;
mod reach;

use super::headers::check_header;
use super::trace::{Tracer, item_of};
use super::visit::{Place, Sees};
use crate::codes::{C001, C002, C006, C007, C009};
use crate::diagnostic::{Diagnostic, Span};
use crate::expr::Expr;
use crate::expr::ast::{Ast, Node};
use crate::model::{Flow, INCOMING, Trigger, is_of_answer};
use crate::near::nearest;

/// Names that exist somewhere, and where.
const ELSEWHERE: [(&str, &str); 16] = [
    ("body", "over an answer: in `result`, `found` and `paging`"),
    (
        "status",
        "over an answer: in `result`, `found` and `paging`",
    ),
    (
        "headers",
        "over an answer: in `result`, `found` and `paging`",
    ),
    ("failure", "in `on_failure`"),
    ("step", "in what a step sends"),
    ("steps", "in steps, once the run has begun"),
    ("run", "in steps, once the run has begun"),
    ("cursor", "in `sync`"),
    ("item", "in a `for_each` and in `sync`"),
    ("event", "everywhere but in `paging`"),
    ("schedule", "everywhere but in `paging`"),
    ("secrets", "in what a step sends"),
    (
        "request",
        "in a flow with a `webhook`, everywhere but in `paging`",
    ),
    ("callbacks", "in steps, once the run has begun"),
    (INCOMING, "in `match` of `wait`"),
    ("approvals", "in steps, once the run has begun"),
];

/// One expression under scrutiny.
struct Names<'n, 'i, 'f> {
    tracer: &'n Tracer<'i, 'f>,
    place: &'n Place<'i, 'f>,
    /// What `map` and its kin call their items.
    locals: Vec<&'f str>,
    /// Inside `has` or `default`, where what is missing is no fault.
    guarded: bool,
    found: Vec<Diagnostic>,
}

/// Every name of an expression that stands for nothing.
pub(super) fn check_names<'i, 'f>(
    tracer: &Tracer<'i, 'f>,
    place: &Place<'i, 'f>,
    expr: &'f Expr,
) -> Vec<Diagnostic> {
    let mut names = Names {
        tracer,
        place,
        locals: Vec::new(),
        guarded: false,
        found: Vec::new(),
    };
    names.ast(expr.ast());
    names.found
}

impl<'f> Names<'_, '_, 'f> {
    fn ast(&mut self, ast: &'f Ast) {
        match &ast.node {
            Node::Ident(_) | Node::Select { .. } | Node::Index { .. } => self.path(ast),
            Node::Has { of, name } => self.guarded(|it| it.member_of(of, Some(name), of.span)),
            Node::Default { it, fallback } => {
                self.guarded(|names| names.ast(it));
                self.ast(fallback);
            }
            Node::Each(each) => {
                self.ast(&each.of);
                self.locals.push(&each.name);
                each.only.iter().for_each(|only| self.ast(only));
                self.ast(&each.body);
                self.locals.pop();
            }
            _ => ast.parts().for_each(|part| self.ast(part)),
        }
    }

    fn guarded(&mut self, f: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.guarded, true);
        f(self);
        self.guarded = before;
    }

    /// A name with what follows it.
    fn path(&mut self, ast: &'f Ast) {
        match &ast.node {
            Node::Ident(name) => self.root(name, &[], ast.span),
            Node::Select { of, name } => self.member_of(of, Some(name), ast.span),
            Node::Index { of, at } => {
                self.ast(at);
                self.member_of(of, at.text(), ast.span);
            }
            _ => self.ast(ast),
        }
    }

    /// A member of something; only the names that stand right behind a root are looked at.
    fn member_of(&mut self, of: &'f Ast, name: Option<&'f str>, span: Span) {
        let mut names: Vec<(&'f str, Span)> = name.map(|name| (name, span)).into_iter().collect();
        let mut of = of;
        loop {
            match &of.node {
                Node::Select { of: inner, name } => {
                    names.push((name, of.span));
                    of = inner;
                }
                Node::Index { of: inner, at } => {
                    self.ast(at);
                    match at.text() {
                        Some(name) => names.push((name, of.span)),
                        None => names.clear(),
                    }
                    of = inner;
                }
                Node::Ident(root) => {
                    names.reverse();
                    return self.root(root, &names, of.span);
                }
                _ => return self.ast(of),
            }
        }
    }

    fn root(&mut self, root: &'f str, members: &[(&'f str, Span)], span: Span) {
        if self.locals.contains(&root) {
            return;
        }
        if let Some(at) = self.let_position(root) {
            return self.earlier_let(root, at, span);
        }
        if !self.knows(root) {
            return self.unknown_root(root, span);
        }
        match root {
            "steps" => self.steps(members),
            "callbacks" => self.callbacks(members, span),
            "run" | "schedule" | "step" | "failure" => self.fixed_member(root, members),
            "request" => self.request(members, span),
            "approvals" => self.approvals(members, span),
            _ => {}
        }
    }

    fn let_position(&self, name: &str) -> Option<usize> {
        let mut lets = self.tracer.flow.lets.iter();
        lets.position(|(given, _)| given.it == name)
    }

    /// A `let` may use those before it.
    fn earlier_let(&mut self, name: &str, at: usize, span: Span) {
        let Some(own) = self.place.named else {
            if self.place.sees == Sees::AnswerOnly {
                self.unknown_root(name, span);
            }
            return;
        };
        let lets = &self.tracer.flow.lets;
        let Some(own_at) = lets.iter().position(|(it, _)| it.span == own.span) else {
            return;
        };
        if at < own_at {
            return;
        }
        let title = if at == own_at {
            format!("`{name}` is made of itself")
        } else {
            format!("`{}` uses `{name}`, which comes after it", own.it)
        };
        let found = Diagnostic::error(C009, span, title, "has no value here");
        let found = found.also(lets[at].0.span, format!("`{name}` is given here"));
        self.found.push(if at == own_at {
            found.help("a `let` may use those before it, never itself")
        } else {
            found.help(format!("move `{name}` above `{}`", own.it))
        });
    }

    /// Whether there is such a name here.
    fn knows(&self, root: &str) -> bool {
        use Sees::{
            Answer, AnswerOnly, Anything, Cursor, CursorAnswer, Ended, Event, Fetched, Incoming,
            OwnResult, Run, Step,
        };
        let flow = self.tracer.flow;
        let synced = || {
            flow.triggers
                .iter()
                .any(|it| matches!(it, Trigger::Sync(_)))
        };
        let in_loop = || {
            self.place
                .loops
                .iter()
                .any(|step| item_of(step) == Some(root))
        };
        let failed = self.place.at.is_some_and(|at| at.on_failure);
        let sees = self.place.sees;
        let answered = matches!(sees, Answer | AnswerOnly | CursorAnswer | Anything);
        if answered && is_of_answer(self.place.at.map(|at| at.step), root) {
            return true;
        }
        match root {
            "event" | "schedule" => sees != AnswerOnly,
            "request" => sees != AnswerOnly && has_hook(flow),
            "run" => !matches!(sees, Event | AnswerOnly),
            "steps" | "callbacks" | "approvals" => matches!(
                sees,
                Run | Step | OwnResult | Ended | Answer | Anything | Incoming
            ),
            INCOMING => sees == Incoming,
            "step" => matches!(sees, Step | OwnResult | Answer | Anything),
            "cursor" => matches!(sees, Cursor | CursorAnswer),
            "failure" => failed || sees == Anything,
            // What a `let` stands for is looked up where it is used.
            _ if sees == Anything => root == "item" || self.is_item_anywhere(root),
            "item" => in_loop() || sees == Fetched || synced() && self.place.at.is_some(),
            _ => in_loop(),
        }
    }

    fn is_item_anywhere(&self, root: &str) -> bool {
        let index = self.tracer.index;
        index
            .ids()
            .filter_map(|id| index.get(id))
            .any(|at| item_of(at.step) == Some(root))
    }

    fn unknown_root(&mut self, root: &str, span: Span) {
        if let Some((_, place)) = ELSEWHERE.iter().find(|(name, _)| *name == root) {
            let title = format!("`{root}` cannot be used here");
            let label = format!("it is known {place}");
            return self.found.push(Diagnostic::error(C007, span, title, label));
        }
        if self.is_item_anywhere(root) {
            let title = format!("`{root}` cannot be used here");
            let label = "it is an item of a `for_each`, and known inside it alone";
            return self.found.push(Diagnostic::error(C007, span, title, label));
        }
        if self.let_position(root).is_some() {
            let title = format!("`{root}` cannot be used here");
            let label = "over a page there are only `body`, `status` and `headers`";
            return self.found.push(Diagnostic::error(C007, span, title, label));
        }
        let title = format!("there is no name `{root}`");
        let mut found = Diagnostic::error(C001, span, title, "unknown name");
        if self.tracer.index.get(root).is_some() {
            found = found.help(format!(
                "for the result of the step write steps.{root}.result"
            ));
        } else if let Some(near) = nearest(root, self.all()) {
            found = found.help(format!("did you mean `{near}`?"));
        } else {
            found = found.help(format!("text goes in quotes: \"{root}\""));
            found = found.help(format!("a member of the event is event.{root}"));
        }
        self.found.push(found);
    }

    /// Every name that there is here.
    fn all(&self) -> Vec<&'f str> {
        let fixed = ELSEWHERE.iter().map(|(name, _)| *name);
        let mut all: Vec<&'f str> = fixed.filter(|name| self.knows(name)).collect();
        let lets = self.tracer.flow.lets.iter();
        all.extend(lets.map(|(name, _)| name.it.as_str()));
        all.extend(self.place.loops.iter().filter_map(|step| item_of(step)));
        all.extend(&self.locals);
        all
    }

    fn steps(&mut self, members: &[(&'f str, Span)]) {
        let Some((id, span)) = members.first().copied() else {
            return;
        };
        let Some(other) = self.tracer.index.get(id) else {
            let title = format!("there is no step `{id}`");
            let mut found = Diagnostic::error(C002, span, title, "unknown step");
            if let Some(near) = nearest(id, self.tracer.index.ids()) {
                found = found.help(format!("did you mean `{near}`?"));
            }
            return self.found.push(found);
        };
        if let Some(at) = self.place.at {
            let ended = self.place.sees == Sees::Ended;
            let reach = at.reaches(other, ended);
            if let Some(found) = self.unreached(id, span, reach, other.step.id.span) {
                return self.found.push(found);
            }
        }
        if let Some(found) = member::of_step(other.step, members) {
            self.found.push(found);
        }
    }

    /// `request.headers["…"]`, written out.
    fn request(&mut self, members: &[(&'f str, Span)], span: Span) {
        self.fixed_member("request", members);
        if members.first().is_none_or(|(name, _)| *name == "headers") {
            let header = members.get(1);
            let at = header.or(members.first()).map_or(span, |(_, span)| *span);
            let name = header.map(|(name, _)| *name);
            self.found.extend(check_header(self.tracer.flow, name, at));
        }
    }

    fn fixed_member(&mut self, root: &str, members: &[(&'f str, Span)]) {
        let known = member::of_root(root);
        let Some((member, span)) = members.first().copied() else {
            return;
        };
        if known.contains(&member) {
            return;
        }
        let title = format!("`{root}` has no member `{member}`");
        let found = Diagnostic::error(C006, span, title, "unknown member");
        self.found
            .push(match nearest(member, known.iter().copied()) {
                Some(near) => found.help(format!("did you mean `{root}.{near}`?")),
                None => found.help(format!("there are: {}", known.join(", "))),
            });
    }
}

fn has_hook(flow: &Flow) -> bool {
    let mut triggers = flow.triggers.iter();
    triggers.any(|it| matches!(it, Trigger::Webhook(_)))
}
