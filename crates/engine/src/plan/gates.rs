//! What a re-run does about a step that asks people for leave: nobody is asked twice for exactly the same.

use semel_flow::model::{Action, Step};
use semel_ledger::{EffectId, State as EffectState};

use super::{PlanError, Planner, What};
use crate::gate::{self, Around};

const MOVING: &str = "approved before; people are asked anew if what they see has changed";

impl Planner<'_> {
    /// What the ledger knows of the request as it would be asked now.
    pub(super) async fn gate(
        &self,
        step: &Step,
    ) -> Result<(What, String, Option<EffectId>), PlanError> {
        let store = self.engine.store();
        let Action::Approve(approve) = &step.action else {
            return Ok((What::Ask, String::new(), None));
        };
        let around = Around {
            flow: &self.after.flow,
            step,
            approve,
            run: &self.identity.id,
            maker: self.state.opening.maker(),
            now: store.now(),
        };
        let rounds = gate::rounds(&around, &self.names(&[]));
        let Ok(rounds) = rounds else {
            let why = "what is asked needs what earlier steps will give".to_owned();
            return Ok((What::Ask, why, None));
        };
        // What earlier steps will give may be something else than they gave before.
        let moving = self.steps.iter().any(|step| step.what == What::Execute);
        let mut found = None;
        for asking in rounds {
            let record = store.load(&asking.effect).await?;
            let state = record.map(|record| record.state_at(store.now()));
            let (what, why) = match state {
                Some(EffectState::Done) if moving => (What::Ask, MOVING),
                Some(EffectState::Done) => (What::Reuse, "approved before for exactly this"),
                Some(EffectState::Review) => {
                    (What::Ask, "people are asked for exactly this already")
                }
                Some(EffectState::Undone) => (What::Blocked, "the approval was taken back"),
                _ => (What::Ask, "people are asked"),
            };
            let planned = (what, why.to_owned(), Some(asking.effect));
            if state == Some(EffectState::Done) {
                return Ok(planned);
            }
            found = found.or(Some(planned));
        }
        Ok(found.unwrap_or((What::Ask, "people are asked".to_owned(), None)))
    }
}
