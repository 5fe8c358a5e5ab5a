//! Callers that claim and settle, and remember what they were told.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use semel_ledger::{
    Claim, Command, Digest, EffectId, Fence, Key, Millis, Outcome, Owner, Scope, State, Verdict,
};
use semel_store::{EffectChange, Store, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cluster::Place;

pub(crate) fn effect(key: &str) -> EffectId {
    EffectId::new(Scope::new("load").unwrap(), key.parse::<Key>().unwrap())
}

pub(crate) fn claim(key: &str, fence: Fence, owner: Owner) -> EffectChange {
    let claim = Claim {
        fence,
        owner,
        fingerprint: None,
        on_unknown: None,
        lease: Millis::days(1),
        remember: Millis::days(30),
    };
    EffectChange::bare(effect(key), Command::Claim(claim))
}

pub(crate) fn settle(key: &str, fence: Fence) -> EffectChange {
    let (outcome, digest) = (Outcome::Done, Digest::of_settlement([Some(key)]));
    EffectChange::bare(
        effect(key),
        Command::Settle {
            fence,
            outcome,
            digest,
        },
    )
}

pub(crate) fn fence() -> Fence {
    Fence(semel_store::store::random_bytes())
}

/// What one caller was told about one key.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) key: String,
    pub(crate) fence: Fence,
    pub(crate) claim: Result<Verdict, StoreError>,
    pub(crate) settle: Option<Result<Verdict, StoreError>>,
}

/// A load that goes on until it is told to stop.
pub(crate) struct Load {
    callers: JoinSet<Vec<Told>>,
    stop: watch::Sender<bool>,
    acknowledged: watch::Receiver<u64>,
    under_way: Arc<AtomicU64>,
}

impl Load {
    /// Pairs of callers want the same keys at the same time; whoever is granted one settles it.
    pub(crate) fn start(store: &Arc<Store>, pairs: usize) -> Load {
        let (stop, stopped) = watch::channel(false);
        let (counter, acknowledged) = watch::channel(0);
        let counter = Arc::new(counter);
        let under_way = Arc::new(AtomicU64::new(0));
        let mut callers = JoinSet::new();
        for caller in 0..2 * pairs {
            let (store, stopped) = (Arc::clone(store), stopped.clone());
            let (counter, under_way) = (Arc::clone(&counter), Arc::clone(&under_way));
            callers.spawn(async move {
                let mut told = Vec::new();
                while !*stopped.borrow() {
                    let key = format!("{}/{}", caller / 2, told.len());
                    under_way.fetch_add(1, Ordering::SeqCst);
                    told.push(once(&store, key).await);
                    under_way.fetch_sub(1, Ordering::SeqCst);
                    if told.last().is_some_and(|told| told.claim.is_ok()) {
                        counter.send_modify(|count| *count += 1);
                    }
                }
                told
            });
        }
        Load {
            callers,
            stop,
            acknowledged,
            under_way,
        }
    }

    /// Waits until so many more claims were answered.
    pub(crate) async fn answered(&mut self, more: u64) -> u64 {
        let goal = *self.acknowledged.borrow() + more;
        *self
            .acknowledged
            .wait_for(|count| *count >= goal)
            .await
            .unwrap()
    }

    /// How many calls wait for their answer right now.
    pub(crate) fn under_way(&self) -> u64 {
        self.under_way.load(Ordering::SeqCst)
    }

    pub(crate) async fn stop(self) -> Vec<Told> {
        self.stop.send_replace(true);
        self.callers
            .join_all()
            .await
            .into_iter()
            .flatten()
            .collect()
    }
}

async fn once(store: &Store, key: String) -> Told {
    let fence = fence();
    let answered = store.step(claim(&key, fence, Owner::Client)).await;
    let claim = answered.map(|answered| answered.verdict);
    let settle = if matches!(claim, Ok(Verdict::Granted)) {
        let answered = store.step(settle(&key, fence)).await;
        Some(answered.map(|answered| answered.verdict))
    } else {
        None
    };
    Told {
        key,
        fence,
        claim,
        settle,
    }
}

/// Holds every answer against what the database has.
pub(crate) async fn check(place: &Place, told: &[Told]) {
    let client = place.client().await;
    let sql = "SELECT key, fence, state, attempt FROM effects";
    let rows = client.query(sql, &[]).await.unwrap();
    let truth: std::collections::HashMap<String, (Vec<u8>, i16, i64)> = rows
        .iter()
        .map(|row| (row.get(0), (row.get(1), row.get(2), row.get(3))))
        .collect();
    let done = State::ALL.iter().position(|state| *state == State::Done);
    let mut granted = std::collections::HashSet::new();
    for Told {
        key,
        fence,
        claim,
        settle,
    } in told
    {
        let Ok(verdict) = claim else { continue };
        let (held_by, state, attempt) = truth.get(key).unwrap_or_else(|| panic!("{key} is lost"));
        assert_eq!(*attempt, 1, "{key}");
        match verdict {
            Verdict::Granted => {
                assert!(granted.insert(key), "{key} was granted twice");
                assert_eq!(held_by, &fence.0, "{key} is held by somebody else");
            }
            Verdict::Busy | Verdict::Done => {
                assert_ne!(held_by, &fence.0, "{key} was refused to its holder");
            }
            other => panic!("{key}: {other:?}"),
        }
        if let Some(Ok(verdict)) = settle {
            assert_eq!(*verdict, Verdict::Settled { again: false }, "{key}");
            assert_eq!(usize::try_from(*state).ok(), done, "{key}");
        }
    }
}

/// Every caller got a definite answer.
pub(crate) fn all_definite(told: &[Told]) {
    for told in told {
        assert!(told.claim.is_ok(), "{told:?}");
        assert!(!matches!(told.settle, Some(Err(_))), "{told:?}");
    }
}
