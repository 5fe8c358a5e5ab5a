//! What outlives the process, and what a closed store answers.

use semel_ledger::{Decision, Outcome, Time, Verdict};
use semel_store::access::{Role, Scopes};
use semel_store::audit::{AuditChange, AuditFilter, Deed};
use semel_store::person::PersonChange;
use semel_store::secret::SecretChange;
use semel_store::token::TokenChange;
use semel_store::{BlobRef, Change, Filter, ReceiptFilter, Record, StoreError, Token, Turn};

use crate::fixture::World;
use crate::shared::{LEASE, START, Saying as _, claim, decide, once, settle};

crate::cases![
    everything_is_found_again,
    closing_writes_the_receipts_that_wait,
    a_closed_store_answers_closed,
];

async fn everything(world: &World) -> (Vec<(Record, Vec<Turn>)>, String) {
    let limit = 100;
    let filter = Filter {
        limit,
        ..Filter::default()
    };
    let receipts = world.receipts(ReceiptFilter::default()).await;
    let mut records = Vec::new();
    for record in world.store.list(&filter).await.expect("a page").items {
        let turns = world.store.turns(&record).await.expect("turns");
        records.push((record, turns));
    }
    let tallies = world.store.tallies(Time(0)).await.expect("tallies");
    let tokens = world.store.tokens().await.expect("tokens");
    let nodes = world.store.nodes().await.expect("nodes");
    let secrets = world.store.secrets().await.expect("secrets");
    let revision = world.store.secrets_revision().await.expect("a number");
    let people = world.store.people().await.expect("people");
    let audit = world.store.audit(&AuditFilter::default()).await;
    let rest = format!(
        "{receipts:#?}\n{tallies:#?}\n{tokens:#?}\n{nodes:#?}\n{secrets:#?}{revision}\n{people:#?}{audit:#?}"
    );
    (records, rest)
}

async fn everything_is_found_again(mut world: World) {
    let long = format!("\"{}\"", "x".repeat(100_000));
    world
        .step(claim("done", 1).input("{\"a\":1}").by("one"))
        .await;
    let done = settle("done", 1, Outcome::Done).result(&long);
    world.step(done.external_id("m-1")).await;
    world
        .step(claim("held", 2).lease(semel_ledger::Millis::days(9)))
        .await;
    world.step(claim("lost", 3)).await;
    world.pass(LEASE);
    world
        .step(decide("lost", Decision::Failed).by("ada").note("no"))
        .await;
    world.step(once("done", 4).by("late")).await;
    world.store.join("me").await.expect("it joins");
    let token = Token {
        id: "tok_1".to_owned(),
        name: "ci".to_owned(),
        hash: [3; 32],
        scopes: Scopes::ALL,
        created_at: START,
        revoked_at: None,
    };
    let changes = vec![
        Change::Token(TokenChange::Add(token)),
        Change::Blob(b"kept".to_vec()),
        Change::Secret(SecretChange::Set {
            name: "A".into(),
            key: [1; 8],
            bytes: vec![0, 255, 7],
            by: Some("ada".into()),
            first: false,
        }),
        Change::Person(Box::new(PersonChange::Add {
            name: "ada".into(),
            role: Role::Approver,
            password: None,
        })),
        Change::Audit(Box::new(AuditChange::Add(Deed {
            who: "ada".into(),
            via: "person".into(),
            address: None,
            action: "POST /v1/tokens".into(),
            target: "ci".into(),
            note: None,
            status: Some(201),
        }))),
    ];
    world.store.commit(changes).await.expect("answers");

    let before = everything(&world).await;
    world.reopen().await;
    assert_eq!(everything(&world).await, before);
    assert_eq!(world.result("done").await.as_deref(), Some(&*long));
    let blob = world.store.blob(BlobRef::of(b"kept").hash).await;
    assert_eq!(blob.expect("an answer").as_deref(), Some(&b"kept"[..]));
    assert_eq!(world.step(claim("held", 5)).await.verdict, Verdict::Busy);
    let holder = world.step(settle("held", 2, Outcome::Done)).await;
    assert_eq!(holder.verdict, Verdict::Settled { again: false });
    assert_eq!(world.step(claim("done", 6)).await.verdict, Verdict::Done);
    assert_eq!(world.step(claim("lost", 7)).await.verdict, Verdict::Granted);
}

async fn closing_writes_the_receipts_that_wait(mut world: World) {
    world.step(once("a", 1)).await;
    world.step(once("a", 2)).await;
    world.reopen().await;
    assert_eq!(world.receipts(ReceiptFilter::default()).await.len(), 1);
}

async fn a_closed_store_answers_closed(world: World) {
    world.step(once("a", 1)).await;
    world.store.close().await.expect("it closes");
    let closed = |answer: &Result<_, StoreError>| matches!(answer, Err(StoreError::Closed));
    let granted = world.store.step(claim("b", 2)).await;
    assert!(closed(&granted), "{granted:?}");
    // Its receipt could not be written any more.
    let refused = world.store.step(claim("a", 3)).await;
    assert!(closed(&refused), "{refused:?}");
    let committed = world.store.commit(vec![claim("b", 4).into()]).await;
    assert!(
        matches!(committed, Err(StoreError::Closed)),
        "{committed:?}"
    );
    world.store.close().await.expect("again is no error");
}
