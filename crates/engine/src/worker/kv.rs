//! Values under keys: read, put with the run's next row, or changed by what is there.
//!
//! What is put, whatever was there, goes with the row that says so. What depends on what is there is one
//! change with the step's effect: if this process dies before the row is written, the step asks again
//! and is told what came of the first time.

use std::sync::Arc;

use semel_act::{Answer as Answered, Outcome};
use semel_flow::Value;
use semel_ledger::{State as EffectState, Time, Verdict};
use semel_store::kv::{KvChange, KvKey, KvOp, KvOutcome, KvPut};
use semel_store::{Answer, Change, Record, StoreError};

use super::Active;
use super::book::Gone;
use super::settling::once;
use crate::decide::gave_up;
use crate::engine::Inner;
use crate::journal::{Happening, How};
use crate::kv::{Asked, What, changed, result, seen};
use crate::observe::{self, Attempt};
use crate::places;
use crate::resolve::Call;

impl Active {
    pub(super) async fn kv(
        &mut self,
        inner: &Arc<Inner>,
        call: &Call,
        asked: Asked,
    ) -> Result<(), Gone> {
        let Asked { key, what } = asked;
        let value = match what {
            What::Get => self.value_under(inner, &key).await?,
            What::Put { to, ttl } => {
                let value = seen(to.as_ref());
                let by = Some(self.identity.id.as_ref().into());
                self.journal.puts.push(KvPut { key, to, ttl, by });
                value
            }
            What::Operate(op) => return self.operate(inner, call, key, op).await,
        };
        let names = Value::map([("value", value)]);
        self.kept(inner, call, names, &How::Act, inner.store.now());
        Ok(())
    }

    /// What is under a key for this run: what it is about to put there, or else what is committed.
    async fn value_under(&self, inner: &Inner, key: &KvKey) -> Result<Value, StoreError> {
        let own = self.journal.puts.iter().rfind(|put| put.key == *key);
        if let Some(put) = own {
            return Ok(seen(put.to.as_ref()));
        }
        let found = inner.store.kv(key).await?;
        Ok(seen(found.map(|entry| entry.value).as_ref()))
    }

    async fn operate(
        &mut self,
        inner: &Arc<Inner>,
        call: &Call,
        key: KvKey,
        op: KvOp,
    ) -> Result<(), Gone> {
        let Some(effect) = &call.effect else {
            return Ok(());
        };
        // What this run put there before must be there; it is written behind all that depends on what is.
        if !self.journal.puts.is_empty() {
            self.flush(inner).await?;
        }
        let began = inner.store.now();
        // With the value, so that what may be there after a crash is on record, to be taken back.
        if self.begins(call) {
            let step = Arc::clone(&call.step);
            self.note(Happening::Begun { step });
        }
        let by: Option<Box<str>> = Some(self.identity.id.as_ref().into());
        let change = KvChange {
            once: Some(once(effect, inner.settings.remember, by.clone())),
            key,
            op,
            by,
        };
        self.journal.changes.push(Change::Kv(Box::new(change)));
        let Some(Answer::Kv(done)) = self.flush(inner).await?.pop() else {
            return Ok(());
        };
        match (done.outcome, done.answered) {
            (KvOutcome::Applied(applied), _) => {
                let names = observe::recorded(Some(&applied.to_json()));
                self.kept(inner, call, names, &How::Act, began);
            }
            (KvOutcome::Known, Some(answered)) => self.known(inner, call, answered).await?,
            (KvOutcome::Known, None) => {}
            (KvOutcome::Impossible(fault), _) => {
                if let Some(step) = places::find(&Arc::clone(&self.compiled).flow, &call.step) {
                    self.note(gave_up(step, &format!("kv: {fault}")));
                }
            }
        }
        Ok(())
    }

    /// It was done before, by this run in an earlier life or by another: what came of it then stands.
    async fn known(
        &mut self,
        inner: &Arc<Inner>,
        call: &Call,
        answered: semel_store::Answered,
    ) -> Result<(), Gone> {
        let record = answered.record.as_deref();
        let text = match record.and_then(|record| record.result.as_ref()) {
            Some(result) => inner.store.text(result).await?,
            None => None,
        };
        let names = observe::recorded(text.as_deref());
        let undone = record.is_some_and(|record| record.entry.state == EffectState::Undone);
        let happened = matches!(answered.verdict, Verdict::Done | Verdict::First) && !undone;
        if !happened || names.get("changed").is_none() {
            return self.refused(inner, call, answered).await;
        }
        let mine = record.and_then(|record| record.by.as_deref()) == Some(&*self.identity.id);
        let how = if mine {
            How::Act
        } else {
            let (scene, by) = (self.scene(inner.store.now()), done_by(record));
            let how = if observe::is_mine(&scene, &self.state, &by) {
                How::TakenOver(by)
            } else {
                How::Reused(by)
            };
            let by = Some(self.identity.id.as_ref().into());
            if let Some(effect) = &call.effect {
                drop(inner.store.refusal(effect.id.clone(), by, answered));
            }
            how
        };
        self.kept(inner, call, names, &how, inner.store.now());
        Ok(())
    }

    /// Notes that it is done, with what later steps see of it.
    fn kept(&mut self, inner: &Inner, call: &Call, names: Value, how: &How, began: Time) {
        let compiled = Arc::clone(&self.compiled);
        let Some(step) = places::find(&compiled.flow, &call.step) else {
            return;
        };
        let result = result(&call.task.act, &names);
        let how = match how {
            How::Act if !changed(&names) => &How::Unchanged,
            how => how,
        };
        let outcome = Outcome::Done(Answered { names, result });
        let attempt = Attempt {
            step,
            began,
            random: 0,
        };
        let scene = self.scene(inner.store.now());
        let seen = observe::outcome(&scene, &self.state, &attempt, call, &outcome);
        self.journal.contents.extend(seen.contents);
        for mut happening in seen.happenings {
            if let Happening::Done(done) = &mut happening {
                done.how = how.clone();
                let effect = call.effect.as_ref().map(|effect| &effect.id);
                done.effect = effect.map(|id| (id.scope.as_str().into(), id.key.as_str().into()));
            }
            self.note(happening);
        }
    }
}

fn done_by(record: Option<&Record>) -> Box<str> {
    let by = record.and_then(|record| record.by.clone());
    by.unwrap_or_else(|| "an earlier claim".into())
}
