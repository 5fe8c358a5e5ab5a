//! Questions to the destination: ensure, lookup, undo.

use std::sync::Arc;

use semel_ledger::Millis;

use super::Lower;
use super::entry::{Entry, Slot};
use crate::codes::F021;
use crate::diagnostic::Diagnostic;
use crate::fields::{ENSURE, FIND, LOOKUP, MADE, UNDO};
use crate::model::{Act, Class, Ensure, Kind, Lookup, Made, Probe};

/// How long a destination may take to show what it did, unless the file says.
const SETTLE: Millis = Millis::seconds(2);

impl Lower {
    pub(super) fn ensure(&mut self, slot: Slot<'_>) -> Option<Ensure> {
        let entry = self.entry(&ENSURE, slot.node, slot.name.span)?;
        let find = entry.slot("find").and_then(|slot| {
            let inner = self.entry(&FIND, slot.node, slot.name.span)?;
            self.probe(inner, "find")
        });
        let create = entry.slot("create").and_then(|slot| self.made(slot));
        let update = entry.slot("update").map(|slot| self.made(slot));
        let settle = self.settle(entry);
        Some(Ensure {
            find: find?,
            create: create?,
            // Asked for, but not understood: then the whole is not understood.
            update: match update {
                Some(made) => Some(made?),
                None => None,
            },
            settle,
        })
    }

    pub(super) fn lookup(&mut self, step: Entry<'_>) -> Option<Lookup> {
        let slot = step.slot("lookup")?;
        let entry = self.entry(&LOOKUP, slot.node, slot.name.span)?;
        let probe = self.probe(entry, "lookup");
        let settle = self.settle(entry);
        Some(Lookup {
            probe: probe?,
            settle,
        })
    }

    pub(super) fn undo(&mut self, step: Entry<'_>) -> Option<Arc<Act>> {
        let slot = step.slot("undo")?;
        let entry = self.entry(&UNDO, slot.node, slot.name.span)?;
        self.call_in(entry)
    }

    fn settle(&mut self, entry: Entry<'_>) -> Millis {
        self.duration(entry, "settle").map_or(SETTLE, |it| it.it)
    }

    fn probe(&mut self, entry: Entry<'_>, what: &str) -> Option<Probe> {
        let act = self.question(entry, what);
        let found = self.expr(entry, "found");
        let result = self.expr(entry, "result");
        Some(Probe {
            act: act?,
            found: found?,
            result,
        })
    }

    fn made(&mut self, slot: Slot<'_>) -> Option<Made> {
        let entry = self.entry(&MADE, slot.node, slot.name.span)?;
        let act = self.call_in(entry);
        let result = self.expr(entry, "result");
        Some(Made { act: act?, result })
    }

    /// A call that is repeated freely, so it must not change anything.
    pub(super) fn question(&mut self, entry: Entry<'_>, what: &str) -> Option<Arc<Act>> {
        let act = self.call_in(entry)?;
        let asked = match act.constant("method") {
            Some(method) if act.kind == Kind::Http => method,
            _ => act.kind.name(),
        };
        let title = format!("`{what}` asks with {asked}");
        let label = "it is repeated freely, so it must only read";
        match act.class() {
            Class::Read => {}
            Class::Set if act.kind == Kind::Http => {
                let found = Diagnostic::error(F021, act.span, title, label);
                self.report(found.help("ask with get, or with post if the search needs a body"));
            }
            _ if act.kind != Kind::Http => {
                let found = Diagnostic::error(F021, act.span, title, label);
                self.report(found.help("ask with `query`, or with `status`"));
            }
            // Some destinations are searched by POST.
            _ => {
                let found = Diagnostic::warning(F021, act.span, title, label);
                self.report(found.help("use get if the destination has it"));
            }
        }
        Some(act)
    }
}
