//! The same history on two backends: every answer and everything on record must be equal.
//!
//! [`semel_store::memory`] is the plainest reading of the contract, so it is what the others are
//! held against. Positions (`seq`) and names drawn at random are the backends' own.

use semel_ledger::{Decision, Millis, OnUnknown, Outcome, Owner, Time};
use semel_store::{Answer, Answered, Change, EffectChange, Filter, ReceiptFilter, ReceiptId};

use crate::fixture::{Kind, World};
use crate::shared::seeded::Seeded;
use crate::shared::{
    LEASE, REMEMBER, START, Saying as _, abandon, claim, decide, heartbeat, import, lapse, once,
    settle, sweep, undo,
};

crate::cases![random_histories_are_answered_as_in_memory];

const SEEDS: u64 = 6;
const ROUNDS: u64 = 200;
const KEYS: [&str; 5] = ["a", "b", "c/d", "é", "e%25"];
const SHORT: Millis = Millis::seconds(600);

async fn random_histories_are_answered_as_in_memory(first: World) {
    let kind = first.kind;
    let mut fresh = Some(first);
    for seed in 0..SEEDS {
        let subject = match fresh.take() {
            Some(world) => world,
            None => World::fresh(kind).await,
        };
        let model = World::fresh(Kind::Memory).await;
        let mut random = Seeded::new(seed);
        for round in 0..ROUNDS {
            let at = format!("seed {seed}, round {round}");
            let happening = happening(&mut random, round);
            let told = answers(&subject, &happening).await;
            assert_eq!(
                told,
                answers(&model, &happening).await,
                "{at}: {happening:?}"
            );
            if round % 20 == 19 || round + 1 == ROUNDS {
                assert_same(&everything(&subject).await, &everything(&model).await, &at);
            }
        }
    }
}

/// What happens next, to both.
#[derive(Clone, Debug)]
enum Happening {
    Step(Box<EffectChange>),
    Commit(Vec<EffectChange>),
    TimePasses(Millis),
    WriteReceipts,
    LapseDue,
    SweepBite,
    GiveBack,
}

fn happening(random: &mut Seeded, round: u64) -> Happening {
    match random.below(20) {
        0..=9 => Happening::Step(Box::new(change(random, round))),
        10..=12 => {
            let count = 1 + random.below(5);
            Happening::Commit((0..count).map(|_| change(random, round)).collect())
        }
        13..=15 => {
            let spans = [
                Millis(1),
                Millis::seconds(20),
                LEASE,
                SHORT,
                Millis::days(2),
            ];
            Happening::TimePasses(random.one_of(&spans))
        }
        16 => Happening::WriteReceipts,
        17 => Happening::LapseDue,
        18 => Happening::SweepBite,
        _ => Happening::GiveBack,
    }
}

fn change(random: &mut Seeded, round: u64) -> EffectChange {
    let key = random.one_of(&KEYS);
    // Mostly a fence that some claim had before, so that holders and late ones both speak.
    let n = random.below(6);
    let change = match random.below(16) {
        0..=4 => asked(random, claim(key, n)),
        5 => asked(random, once(key, n)),
        6 => asked(random, claim(key, 1000 + round)),
        7..=9 => said(random, key, n),
        10 => heartbeat(key, n, random.one_of(&[LEASE, SHORT])),
        11 => abandon(key, n),
        12 => lapse(key),
        13 => {
            let all = [Decision::Happened, Decision::Resend, Decision::Failed];
            let said = decide(key, random.one_of(&all));
            texts(random, said)
        }
        14 if random.once_in(2) => texts(random, undo(key)),
        14 => texts(random, import(key, Time(START.0 - 5))),
        _ => sweep(key, random.one_of(&[Millis(0), SHORT, REMEMBER])),
    };
    let scope = random.one_of(&["mail", "mail", "mail", "sms"]);
    change.of_scope(scope)
}

fn asked(random: &mut Seeded, claim: EffectChange) -> EffectChange {
    let rules = [OnUnknown::Ask, OnUnknown::Retry, OnUnknown::Skip];
    let claim = match random.below(4) {
        0 => claim,
        1 => claim.rule(random.one_of(&rules)),
        2 => claim.input(random.one_of(&["1", "{\"a\":[2]}"])),
        _ => claim.input("1").rule(random.one_of(&rules)),
    };
    let node = Owner::Node { node: 7, epoch: 2 };
    let owner = random.one_of(&[Owner::Client, Owner::Client, node]);
    let remember = random.one_of(&[SHORT, REMEMBER]);
    claim.owner(owner).remember(remember).by("asker")
}

fn said(random: &mut Seeded, key: &str, n: u64) -> EffectChange {
    let all = [
        Outcome::Done,
        Outcome::Failed,
        Outcome::Unknown,
        Outcome::Released,
    ];
    let said = settle(key, n, random.one_of(&all));
    texts(random, said)
}

fn texts(random: &mut Seeded, change: EffectChange) -> EffectChange {
    let long = format!("\"{}\"", "long ".repeat(8000));
    match random.below(4) {
        0 => change,
        1 => change.result("{ \"b\": 1.0 }").by("sayer"),
        2 => change.note("why").external_id("x-1"),
        _ => change.result(&long).note("long"),
    }
}

async fn answers(world: &World, happening: &Happening) -> Vec<String> {
    let store = &world.store;
    match happening.clone() {
        Happening::Step(change) => vec![told(world.step(*change).await)],
        Happening::Commit(changes) => {
            let changes: Vec<Change> = changes.into_iter().map(Change::from).collect();
            let answers = store.commit(changes).await.expect("answers");
            let told = |answer| match answer {
                Answer::Effect(answered) => told(*answered),
                other => panic!("{other:?}"),
            };
            answers.into_iter().map(told).collect()
        }
        Happening::TimePasses(span) => {
            world.pass(span);
            Vec::new()
        }
        Happening::WriteReceipts => vec![format!("{:?}", store.write_receipts().await)],
        Happening::LapseDue => vec![format!("{:?}", store.lapse_due().await)],
        Happening::SweepBite => {
            let swept = store.sweep_bite(0).await.expect("a sweep");
            vec![format!("{} of {}", swept.swept, swept.seen)]
        }
        Happening::GiveBack => vec![format!("{:?}", store.give_back().await)],
    }
}

fn told(mut answered: Answered) -> String {
    if let Some(record) = &mut answered.record {
        record.seq = 0;
    }
    let receipted = answered.receipt.take().is_some();
    format!("{answered:?}, receipt: {receipted}")
}

/// Tells the first difference alone: two whole ledgers side by side are of no help.
fn assert_same(found: &[String], expected: &[String], at: &str) {
    let differs = found.iter().zip(expected).find(|(a, b)| a != b);
    assert_eq!(differs, None, "{at}: the backend's, then memory's");
    assert_eq!(found.len(), expected.len(), "{at}");
}

/// All that is on record, a line for each.
async fn everything(world: &World) -> Vec<String> {
    let limit = 100;
    let filter = Filter {
        limit,
        ..Filter::default()
    };
    let receipts = world.receipts(ReceiptFilter::default()).await;
    let mut lines = Vec::new();
    for mut record in world.store.list(&filter).await.expect("a page").items {
        for turn in world.store.turns(&record).await.expect("turns") {
            lines.push(format!("{turn:?}"));
        }
        for stored in [&record.input, &record.result].into_iter().flatten() {
            let text = world.store.text(stored).await.expect("an answer");
            lines.push(format!("{text:?}"));
        }
        record.seq = 0;
        lines.push(format!("{record:?}"));
    }
    for mut receipt in receipts {
        (receipt.seq, receipt.id) = (0, ReceiptId([0; 16]));
        lines.push(format!("{receipt:?}"));
    }
    for tally in world.store.tallies(Time(0)).await.expect("tallies") {
        lines.push(format!("{tally:?}"));
    }
    lines
}
