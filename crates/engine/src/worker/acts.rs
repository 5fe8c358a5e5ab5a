//! Acts under way: beginning them, and taking in what came of them.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError};

use futures_util::FutureExt as _;
use semel_act::{Failure, FailureClass, Outcome, Untraced};
use semel_flow::Value;
use semel_flow::model::{Action, Class, Step};
use semel_ledger::{Fence, Time};
use semel_store::store::random_bytes;

use super::Active;
use super::book::Gone;
use crate::decide::{MAX_PROBES, lookup, names};
use crate::engine::Inner;
use crate::flight::Slot;
use crate::journal::{Done, Happening, How, Kept};
use crate::observe::{self, Attempt};
use crate::resolve::Call;
use crate::state::Phase;
use crate::{places, read};

/// What an act is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    /// The step itself.
    Step,
    /// Finding out whether something is there.
    Probe,
    /// Changing what an `ensure` found.
    Update,
}

/// An act under way.
pub(super) struct Errand {
    call: Arc<Call>,
    purpose: For,
    fence: Option<Fence>,
    began: Time,
}

/// An act that has ended.
pub(crate) struct Came {
    errand: Errand,
    slot: Option<Slot>,
    outcome: Outcome,
}

impl Active {
    /// A call that needs no claim: a repeat is harmless, or the destination dedupes it.
    pub(super) async fn perform(&mut self, inner: &Arc<Inner>, call: Call) -> Result<(), Gone> {
        let begins = self.begins(&call);
        if begins {
            let step = Arc::clone(&call.step);
            self.note(Happening::Begun { step });
        }
        if call.task.class == Class::Keyed {
            // The record of what led here must be older than the act; what the ledger says of it is
            // asked in the same commit.
            if self.known_to_ledger(inner, &call).await? {
                return Ok(());
            }
        } else if begins {
            self.flush(inner).await?;
        }
        self.begin(inner, call, For::Step, None, None);
        Ok(())
    }

    pub(super) fn ask(&mut self, inner: &Arc<Inner>, call: Call) {
        self.begin(inner, call, For::Probe, None, None);
    }

    pub(super) fn update(&mut self, inner: &Arc<Inner>, call: Call) {
        self.begin(inner, call, For::Update, None, None);
    }

    /// A claim was granted: act. Without a free slot nothing is sent, and it is tried again later.
    pub(super) fn act(&mut self, inner: &Arc<Inner>, call: Call, fence: Fence) {
        let flight = inner.flight();
        let slot = flight.as_ref().and_then(|flight| flight.slot(fence));
        if flight.is_some() && slot.is_none() {
            let outcome = Outcome::Failed(Failure {
                class: FailureClass::NeverSent,
                message: "too many acts are under way on this node".to_owned(),
                retry_after: None,
                answer: None,
            });
            let errand = Errand {
                call: Arc::new(call),
                purpose: For::Step,
                fence: Some(fence),
                began: inner.store.now(),
            };
            self.took_in(
                inner,
                Came {
                    errand,
                    slot,
                    outcome,
                },
            );
            return;
        }
        self.begin(inner, call, For::Step, Some(fence), slot);
    }

    fn begin(
        &mut self,
        inner: &Arc<Inner>,
        call: Call,
        purpose: For,
        fence: Option<Fence>,
        slot: Option<Slot>,
    ) {
        self.acting.insert(Arc::clone(&call.step));
        let only_reads = matches!(call.task.class, Class::Pure | Class::Read);
        self.journal.leaves |= purpose == For::Update || !only_reads;
        let errand = Errand {
            call: Arc::new(call),
            purpose,
            fence,
            began: inner.store.now(),
        };
        let inner = Arc::clone(inner);
        // Polled by the run's own task: what came is noted without a further turn in a queue.
        let under_way = self.under_way.get_mut();
        let under_way = under_way.unwrap_or_else(PoisonError::into_inner);
        under_way.push(Box::pin(async move {
            let outcome = perform(&inner, &errand.call, slot.as_ref()).await;
            Came {
                errand,
                slot,
                outcome,
            }
        }));
    }

    /// An act has ended.
    pub(super) fn came(&mut self, inner: &Arc<Inner>, came: Came) {
        self.acting.remove(&came.errand.call.step);
        // The row that tells of it is written before anything is sent that builds on it.
        self.journal.last_row_at = inner.store.now();
        self.took_in(inner, came);
    }

    fn took_in(&mut self, inner: &Arc<Inner>, came: Came) {
        let compiled = Arc::clone(&self.compiled);
        let Some(step) = places::find(&compiled.flow, &came.errand.call.step) else {
            return;
        };
        match came.errand.purpose {
            For::Step => self.settle(inner, step, came),
            For::Probe => self.probed(inner, step, came),
            For::Update => self.updated(inner, step, came),
        }
    }

    fn settle(&mut self, inner: &Arc<Inner>, step: &Step, came: Came) {
        let seen = {
            let scene = self.scene(inner.store.now());
            let attempt = attempt(step, &came);
            observe::outcome(
                &scene,
                &self.state,
                &attempt,
                &came.errand.call,
                &came.outcome,
            )
        };
        if let Some(settlement) = &seen.settle {
            if let Some(slot) = &came.slot {
                slot.known(settlement);
            }
            let changes = self.settlement(inner, &came.errand.call, came.errand.fence, settlement);
            self.journal.changes.extend(changes);
        }
        self.journal.slots.extend(came.slot);
        self.journal.contents.extend(seen.contents);
        inner.spent.count(&seen.happenings);
        for happening in seen.happenings {
            self.note(happening);
        }
    }

    /// The destination was asked whether something is there.
    fn probed(&mut self, inner: &Arc<Inner>, step: &Step, came: Came) {
        let Some((probe, settle)) = lookup(step) else {
            return;
        };
        let now = inner.store.now();
        let (answer, gone) = match &came.outcome {
            Outcome::Done(answer) => (Some(answer), false),
            Outcome::Failed(failure) => {
                let answer = failure.answer.as_ref();
                let gone = answer.is_some_and(|answer| is_gone(&answer.names));
                (answer.filter(|_| gone), gone)
            }
            Outcome::Unknown { .. } => (None, false),
        };
        let read = answer.map(|answer| {
            let scene = self.scene(now);
            read::found(
                &probe.found,
                &answer.names,
                &names(&scene, &self.state, &[]),
            )
        });
        let found = match read {
            Some(Ok(found)) => Some(found),
            // "There is no such thing" has no body to read.
            Some(Err(_)) if gone => Some(false),
            _ => None,
        };
        let evidence = answer.map_or(Value::Null, |answer| answer.names.clone());
        match (found, self.state.phase(&came.errand.call.step)) {
            (None, Some(Phase::Lost { probes, .. })) => {
                let again_at = (probes + 1 < MAX_PROBES).then(|| {
                    let pause = settle.0.max(1_000) << (*probes).min(10);
                    now.after(semel_ledger::Millis(pause))
                });
                self.note_probe(&came.errand.call.step, None, evidence, again_at);
            }
            (None, _) => self.settle(inner, step, unanswered(came)),
            (found, _) => self.note_probe(&came.errand.call.step, found, evidence, None),
        }
    }

    fn note_probe(
        &mut self,
        step: &Arc<str>,
        found: Option<bool>,
        evidence: Value,
        again_at: Option<Time>,
    ) {
        let evidence = Kept::new(evidence, &mut self.journal.contents);
        self.note(Happening::Probed {
            step: Arc::clone(step),
            found,
            evidence,
            again_at,
        });
    }

    /// What an `ensure` found was changed, or could not be.
    fn updated(&mut self, inner: &Arc<Inner>, step: &Step, came: Came) {
        let Outcome::Done(answer) = &came.outcome else {
            self.settle(inner, step, came);
            return;
        };
        let Action::Ensure(ensure) = &step.action else {
            return;
        };
        let found = match self.state.phase(&came.errand.call.step) {
            Some(Phase::Probed { evidence, .. }) => evidence.clone(),
            _ => Value::Null,
        };
        let update = ensure
            .update
            .as_ref()
            .and_then(|update| update.result.as_ref());
        let now = inner.store.now();
        let result = {
            let scene = self.scene(now);
            let names = names(&scene, &self.state, &[]);
            match update {
                Some(_) => read::result(update, &answer.names, &names),
                None => read::result(ensure.find.result.as_ref(), &found, &names),
            }
        };
        match result {
            Ok(result) => {
                let result = Kept::new(result, &mut self.journal.contents);
                self.note(Happening::Done(Box::new(Done {
                    how: How::LookedUp,
                    attempt: Some(came.errand.call.task.attempt),
                    took: Some(now.since(came.errand.began).0),
                    ..Done::plain(Arc::clone(&came.errand.call.step), result)
                })));
            }
            Err(error) => self.note(Happening::GaveUp {
                step: Arc::clone(&came.errand.call.step),
                message: format!("result: {error}").into(),
            }),
        }
    }
}

/// Performs a call; if that breaks off inside, nobody knows what it did.
async fn perform(inner: &Inner, call: &Call, slot: Option<&Slot>) -> Outcome {
    let performing = match slot {
        Some(slot) => inner.perform.perform(&call.task, slot),
        None => inner.perform.perform(&call.task, &Untraced),
    };
    let outcome = AssertUnwindSafe(performing).catch_unwind().await;
    outcome.unwrap_or_else(|_| Outcome::Unknown {
        message: "the step broke off inside Semel; this is a bug".to_owned(),
        evidence: None,
    })
}

fn attempt<'a>(step: &'a Step, came: &'a Came) -> Attempt<'a> {
    Attempt {
        step,
        began: came.errand.began,
        random: u64::from_le_bytes(random_bytes()),
    }
}

fn is_gone(names: &Value) -> bool {
    matches!(names.get("status"), Some(Value::Int(404 | 410)))
}

/// A question that was answered, but not with what was asked for, counts as not answered.
fn unanswered(came: Came) -> Came {
    let outcome = match came.outcome {
        Outcome::Done(_) => Outcome::Failed(Failure {
            class: FailureClass::Refused,
            message: "the answer does not say whether it is there".to_owned(),
            retry_after: None,
            answer: None,
        }),
        other => other,
    };
    Came { outcome, ..came }
}
