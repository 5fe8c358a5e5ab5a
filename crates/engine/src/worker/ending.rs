//! How a run ends: what it holds is given back, whoever waits for it is told, in one commit.

use std::sync::Arc;

use semel_ledger::{EffectId, Fence, Key, Outcome, Scope};
use semel_store::run::{Next, RunState};
use semel_store::{Change, Content};

use super::book::Gone;
use super::locks::release;
use super::settling::settle;
use super::{Active, More};
use crate::engine::Inner;
use crate::journal::{Ending, Happening, Note};
use crate::start;
use crate::state::Grant;

impl Active {
    pub(super) async fn end(
        &mut self,
        inner: &Arc<Inner>,
        how: Ending,
        why: String,
        held: &[Grant],
    ) -> Result<More, Gone> {
        self.journal.changes.extend(held.iter().filter_map(release));
        self.journal.changes.extend(self.item_settled(how, &why));
        self.stop_waiting(inner);
        self.take_back(inner).await?;
        let why: Box<str> = why.into();
        self.note(Happening::Ended {
            how,
            why: why.clone(),
        });
        let state = match how {
            Ending::Done => RunState::Done,
            Ending::Failed => RunState::Failed,
            Ending::Cancelled => RunState::Cancelled,
            Ending::Undone => RunState::Undone,
        };
        let within = self.state.opening.within.as_ref();
        let tell = within.map(|within| {
            let step = Arc::clone(&within.step);
            let note = serde_json::to_string(&Note::Child { step });
            note.unwrap_or_default().into()
        });
        self.write(inner, Next::Finish { state, why, tell }).await?;
        self.has_moved(inner, state);
        if let Some(parent) = self.parent {
            inner.mail_came(parent);
        }
        // Whoever was next in its lane may be due.
        if self.parent.is_some() || self.compiled.flow.overlap.is_some() {
            inner.due.notify_one();
        }
        Ok(More::No)
    }

    /// An item of a `for_each` is an effect of its own: done once, whichever run does it.
    fn item_settled(&self, how: Ending, why: &str) -> Option<Change> {
        let within = self.state.opening.within.as_ref()?;
        let fence: Fence = within.fence?;
        let scope = format!("{}/{}", self.compiled.flow.name.it, within.step);
        let key: Key = self.identity.key.parse().ok()?;
        let effect = EffectId::new(Scope::new(&scope).ok()?, key);
        let outcome = match how {
            Ending::Done => Outcome::Done,
            Ending::Failed | Ending::Cancelled | Ending::Undone => Outcome::Failed,
        };
        let content = Content {
            result: Some(start::started(self.id)),
            note: Some(why.into()),
            ..Content::default()
        };
        Some(settle(effect, fence, outcome, content))
    }
}
