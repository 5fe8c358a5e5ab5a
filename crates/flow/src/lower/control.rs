//! Steps that steer: set, switch, `for_each`, parallel, call, emit, lock, stop, fail.

use super::Lower;
use super::entry::{Entry, Slot};
use crate::codes::{F003, F005, F006, F018};
use crate::diagnostic::{Diagnostic, Spanned};
use crate::expr::Template;
use crate::fields::{CALL, CASE, EMIT, FAIL, FOR_EACH, LOCK, Object, STOP};
use crate::model::{Action, Block, Branch, Case, ForEach, Tree};
use crate::yaml::{Kind, Node};

/// The most branches side by side.
const MAX_BRANCHES: usize = 100;

impl Lower {
    pub(super) fn control(&mut self, slot: Slot<'_>) -> Option<Action> {
        let word = slot.name.span;
        match slot.field.name {
            "set" => self.set(slot),
            "switch" => self.switch(slot),
            "parallel" => self.parallel(slot),
            "call" => {
                let entry = self.entry(&CALL, slot.node, word)?;
                let flow = self.name(entry, "flow");
                let input = self.tree_in(entry, "input");
                Some(Action::Call { flow: flow?, input })
            }
            "emit" => {
                let entry = self.entry(&EMIT, slot.node, word)?;
                let event = self.name(entry, "event");
                let data = self.tree_in(entry, "data");
                Some(Action::Emit {
                    event: event?,
                    data,
                })
            }
            "lock" => {
                let entry = self.entry(&LOCK, slot.node, word)?;
                let name = self.template(entry, "name");
                let wait = self.duration(entry, "wait");
                let steps = self.block(entry, "steps");
                Some(Action::Lock {
                    name: name?,
                    wait,
                    steps,
                })
            }
            // A bare `stop:` needs no reason.
            "stop" => Some(Action::Stop {
                message: match slot.node.kind {
                    Kind::Null => None,
                    _ => self.message(slot, &STOP),
                },
            }),
            "fail" => {
                let message = self.message(slot, &FAIL)?;
                Some(Action::Fail { message })
            }
            _ => None,
        }
    }

    fn tree_in(&mut self, entry: Entry<'_>, name: &'static str) -> Tree {
        entry
            .slot(name)
            .map_or(Tree::Null, |slot| self.tree(slot.node))
    }

    fn set(&mut self, slot: Slot<'_>) -> Option<Action> {
        let Kind::Map(entries) = &slot.node.kind else {
            self.wrong_type(slot);
            return None;
        };
        let mut values = Vec::with_capacity(entries.len());
        for (name, node) in entries {
            self.plain_name(name);
            values.push((name.clone(), self.tree(node)));
        }
        Some(Action::Set(values))
    }

    /// A message by itself, or the field `message`.
    fn message(&mut self, slot: Slot<'_>, long: &'static Object) -> Option<Template> {
        match self.short(slot, long)? {
            Ok(_) => self.template_in(slot),
            Err(entry) => self.template(entry, "message"),
        }
    }

    fn switch(&mut self, slot: Slot<'_>) -> Option<Action> {
        let Kind::List(items) = &slot.node.kind else {
            self.wrong_type(slot);
            return None;
        };
        let mut cases = Vec::new();
        let mut otherwise: Option<(Spanned<String>, Block)> = None;
        for item in items {
            if let Some((first, _)) = &otherwise {
                let title = "a case stands after `else`";
                let found = Diagnostic::error(F018, item.span, title, "it is never reached");
                self.report(found.also(first.span, "what is left is taken here"));
            }
            match self.otherwise(item) {
                Some(last) => otherwise = Some(last),
                None => cases.extend(self.case(item)),
            }
        }
        if cases.is_empty() {
            let title = "`switch` has no case with `if`";
            self.report(Diagnostic::error(
                F006,
                slot.name.span,
                title,
                "cases are due here",
            ));
        }
        Some(Action::Switch {
            cases,
            otherwise: otherwise.map(|(_, steps)| steps).unwrap_or_default(),
        })
    }

    /// `else: [steps]`
    fn otherwise(&mut self, item: &Node) -> Option<(Spanned<String>, Block)> {
        let Kind::Map(entries) = &item.kind else {
            return None;
        };
        let (name, node) = entries.iter().find(|(name, _)| name.it == "else")?;
        for (other, _) in entries.iter().filter(|(other, _)| other.it != "else") {
            let title = format!("`{}` stands beside `else`", other.it);
            let found = Diagnostic::error(F003, other.span, title, "unknown field");
            self.report(found.help("the steps stand right under `else`, as a list"));
        }
        Some((name.clone(), self.steps("else", node)))
    }

    fn case(&mut self, item: &Node) -> Option<Case> {
        let entry = self.entry(&CASE, item, item.span)?;
        let when = self.expr(entry, "if");
        let steps = self.block(entry, "steps");
        Some(Case { when: when?, steps })
    }

    fn parallel(&mut self, slot: Slot<'_>) -> Option<Action> {
        let Kind::Map(entries) = &slot.node.kind else {
            self.wrong_type(slot);
            return None;
        };
        if entries.is_empty() || entries.len() > MAX_BRANCHES {
            let title = format!("`parallel` has {} branches", entries.len());
            let label = format!("from 1 to {MAX_BRANCHES} are due here");
            self.report(Diagnostic::error(F005, slot.node.span, title, label));
        }
        let mut branches = Vec::with_capacity(entries.len());
        for (id, node) in entries {
            self.check_name(&id.it, id.span, "-_");
            branches.push(Branch {
                id: id.clone(),
                steps: self.steps(&id.it, node),
            });
        }
        Some(Action::Parallel(branches))
    }

    /// `for_each` and what stands beside it in the step.
    pub(super) fn for_each(&mut self, step: Entry<'_>, slot: Slot<'_>) -> Option<ForEach> {
        let beside = Entry {
            table: &FOR_EACH,
            word: slot.name.span,
            ..step
        };
        self.missing(beside);
        let items = self.expr_in(slot);
        let name = beside.slot("as").and_then(|_| {
            let name = self.text(beside, "as")?;
            self.variable(&name);
            Some(name.it)
        });
        let key = self.template(beside, "key");
        let parallel = self.whole(beside, "parallel");
        let steps = self.block(beside, "steps");
        Some(ForEach {
            items: items?,
            name: name.unwrap_or_else(|| "item".to_owned()),
            key: key?,
            parallel: parallel.and_then(|n| n.try_into().ok()).unwrap_or(1),
            steps,
        })
    }
}
