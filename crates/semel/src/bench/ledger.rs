//! The ledger under load, through the store.

use std::sync::Arc;

use anyhow::bail;
use semel_ledger::json::Canonical;
use semel_ledger::{
    Claim, Command, Digest, EffectId, Fence, Fingerprint, Key, Millis, OnUnknown, Outcome, Owner,
    Scope, Verdict,
};
use semel_store::store::random_bytes;
use semel_store::{Content, EffectChange, Store};

use super::load::{Bounds, Measured, run};

/// What is asked, over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// A new key each time.
    Claim,
    /// A new key each time, settled as done.
    ClaimAndSettle,
    /// A new key each time, in one call.
    Once,
    /// Nine of ten claims are for a key that is done.
    Duplicates,
}

impl Work {
    pub(super) const ALL: [Work; 4] = [
        Work::Claim,
        Work::ClaimAndSettle,
        Work::Once,
        Work::Duplicates,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Work::Claim => "claim",
            Work::ClaimAndSettle => "claim+settle",
            Work::Once => "once",
            Work::Duplicates => "duplicates 90%",
        }
    }

    /// How many durable writes one operation needs, on average.
    pub(super) fn writes(self) -> f64 {
        match self {
            Work::Claim | Work::Once => 1.0,
            Work::ClaimAndSettle => 2.0,
            Work::Duplicates => 0.1,
        }
    }
}

/// How many done keys the duplicates are spread over.
pub(super) const DONE_KEYS: u64 = 1000;

/// A key that looks like a real one and spreads over the index like a real one.
pub(super) fn key(number: u64) -> String {
    let spread = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("order-{spread:016x}")
}

pub(super) fn input(number: u64) -> String {
    format!(r#"{{"amount":4200,"currency":"EUR","customer":"cust_{number:08}","order":{number}}}"#)
}

pub(super) const RESULT: &str = r#"{"message_id":"msg_01HZX3J5T9","accepted":true}"#;

fn effect(number: u64) -> anyhow::Result<EffectId> {
    Ok(EffectId::new(
        Scope::new("bench/welcome-email")?,
        Key::from_parts(&[key(number)])?,
    ))
}

fn claim_of(number: u64) -> anyhow::Result<(Claim, Content)> {
    let input = Canonical::read(input(number).as_bytes())?;
    let claim = Claim {
        fence: Fence(random_bytes()),
        owner: Owner::Client,
        fingerprint: Some(Fingerprint::of(&input)),
        on_unknown: Some(OnUnknown::Ask),
        lease: Millis::seconds(3600),
        remember: Millis::days(30),
    };
    Ok((
        claim,
        Content {
            input: Some(input),
            by: Some("bench".into()),
            ..Content::default()
        },
    ))
}

async fn claim(store: &Store, number: u64) -> anyhow::Result<(Verdict, Fence)> {
    let (claim, content) = claim_of(number)?;
    let command = Command::Claim(claim);
    let answered = store
        .step(EffectChange {
            effect: effect(number)?,
            command,
            content,
        })
        .await?;
    Ok((answered.verdict, claim.fence))
}

async fn settle(store: &Store, number: u64, fence: Fence) -> anyhow::Result<()> {
    let digest = Digest::of_settlement([Some("done"), Some(RESULT)]);
    let command = Command::Settle {
        fence,
        outcome: Outcome::Done,
        digest,
    };
    let content = Content {
        result: Some(RESULT.into()),
        ..Content::default()
    };
    let answered = store
        .step(EffectChange {
            effect: effect(number)?,
            command,
            content,
        })
        .await?;
    expect(answered.verdict, Verdict::Settled { again: false })
}

async fn once(store: &Store, number: u64) -> anyhow::Result<()> {
    let (claim, content) = claim_of(number)?;
    let command = Command::Once(claim);
    let answered = store
        .step(EffectChange {
            effect: effect(number)?,
            command,
            content,
        })
        .await?;
    expect(answered.verdict, Verdict::First)
}

fn expect(found: Verdict, wanted: Verdict) -> anyhow::Result<()> {
    if found != wanted {
        bail!(
            "the ledger answered {} where the bench expects {}",
            found.name(),
            wanted.name()
        );
    }
    Ok(())
}

async fn one(store: &Store, work: Work, number: u64, done: u64) -> anyhow::Result<()> {
    match work {
        Work::Claim => expect(claim(store, number).await?.0, Verdict::Granted),
        Work::ClaimAndSettle => {
            let (verdict, fence) = claim(store, number).await?;
            expect(verdict, Verdict::Granted)?;
            settle(store, number, fence).await
        }
        Work::Once => once(store, number).await,
        Work::Duplicates if number.is_multiple_of(10) => {
            expect(claim(store, number).await?.0, Verdict::Granted)
        }
        Work::Duplicates => expect(
            claim(store, done + number % DONE_KEYS).await?.0,
            Verdict::Done,
        ),
    }
}

/// Runs one kind of work with so many callers; numbers start at `first`.
pub(super) async fn measure(
    store: &Arc<Store>,
    work: Work,
    callers: usize,
    bounds: Bounds,
    (first, done): (u64, u64),
) -> anyhow::Result<Measured> {
    run(callers, bounds, first, |_| {
        let store = Arc::clone(store);
        move |number| {
            let store = Arc::clone(&store);
            async move { one(&store, work, number, done).await }
        }
    })
    .await
}
