//! Tokens, and long values that are kept once for as long as something needs them.

use std::fmt::Write as _;

use semel_ledger::{Millis, Outcome, Time, Verdict};
use semel_store::access::{Scope, Scopes};
use semel_store::blob::{BLOB_GRACE, INLINE_BYTES};
use semel_store::token::TokenChange;
use semel_store::{Answer, BlobRef, Change, Stored, Token};

use crate::fixture::World;
use crate::shared::{START, Saying as _, claim, settle};

crate::cases![
    tokens_are_added_and_revoked_once,
    long_inputs_and_results_are_read_back_exactly,
    the_longest_inline_value_stays_in_its_row,
    a_blob_that_nothing_refers_to_goes_after_its_grace,
    writing_a_blob_again_renews_its_grace,
    blobs_that_a_result_refers_to_stay,
    the_blobs_of_an_earlier_attempt_go,
    a_blob_that_is_not_there_is_none,
];

fn token(id: &str, at: Time) -> Token {
    Token {
        id: id.to_owned(),
        name: format!("name of {id}"),
        hash: [9; 32],
        scopes: Scopes::of(&[Scope::Read, Scope::Guard]),
        created_at: at,
        revoked_at: None,
    }
}

async fn change(world: &World, change: TokenChange) -> bool {
    let answers = world.store.commit(vec![Change::Token(change)]).await;
    match answers.expect("answers").pop() {
        Some(Answer::Token(changed)) => changed,
        other => panic!("{other:?}"),
    }
}

async fn tokens_are_added_and_revoked_once(world: World) {
    let (later, earlier) = (token("tok_a", START), token("tok_b", Time(START.0 - 1)));
    assert!(change(&world, TokenChange::Add(later.clone())).await);
    assert!(change(&world, TokenChange::Add(earlier.clone())).await);
    let taken = Token {
        hash: [1; 32],
        ..later.clone()
    };
    assert!(!change(&world, TokenChange::Add(taken)).await);
    let tokens = world.store.tokens().await.expect("tokens");
    assert_eq!(tokens, [earlier.clone(), later.clone()], "oldest first");

    let revoke = |id: &str| TokenChange::Revoke { id: id.to_owned() };
    assert!(change(&world, revoke("tok_a")).await);
    world.pass(Millis::seconds(1));
    assert!(!change(&world, revoke("tok_a")).await);
    assert!(!change(&world, revoke("tok_none")).await);
    let revoked = Token {
        revoked_at: Some(START),
        ..later
    };
    let tokens = world.store.tokens().await.expect("tokens");
    assert_eq!(tokens, [earlier, revoked]);
}

/// A JSON string of exactly so many bytes that no short part repeats.
fn long(bytes: usize, seed: u64) -> String {
    let mut text = String::from("\"");
    for n in seed.. {
        write!(text, "{n:x}é").expect("a string takes all");
        if text.len() >= bytes - 1 {
            break;
        }
    }
    let mut end = bytes - 1;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    while text.len() < bytes - 1 {
        text.push('.');
    }
    text.push('"');
    text
}

async fn long_inputs_and_results_are_read_back_exactly(world: World) {
    let (input, result) = (long(INLINE_BYTES + 1, 1), long(3_000_000, 2));
    world.step(claim("a", 1).input(&input)).await;
    world
        .step(settle("a", 1, Outcome::Done).result(&result))
        .await;
    let refused = world.step(claim("a", 2).input(&input)).await;
    assert_eq!(refused.verdict, Verdict::Done);
    let record = refused.record.expect("a record");
    for (stored, expected) in [(record.input, input), (record.result, result)] {
        let stored = stored.expect("it is stored");
        let Stored::Blob(name) = &stored else {
            panic!("{} bytes are in the row", expected.len());
        };
        assert_eq!(name.bytes, expected.len() as u64);
        let text = world.store.text(&stored).await.expect("an answer");
        assert!(text.as_deref() == Some(&*expected), "other bytes came back");
    }
}

async fn the_longest_inline_value_stays_in_its_row(world: World) {
    let result = long(INLINE_BYTES, 1);
    world.step(claim("a", 1)).await;
    world
        .step(settle("a", 1, Outcome::Done).result(&result))
        .await;
    let stored = world.record("a").await.result.expect("a result");
    assert_eq!(stored, Stored::Inline(result.into()));
}

async fn put(world: &World, bytes: &[u8]) -> [u8; 32] {
    let written = world.store.commit(vec![Change::Blob(bytes.to_vec())]).await;
    assert!(matches!(written.expect("answers")[..], [Answer::Written]));
    BlobRef::of(bytes).hash
}

async fn has(world: &World, hash: [u8; 32]) -> bool {
    world.store.give_back().await.expect("it gives back");
    world.store.blob(hash).await.expect("an answer").is_some()
}

async fn a_blob_that_nothing_refers_to_goes_after_its_grace(world: World) {
    let hash = put(&world, b"lost").await;
    world.pass(Millis(BLOB_GRACE.0 - 1));
    assert!(has(&world, hash).await);
    world.pass(Millis(1));
    assert!(!has(&world, hash).await);
}

async fn writing_a_blob_again_renews_its_grace(world: World) {
    let hash = put(&world, b"again").await;
    world.pass(Millis(BLOB_GRACE.0 - 1));
    put(&world, b"again").await;
    world.pass(Millis(1));
    assert!(has(&world, hash).await);
    world.pass(BLOB_GRACE);
    assert!(!has(&world, hash).await);
}

async fn blobs_that_a_result_refers_to_stay(world: World) {
    let (kept, lost) = (put(&world, b"kept").await, put(&world, b"lost").await);
    let input = long(INLINE_BYTES + 9, 3);
    world
        .step(claim("a", 1).input(&input).lease(Millis::days(9)))
        .await;
    let done = settle("a", 1, Outcome::Done).result("1").blobs(&[kept]);
    world.step(done).await;
    world.pass(Millis::days(8));
    assert!(!has(&world, lost).await);
    assert!(has(&world, kept).await);
    let own = BlobRef::of(input.as_bytes()).hash;
    assert!(has(&world, own).await);
    // Its effect is reduced to a tombstone, and the blobs go with its texts.
    world.pass(world.store.keep());
    assert_eq!(world.store.sweep_bite(0).await.expect("a sweep").swept, 1);
    assert!(!has(&world, kept).await);
    assert!(!has(&world, own).await);
}

async fn the_blobs_of_an_earlier_attempt_go(world: World) {
    let report = long(INLINE_BYTES + 1, 4);
    world.step(claim("a", 1)).await;
    let failed = settle("a", 1, Outcome::Failed).result(&report);
    world.step(failed).await;
    world.step(claim("a", 2).lease(Millis::days(9))).await;
    world.pass(BLOB_GRACE);
    assert!(!has(&world, BlobRef::of(report.as_bytes()).hash).await);
}

async fn a_blob_that_is_not_there_is_none(world: World) {
    let none = world.store.blob([0; 32]).await.expect("an answer");
    assert_eq!(none, None);
}
