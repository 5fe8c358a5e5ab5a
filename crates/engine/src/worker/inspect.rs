//! What became of a claim that was asked for in an earlier life.

use std::sync::Arc;

use semel_flow::model::Action;
use semel_ledger::State as EffectState;
use semel_store::store::random_bytes;

use super::Active;
use super::book::Gone;
use super::settling::effect_named;
use crate::engine::Inner;
use crate::observe::{self, Attempt};
use crate::places;
use crate::state::Grant;

impl Active {
    /// A claim was asked for in an earlier life: the ledger knows what came of it.
    pub(super) async fn inspect(
        &mut self,
        inner: &Arc<Inner>,
        step: &str,
        grant: &Grant,
    ) -> Result<(), Gone> {
        let compiled = Arc::clone(&self.compiled);
        let Some(step) = places::find(&compiled.flow, step) else {
            return Ok(());
        };
        let Some(effect) = effect_named(grant) else {
            return Ok(());
        };
        let record = inner.store.load(&effect).await?;
        let mine = record
            .as_ref()
            .is_some_and(|r| r.entry.fence == grant.fence);
        if matches!(step.action, Action::Lock { .. }) {
            self.inspect_lock(
                step,
                mine && record.is_some_and(|r| r.entry.state == EffectState::Claimed),
            );
            return Ok(());
        }
        let text = match record.as_ref().and_then(|r| r.result.as_ref()) {
            Some(result) => inner.store.text(result).await?,
            None => None,
        };
        let now = inner.store.now();
        let (happenings, contents) = {
            let scene = self.scene(now);
            let attempt = Attempt {
                step,
                began: record.as_ref().map_or(now, |r| r.entry.claimed_at),
                random: u64::from_le_bytes(random_bytes()),
            };
            observe::inspected(
                &scene,
                &self.state,
                &attempt,
                mine,
                record.as_ref(),
                text.as_deref(),
            )
        };
        self.journal.contents.extend(contents);
        for happening in happenings {
            self.note(happening);
        }
        Ok(())
    }
}
