//! Lives through a plan and keeps every moment of it.

use super::plan::Plan;
use semel_ledger::{After, Command, Entry, State, Step, Time, Verdict, apply};

/// One command and all that came of it.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Time,
    pub(crate) command: Command,
    pub(crate) before: Option<Entry>,
    pub(crate) step: Step,
    pub(crate) after: Option<Entry>,
}

impl Moment {
    /// Gives one command to the machine.
    pub(crate) fn of(before: Option<Entry>, command: Command, now: Time) -> Moment {
        let step = apply(before.as_ref(), &command, now);
        let after = stored(before, &step);
        Moment {
            now,
            command,
            before,
            step,
            after,
        }
    }

    /// What protects at this moment: nothing, once it need no longer be remembered.
    pub(crate) fn remembered(&self) -> Option<Entry> {
        self.before.filter(|entry| !forgotten(entry, self.now))
    }

    /// The same, with a lease that ran out taken for what it is.
    pub(crate) fn seen(&self) -> Option<State> {
        self.remembered().map(|entry| {
            let over = entry.state == State::Claimed && self.now >= entry.lease_until;
            if over { State::Unknown } else { entry.state }
        })
    }

    /// Whether a new attempt was granted or asked for, not an old one confirmed.
    pub(crate) fn is_new_grant(&self) -> bool {
        let asked = matches!(
            self.command,
            Command::Claim(_) | Command::Once(_) | Command::Request(_)
        );
        let granted = matches!(
            self.step.verdict,
            Verdict::Granted | Verdict::First | Verdict::Asked
        );
        asked && granted && self.step.after != After::Same
    }
}

/// Whether a settled entry is past the time it is remembered for.
pub(crate) fn forgotten(entry: &Entry, now: Time) -> bool {
    let open = [State::Claimed, State::Unknown, State::Review].contains(&entry.state);
    !open && now.0 >= entry.changed_at.0.saturating_add_unsigned(entry.remember.0)
}

fn stored(before: Option<Entry>, step: &Step) -> Option<Entry> {
    match step.after {
        After::Same => before,
        After::Put(entry) | After::Fresh(entry) => Some(entry),
        After::Gone => None,
    }
}

/// The whole life of an effect under a plan.
pub(crate) fn live(plan: &Plan) -> Vec<Moment> {
    let mut entry = None;
    let mut moments = Vec::new();
    for (now, command) in plan.commands() {
        let moment = Moment::of(entry, command, now);
        entry = moment.after;
        moments.push(moment);
    }
    moments
}
