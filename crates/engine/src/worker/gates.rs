//! Asking people for leave, and what their answer, or their silence, leads to.
//!
//! The ledger decides: a person's answer and the end of their time both settle the same entry, so whichever is
//! first counts, and the other is told so. Whatever a run knows of it is read there, so a crash before or after
//! any commit leads to the same end.

mod standing;

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::{Action, Approve, OnReject, Step};
use semel_ledger::{Command, Decision, Millis, Request, State as EffectState, Time, Verdict};
use semel_store::{Answer, Content, EffectChange, Record, StoreError};

use super::Active;
use super::book::{Gone, patiently};
use super::settling::effect_named;
use crate::engine::{Inner, fence};
use crate::gate::{self, Around, Asking, Shown};
use crate::journal::{Done, Happening, How, Kept, Requested, Waits, WaitsFor};
use crate::names::opening;
use crate::places;
use crate::state::{Gate, Phase};
use standing::{NOT_A_REQUEST, Said, Standing, TIMEOUT, decided, is_approved, said, standing};

/// Who takes a request back when its run ends.
const CANCELLED: &str = "cancelled";

impl Active {
    /// Who started the run by hand.
    pub(super) fn maker(&self) -> Option<&str> {
        opening(&self.state, self.outer.as_ref()).maker()
    }

    /// Asks, unless a later round was approved before for exactly this.
    pub(super) async fn ask_for_leave(
        &mut self,
        inner: &Arc<Inner>,
        rounds: Vec<Asking>,
    ) -> Result<(), Gone> {
        let mut chosen = None;
        for asking in rounds {
            let later = asking.round > 1;
            if later && !patiently(|| is_approved(inner, &asking)).await? {
                continue;
            }
            chosen = Some(asking);
        }
        match chosen {
            Some(asking) => self.request(inner, asking).await,
            None => Ok(()),
        }
    }

    /// Asks, with everything that led here in the same commit.
    async fn request(&mut self, inner: &Arc<Inner>, asking: Asking) -> Result<(), Gone> {
        let (step, fence) = (Arc::clone(&asking.step), fence());
        let remember = self.compiled.flow.remember.as_ref().map(|it| it.it);
        let request = Request {
            fence,
            fingerprint: asking.fingerprint,
            remember: remember.unwrap_or(inner.settings.remember),
        };
        let shown = Kept::new(asking.shown, &mut self.journal.contents);
        self.note(Happening::Requested(Box::new(Requested {
            step: Arc::clone(&step),
            round: asking.round,
            fence,
            scope: asking.effect.scope.as_str().into(),
            key: asking.effect.key.as_str().into(),
            until: asking.until,
            shown,
            hash: asking.hash,
        })));
        let by: Option<Box<str>> = Some(self.identity.id.as_ref().into());
        let at = self.journal.changes.len();
        self.journal.changes.push(
            EffectChange {
                effect: asking.effect.clone(),
                command: Command::Request(request),
                content: Content {
                    input: Some(asking.input),
                    by: by.clone(),
                    ..Content::default()
                },
            }
            .into(),
        );
        let answers = self.flush(inner).await?;
        let Some(Answer::Effect(answered)) = answers.into_iter().nth(at) else {
            return Ok(());
        };
        match answered.verdict {
            Verdict::Asked => self.waits(&step, asking.until),
            // Nobody is asked twice: the receipt says so, and who waits, too.
            Verdict::Done | Verdict::Unknown => {
                let _promised = inner.store.refusal(asking.effect, by, *answered);
            }
            Verdict::Stale => {}
            _ => self.give_up(&step, NOT_A_REQUEST.to_owned()),
        }
        Ok(())
    }

    fn waits(&mut self, step: &Arc<str>, until: Time) {
        self.note(Happening::Waits(Box::new(Waits {
            step: Arc::clone(step),
            until,
            what: WaitsFor::Approval,
        })));
    }

    /// Reads in the ledger what was answered; after its time silence is an answer, too.
    pub(super) async fn answer(&mut self, inner: &Arc<Inner>, step: &Arc<str>) -> Result<(), Gone> {
        let compiled = Arc::clone(&self.compiled);
        let Some(found) = places::find(&compiled.flow, step) else {
            return Ok(());
        };
        let (Action::Approve(approve), Some(Phase::Requested(gate))) =
            (&found.action, self.state.phase(step).cloned())
        else {
            return Ok(());
        };
        let Some(effect) = effect_named(&gate.grant) else {
            return Ok(());
        };
        loop {
            match patiently(|| standing(inner, &effect)).await? {
                Standing::Open(record, _) if gate.until <= inner.store.now() => {
                    self.silence(inner, approve, &gate, &record).await?;
                }
                Standing::Open(_, until) => {
                    // Another run may have asked it before.
                    self.waits(step, until.min(gate.until));
                    return Ok(());
                }
                Standing::Approved(record) => {
                    return self.approved(inner, &gate, step, &record).await;
                }
                Standing::Rejected(record) => {
                    return self.rejected(inner, found, approve, &record).await;
                }
                Standing::Closed { silence } => {
                    let next = gate.round + u32::from(silence);
                    let next = approve.round(next).map_or(gate.round, |_| next);
                    return self.ask_again(inner, found, approve, &gate, next).await;
                }
                Standing::Nothing => {
                    let same = gate.round;
                    return self.ask_again(inner, found, approve, &gate, same).await;
                }
                Standing::Wrong(why) => {
                    self.give_up(step, why.to_owned());
                    return Ok(());
                }
            }
        }
    }

    /// Asks others, or the same people anew; they see what was seen before.
    async fn ask_again(
        &mut self,
        inner: &Arc<Inner>,
        step: &Step,
        approve: &Approve,
        gate: &Gate,
        round: u32,
    ) -> Result<(), Gone> {
        let compiled = Arc::clone(&self.compiled);
        let own = effect_named(&gate.grant);
        let own = own.and_then(|asked| gate::own_effect(&asked, gate.round));
        let shown = Shown {
            value: gate.shown.clone(),
            hash: gate.hash.clone(),
        };
        let around = Around {
            flow: &compiled.flow,
            step,
            approve,
            run: &self.identity.id,
            maker: self.maker(),
            now: inner.store.now(),
        };
        match own.map(|own| around.asking(round, &own, &shown)) {
            Some(Ok(Some(asking))) => self.request(inner, asking).await,
            Some(Err(error)) => {
                self.give_up(&places::name(step), error.to_string());
                Ok(())
            }
            Some(Ok(None)) | None => Ok(()),
        }
    }

    /// Nobody answered in time: what the file says counts, unless somebody was faster after all.
    async fn silence(
        &mut self,
        inner: &Arc<Inner>,
        approve: &Approve,
        gate: &Gate,
        record: &Record,
    ) -> Result<(), Gone> {
        let round = approve.round(gate.round);
        let within = round.map_or(Millis(0), |round| round.timeout);
        let note = format!("nobody answered within {within}");
        let decision = if approve.round(gate.round + 1).is_some() {
            Decision::Resend
        } else if round.is_some_and(|round| round.silence_approves) {
            Decision::Happened
        } else {
            Decision::Failed
        };
        let said = Said {
            by: vec![TIMEOUT.into()],
            note: Some(note.into()),
        };
        let result = (decision == Decision::Happened).then(|| said.result(true).to_json());
        let change = decided(record, decision, TIMEOUT, said.note, result);
        self.journal.changes.push(change.into());
        self.flush(inner).await?;
        Ok(())
    }

    async fn approved(
        &mut self,
        inner: &Inner,
        gate: &Gate,
        step: &Arc<str>,
        record: &Record,
    ) -> Result<(), Gone> {
        let said = patiently(|| said(inner, record)).await?;
        let mine = record.entry.fence == gate.grant.fence;
        let how = if mine {
            How::Answered(format!("approved by {}", said.names()).into())
        } else {
            How::Reused(format!("an approval of {}", said.names()).into())
        };
        self.answered(step, said.result(true), how, record);
        Ok(())
    }

    async fn rejected(
        &mut self,
        inner: &Inner,
        step: &Step,
        approve: &Approve,
        record: &Record,
    ) -> Result<(), Gone> {
        let said = patiently(|| said(inner, record)).await?;
        let name = places::name(step);
        let note = said.note.as_ref().map(|note| format!(": {note}"));
        let message = format!("rejected by {}{}", said.names(), note.unwrap_or_default());
        match approve.on_reject {
            OnReject::Fail => self.give_up(&name, message),
            OnReject::Stop => self.note(Happening::Stopped {
                step: name,
                message: message.into(),
            }),
            OnReject::GoOn => {
                let how = How::Answered(message.into());
                self.answered(&name, said.result(false), how, record);
            }
        }
        Ok(())
    }

    fn answered(&mut self, step: &Arc<str>, result: Value, how: How, record: &Record) {
        let effect = &record.effect;
        let result = Kept::new(result, &mut self.journal.contents);
        self.note(Happening::Done(Box::new(Done {
            how,
            effect: Some((effect.scope.as_str().into(), effect.key.as_str().into())),
            ..Done::plain(Arc::clone(step), result)
        })));
    }

    /// The run ends: what it still asks is asked no more.
    pub(super) async fn take_back(&mut self, inner: &Inner) -> Result<(), StoreError> {
        let open = self
            .state
            .steps
            .values()
            .filter_map(|step| match &step.phase {
                Phase::Requested(gate) => Some(gate.grant.clone()),
                _ => None,
            });
        for grant in open.collect::<Vec<_>>() {
            let Some(effect) = effect_named(&grant) else {
                continue;
            };
            let record = patiently(|| inner.store.load(&effect)).await?;
            let mine = |record: &Record| {
                record.entry.fence == grant.fence && record.entry.state == EffectState::Review
            };
            if let Some(record) = record.filter(mine) {
                let note = Some("the run ended".into());
                let change = decided(&record, Decision::Resend, CANCELLED, note, None);
                self.journal.changes.push(change.into());
            }
        }
        Ok(())
    }
}
