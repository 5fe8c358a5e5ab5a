//! Asking people for leave, and what their answer, or their silence, leads to.
//!
//! The ledger decides: a person's answer and the end of their time both settle the same entry, so whichever is
//! first counts, and the other is told so. Whatever a run knows of it is read there, so a crash before or after
//! any commit leads to the same end.

use std::sync::Arc;

use semel_flow::Value;
use semel_flow::model::{Action, Approve, OnReject, Step};
use semel_ledger::{
    Command, Decision, Digest, Millis, Request, State as EffectState, Time, Verdict,
};
use semel_store::{Answer, Content, EffectChange, Record, StoreError};

use super::Active;
use super::book::Gone;
use super::settling::effect_named;
use crate::engine::{Inner, fence};
use crate::gate::{self, Around, Asking, Shown};
use crate::journal::{Done, Happening, How, Kept, Requested, Waits, WaitsFor};
use crate::names::opening;
use crate::places;
use crate::state::{Gate, Phase};

/// Who decides when nobody answered in time.
const TIMEOUT: &str = "timeout";
/// Who takes a request back when its run ends.
const CANCELLED: &str = "cancelled";

/// What was said to a request, as the ledger has it.
struct Said {
    by: Vec<Box<str>>,
    note: Option<Box<str>>,
}

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
            if later && !is_approved(inner, &asking).await? {
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
            let Some(record) = inner.store.load(&effect).await? else {
                return self
                    .ask_again(inner, found, approve, &gate, gate.round)
                    .await;
            };
            match record.state_at(inner.store.now()) {
                EffectState::Review if gate.until <= inner.store.now() => {
                    self.silence(inner, approve, &gate, &record).await?;
                }
                EffectState::Review => {
                    let until = until_of(inner, &record).await?;
                    self.waits(step, until.map_or(gate.until, |it| it.min(gate.until)));
                    return Ok(());
                }
                EffectState::Done => return self.approved(inner, &gate, step, &record).await,
                EffectState::Failed => return self.rejected(inner, found, approve, &record).await,
                EffectState::Released => {
                    let said = said(inner, &record).await?;
                    let next = gate.round + u32::from(said.is_silence());
                    let next = approve.round(next).map_or(gate.round, |_| next);
                    return self.ask_again(inner, found, approve, &gate, next).await;
                }
                EffectState::Undone => {
                    self.give_up(step, "the approval was taken back".to_owned());
                    return Ok(());
                }
                EffectState::Claimed | EffectState::Unknown => {
                    self.give_up(step, NOT_A_REQUEST.to_owned());
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
        let said = said(inner, record).await?;
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
        let said = said(inner, record).await?;
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
            let record = inner.store.load(&effect).await?;
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

const NOT_A_REQUEST: &str = "its key stands in the ledger for something that is no request";

impl Said {
    fn is_silence(&self) -> bool {
        matches!(self.by.as_slice(), [by] if &**by == TIMEOUT)
    }

    fn names(&self) -> String {
        self.by.join(" and ")
    }

    /// What later steps see.
    fn result(&self, approved: bool) -> Value {
        let by = self.by.iter().map(|name| Value::text(name)).collect();
        Value::map([
            ("approved", Value::Bool(approved)),
            ("by", Value::list(by)),
            (
                "note",
                self.note.as_deref().map_or(Value::Null, Value::text),
            ),
        ])
    }
}

/// Who said what: all who said yes are in the result, whoever said anything is in the effect's life.
async fn said(inner: &Inner, record: &Record) -> Result<Said, StoreError> {
    let text = match &record.result {
        Some(result) => inner.store.text(result).await?,
        None => None,
    };
    let result = text.and_then(|text| Value::read(text.as_bytes()).ok());
    let listed: Option<Vec<Box<str>>> =
        result.as_ref().and_then(|result| match result.get("by")? {
            Value::List(names) => Some(
                names
                    .iter()
                    .filter_map(|name| Some(name.as_text()?.into()))
                    .collect(),
            ),
            _ => None,
        });
    let by: Vec<Box<str>> = match listed {
        Some(by) => by,
        None => {
            let turns = inner.store.turns(record).await?;
            let last = turns.into_iter().next_back().and_then(|turn| turn.by);
            // How they proved who they are is said behind their name.
            let name = |by: Box<str>| by.split(" (").next().unwrap_or_default().into();
            last.map(name).into_iter().collect()
        }
    };
    Ok(Said {
        by,
        note: record.note.clone(),
    })
}

/// Whether exactly this was approved already.
async fn is_approved(inner: &Inner, asking: &Asking) -> Result<bool, StoreError> {
    let record = inner.store.load(&asking.effect).await?;
    Ok(record.is_some_and(|record| {
        record.state_at(inner.store.now()) == EffectState::Done
            && record.entry.fingerprint == Some(asking.fingerprint)
    }))
}

/// Until when a request may be answered that another run has asked.
async fn until_of(inner: &Inner, record: &Record) -> Result<Option<Time>, StoreError> {
    let text = match &record.input {
        Some(input) => inner.store.text(input).await?,
        None => None,
    };
    let request = text.and_then(|text| Value::read(text.as_bytes()).ok());
    let until = request.and_then(|it| it.get("approve")?.get("until").cloned());
    Ok(match until {
        Some(Value::Int(millis)) => Some(Time(millis)),
        _ => None,
    })
}

/// A decision about exactly the attempt that was seen.
fn decided(
    record: &Record,
    decision: Decision,
    by: &str,
    note: Option<Box<str>>,
    result: Option<String>,
) -> EffectChange {
    let said = [
        Some(decision.name()),
        result.as_deref(),
        note.as_deref(),
        Some(by),
    ];
    EffectChange {
        effect: record.effect.clone(),
        command: Command::Decide {
            decision,
            attempt: Some(record.entry.attempt),
            digest: Digest::of_decision(said),
        },
        content: Content {
            result: result.map(Into::into),
            note,
            by: Some(by.into()),
            ..Content::default()
        },
    }
}
