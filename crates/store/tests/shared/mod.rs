//! What the tests of the store say to it, and how they remember what it answered.

#![allow(
    dead_code,
    reason = "compiled into several test binaries, each of which uses a part of it"
)]

pub(crate) mod history;
pub(crate) mod runs;
pub(crate) mod seeded;

use semel_ledger::json::Canonical;
use semel_ledger::{
    Claim, Command, Decision, Digest, EffectId, Fence, Fingerprint, Key, Millis, OnUnknown,
    Outcome, Owner, Request, Scope, Time,
};
use semel_store::{Content, EffectChange};

/// The scope of every effect that names no other.
pub(crate) const SCOPE: &str = "mail";
/// When the tests' clocks start.
pub(crate) const START: Time = Time(1_700_000_000_000);
/// How long a grant holds unless a test says otherwise.
pub(crate) const LEASE: Millis = Millis::seconds(60);
/// How long an effect is remembered unless a test says otherwise.
pub(crate) const REMEMBER: Millis = Millis::days(90);

pub(crate) fn effect_in(scope: &str, key: &str) -> EffectId {
    EffectId::new(
        Scope::new(scope).expect("a scope"),
        key.parse::<Key>().expect("a key"),
    )
}

pub(crate) fn effect(key: &str) -> EffectId {
    effect_in(SCOPE, key)
}

pub(crate) fn fence(n: u64) -> Fence {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&n.to_be_bytes());
    Fence(bytes)
}

fn asked(n: u64) -> Claim {
    Claim {
        fence: fence(n),
        owner: Owner::Client,
        fingerprint: None,
        on_unknown: None,
        lease: LEASE,
        remember: REMEMBER,
    }
}

/// A claim whose grant is recognised by the number `n`.
pub(crate) fn claim(key: &str, n: u64) -> EffectChange {
    EffectChange::bare(effect(key), Command::Claim(asked(n)))
}

pub(crate) fn once(key: &str, n: u64) -> EffectChange {
    EffectChange::bare(effect(key), Command::Once(asked(n)))
}

/// A request that shows some JSON, recognised by the number `n`.
pub(crate) fn request(key: &str, n: u64, shown: &str) -> EffectChange {
    let shown = Canonical::read(shown.as_bytes()).expect("JSON");
    let command = Command::Request(Request {
        fence: fence(n),
        fingerprint: Fingerprint::of(&shown),
        remember: REMEMBER,
    });
    EffectChange::bare(effect(key), command).content(|content| content.input = Some(shown))
}

pub(crate) fn settle(key: &str, n: u64, outcome: Outcome) -> EffectChange {
    let (fence, digest) = (fence(n), Digest([0; 16]));
    let command = Command::Settle {
        fence,
        outcome,
        digest,
    };
    EffectChange::bare(effect(key), command).sealed()
}

pub(crate) fn heartbeat(key: &str, n: u64, lease: Millis) -> EffectChange {
    let fence = fence(n);
    EffectChange::bare(effect(key), Command::Heartbeat { fence, lease })
}

pub(crate) fn abandon(key: &str, n: u64) -> EffectChange {
    EffectChange::bare(effect(key), Command::Abandon { fence: fence(n) })
}

pub(crate) fn lapse(key: &str) -> EffectChange {
    EffectChange::bare(effect(key), Command::Lapse)
}

pub(crate) fn decide(key: &str, decision: Decision) -> EffectChange {
    let digest = Digest([0; 16]);
    EffectChange::bare(
        effect(key),
        Command::Decide {
            decision,
            attempt: None,
            digest,
        },
    )
    .sealed()
}

pub(crate) fn undo(key: &str) -> EffectChange {
    let digest = Digest([0; 16]);
    EffectChange::bare(effect(key), Command::Undo { digest }).sealed()
}

pub(crate) fn import(key: &str, at: Time) -> EffectChange {
    let remember = REMEMBER;
    EffectChange::bare(effect(key), Command::Import { at, remember })
}

pub(crate) fn sweep(key: &str, keep: Millis) -> EffectChange {
    EffectChange::bare(effect(key), Command::Sweep { keep })
}

/// The rest of a sentence.
pub(crate) trait Saying: Sized {
    fn content(self, change: impl FnOnce(&mut Content)) -> Self;
    fn asking(self, change: impl FnOnce(&mut Claim)) -> Self;
    /// Gives a settlement, decision or undoing the digest of all that it says.
    fn sealed(self) -> Self;

    fn by(self, who: &str) -> Self {
        self.content(|content| content.by = Some(who.into()))
    }
    fn note(self, note: &str) -> Self {
        self.content(|content| content.note = Some(note.into()))
    }
    fn result(self, json: &str) -> Self {
        self.content(|content| content.result = Some(json.into()))
    }
    fn external_id(self, id: &str) -> Self {
        self.content(|content| content.external_id = Some(id.into()))
    }
    fn blobs(self, blobs: &[[u8; 32]]) -> Self {
        self.content(|content| content.blobs = blobs.to_vec())
    }
    fn input(self, json: &str) -> Self {
        let input = Canonical::read(json.as_bytes()).expect("JSON");
        let fingerprint = Fingerprint::of(&input);
        self.asking(|claim| claim.fingerprint = Some(fingerprint))
            .content(|content| content.input = Some(input))
    }
    fn rule(self, rule: OnUnknown) -> Self {
        self.asking(|claim| claim.on_unknown = Some(rule))
    }
    fn lease(self, lease: Millis) -> Self {
        self.asking(|claim| claim.lease = lease)
    }
    fn remember(self, remember: Millis) -> Self {
        self.asking(|claim| claim.remember = remember)
    }
    fn owner(self, owner: Owner) -> Self {
        self.asking(|claim| claim.owner = owner)
    }
    fn of_scope(self, scope: &str) -> Self;
    /// A decision about that attempt only.
    fn of_attempt(self, number: u32) -> Self;
}

impl Saying for EffectChange {
    fn content(mut self, change: impl FnOnce(&mut Content)) -> Self {
        change(&mut self.content);
        self.sealed()
    }

    fn asking(mut self, change: impl FnOnce(&mut Claim)) -> Self {
        match &mut self.command {
            Command::Claim(claim) | Command::Once(claim) => change(claim),
            other => panic!("{other:?} is no claim"),
        }
        self
    }

    fn sealed(mut self) -> Self {
        let Content {
            result,
            external_id,
            note,
            ..
        } = &self.content;
        let said = [result.as_deref(), external_id.as_deref(), note.as_deref()];
        let all = |word: &'static str| Digest::of_settlement([Some(word)].into_iter().chain(said));
        match &mut self.command {
            Command::Settle {
                outcome, digest, ..
            } => *digest = all(outcome.name()),
            Command::Decide {
                decision, digest, ..
            } => *digest = all(decision.name()),
            Command::Undo { digest } => *digest = all("undo"),
            _ => {}
        }
        self
    }

    fn of_attempt(mut self, number: u32) -> Self {
        match &mut self.command {
            Command::Decide { attempt, .. } => *attempt = Some(number),
            other => panic!("{other:?} is no decision"),
        }
        self
    }

    fn of_scope(mut self, scope: &str) -> Self {
        let scope = Scope::new(scope).expect("a scope");
        self.effect = EffectId::new(scope, self.effect.key);
        self
    }
}
