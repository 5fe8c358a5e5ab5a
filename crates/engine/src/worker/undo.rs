//! What going back writes: that a step may be under way, whether it happened, that it was taken back.
//!
//! The invariant: an effect becomes undone in the commit that says that its undo is done.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::Class;
use semel_ledger::{
    Claim, Command, Digest, EffectId, Millis, OnUnknown, Outcome, Owner, State as EffectState,
    Verdict,
};
use semel_store::{Answer, Change, Content, EffectChange, Record};

use super::Active;
use super::book::Gone;
use super::settling::settle;
use crate::decide::{BUSY_PAUSE, names};
use crate::engine::{Inner, fence};
use crate::journal::Happening;
use crate::resolve::{self, Call, is_kv};
use crate::{kv, observe, places};

/// Why a person is asked about a step of a run that goes back.
const NOBODY_KNOWS: &str = "nobody knows whether it happened; until then nothing is undone";

impl Active {
    /// Whether the journal has to say that a call is about to be made: it could be taken back, and
    /// there is no claim that would tell of it after a crash.
    pub(super) fn begins(&self, call: &Call) -> bool {
        let unclaimed = matches!(call.task.class, Class::Set | Class::Keyed);
        unclaimed && places::undoable(&self.compiled.flow, &call.step).is_some()
    }

    /// If that step is an undo: what the ledger is told of the effect that it takes back.
    pub(super) fn taken_back_by(&self, undo: &str) -> Option<Change> {
        let flow = &self.compiled.flow;
        let step = places::find(flow, places::find(flow, undo)?.takes_back()?)?;
        let scene = self.scene(self.journal.last_row_at);
        // The key was made for the undo already, from the same names.
        let effect = resolve::effect_id(flow, step, &names(&scene, &self.state, &[])).ok()?;
        let by = &self.identity.id;
        let digest = Digest::of_settlement([Some("undone"), Some(&**by)]);
        let content = Content {
            by: Some(by.as_ref().into()),
            note: Some(format!("taken back by {by}").into()),
            ..Content::default()
        };
        let undone = EffectChange {
            effect,
            command: Command::Undo { digest },
            content,
        };
        Some(undone.into())
    }

    /// What the ledger knows of a step that may have happened. If it does not know, a person is asked.
    pub(super) async fn find_out(
        &mut self,
        inner: &Arc<Inner>,
        step: &Arc<str>,
        effect: EffectId,
    ) -> Result<(), Gone> {
        let look = EffectChange::bare(effect.clone(), Command::Lapse);
        self.journal.changes.push(look.into());
        let looked = self.flush(inner).await?.pop();
        let record = match looked {
            Some(Answer::Effect(looked)) => looked.record,
            _ => None,
        };
        let now = inner.store.now();
        let state = record.as_ref().map(|record| record.state_at(now));
        let step = Arc::clone(step);
        let happening = match state {
            None | Some(EffectState::Failed | EffectState::Released) => Happening::NotDone { step },
            Some(EffectState::Done | EffectState::Undone) => {
                self.happened(inner, step, record.as_deref()).await?
            }
            Some(EffectState::Claimed) => Happening::Busy {
                step,
                until: now.after(BUSY_PAUSE),
                since: now,
            },
            Some(EffectState::Unknown) => return self.ask_person(inner, step, effect).await,
            Some(EffectState::Review) => parked(step, &effect),
        };
        self.note(happening);
        Ok(())
    }

    async fn happened(
        &mut self,
        inner: &Inner,
        step: Arc<str>,
        record: Option<&Record>,
    ) -> Result<Happening, Gone> {
        let text = match record.and_then(|record| record.result.as_ref()) {
            Some(result) => inner.store.text(result).await?,
            None => None,
        };
        let kept = observe::recorded(text.as_deref());
        let compiled = Arc::clone(&self.compiled);
        let found = places::find(&compiled.flow, &step);
        if found.is_some_and(|it| is_kv(it) && !kv::changed(&kept)) {
            return Ok(Happening::NotDone { step });
        }
        let mut contents = Vec::new();
        let scene = self.scene(inner.store.now());
        // It happened, whether what came of it can be read or not.
        let result = found.map(|it| observe::result_of(&scene, &self.state, it, &kept));
        let told = (record, result.and_then(Result::ok).unwrap_or(Value::Null));
        let happening = observe::reused(&scene, &self.state, step, told, &mut contents);
        self.journal.contents.extend(contents);
        Ok(happening)
    }

    /// A claim under the rule `ask` puts an unknown effect in review. Should it be granted, somebody
    /// has just said that it did not happen: it is given back unused.
    async fn ask_person(
        &mut self,
        inner: &Arc<Inner>,
        step: Arc<str>,
        effect: EffectId,
    ) -> Result<(), Gone> {
        let fence = fence();
        let member = self.journal.member;
        let claim = Claim {
            fence,
            owner: Owner::Node {
                node: member.node,
                epoch: member.epoch,
            },
            fingerprint: None,
            on_unknown: Some(OnUnknown::Ask),
            lease: Millis(0),
            remember: inner.settings.remember,
        };
        let claim = EffectChange {
            effect: effect.clone(),
            command: Command::Claim(claim),
            content: Content {
                by: Some(self.identity.id.as_ref().into()),
                ..Content::default()
            },
        };
        self.journal.changes.push(claim.into());
        let answer = self.flush(inner).await?.pop();
        let granted = matches!(answer, Some(Answer::Effect(answered)) if answered.verdict == Verdict::Granted);
        if granted {
            let unused = settle(effect, fence, Outcome::Released, Content::default());
            self.journal.changes.push(unused);
            self.note(Happening::NotDone { step });
        } else {
            self.note(parked(step, &effect));
        }
        Ok(())
    }
}

fn parked(step: Arc<str>, effect: &EffectId) -> Happening {
    let effect = (effect.scope.as_str().into(), effect.key.as_str().into());
    Happening::Parked {
        step,
        why: NOBODY_KNOWS.into(),
        effect: Some(effect),
    }
}
