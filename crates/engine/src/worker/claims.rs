//! Claiming an effect, and what it means when the ledger says no.

use std::sync::Arc;

use semel_ledger::json::{Canonical, differences};
use semel_ledger::{
    Claim, Command, Fence, Millis, OnUnknown, Outcome, Owner, State as EffectState, Verdict,
};
use semel_store::planted::{self, Bug};
use semel_store::{Answer, Answered, Content, EffectChange, Record, StoreError};

use super::Active;
use super::book::Gone;
use super::settling::settle;
use crate::decide::lookup;
use crate::engine::{Inner, fence};
use crate::journal::Happening;
use crate::observe::{self, Refusal};
use crate::places;
use crate::resolve::{Call, Effect};
use crate::state::Phase;

/// How many differing fields are named.
const NAMED: usize = 5;

impl Active {
    /// Claims, with everything that led here in the same commit; acts where that is granted.
    pub(super) async fn claim(&mut self, inner: &Arc<Inner>, calls: Vec<Call>) -> Result<(), Gone> {
        let before = self.journal.changes.len();
        let mut asked = Vec::with_capacity(calls.len());
        for call in calls {
            let Some(effect) = &call.effect else { continue };
            let fence = fence();
            let rule = self.rule(&call, effect);
            let claim = self.claim_of(inner, effect, fence, rule);
            self.note(Happening::Asked {
                step: Arc::clone(&call.step),
                attempt: call.task.attempt,
                fence,
                scope: effect.id.scope.as_str().into(),
                key: effect.id.key.as_str().into(),
            });
            self.journal.changes.push(claim.into());
            asked.push((call, fence));
        }
        if planted::is(Bug::SettleBeforeAct) {
            for (call, fence) in &asked {
                let effect = call.effect.iter().map(|effect| effect.id.clone());
                let done = effect.map(|id| settle(id, *fence, Outcome::Done, Content::default()));
                self.journal.changes.extend(done);
            }
        }
        let answers = self.flush(inner).await?;
        for ((call, fence), answer) in asked.into_iter().zip(answers.into_iter().skip(before)) {
            let Answer::Effect(answered) = answer else {
                continue;
            };
            if answered.verdict == Verdict::Granted || planted::is(Bug::ActDespiteRefusal) {
                self.act(inner, call, fence);
            } else {
                self.refused(inner, &call, *answered).await?;
            }
        }
        Ok(())
    }

    /// A step that can be looked up is, before any rule; the ledger must not act on one first.
    fn rule(&self, call: &Call, effect: &Effect) -> OnUnknown {
        let step = places::find(&self.compiled.flow, &call.step);
        let asks_first = step.is_some_and(|step| lookup(step).is_some());
        if asks_first && !call.by_rule {
            OnUnknown::Ask
        } else {
            effect.on_unknown
        }
    }

    fn claim_of(
        &self,
        inner: &Inner,
        effect: &Effect,
        fence: Fence,
        rule: OnUnknown,
    ) -> EffectChange {
        let member = self.journal.member;
        let claim = Claim {
            fence,
            owner: Owner::Node {
                node: member.node,
                epoch: member.epoch,
            },
            fingerprint: Some(effect.fingerprint),
            on_unknown: Some(rule),
            lease: Millis(0),
            remember: effect.remember.unwrap_or(inner.settings.remember),
        };
        EffectChange {
            effect: effect.id.clone(),
            command: Command::Claim(claim),
            content: Content {
                input: Some(effect.input.clone()),
                by: Some(self.identity.id.as_ref().into()),
                ..Content::default()
            },
        }
    }

    /// The ledger said no: what that means for the step.
    pub(super) async fn refused(
        &mut self,
        inner: &Arc<Inner>,
        call: &Call,
        answered: Answered,
    ) -> Result<(), Gone> {
        let compiled = Arc::clone(&self.compiled);
        let (Some(step), Some(effect)) = (places::find(&compiled.flow, &call.step), &call.effect)
        else {
            return Ok(());
        };
        let since = match self.state.phase(&call.step) {
            Some(Phase::Busy { since, .. }) => Some(*since),
            _ => None,
        };
        let by = Some(self.identity.id.as_ref().into());
        let answered = inner.store.refusal(effect.id.clone(), by, answered);
        // What this run itself did, or may have done, is no repeat by another.
        let whose = answered.record.as_ref().and_then(|it| it.by.as_deref());
        if whose != Some(&*self.identity.id) {
            self.compiled.counts(&inner.counts).blocked(&call.step);
        }
        let text = match answered.record.as_ref().and_then(|r| r.result.as_ref()) {
            Some(result) => inner.store.text(result).await?,
            None => None,
        };
        let refusal = Refusal {
            verdict: answered.verdict,
            record: answered.record.as_deref(),
            text: text.as_deref(),
            by_rule: call.by_rule,
            since,
        };
        let scene = self.scene(inner.store.now());
        let (mut happening, contents) = observe::refused(&scene, &self.state, step, &refusal);
        if let (Verdict::Conflict, Happening::Parked { why, .. }) =
            (answered.verdict, &mut happening)
        {
            *why = self
                .conflict(inner, effect, answered.record.as_deref())
                .await?;
        }
        self.journal.contents.extend(contents);
        self.note(happening);
        Ok(())
    }

    /// Which fields differ from what this key stood for.
    async fn conflict(
        &self,
        inner: &Inner,
        effect: &Effect,
        record: Option<&Record>,
    ) -> Result<Box<str>, StoreError> {
        let first = match record.and_then(|record| record.input.as_ref()) {
            Some(input) => inner.store.text(input).await?,
            None => None,
        };
        let differing = first.map(|first| {
            let first = Canonical::trusted(first);
            differences(&first, &effect.input, NAMED).join(", ")
        });
        Ok(match differing.filter(|fields| !fields.is_empty()) {
            Some(fields) => {
                format!("this key stood for another input before; it differs in {fields}")
            }
            None => "this key stood for another input before".to_owned(),
        }
        .into())
    }

    /// Writes what is gathered, and whether the ledger has something to say about a call that needs
    /// no claim.
    pub(super) async fn known_to_ledger(
        &mut self,
        inner: &Arc<Inner>,
        call: &Call,
    ) -> Result<bool, Gone> {
        let Some(effect) = &call.effect else {
            self.flush(inner).await?;
            return Ok(false);
        };
        let look = EffectChange::bare(effect.id.clone(), Command::Lapse);
        self.journal.changes.push(look.into());
        let looked = self.flush(inner).await?.pop();
        let Some(Answer::Effect(looked)) = looked else {
            return Ok(false);
        };
        let Some(record) = looked.record else {
            return Ok(false);
        };
        let other = record
            .entry
            .fingerprint
            .is_some_and(|f| f != effect.fingerprint);
        let verdict = match record.state_at(inner.store.now()) {
            EffectState::Failed | EffectState::Released => return Ok(false),
            _ if other => Verdict::Conflict,
            EffectState::Done | EffectState::Undone => Verdict::Done,
            EffectState::Claimed => Verdict::Busy,
            EffectState::Unknown | EffectState::Review => Verdict::Unknown,
        };
        let answered = Answered {
            verdict,
            entry: Some(record.entry),
            record: Some(record),
            receipt: None,
        };
        self.refused(inner, call, answered).await?;
        Ok(true)
    }
}
