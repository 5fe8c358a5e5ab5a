//! Locks: effects that a run holds while it is inside.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::Step;
use semel_ledger::{Claim, Command, EffectId, Fence, Millis, Outcome, Owner, Verdict};
use semel_store::{Answer, Change, Content, EffectChange};

use super::Active;
use super::book::Gone;
use super::settling::{effect_named, settle};
use crate::decide::BUSY_PAUSE;
use crate::engine::Inner;
use crate::journal::{Done, Happening, Kept};
use crate::places;
use crate::state::{Grant, Phase};

impl Active {
    pub(super) async fn lock(
        &mut self,
        inner: &Arc<Inner>,
        step: &Arc<str>,
        effect: EffectId,
        fence: Fence,
    ) -> Result<(), Gone> {
        let since = match self.state.phase(step) {
            Some(Phase::Busy { since, .. }) => *since,
            _ => inner.store.now(),
        };
        let claim = Claim {
            fence,
            owner: Owner::Client,
            fingerprint: None,
            on_unknown: None,
            // It is the run's, and runs outlive nodes: only its end gives it back.
            lease: Millis(u64::MAX),
            remember: Millis(0),
        };
        self.note(Happening::Asked {
            step: Arc::clone(step),
            attempt: 1,
            fence,
            scope: effect.scope.as_str().into(),
            key: effect.key.as_str().into(),
        });
        let content = Content {
            by: Some(self.identity.id.as_ref().into()),
            ..Content::default()
        };
        self.journal.changes.push(
            EffectChange {
                effect,
                command: Command::Claim(claim),
                content,
            }
            .into(),
        );
        let mut answers = self.flush(inner).await?;
        let granted =
            matches!(answers.pop(), Some(Answer::Effect(a)) if a.verdict == Verdict::Granted);
        let step = Arc::clone(step);
        self.note(if granted {
            Happening::Entered { step, case: None }
        } else {
            Happening::Busy {
                step,
                until: inner.store.now().after(BUSY_PAUSE),
                since,
            }
        });
        Ok(())
    }

    pub(super) fn unlock(&mut self, step: &Arc<str>, grant: &Grant) {
        self.journal.changes.extend(release(grant));
        self.note(Happening::Done(Box::new(Done::plain(
            Arc::clone(step),
            Kept::Is(Value::Null),
        ))));
    }
    /// A lock that a dead node held is unknown in the ledger; whoever was in it is this run.
    pub(super) fn inspect_lock(&mut self, step: &Step, held: bool) {
        let step = places::name(step);
        self.note(if held {
            Happening::Entered { step, case: None }
        } else {
            Happening::Resumed {
                step,
                by: "semel".into(),
                note: Some("the lock was not held".into()),
            }
        });
    }
}

/// Gives a lock back.
pub(super) fn release(grant: &Grant) -> Option<Change> {
    let effect = effect_named(grant)?;
    let content = Content::default();
    Some(settle(effect, grant.fence, Outcome::Released, content))
}
