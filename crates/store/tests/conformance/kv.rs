//! Values under keys: each operation happens once, by what is there when it does.

use std::sync::Arc;

use semel_ledger::json::Canonical;
use semel_ledger::{Millis, Verdict};
use semel_store::kv::{KvChange, KvDone, KvEntry, KvFault, KvKey, KvOp, KvOutcome, KvPut, KvValue};
use semel_store::run::{Next, RunState};
use semel_store::{Answer, Change, Store};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{advance, finish, start};
use crate::shared::{START, once};

crate::cases!(
    an_operation_is_by_what_is_there,
    the_first_applies_and_others_get_its_result,
    the_same_question_again_is_recognised,
    what_cannot_be_applied_leaves_no_effect,
    operations_of_one_commit_see_each_other,
    puts_go_with_their_row,
    a_storm_of_adds_all_count,
);

fn key(text: &str) -> KvKey {
    KvKey::new(text.parse().expect("a key")).expect("a short one")
}

fn json(text: &str) -> Option<KvValue> {
    let value = Canonical::read(text.as_bytes()).expect("JSON");
    KvValue::new(value).expect("a short one")
}

pub(crate) fn set(to: &str) -> KvOp {
    let ttl = None;
    KvOp::Set { to: json(to), ttl }
}

pub(crate) fn add(by: &str) -> KvOp {
    let by = Canonical::read(by.as_bytes()).expect("a number");
    KvOp::Add { by, ttl: None }
}

fn swap(from: &str, to: &str) -> KvOp {
    KvOp::Swap {
        from: json(from),
        to: json(to),
        ttl: None,
    }
}

pub(crate) fn if_absent(to: &str, ttl: Option<Millis>) -> KvOp {
    KvOp::SetIfAbsent { to: json(to), ttl }
}

fn change(name: &str, op: KvOp) -> KvChange {
    KvChange {
        once: None,
        key: key(name),
        op,
        by: Some("ann".into()),
    }
}

pub(crate) async fn operate(store: &Store, change: KvChange) -> KvDone {
    store.operate(change).await.expect("an answer")
}

/// What came of an operation, as JSON or as a word.
fn came(done: &KvDone) -> String {
    match &done.outcome {
        KvOutcome::Applied(result) => result.to_json().into(),
        KvOutcome::Known => "known".to_owned(),
        KvOutcome::Impossible(fault) => fault.to_string(),
    }
}

pub(crate) async fn does(world: &World, name: &str, op: KvOp) -> String {
    came(&operate(&world.store, change(name, op)).await)
}

pub(crate) async fn entry(store: &Store, name: &str) -> Option<KvEntry> {
    store.kv(&key(name)).await.expect("an answer")
}

pub(crate) async fn value(store: &Store, name: &str) -> String {
    let entry = entry(store, name).await;
    entry.map_or("null".to_owned(), |entry| entry.value.as_str().to_owned())
}

async fn an_operation_is_by_what_is_there(world: World) {
    for (op, expected) in [
        (
            swap("1", "2"),
            r#"{"before":null,"changed":false,"value":null}"#,
        ),
        (add("1"), r#"{"before":null,"changed":true,"value":1}"#),
        (
            add("9007199254740992"),
            r#"{"before":1,"changed":true,"value":9007199254740993}"#,
        ),
        (
            if_absent("0", None),
            r#"{"before":9007199254740993,"changed":false,"value":9007199254740993}"#,
        ),
        (
            swap("9007199254740993", "0.1"),
            r#"{"before":9007199254740993,"changed":true,"value":0.1}"#,
        ),
        (add("0.2"), r#"{"before":0.1,"changed":true,"value":0.3}"#),
        (
            set(r#"{"b":[1, 2],"a":"é\n"}"#),
            r#"{"before":0.3,"changed":true,"value":{"a":"é\n","b":[1,2]}}"#,
        ),
        (
            set("null"),
            r#"{"before":{"a":"é\n","b":[1,2]},"changed":true,"value":null}"#,
        ),
        (
            set("null"),
            r#"{"before":null,"changed":false,"value":null}"#,
        ),
        (
            swap("null", "false"),
            r#"{"before":null,"changed":true,"value":false}"#,
        ),
    ] {
        assert_eq!(does(&world, "a/b%2Fc", op).await, expected);
    }
    world.pass(Millis(5));
    does(&world, "a/b%2Fc", set("1")).await;
    let expected = KvEntry {
        key: key("a/b%2Fc"),
        value: json("1").expect("a value"),
        expires_at: None,
        changed_at: START.after(Millis(5)),
        by: Some("ann".into()),
    };
    assert_eq!(entry(&world.store, "a/b%2Fc").await, Some(expected));
    assert_eq!(entry(&world.store, "a").await, None);
}

pub(crate) fn guarded(n: u64, op: KvOp) -> KvChange {
    KvChange {
        once: Some(once("step", n)),
        ..change("count", op)
    }
}

async fn the_first_applies_and_others_get_its_result(world: World) {
    let store = &world.store;
    let first = operate(store, guarded(1, add("1"))).await;
    assert_eq!(came(&first), r#"{"before":null,"changed":true,"value":1}"#);
    let verdict = first.answered.expect("an effect").verdict;
    assert_eq!(verdict, Verdict::First);
    operate(store, change("count", add("5"))).await;
    for n in [2, 3] {
        let second = operate(store, guarded(n, add("1"))).await;
        assert_eq!(second.outcome, KvOutcome::Known);
        let answered = second.answered.expect("an effect");
        assert_eq!(answered.verdict, Verdict::Done);
        let result = answered.record.expect("a record").result.expect("a result");
        let result = store.text(&result).await.expect("an answer");
        let first = r#"{"before":null,"changed":true,"value":1}"#;
        assert_eq!(result.as_deref(), Some(first));
    }
    assert_eq!(value(store, "count").await, "6");
}

async fn the_same_question_again_is_recognised(world: World) {
    let store = &world.store;
    operate(store, guarded(1, add("1"))).await;
    let again = operate(store, guarded(1, add("1"))).await;
    assert_eq!(again.outcome, KvOutcome::Known);
    let answered = again.answered.expect("an effect");
    assert_eq!(answered.verdict, Verdict::First);
    assert!(answered.record.expect("a record").result.is_some());
    assert_eq!(value(store, "count").await, "1");
}

async fn what_cannot_be_applied_leaves_no_effect(world: World) {
    let store = &world.store;
    does(&world, "count", set(r#""many""#)).await;
    let refused = operate(store, guarded(1, add("1"))).await;
    let fault = KvFault::NoNumber {
        key: "count".into(),
        found: "text",
    };
    assert_eq!(refused.outcome, KvOutcome::Impossible(fault));
    assert!(refused.answered.is_none());
    assert!(world.find("step").await.is_none());
    assert_eq!(value(store, "count").await, r#""many""#);
    does(&world, "count", set("1")).await;
    operate(store, guarded(2, add("1"))).await;
    assert_eq!(value(store, "count").await, "2");
    // Once it is done, what is there does not matter any more.
    does(&world, "count", set(r#""many""#)).await;
    let known = operate(store, guarded(3, add("1"))).await;
    assert_eq!(known.outcome, KvOutcome::Known);
}

async fn operations_of_one_commit_see_each_other(world: World) {
    let changes = vec![
        guarded(1, add("1")),
        guarded(2, add("1")),
        change("count", add("1")),
        change("count", swap("2", "9")),
        change("other", if_absent("1", None)),
        change("other", if_absent("2", None)),
        change("count", set("null")),
        change("count", add("3")),
    ];
    let changes = changes.into_iter().map(|it| Change::Kv(Box::new(it)));
    let answers = world.store.commit(changes.collect()).await;
    let came = answers
        .expect("answers")
        .into_iter()
        .map(|answer| match answer {
            Answer::Kv(done) => came(&done),
            other => panic!("{other:?}"),
        });
    let expected = [
        r#"{"before":null,"changed":true,"value":1}"#,
        "known",
        r#"{"before":1,"changed":true,"value":2}"#,
        r#"{"before":2,"changed":true,"value":9}"#,
        r#"{"before":null,"changed":true,"value":1}"#,
        r#"{"before":1,"changed":false,"value":1}"#,
        r#"{"before":9,"changed":true,"value":null}"#,
        r#"{"before":null,"changed":true,"value":3}"#,
    ];
    assert_eq!(came.collect::<Vec<_>>(), expected);
    assert_eq!(value(&world.store, "count").await, "3");
}

fn put(name: &str, to: &str, ttl: Option<Millis>) -> KvPut {
    KvPut {
        key: key(name),
        to: json(to),
        ttl,
        by: Some("run".into()),
    }
}

async fn puts_go_with_their_row(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    let mut first = advance(1, 1, Next::GoOn);
    first.puts = vec![
        put("a", "1", None),
        put("a", "2", Some(Millis(10))),
        put("b", "1", None),
    ];
    assert!(crew.advance(first.clone()).await);
    let written = entry(crew.store(), "a").await.expect("a value");
    assert_eq!(written.value.as_str(), "2");
    assert_eq!(written.expires_at, Some(crew.now().after(Millis(10))));
    assert_eq!(written.by.as_deref(), Some("run"));
    // Whoever has lost the race for the row puts nothing.
    first.puts = vec![put("a", "3", None), put("b", "null", None)];
    assert!(!crew.advance(first).await);
    assert_eq!(value(crew.store(), "a").await, "2");
    assert_eq!(value(crew.store(), "b").await, "1");
    let mut last = advance(1, 2, finish(RunState::Done));
    last.puts = vec![put("b", "null", None), put("c", "[]", None)];
    assert!(crew.advance(last).await);
    assert_eq!(value(crew.store(), "b").await, "null");
    assert_eq!(value(crew.store(), "c").await, "[]");
    let mut late = advance(1, 3, finish(RunState::Done));
    late.puts = vec![put("c", "1", None)];
    assert!(!crew.advance(late).await, "it is over");
    assert_eq!(value(crew.store(), "c").await, "[]");
}

/// Two nodes add to the same numbers at the same time. Every add counts once, although
/// each is asked for twice.
async fn a_storm_of_adds_all_count(world: World) {
    const ADDS: u64 = 120;
    let neighbour = world.neighbour().await;
    let stores = [
        Arc::clone(&world.store),
        neighbour.unwrap_or_else(|| Arc::clone(&world.store)),
    ];
    let mut workers = tokio::task::JoinSet::new();
    for n in 0..ADDS {
        let store = Arc::clone(&stores[usize::from(n % 2 == 1)]);
        workers.spawn(async move {
            // Half of them take the keys the other way round.
            let mut names = ["x", "y", "z"];
            if n % 3 == 0 {
                names.reverse();
            }
            let adds = names.map(|name| {
                Change::Kv(Box::new(KvChange {
                    once: Some(once(&format!("{name}/{}", n / 2), n)),
                    ..change(name, add("1"))
                }))
            });
            store.commit(adds.into()).await.expect("answers");
        });
    }
    while let Some(done) = workers.join_next().await {
        done.expect("it adds");
    }
    for name in ["x", "y", "z"] {
        assert_eq!(value(&world.store, name).await, (ADDS / 2).to_string());
    }
}
