//! Looking back: every question about an effect is answered from the facts.

use semel_ledger::{Claim, Digest, Fence, Fingerprint, Millis, OnUnknown, State, Time};

use super::{Ending, Fact, History};

impl History {
    /// Where it stands and after how many grants, as far as it is remembered.
    pub(crate) fn standing(&self) -> Option<(State, usize)> {
        let grants = self
            .life()
            .iter()
            .filter(|fact| matches!(fact, Fact::Granted(_)));
        let state = match self.ending().map(|(how, ..)| how) {
            _ if self.life().is_empty() => return None,
            None => State::Claimed,
            Some(Ending::Happened) => State::Done,
            Some(Ending::DidNot) => State::Failed,
            Some(Ending::GivenBack) => State::Released,
            Some(Ending::TakenBack) => State::Undone,
            Some(Ending::NobodyKnows) if self.is_asked() => State::Review,
            Some(Ending::NobodyKnows) => State::Unknown,
        };
        Some((state, grants.count()))
    }

    pub(super) fn end(&mut self, how: Ending, at: Time, said: Option<Digest>) {
        self.0.push(Fact::Ended { how, at, said });
    }

    /// All since it was last forgotten.
    pub(super) fn life(&self) -> &[Fact] {
        let forgotten = self
            .0
            .iter()
            .rposition(|fact| matches!(fact, Fact::Forgotten { .. }));
        &self.0[forgotten.map_or(0, |at| at + 1)..]
    }

    pub(super) fn last_grant(&self) -> Option<Claim> {
        self.life().iter().rev().find_map(|fact| match fact {
            Fact::Granted(claim) => Some(*claim),
            _ => None,
        })
    }

    /// How the latest attempt ended, if it did.
    pub(super) fn ending(&self) -> Option<(Ending, Time, Option<Digest>)> {
        let latest = self.life().iter().rev();
        latest
            .take_while(|fact| !matches!(fact, Fact::Granted(_)))
            .find_map(|fact| match fact {
                Fact::Ended { how, at, said } => Some((*how, *at, *said)),
                _ => None,
            })
    }

    pub(super) fn words(&self) -> Option<Digest> {
        self.ending().and_then(|(_, _, said)| said)
    }

    pub(super) fn holder(&self) -> Option<Fence> {
        let claim = self.last_grant()?;
        self.ending().is_none().then_some(claim.fence)
    }

    pub(super) fn held_until(&self) -> Option<Time> {
        self.life().iter().rev().find_map(|fact| match fact {
            Fact::HeldUntil(until) => Some(*until),
            _ => None,
        })
    }

    pub(super) fn is_asked(&self) -> bool {
        matches!(self.life().last(), Some(Fact::PersonAsked))
    }

    pub(super) fn was_first(&self, claim: &Claim) -> bool {
        let latest = self.last_grant().map(|grant| grant.fence) == Some(claim.fence);
        latest && matches!(self.ending(), Some((Ending::Happened, ..)))
    }

    /// The same claim again, whose own attempt ended without having happened.
    pub(super) fn was_used_up(&self, claim: &Claim) -> bool {
        let latest = self.last_grant().map(|grant| grant.fence) == Some(claim.fence);
        let over = matches!(
            self.ending(),
            Some((Ending::DidNot | Ending::GivenBack | Ending::NobodyKnows, ..))
        );
        latest && over && !self.is_asked()
    }

    pub(super) fn is_latest(&self, attempt: u32) -> bool {
        self.standing().map(|(_, grants)| grants) == usize::try_from(attempt).ok()
    }

    pub(super) fn latest_rule(&self) -> Option<OnUnknown> {
        self.life().iter().rev().find_map(|fact| match fact {
            Fact::Granted(claim) => claim.on_unknown,
            _ => None,
        })
    }

    /// Whether the claim's input is the one this effect stood for, as far as both were said.
    pub(super) fn agrees(&self, claim: &Claim) -> bool {
        let first = self.last_input();
        claim
            .fingerprint
            .zip(first)
            .is_none_or(|(mine, first)| mine == first)
    }

    /// The input that was last said. What was said before an attempt that did nothing, or an
    /// import, counts no more.
    pub(super) fn last_input(&self) -> Option<Fingerprint> {
        let failed = |fact: &&Fact| {
            let how = Ending::DidNot;
            matches!(fact, Fact::Imported { .. })
                || matches!(fact, Fact::Ended { how: found, .. } if *found == how)
        };
        let since = self.life().iter().rev().take_while(|fact| !failed(fact));
        since.into_iter().find_map(|fact| match fact {
            Fact::Granted(earlier) => earlier.fingerprint,
            _ => None,
        })
    }

    pub(super) fn remember(&self) -> Millis {
        let spans = self.life().iter().rev().find_map(|fact| match fact {
            Fact::Granted(claim) => Some(claim.remember),
            Fact::Imported { remember } => Some(*remember),
            _ => None,
        });
        spans.unwrap_or_default()
    }
}
