//! The plainest backend is the measure: any sequence of changes gets the same answers from
//! PostgreSQL as from memory, and leaves the same ledger.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use semel_ledger::json::Canonical;
use semel_ledger::{
    Claim, Command, Decision, Digest, Fence, Fingerprint, Millis, OnUnknown, Outcome, Owner,
    Process, Request, State, Time,
};
use semel_store::access::Scopes;
use semel_store::secret::SecretChange;
use semel_store::token::TokenChange;
use semel_store::{
    Answer, Change, Content, EffectChange, Filter, Location, ManualClock, Options, Page,
    ReceiptFilter, Record, Store, Token,
};

use crate::cluster::Place;
use crate::load::effect;

#[derive(Clone, Debug)]
enum Act {
    Commit(Vec<Change>),
    Step(Box<EffectChange>),
    Wait(Millis),
    Duties,
}

const KEYS: [&str; 4] = ["a", "a/b", "ä", "z%2Fz"];

fn fence() -> impl Strategy<Value = Fence> {
    (0u8..3).prop_map(|n| Fence([n; 16]))
}

fn owner() -> impl Strategy<Value = Owner> {
    let process = Process {
        machine: [7; 16],
        pid: u32::MAX,
        started: u64::MAX,
    };
    prop_oneof![
        Just(Owner::Client),
        Just(Owner::Process(process)),
        Just(Owner::Node { node: 9, epoch: 2 }),
    ]
}

prop_compose! {
    fn claim()(fence in fence(), owner in owner(), input in prop::option::of(0u8..2),
               rule in prop::option::of(0usize..3), lease in 1u64..5, remember in 5u64..50) -> Claim {
        let rules = [OnUnknown::Ask, OnUnknown::Retry, OnUnknown::Skip];
        Claim {
            fence,
            owner,
            fingerprint: input.map(|input| Fingerprint([input; 32])),
            on_unknown: rule.map(|rule| rules[rule]),
            lease: Millis::seconds(lease),
            remember: Millis::seconds(remember),
        }
    }
}

prop_compose! {
    fn request()(fence in fence(), shown in 0u8..2, remember in 5u64..50) -> Request {
        Request {
            fence,
            fingerprint: Fingerprint([shown; 32]),
            remember: Millis::seconds(remember),
        }
    }
}

fn command() -> impl Strategy<Value = Command> {
    let digest = Digest([3; 16]);
    let outcomes = [
        Outcome::Done,
        Outcome::Failed,
        Outcome::Unknown,
        Outcome::Released,
    ];
    let decisions = [Decision::Happened, Decision::Resend, Decision::Failed];
    let at = Time(1_000_000);
    prop_oneof![
        4 => claim().prop_map(Command::Claim),
        1 => claim().prop_map(Command::Once),
        2 => request().prop_map(Command::Request),
        4 => (fence(), 0..4usize).prop_map(move |(fence, at)| Command::Settle {
            fence,
            outcome: outcomes[at],
            digest,
        }),
        1 => fence().prop_map(|fence| Command::Heartbeat { fence, lease: Millis::seconds(9) }),
        1 => fence().prop_map(|fence| Command::Abandon { fence }),
        1 => Just(Command::Lapse),
        2 => (0..3usize).prop_map(move |at| Command::Decide { decision: decisions[at], attempt: None, digest }),
        1 => Just(Command::Undo { digest }),
        1 => Just(Command::Import { at, remember: Millis::days(1) }),
        2 => Just(Command::Sweep { keep: Millis::seconds(10) }),
    ]
}

fn content() -> impl Strategy<Value = Content> {
    let text = |max: usize| prop::option::of(Just("é\"{}".repeat(max).into_boxed_str()));
    (text(1), text(20_000), text(1), text(2), prop::bool::ANY).prop_map(
        |(by, result, external_id, note, blobs)| Content {
            input: blobs.then(|| Canonical::trusted("{\"a\":1}".into())),
            result,
            external_id,
            note,
            by,
            blobs: if blobs {
                vec![[5; 32], [6; 32]]
            } else {
                Vec::new()
            },
        },
    )
}

fn change() -> impl Strategy<Value = EffectChange> {
    (0..KEYS.len(), command(), content()).prop_map(|(key, command, content)| EffectChange {
        effect: effect(KEYS[key]),
        command,
        content,
    })
}

/// One of the things that can happen to one of a few secrets.
fn secret((what, which, content): (u8, u8, u8)) -> Change {
    let name: Box<str> = format!("S{which}").into();
    let (key, bytes) = ([content; 8], vec![content]);
    Change::Secret(match what {
        0 => SecretChange::Set {
            name,
            key,
            bytes,
            by: None,
            first: content % 2 == 0,
        },
        1 => SecretChange::Remove { name },
        _ => SecretChange::Reseal {
            name,
            was: bytes,
            key,
            becomes: vec![content + 1],
        },
    })
}

fn act() -> impl Strategy<Value = Act> {
    let token = |n: u8| Token {
        id: format!("tok_{n}"),
        name: "n".to_owned(),
        hash: [n; 32],
        scopes: Scopes::ALL,
        created_at: Time(i64::from(n)),
        revoked_at: None,
    };
    let any = prop_oneof![
        8 => change().prop_map(Change::from),
        1 => prop::collection::vec(any::<u8>(), 0..9).prop_map(Change::Blob),
        1 => (0u8..3).prop_map(move |n| Change::Token(TokenChange::Add(token(n)))),
        1 => (0u8..3).prop_map(|n| Change::Token(TokenChange::Revoke { id: format!("tok_{n}") })),
        1 => (0u8..3, 0u8..3, 0u8..3).prop_map(secret),
    ];
    prop_oneof![
        4 => prop::collection::vec(any, 1..6).prop_map(Act::Commit),
        4 => change().prop_map(|change| Act::Step(Box::new(change))),
        2 => (1u64..20_000).prop_map(|n| Act::Wait(Millis(n))),
        1 => Just(Act::Duties),
    ]
}

/// Positions differ between backends where a race or a rollback used one up.
fn unplaced(mut record: Record) -> Record {
    record.seq = 0;
    record
}

fn shown(answers: Vec<Answer>) -> String {
    let show = |answer: Answer| match answer {
        Answer::Effect(answered) => format!(
            "{:?} {:?} {:?}",
            answered.verdict,
            answered.entry,
            answered.record.map(|record| unplaced(*record))
        ),
        other => format!("{other:?}"),
    };
    answers.into_iter().map(show).collect::<Vec<_>>().join("\n")
}

async fn perform(store: &Store, act: Act) -> String {
    match act {
        Act::Commit(changes) => shown(store.commit(changes).await.unwrap()),
        Act::Step(change) => {
            let answered = store.step(*change).await.unwrap();
            store.write_receipts().await.unwrap();
            shown(vec![Answer::Effect(Box::new(answered))])
        }
        Act::Wait(_) => String::new(),
        Act::Duties => {
            let lapsed = store.lapse_due().await.unwrap();
            let swept = store.sweep_bite(0).await.unwrap();
            store.give_back().await.unwrap();
            format!("{lapsed} {} {}", swept.seen, swept.swept)
        }
    }
}

fn listed(page: Page<Record>) -> Vec<Record> {
    page.items.into_iter().map(unplaced).collect()
}

/// Everything that can be asked.
async fn whole(store: &Store) -> Vec<String> {
    let mut lines = Vec::new();
    let all = Filter {
        limit: 100,
        ..Filter::default()
    };
    let mut filters = vec![all.clone()];
    filters.extend(State::ALL.map(|state| Filter {
        states: vec![state],
        ..all.clone()
    }));
    filters.push(Filter {
        key_prefix: Some("a".to_owned()),
        scope: Some(effect("a").scope),
        since: Some(Time(1_010_000)),
        ..all.clone()
    });
    filters.push(Filter {
        external_id: Some("é\"{}".to_owned()),
        ..all
    });
    for filter in filters {
        let page = listed(store.list(&filter).await.unwrap());
        lines.push(format!("{:?}: {page:?}", filter.states));
    }
    for key in KEYS {
        if let Some(record) = store.load(&effect(key)).await.unwrap() {
            lines.push(format!("{key} {:?}", store.turns(&record).await.unwrap()));
            for blob in record.kept_blobs() {
                lines.push(format!(
                    "{:?}",
                    store.blob(blob).await.unwrap().map(|b| b.len())
                ));
            }
        }
        let filter = ReceiptFilter {
            effect: Some(effect(key).hash()),
            limit: 100,
            ..ReceiptFilter::default()
        };
        for receipt in store.receipts(&filter).await.unwrap().items {
            let (verdict, at, by) = (receipt.verdict, receipt.at, receipt.by);
            lines.push(format!("{} {verdict:?} {at:?} {by:?}", receipt.effect));
        }
    }
    lines.push(format!("{:?}", store.tallies(Time(0)).await.unwrap()));
    lines.push(format!("{:?}", store.tokens().await.unwrap()));
    let revision = store.secrets_revision().await.unwrap();
    for sealed in store.secrets().await.unwrap() {
        lines.push(format!("{revision} {sealed:?} {:?}", sealed.bytes));
    }
    lines
}

async fn compare(place: &Place, acts: Vec<Act>) {
    let clocks = [1_000_000; 2].map(|at| Arc::new(ManualClock::at(Time(at))));
    let options = |clock: &Arc<ManualClock>| Options {
        clock: Some(Arc::clone(clock) as _),
        connections: 1,
        ..Options::default()
    };
    let memory = Store::open(&Location::Memory, options(&clocks[0]))
        .await
        .unwrap();
    let postgres = place.open(options(&clocks[1])).await;
    for act in acts {
        if let Act::Wait(span) = act {
            for clock in &clocks {
                clock.advance(span);
            }
        }
        let expected = perform(&memory, act.clone()).await;
        assert_eq!(perform(&postgres, act.clone()).await, expected, "{act:?}");
    }
    let (found, expected) = (whole(&postgres).await, whole(&memory).await);
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len());
    postgres.close().await.unwrap();
}

#[test]
fn any_sequence_of_changes_is_answered_as_in_memory() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut runner = TestRunner::new(Config {
        cases: 24,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..Config::default()
    });
    let acts = prop::collection::vec(act(), 1..40);
    let outcome = runner.run(&acts, |acts| {
        let place = Place::new();
        runtime.block_on(compare(&place, acts));
        runtime.block_on(place.drop_schema());
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}
