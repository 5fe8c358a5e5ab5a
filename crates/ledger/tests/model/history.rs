//! The independent model: a list of facts, never a state.
//!
//! It is told what was commanded and when, adds the facts that follow, and answers every question
//! ("who holds it?", "did it happen?") by looking back through them. It never sees an entry, so
//! it cannot inherit a mistake that the machine made in one.

use semel_ledger::{
    Claim, Command, Decision, Digest, Fence, Millis, OnUnknown, Outcome, Owner, Request, Time,
    Verdict,
};

mod look;

/// What is known of whether the latest attempt did anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Happened,
    DidNot,
    GivenBack,
    NobodyKnows,
    TakenBack,
}

#[derive(Clone, Copy, Debug)]
enum Fact {
    Granted(Claim),
    HeldUntil(Time),
    Ended {
        how: Ending,
        at: Time,
        said: Option<Digest>,
    },
    PersonAsked,
    Imported {
        remember: Millis,
    },
    Tombstoned,
    /// No longer remembered; still in the store until it is swept or claimed anew.
    Forgotten {
        since: Time,
    },
}

/// Everything that ever happened to one effect.
#[derive(Debug, Default)]
pub(crate) struct History(Vec<Fact>);

impl History {
    /// What the machine must answer; the facts that follow are added.
    pub(crate) fn expect(&mut self, command: &Command, now: Time) -> Verdict {
        let swept = matches!(command, Command::Lapse | Command::Sweep { .. });
        let passed = self.time_passes(now);
        match self.answer(command, now) {
            Verdict::Kept if passed && swept => Verdict::Swept,
            verdict => verdict,
        }
    }

    /// Adds what follows from the time alone. Says whether a lease ended.
    fn time_passes(&mut self, now: Time) -> bool {
        if self.holder().is_some() && self.held_until().is_some_and(|until| now >= until) {
            let at = self.held_until().unwrap_or(now);
            self.end(Ending::NobodyKnows, at, None);
            return true;
        }
        // A clock that went back remembers again what nobody replaced in the meantime.
        self.0
            .pop_if(|fact| matches!(fact, Fact::Forgotten { since } if now < *since));
        if let Some((how, at, _)) = self.ending()
            && how != Ending::NobodyKnows
            && now >= at.after(self.remember())
        {
            let since = at.after(self.remember());
            self.0.push(Fact::Forgotten { since });
        }
        false
    }

    fn answer(&mut self, command: &Command, now: Time) -> Verdict {
        match *command {
            Command::Claim(claim) if self.holder() == Some(claim.fence) && self.agrees(&claim) => {
                Verdict::Granted
            }
            Command::Claim(claim) => self.ask(&claim, now).unwrap_or(Verdict::Granted),
            Command::Once(claim) if self.was_first(&claim) => Verdict::First,
            Command::Once(claim) => self.ask(&claim, now).unwrap_or_else(|| {
                self.end(Ending::Happened, now, None);
                Verdict::First
            }),
            Command::Request(request) => self.request(&request, now),
            Command::Import { remember, .. } if self.life().is_empty() => {
                self.0.push(Fact::Imported { remember });
                self.end(Ending::Happened, now, None);
                Verdict::Imported
            }
            Command::Import { remember, .. }
                if matches!(
                    self.ending(),
                    Some((Ending::DidNot | Ending::GivenBack, ..))
                ) =>
            {
                self.0.push(Fact::Imported { remember });
                self.end(Ending::Happened, now, None);
                Verdict::Imported
            }
            Command::Import { .. } => Verdict::Exists,
            Command::Lapse => Verdict::Kept,
            Command::Sweep { keep } => self.sweep(keep, now),
            _ if self.life().is_empty() => Verdict::Missing,
            Command::Heartbeat { fence, lease } => self.heartbeat(fence, now.after(lease)),
            Command::Settle {
                fence,
                outcome,
                digest,
            } => self.settle(fence, outcome, digest, now),
            Command::Abandon { fence } if self.holder() == Some(fence) => {
                self.end(Ending::NobodyKnows, now, None);
                Verdict::Swept
            }
            Command::Abandon { .. } => Verdict::Stale,
            Command::Decide { attempt, .. } if attempt.is_some_and(|n| !self.is_latest(n)) => {
                Verdict::NotOpen
            }
            Command::Decide {
                decision, digest, ..
            } => self.decide(decision, digest, now),
            Command::Undo { digest } => self.undo(digest, now),
        }
    }

    /// Why a claim is refused; `None` grants it.
    fn ask(&mut self, claim: &Claim, now: Time) -> Option<Verdict> {
        let ending = self.ending().map(|(how, ..)| how);
        let rule = claim.on_unknown.or_else(|| self.latest_rule());
        if self.was_used_up(claim) {
            return Some(Verdict::Stale);
        }
        if ending != Some(Ending::DidNot) && !self.agrees(claim) {
            return Some(Verdict::Conflict);
        }
        if self.holder().is_some() {
            return Some(Verdict::Busy);
        }
        if matches!(ending, Some(Ending::Happened | Ending::TakenBack)) {
            return Some(Verdict::Done);
        }
        if ending == Some(Ending::NobodyKnows) {
            if self.is_asked() {
                return Some(Verdict::Unknown);
            }
            if rule == Some(OnUnknown::Skip) {
                self.end(Ending::Happened, now, None);
                return Some(Verdict::Done);
            }
            if rule != Some(OnUnknown::Retry) {
                self.0.push(Fact::PersonAsked);
                return Some(Verdict::Unknown);
            }
        }
        let until = match claim.owner {
            Owner::Node { .. } => Time::NEVER,
            _ => now.after(claim.lease),
        };
        self.0
            .extend([Fact::Granted(*claim), Fact::HeldUntil(until)]);
        None
    }

    /// A request is an attempt that nobody makes and only a person ends.
    fn request(&mut self, request: &Request, now: Time) -> Verdict {
        let claim = Claim {
            fence: request.fence,
            owner: Owner::Client,
            fingerprint: Some(request.fingerprint),
            on_unknown: None,
            lease: Millis(0),
            remember: request.remember,
        };
        let mine = self.last_grant().map(|grant| grant.fence) == Some(request.fence);
        let free = self.life().is_empty()
            || matches!(
                self.ending(),
                Some((Ending::DidNot | Ending::GivenBack, ..))
            );
        if free && mine {
            return Verdict::Stale;
        }
        if free {
            self.0.push(Fact::Granted(claim));
            self.end(Ending::NobodyKnows, now, None);
            self.0.push(Fact::PersonAsked);
            return Verdict::Asked;
        }
        if self.last_input() != claim.fingerprint {
            return Verdict::Conflict;
        }
        match self.ending() {
            None => Verdict::Busy,
            Some((Ending::NobodyKnows, ..)) if mine && self.is_asked() => Verdict::Asked,
            Some((Ending::NobodyKnows, ..)) => Verdict::Unknown,
            Some(_) => Verdict::Done,
        }
    }

    fn heartbeat(&mut self, fence: Fence, until: Time) -> Verdict {
        if self.holder() != Some(fence) {
            return Verdict::Stale;
        }
        let until = self.held_until().map_or(until, |before| before.max(until));
        self.0.push(Fact::HeldUntil(until));
        Verdict::Extended
    }

    fn settle(&mut self, fence: Fence, outcome: Outcome, said: Digest, now: Time) -> Verdict {
        let latest = self.last_grant().map(|claim| claim.fence) == Some(fence);
        if latest && self.words() == Some(said) {
            return Verdict::Settled { again: true };
        }
        if self.holder() != Some(fence) {
            return Verdict::Stale;
        }
        let how = match outcome {
            Outcome::Done => Ending::Happened,
            Outcome::Failed => Ending::DidNot,
            Outcome::Unknown => Ending::NobodyKnows,
            Outcome::Released => Ending::GivenBack,
        };
        self.end(how, now, Some(said));
        Verdict::Settled { again: false }
    }

    fn decide(&mut self, decision: Decision, said: Digest, now: Time) -> Verdict {
        if self.words() == Some(said) {
            return Verdict::Decided { again: true };
        }
        if self.ending().map(|(how, ..)| how) != Some(Ending::NobodyKnows) {
            return Verdict::NotOpen;
        }
        let how = match decision {
            Decision::Happened => Ending::Happened,
            Decision::Resend => Ending::GivenBack,
            Decision::Failed => Ending::DidNot,
        };
        self.end(how, now, Some(said));
        Verdict::Decided { again: false }
    }

    fn undo(&mut self, said: Digest, now: Time) -> Verdict {
        match self.ending() {
            Some((Ending::TakenBack, _, words)) if words == Some(said) => {
                Verdict::Settled { again: true }
            }
            Some((Ending::Happened, ..)) => {
                self.end(Ending::TakenBack, now, Some(said));
                Verdict::Settled { again: false }
            }
            _ => Verdict::NotOpen,
        }
    }

    fn sweep(&mut self, keep: Millis, now: Time) -> Verdict {
        if self.life().is_empty() {
            let leftover = !self.0.is_empty();
            self.0.clear();
            return if leftover {
                Verdict::Swept
            } else {
                Verdict::Kept
            };
        }
        let granted = self
            .life()
            .iter()
            .rposition(|fact| matches!(fact, Fact::Granted(_) | Fact::Imported { .. }));
        let tombstone = self.life()[granted.unwrap_or(0)..]
            .iter()
            .any(|fact| matches!(fact, Fact::Tombstoned));
        match self.ending() {
            Some((Ending::NobodyKnows, ..)) | None => Verdict::Kept,
            Some((_, at, _)) if tombstone || now < at.after(keep) => Verdict::Kept,
            Some(_) => {
                self.0.push(Fact::Tombstoned);
                Verdict::Swept
            }
        }
    }
}
