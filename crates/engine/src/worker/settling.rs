//! What a run writes in the ledger when it knows how an act ended, or that nobody does.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::Class;
use semel_ledger::{
    Claim, Command, Decision, Digest, EffectId, Fence, Key, Millis, OnUnknown, Outcome, Owner,
    Scope, Time,
};
use semel_store::{Change, Content, EffectChange};

use super::Active;
use super::book::Gone;
use crate::engine::{Inner, fence};
use crate::journal::{Done, Happening, How, Kept};
use crate::observe::Settlement;
use crate::resolve::{Call, Effect};
use crate::state::{Grant, LOOKUP};

/// A short scalar result is what the destination calls the thing.
const MAX_EXTERNAL_ID: usize = 255;

impl Active {
    /// What is written in the ledger when an act has ended.
    pub(super) fn settlement(
        &self,
        inner: &Inner,
        call: &Call,
        granted: Option<Fence>,
        settlement: &Settlement,
    ) -> Vec<Change> {
        let remember = inner.settings.remember;
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
            (None, Outcome::Done) => vec![done_now(effect, remember, content)],
            (None, Outcome::Unknown) => self.lost_now(effect, remember, content),
            (None, Outcome::Failed | Outcome::Released) => Vec::new(),
        }
    }

    fn lost_now(&self, effect: &Effect, remember: Millis, content: Content) -> Vec<Change> {
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
            remember: effect.remember.unwrap_or(remember),
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

    /// The destination may have forgotten our key: unknown, and on record as that.
    pub(super) async fn forgotten(
        &mut self,
        inner: &Arc<Inner>,
        call: &Call,
        since: Time,
    ) -> Result<(), Gone> {
        let message = match call.task.class {
            Class::Keyed => "it may have been sent, and the destination may have forgotten the key",
            _ => "it may have been sent, and no answer came",
        };
        let settlement = Settlement {
            outcome: Outcome::Unknown,
            result: None,
            note: Some(message.into()),
        };
        let changes = self.settlement(inner, call, None, &settlement);
        self.journal.changes.extend(changes);
        self.note(Happening::Lost {
            step: Arc::clone(&call.step),
            attempt: call.task.attempt,
            message: message.into(),
            at: since,
            noticed: Some(inner.store.now()),
        });
        self.flush(inner).await?;
        Ok(())
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
                by: LOOKUP.into(),
                note: Some("not there".into()),
            });
        }
        self.flush(inner).await?;
        Ok(())
    }
}

/// The record of an effect that needed no claim.
fn done_now(effect: &Effect, remember: Millis, content: Content) -> Change {
    let once = once(effect, remember, None);
    EffectChange {
        content: Content {
            input: once.content.input,
            ..content
        },
        ..once
    }
    .into()
}

/// Asks whether it is the first time, and records that it is.
pub(super) fn once(effect: &Effect, remember: Millis, by: Option<Box<str>>) -> EffectChange {
    let claim = Claim {
        fence: fence(),
        owner: Owner::Client,
        fingerprint: Some(effect.fingerprint),
        on_unknown: None,
        lease: Millis(0),
        remember: effect.remember.unwrap_or(remember),
    };
    EffectChange {
        effect: effect.id.clone(),
        command: Command::Once(claim),
        content: Content {
            input: Some(effect.input.clone()),
            by,
            ..Content::default()
        },
    }
}

/// The change that settles a claim.
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

/// The effect of a grant.
pub(super) fn effect_named(grant: &Grant) -> Option<EffectId> {
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
