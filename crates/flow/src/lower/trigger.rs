//! What starts a flow.

use super::Lower;
use super::entry::{Entry, Slot};
use super::scalar::spanned;
use crate::codes::F006;
use crate::diagnostic::{Diagnostic, Span};
use crate::fields::{EVENT, FETCH, SCHEDULE, SYNC, TRIGGERS};
use crate::model::{Fetch, Sync, Trigger};
use crate::yaml::{Kind, Node};

impl Lower {
    pub(super) fn triggers(&mut self, flow: Entry<'_>) -> Vec<Trigger> {
        let Some(slot) = flow.slot("on") else {
            return Vec::new();
        };
        let mut triggers = Vec::new();
        match &slot.node.kind {
            Kind::List(items) => {
                for item in items {
                    self.trigger(item, slot.name.span, &mut triggers);
                }
            }
            _ => self.trigger(slot.node, slot.name.span, &mut triggers),
        }
        triggers
    }

    /// One trigger, or several that stand beside each other in one map.
    fn trigger(&mut self, node: &Node, word: Span, triggers: &mut Vec<Trigger>) {
        if let Some(text) = node.scalar() {
            if text != "manual" {
                let names: Vec<_> = TRIGGERS.fields.iter().map(|field| field.name).collect();
                self.not_among("on", text, node.span, &names);
            }
            return;
        }
        let Some(entry) = self.open(&TRIGGERS, node, word) else {
            return;
        };
        if entry.written().is_empty() {
            let title = "`on` names no trigger";
            let found = Diagnostic::error(F006, word, title, "what starts the flow?");
            self.report(found.help("write on: manual if only people and programs do"));
        }
        for (name, _) in entry.written() {
            let Some(field) = TRIGGERS.field(&name.it) else {
                self.unknown_field(&TRIGGERS, name);
                continue;
            };
            let slot = entry.slot(field.name);
            triggers.extend(slot.and_then(|slot| self.one_trigger(slot)));
        }
    }

    fn one_trigger(&mut self, slot: Slot<'_>) -> Option<Trigger> {
        let word = slot.name.span;
        match slot.field.name {
            "webhook" => {
                let webhook = self.webhook(slot)?;
                Some(Trigger::Webhook(Box::new(webhook)))
            }
            "schedule" => {
                let entry = self.entry(&SCHEDULE, slot.node, word)?;
                self.schedule(entry).map(Trigger::Schedule)
            }
            "sync" => {
                let entry = self.entry(&SYNC, slot.node, word)?;
                self.sync(entry).map(|sync| Trigger::Sync(Box::new(sync)))
            }
            "event" => self.event(slot),
            _ => {
                let nothing = match &slot.node.kind {
                    Kind::Null => true,
                    Kind::Map(entries) => entries.is_empty(),
                    _ => false,
                };
                if !nothing {
                    self.wrong_type(slot);
                }
                None
            }
        }
    }

    fn sync(&mut self, entry: Entry<'_>) -> Option<Sync> {
        let schedule = self.schedule(entry);
        let fetch = entry.slot("fetch").and_then(|slot| {
            let inner = self.entry(&FETCH, slot.node, slot.name.span)?;
            let act = self.question(inner, "fetch")?;
            Some(Fetch { act })
        });
        let items = self.expr(entry, "items");
        let key = self.template(entry, "key");
        let cursor = self.expr(entry, "cursor");
        let more = self.expr(entry, "more");
        Some(Sync {
            schedule: schedule?,
            fetch: fetch?,
            items: items?,
            key: key?,
            cursor,
            more,
        })
    }

    fn event(&mut self, slot: Slot<'_>) -> Option<Trigger> {
        match self.short(slot, &EVENT)? {
            Ok(node) => {
                let text = self.literal(slot)?;
                self.check_name(text, node.span, "-_.")?;
                Some(Trigger::Event {
                    name: spanned(text, node),
                    filter: None,
                })
            }
            Err(entry) => {
                let name = self.name(entry, "name");
                let filter = self.expr(entry, "filter");
                Some(Trigger::Event {
                    name: name?,
                    filter,
                })
            }
        }
    }
}
