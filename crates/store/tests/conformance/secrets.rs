//! Sealed secrets: set, removed, sealed again.

use semel_ledger::{Millis, Time};
use semel_store::secret::{Sealed, SecretChange};
use semel_store::{Answer, Change};

use crate::fixture::World;
use crate::shared::START;

crate::cases![
    a_secret_is_set_and_set_again,
    a_first_value_stays,
    a_secret_is_removed_once,
    sealing_again_is_by_what_is_there_now,
    only_changes_raise_the_revision,
];

async fn change(world: &World, change: SecretChange) -> bool {
    let answers = world.store.commit(vec![Change::Secret(change)]).await;
    match answers.expect("answers").pop() {
        Some(Answer::Secret(changed)) => changed,
        other => panic!("{other:?}"),
    }
}

async fn all(world: &World) -> Vec<Sealed> {
    world.store.secrets().await.expect("secrets")
}

async fn revision(world: &World) -> i64 {
    world.store.secrets_revision().await.expect("a number")
}

fn set(name: &str, content: u8, by: &str) -> SecretChange {
    set_as(name, content, by, false)
}

fn set_as(name: &str, content: u8, by: &str, first: bool) -> SecretChange {
    SecretChange::Set {
        name: name.into(),
        key: [content; 8],
        bytes: vec![content, 0, 255],
        by: Some(by.into()),
        first,
    }
}

fn first(name: &str, content: u8, by: &str) -> SecretChange {
    set_as(name, content, by, true)
}

fn sealed(name: &str, content: u8, by: &str, at: Time) -> Sealed {
    Sealed {
        name: name.into(),
        key: [content; 8],
        bytes: vec![content, 0, 255],
        changed_at: at,
        by: Some(by.into()),
    }
}

fn reseal(name: &str, was: u8, content: u8) -> SecretChange {
    SecretChange::Reseal {
        name: name.into(),
        was: vec![was, 0, 255],
        key: [content; 8],
        becomes: vec![content, 0, 255],
    }
}

fn remove(name: &str) -> SecretChange {
    SecretChange::Remove { name: name.into() }
}

async fn a_secret_is_set_and_set_again(world: World) {
    assert!(all(&world).await.is_empty());
    assert!(change(&world, set("b", 1, "ann")).await);
    assert!(change(&world, set("B", 2, "ann")).await);
    let (upper, lower) = (sealed("B", 2, "ann", START), sealed("b", 1, "ann", START));
    assert_eq!(all(&world).await, [upper.clone(), lower], "by name");
    world.pass(Millis::seconds(1));
    assert!(change(&world, set("b", 3, "bob")).await);
    let later = START.after(Millis::seconds(1));
    assert_eq!(all(&world).await, [upper, sealed("b", 3, "bob", later)]);
}

async fn a_first_value_stays(world: World) {
    assert!(change(&world, first("A", 1, "ann")).await);
    let before = revision(&world).await;
    assert!(!change(&world, first("A", 2, "bob")).await);
    assert_eq!(revision(&world).await, before);
    assert_eq!(all(&world).await, [sealed("A", 1, "ann", START)]);
}

async fn a_secret_is_removed_once(world: World) {
    assert!(!change(&world, remove("A")).await);
    change(&world, set("A", 1, "ann")).await;
    assert!(change(&world, remove("A")).await);
    assert!(!change(&world, remove("A")).await);
    assert!(all(&world).await.is_empty());
}

async fn sealing_again_is_by_what_is_there_now(world: World) {
    assert!(!change(&world, reseal("A", 1, 2)).await);
    change(&world, set("A", 1, "ann")).await;
    world.pass(Millis::seconds(1));
    assert!(!change(&world, reseal("A", 9, 2)).await);
    assert!(change(&world, reseal("A", 1, 2)).await);
    assert!(!change(&world, reseal("A", 1, 3)).await);
    let kept = sealed("A", 2, "ann", START);
    assert_eq!(all(&world).await, [kept], "its value is as old as before");
}

async fn only_changes_raise_the_revision(world: World) {
    let before = revision(&world).await;
    change(&world, remove("A")).await;
    change(&world, reseal("A", 1, 2)).await;
    assert_eq!(revision(&world).await, before);
    change(&world, set("A", 1, "ann")).await;
    change(&world, reseal("A", 1, 2)).await;
    change(&world, remove("A")).await;
    assert_eq!(revision(&world).await, before + 3);
}
