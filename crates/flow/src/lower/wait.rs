//! `wait`: for a time, for a callback, for an event.

use super::Lower;
use super::entry::{Entry, Slot};
use crate::fields::{CALLBACK, FOR_EVENT, WAIT};
use crate::model::{ForEvent, Heard, OnTimeout, Patience, Wait};

impl Lower {
    pub(super) fn wait(&mut self, slot: Slot<'_>) -> Option<Wait> {
        let entry = self.entry(&WAIT, slot.node, slot.name.span)?;
        if entry.has("for") {
            return self.duration(entry, "for").map(|it| Wait::For(it.it));
        }
        if entry.has("until") {
            return self.expr(entry, "until").map(Wait::Until);
        }
        if let Some(slot) = entry.slot("callback") {
            let entry = self.entry(&CALLBACK, slot.node, slot.name.span)?;
            return self.patience(entry).map(Wait::Callback);
        }
        let slot = entry.slot("for_event")?;
        let entry = self.entry(&FOR_EVENT, slot.node, slot.name.span)?;
        let flow = self.name(entry, "flow").map(Heard::Flow);
        let event = self.name(entry, "event").map(Heard::Event);
        let matches = self.expr(entry, "match");
        let patience = self.patience(entry);
        Some(Wait::ForEvent(Box::new(ForEvent {
            of: flow.or(event)?,
            matches: matches?,
            patience: patience?,
        })))
    }

    fn patience(&mut self, entry: Entry<'_>) -> Option<Patience> {
        let timeout = self.duration(entry, "timeout");
        let then = match self.word(entry, "on_timeout").map(|word| word.it) {
            Some("go_on") => OnTimeout::GoOn,
            _ => OnTimeout::Fail,
        };
        Some(Patience {
            timeout: timeout?.it,
            then,
        })
    }
}
