//! The same operations on two backends: every answer and every value must be equal.

use semel_ledger::Millis;
use semel_ledger::json::Canonical;
use semel_store::kv::{KvChange, KvFilter, KvKey, KvOp, KvValue};
use semel_store::{Answer, Change};

use crate::fixture::{Kind, World};
use crate::shared::once;
use crate::shared::seeded::Seeded;

crate::cases![random_operations_are_answered_as_in_memory];

const SEEDS: u64 = 5;
const ROUNDS: u64 = 120;
const KEYS: [&str; 3] = ["a", "a/b%2Fc", "é"];
const VALUES: [&str; 7] = [
    "null",
    "0",
    "1",
    "2.5",
    "9007199254740993",
    r#""é""#,
    "[1,{}]",
];

async fn random_operations_are_answered_as_in_memory(first: World) {
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
            match random.below(10) {
                0 | 1 => {
                    let span = random.one_of(&[Millis(1), Millis(400), Millis::seconds(1)]);
                    subject.pass(span);
                    model.pass(span);
                }
                2 => assert_eq!(swept(&subject).await, swept(&model).await, "{at}"),
                _ => {
                    let count = 1 + random.below(5);
                    let changes: Vec<_> = (0..count).map(|_| change(&mut random)).collect();
                    let told = told(&subject, changes.clone()).await;
                    assert_eq!(
                        told,
                        self::told(&model, changes.clone()).await,
                        "{at}: {changes:?}"
                    );
                }
            }
            assert_eq!(all(&subject).await, all(&model).await, "{at}");
        }
    }
}

fn value(random: &mut Seeded) -> Option<KvValue> {
    let json = random.one_of(&VALUES);
    let value = Canonical::read(json.as_bytes()).expect("JSON");
    KvValue::new(value).expect("a short one")
}

fn change(random: &mut Seeded) -> Change {
    let key = random.one_of(&KEYS).parse().expect("a key");
    let ttl = random.one_of(&[None, Some(Millis(300)), Some(Millis::seconds(1))]);
    let op = match random.below(6) {
        0 => KvOp::Set {
            to: value(random),
            ttl,
        },
        1 => KvOp::SetIfAbsent {
            to: value(random),
            ttl,
        },
        2 | 3 => KvOp::Swap {
            from: value(random),
            to: value(random),
            ttl,
        },
        _ => KvOp::Add {
            by: Canonical::trusted(random.one_of(&["1", "-0.5", "2"]).into()),
            ttl,
        },
    };
    // Few effects and few fences, so that the same is often asked for again.
    let effect = format!("e/{}", random.below(12));
    let once = (random.below(3) > 0).then(|| once(&effect, random.below(3)));
    Change::Kv(Box::new(KvChange {
        once,
        key: KvKey::new(key).expect("a short one"),
        op,
        by: Some("ann".into()),
    }))
}

async fn told(world: &World, changes: Vec<Change>) -> Vec<String> {
    let answers = world.store.commit(changes).await.expect("answers");
    let told = |answer| match answer {
        Answer::Kv(done) => {
            let answered = done.answered.map(|it| {
                let result = it.record.and_then(|record| record.result);
                (it.verdict, it.entry, result)
            });
            format!("{:?} {answered:?}", done.outcome)
        }
        other => panic!("{other:?}"),
    };
    answers.into_iter().map(told).collect()
}

async fn swept(world: &World) -> usize {
    world.store.sweep_kv_bite().await.expect("swept")
}

async fn all(world: &World) -> Vec<String> {
    let filter = KvFilter {
        limit: 10,
        ..KvFilter::default()
    };
    let page = world.store.kv_list(&filter).await.expect("a page");
    page.items
        .iter()
        .map(|entry| format!("{entry:?}"))
        .collect()
}
