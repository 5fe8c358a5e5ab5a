//! Steps that ask people for leave.

use semel_flow::model::{Action, Approve, Step};
use semel_store::run::RunState;

use super::waits::shown;
use super::{Decider, Look, Move, wait};
use crate::gate::{self, Around};
use crate::names::opening;
use crate::places;
use crate::state::Gate;

impl Decider<'_, '_> {
    pub(super) fn begin_approve(&mut self, step: &Step, approve: &Approve) -> Look {
        let around = Around {
            flow: self.scene.flow,
            step,
            approve,
            run: &self.scene.identity.id,
            maker: opening(self.state, self.scene.outer).maker(),
            now: self.scene.now,
        };
        match gate::rounds(&around, &self.names(&[])) {
            Ok(rounds) => Look::Do(Move::Request(rounds)),
            Err(error) => self.give_up(step, &error.to_string()),
        }
    }

    /// People were asked: they have answered perhaps, or their time is over, or it is waited for them.
    pub(super) fn requested(&mut self, step: &Step, gate: &Gate) -> Look {
        if gate.look || gate.until <= self.scene.now {
            return Look::Do(Move::Answer {
                step: places::name(step),
            });
        }
        let why = format!(
            "{}: waits for {} until {}",
            step.id.it,
            whom(step, gate.round),
            shown(gate.until)
        );
        wait(RunState::Waiting, why, Some(gate.until))
    }
}

/// Who must say yes in that round, in words.
fn whom(step: &Step, round: u32) -> String {
    let Action::Approve(approve) = &step.action else {
        return "people".to_owned();
    };
    let by = approve.round(round).map_or(&[][..], |round| &round.by);
    let by: Vec<&str> = by.iter().map(|one| one.it.as_str()).collect();
    format!("{} of {}", approve.needed, by.join(", "))
}
