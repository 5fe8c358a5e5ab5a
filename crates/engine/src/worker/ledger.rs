//! A run's dealings with the ledger: claiming, settling, asking what is known.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::Step;
use semel_ledger::json::differences;
use semel_ledger::{
    Claim, Command, Decision, Digest, EffectId, Fence, Key, Millis, OnUnknown, Outcome, Owner,
    Scope, State as EffectState, Time, Verdict,
};
use semel_store::{Answer, Answered, Change, Content, EffectChange, Record, StoreError};

use super::Active;
use super::book::Gone;
use crate::decide::lookup;
use crate::engine::{Inner, fence};
use crate::journal::{Done, Happening, How, Kept};
use crate::observe::{self, Attempt, Refusal, Settlement};
use crate::places;
use crate::resolve::{Call, Effect};
use crate::state::{Grant, Phase};

/// A short scalar result is what the destination calls the thing.
const MAX_EXTERNAL_ID: usize = 255;

impl Active {
    /// Claims, with everything that led here in the same commit; acts where that is granted.
    pub(super) async fn claim(
        &mut self,
        inner: &Arc<Inner>,
        calls: Vec<Box<Call>>,
    ) -> Result<(), Gone> {
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
        let answers = self.flush(inner).await?;
        for ((call, fence), answer) in asked.into_iter().zip(answers.into_iter().skip(before)) {
            let Answer::Effect(answered) = answer else {
                continue;
            };
            if answered.verdict == Verdict::Granted {
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
    async fn refused(
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
        let (mut happening, contents) = observe::refused(&scene, step, &refusal);
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
            let first = semel_ledger::json::Canonical::trusted(first);
            differences(&first, &effect.input, 5).join(", ")
        });
        Ok(match differing.filter(|fields| !fields.is_empty()) {
            Some(fields) => {
                format!("this key stood for another input before; it differs in {fields}")
            }
            None => "this key stood for another input before".to_owned(),
        }
        .into())
    }

    /// What is written in the ledger when an act has ended.
    pub(super) fn settlement(
        &self,
        call: &Call,
        granted: Option<Fence>,
        settlement: &Settlement,
    ) -> Vec<Change> {
        let Some(effect) = &call.effect else {
            return Vec::new();
        };
        let content = Content {
            result: settlement.result.clone(),
            note: settlement.note.clone(),
            external_id: external_id(settlement),
            by: Some(self.identity.id.as_ref().into()),
            ..Content::default()
        };
        match (granted, settlement.outcome) {
            (Some(fence), _) => vec![settle(
                effect.id.clone(),
                fence,
                settlement.outcome,
                content,
            )],
            // The destination dedupes it, so there was no claim: its record is made now.
            (None, Outcome::Done) => vec![self.done_now(effect, content)],
            (None, Outcome::Unknown) => self.lost_now(effect, content),
            (None, Outcome::Failed | Outcome::Released) => Vec::new(),
        }
    }

    fn done_now(&self, effect: &Effect, content: Content) -> Change {
        let claim = Claim {
            fence: fence(),
            owner: Owner::Client,
            fingerprint: Some(effect.fingerprint),
            on_unknown: None,
            lease: Millis(0),
            remember: effect.remember.unwrap_or(crate::start::DEFAULT_REMEMBER),
        };
        EffectChange {
            effect: effect.id.clone(),
            command: Command::Once(claim),
            content: Content {
                input: Some(effect.input.clone()),
                ..content
            },
        }
        .into()
    }

    fn lost_now(&self, effect: &Effect, content: Content) -> Vec<Change> {
        let fence = fence();
        let member = self.journal.member;
        let claim = Claim {
            fence,
            owner: Owner::Node {
                node: member.node,
                epoch: member.epoch,
            },
            fingerprint: Some(effect.fingerprint),
            on_unknown: Some(OnUnknown::Ask),
            lease: Millis(0),
            remember: effect.remember.unwrap_or(crate::start::DEFAULT_REMEMBER),
        };
        let claimed = EffectChange {
            effect: effect.id.clone(),
            command: Command::Claim(claim),
            content: Content {
                input: Some(effect.input.clone()),
                by: content.by.clone(),
                ..Content::default()
            },
        };
        let lost = settle(effect.id.clone(), fence, Outcome::Unknown, content);
        vec![claimed.into(), lost]
    }

    /// Whether the ledger has something to say about a call that needs no claim.
    pub(super) async fn known_to_ledger(
        &mut self,
        inner: &Arc<Inner>,
        call: &Call,
    ) -> Result<bool, Gone> {
        let Some(effect) = &call.effect else {
            return Ok(false);
        };
        let Some(record) = inner.store.load(&effect.id).await? else {
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
            record: Some(Box::new(record)),
            receipt: None,
        };
        self.refused(inner, call, answered).await?;
        Ok(true)
    }

    /// The destination may have forgotten our key: unknown, and on record as that.
    pub(super) async fn forgotten(
        &mut self,
        inner: &Arc<Inner>,
        call: &Call,
        since: Time,
    ) -> Result<(), Gone> {
        let message = "it may have been sent, and the destination no longer remembers the key";
        let settlement = Settlement {
            outcome: Outcome::Unknown,
            result: None,
            note: Some(message.into()),
        };
        let changes = self.settlement(call, None, &settlement);
        self.journal.changes.extend(changes);
        self.note(Happening::Lost {
            step: Arc::clone(&call.step),
            attempt: call.task.attempt,
            message: message.into(),
            at: since,
        });
        self.flush(inner).await?;
        Ok(())
    }

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
        if matches!(step.action, semel_flow::model::Action::Lock { .. }) {
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
                random: u64::from_le_bytes(semel_store::store::random_bytes()),
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

    /// A lock that a dead node held is unknown in the ledger; whoever was in it is this run.
    fn inspect_lock(&mut self, step: &Step, held: bool) {
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

    /// The destination was asked about a lost effect: that is written in the ledger.
    pub(super) async fn conclude(
        &mut self,
        inner: &Arc<Inner>,
        step: &Arc<str>,
        effect: EffectId,
        happened: bool,
        result: Value,
    ) -> Result<(), Gone> {
        let decision = if happened {
            Decision::Happened
        } else {
            Decision::Resend
        };
        let json: Option<Box<str>> = happened.then(|| result.to_json().into());
        let content = Content {
            result: json.clone(),
            by: Some("lookup".into()),
            note: Some(
                if happened {
                    "found at the destination"
                } else {
                    "not there"
                }
                .into(),
            ),
            ..Content::default()
        };
        let digest = Digest::of_decision([Some(decision.name()), json.as_deref(), Some("lookup")]);
        self.journal.changes.push(
            EffectChange {
                effect,
                command: Command::Decide {
                    decision,
                    attempt: None,
                    digest,
                },
                content,
            }
            .into(),
        );
        if happened {
            let result = Kept::new(result, &mut self.journal.contents);
            self.note(Happening::Done(Box::new(Done {
                how: How::LookedUp,
                ..Done::plain(Arc::clone(step), result)
            })));
        } else {
            self.note(Happening::Resumed {
                step: Arc::clone(step),
                by: "lookup".into(),
                note: Some("not there".into()),
            });
        }
        self.flush(inner).await?;
        Ok(())
    }

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
                until: inner.store.now().after(crate::decide::BUSY_PAUSE),
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
}

/// Gives a lock back.
pub(super) fn release(grant: &Grant) -> Option<Change> {
    let effect = effect_named(grant)?;
    let content = Content::default();
    Some(settle(effect, grant.fence, Outcome::Released, content))
}

pub(crate) fn settle(effect: EffectId, fence: Fence, outcome: Outcome, content: Content) -> Change {
    let digest = Digest::of_settlement([
        Some(outcome.name()),
        content.result.as_deref(),
        content.external_id.as_deref(),
        content.note.as_deref(),
    ]);
    EffectChange {
        effect,
        command: Command::Settle {
            fence,
            outcome,
            digest,
        },
        content,
    }
    .into()
}

fn effect_named(grant: &Grant) -> Option<EffectId> {
    let scope = Scope::new(&grant.scope).ok()?;
    let key: Key = grant.key.parse().ok()?;
    Some(EffectId::new(scope, key))
}

fn external_id(settlement: &Settlement) -> Option<Box<str>> {
    if settlement.outcome != Outcome::Done {
        return None;
    }
    match Value::read(settlement.result.as_deref()?.as_bytes()).ok()? {
        Value::Text(text) if !text.is_empty() && text.len() <= MAX_EXTERNAL_ID => {
            Some(text.as_ref().into())
        }
        Value::Int(number) => Some(number.to_string().into()),
        _ => None,
    }
}
