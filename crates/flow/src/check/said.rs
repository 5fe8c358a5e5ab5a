//! What a model said, where it would steer; and questions whose answers are shared, but that are never
//! asked twice.
//!
//! Owns the codes `C017` and `C019`. What a model said is data: it may be shown and sent, but a
//! stranger's text can make it say anything. Keys made of it are refused in [`super::keys`].

use super::index::{Index, blocks};
use super::trace::{Source, Trace, Tracer};
use crate::codes::{C017, C019};
use crate::diagnostic::Diagnostic;
use crate::expr::Template;
use crate::model::{Act, Action, Block, Flow, Kind, Step, Tree};

/// The fields that decide where something goes or what is run, with what they are.
const STEERING: [(Kind, &str, &str); 8] = [
    (Kind::Http, "url", "the address of a request"),
    (Kind::Notify, "webhook", "the address of a message"),
    (Kind::Email, "to", "who gets a mail"),
    (Kind::Email, "cc", "who gets a mail"),
    (Kind::Email, "bcc", "who gets a mail"),
    (Kind::Exec, "command", "a command"),
    (Kind::Ssh, "command", "a command"),
    (Kind::Ssh, "host", "the machine of a command"),
];

/// Everything that is worth knowing about what models say in a flow.
pub(super) fn check_said(flow: &Flow, index: &Index<'_>) -> Vec<Diagnostic> {
    let mut said = Said {
        tracer: Tracer { flow, index },
        found: Vec::new(),
    };
    said.block(&flow.steps);
    said.block(&flow.on_failure);
    said.found
}

struct Said<'i, 'f> {
    tracer: Tracer<'i, 'f>,
    found: Vec<Diagnostic>,
}

impl<'f> Said<'_, 'f> {
    fn block(&mut self, block: &'f Block) {
        for step in block {
            for act in acts(step) {
                self.steered(step, act);
                self.never_shared(step, act);
            }
            for block in blocks(step) {
                self.block(block);
            }
        }
    }

    /// Where it goes, or what is run, is what a model said.
    fn steered(&mut self, step: &'f Step, act: &'f Act) {
        let fields = STEERING.iter().filter(|(kind, ..)| *kind == act.kind);
        for (_, field, what) in fields {
            let Some(tree) = act.member(field) else {
                continue;
            };
            let is_said = |source: &Source| matches!(source, Source::Ai(_));
            let Some(trace) = self.first(step, tree, is_said) else {
                continue;
            };
            let title = format!("{what} depends on what a model said");
            let label = "whoever wrote the text that the model read may choose it";
            let mut found = Diagnostic::warning(C017, trace.at, title, label);
            for (at, label) in trace.hops {
                found = found.also(at, label);
            }
            self.found.push(found.help(
                "choose among values of your own: a `switch` with a case for each that is allowed",
            ));
        }
    }

    /// The answer would be shared by all who ask the same, and nobody ever does.
    fn never_shared(&mut self, step: &'f Step, act: &'f Act) {
        if act.shared_for().is_none() {
            return;
        }
        let moves = |source: &Source| {
            matches!(
                source,
                Source::Clock | Source::Random | Source::Moment(_) | Source::Delivery(_)
            )
        };
        let Some(trace) = self.first(step, &act.input, moves) else {
            return;
        };
        let title = "a shared answer to a question that is different each time";
        let label = "no second question is the same: every one is asked and paid for";
        let found = Diagnostic::warning(C019, trace.at, title, label);
        self.found.push(
            found.help(
                "leave `cache` out: a retry and a re-run of the step then get the same answer",
            ),
        );
    }

    /// The first way by which such a source gets into a field.
    fn first(
        &self,
        step: &'f Step,
        tree: &'f Tree,
        wanted: impl Fn(&Source) -> bool,
    ) -> Option<Trace> {
        let at = self.tracer.index.get(&step.id.it)?;
        let loops = at.loops();
        let mut templates = Vec::new();
        gather(tree, &mut templates);
        let mut traces = templates
            .into_iter()
            .flat_map(|template| self.tracer.template(template, &loops));
        traces.find(|trace| wanted(&trace.source))
    }
}

/// Every call of a step that changes something.
fn acts(step: &Step) -> Vec<&Act> {
    let undo = step.undo.as_ref().map(|undo| &undo.action);
    let mut acts: Vec<&Act> = match undo {
        Some(Action::Act(act)) => vec![act],
        _ => Vec::new(),
    };
    match &step.action {
        Action::Act(act) => acts.push(act),
        Action::Ensure(ensure) => {
            acts.push(&ensure.create.act);
            acts.extend(ensure.update.iter().map(|update| &*update.act));
        }
        _ => {}
    }
    acts
}

fn gather<'f>(tree: &'f Tree, templates: &mut Vec<&'f Template>) {
    match tree {
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        Tree::Text(template) => templates.push(template),
        Tree::List(items) => items.iter().for_each(|item| gather(item, templates)),
        Tree::Map(members) => {
            let trees = members.iter().map(|(_, tree)| tree);
            trees.for_each(|tree| gather(tree, templates));
        }
    }
}
