//! Who serves: leases, epochs, and taking over from the dead.

use semel_ledger::{Cause, Millis, Outcome, Owner, State, Verdict};
use semel_store::node::{Membership, NODE_LEASE, NodeChange, NodeState};
use semel_store::{Answer, Change, StoreError};

use crate::fixture::World;
use crate::shared::{REMEMBER, START, Saying as _, claim, settle};

crate::cases![
    a_node_joins_with_a_lease,
    numbers_are_never_used_twice,
    renewing_extends_the_lease,
    a_node_is_taken_over_only_after_its_lease,
    a_certainly_dead_node_is_taken_over_at_once,
    what_a_dead_node_held_becomes_unknown,
    a_fenced_node_commits_nothing,
    a_fenced_node_joins_again,
    leaving_ends_the_fence,
    a_fenced_row_that_was_left_half_way_is_taken_over,
    a_later_life_is_not_fenced_by_an_old_epoch,
    a_living_node_is_fenced_only_by_force,
    an_old_epoch_renews_nothing,
    nobody_claims_for_a_life_that_is_over,
];

async fn change(world: &World, change: NodeChange) -> Option<NodeState> {
    let answers = world.store.commit(vec![Change::Node(change)]).await;
    match answers.expect("answers").pop() {
        Some(Answer::Node(state)) => state,
        other => panic!("{other:?}"),
    }
}

/// Another node, which then falls silent.
async fn other_node(world: &World) -> Membership {
    let name = "other".to_owned();
    let state = change(world, NodeChange::Join { name }).await;
    let NodeState { node, epoch, .. } = state.expect("a row");
    Membership { node, epoch }
}

fn held_by(key: &str, n: u64, member: Membership) -> semel_store::EffectChange {
    let Membership { node, epoch } = member;
    claim(key, n).owner(Owner::Node { node, epoch })
}

async fn a_node_joins_with_a_lease(world: World) {
    let state = world.store.join("one").await.expect("it joins");
    assert_eq!(state.name, "one");
    assert_eq!(state.lease_until, START.after(NODE_LEASE));
    assert!(!state.fenced);
    let (node, epoch) = (state.node, state.epoch);
    assert_eq!(world.store.member(), Some(Membership { node, epoch }));
    assert_eq!(world.store.nodes().await.expect("nodes"), [state]);
}

async fn numbers_are_never_used_twice(world: World) {
    let first = world.store.join("one").await.expect("it joins");
    world.store.leave().await.expect("it leaves");
    assert_eq!(world.store.nodes().await.expect("nodes"), []);
    let second = world.store.join("one").await.expect("it joins");
    assert_ne!(first.node, second.node);
}

async fn renewing_extends_the_lease(world: World) {
    world.store.join("one").await.expect("it joins");
    world.pass(Millis::seconds(10));
    world.store.renew().await.expect("it is alive");
    let nodes = world.store.nodes().await.expect("nodes");
    let until = START.after(Millis::seconds(10)).after(NODE_LEASE);
    assert_eq!(nodes[0].lease_until, until);
}

async fn a_node_is_taken_over_only_after_its_lease(world: World) {
    let other = other_node(&world).await;
    world.step(held_by("a", 1, other)).await;
    world.pass(Millis(NODE_LEASE.0 - 1));
    world.store.join("me").await.expect("it joins");
    assert_eq!(world.store.take_over(false).await.expect("a count"), 0);
    assert_eq!(world.state("a").await, State::Claimed);
    assert_eq!(world.store.nodes().await.expect("nodes").len(), 2);
    world.pass(Millis(1));
    assert_eq!(world.store.take_over(false).await.expect("a count"), 1);
    assert_eq!(world.state("a").await, State::Unknown);
    let nodes = world.store.nodes().await.expect("nodes");
    assert_eq!(nodes.len(), 1);
    assert_eq!(nodes[0].name, "me");
}

async fn a_certainly_dead_node_is_taken_over_at_once(world: World) {
    let other = other_node(&world).await;
    world.step(held_by("a", 1, other)).await;
    world.store.join("me").await.expect("it joins");
    assert_eq!(world.store.take_over(true).await.expect("a count"), 1);
    assert_eq!(world.state("a").await, State::Unknown);
    assert_eq!(world.store.take_over(true).await.expect("a count"), 0);
}

async fn what_a_dead_node_held_becomes_unknown(world: World) {
    let (dead, alive) = (other_node(&world).await, other_node(&world).await);
    for n in 1..=3 {
        world.step(held_by(&format!("dead{n}"), n, dead)).await;
    }
    world.step(settle("dead3", 3, Outcome::Done)).await;
    world.step(held_by("alive", 4, alive)).await;
    world.step(claim("client", 5).lease(REMEMBER)).await;
    world.pass(Millis::seconds(10));
    change(&world, NodeChange::Renew(alive)).await;
    world.pass(Millis::seconds(10));
    // A node's claim has no lease of its own that could run out.
    assert_eq!(world.store.lapse_due().await.expect("a count"), 0);
    assert_eq!(world.store.take_over(false).await.expect("a count"), 2);
    for key in ["dead1", "dead2"] {
        assert_eq!(world.state(key).await, State::Unknown);
        let turns = world.turns(key).await;
        assert_eq!(turns[0].transition.cause, Cause::OwnerDied);
    }
    assert_eq!(world.state("dead3").await, State::Done);
    assert_eq!(world.state("alive").await, State::Claimed);
    assert_eq!(world.state("client").await, State::Claimed);
    let late = world.step(settle("dead1", 1, Outcome::Done)).await;
    assert_eq!(late.verdict, Verdict::Stale);
}

async fn fence_me(world: &World) {
    let member = world.store.member().expect("a member");
    let force = true;
    let fenced = change(world, NodeChange::Fence { member, force }).await;
    assert!(fenced.expect("a row").fenced);
}

async fn a_fenced_node_commits_nothing(world: World) {
    let me = world.store.join("me").await.expect("it joins");
    world.step(claim("held", 1)).await;
    let before = world.record("held").await;
    fence_me(&world).await;
    for refused in [
        claim("new", 2),
        settle("held", 1, Outcome::Done).result("1"),
    ] {
        let changes = vec![refused.into(), claim("beside", 3).into()];
        let answer = world.store.commit(changes).await;
        assert!(matches!(answer, Err(StoreError::Fenced)), "{answer:?}");
    }
    assert_eq!(world.record("held").await, before);
    assert_eq!(world.find("new").await, None);
    assert_eq!(world.find("beside").await, None);
    let renewed = world.store.renew().await;
    assert!(matches!(renewed, Err(StoreError::Fenced)), "{renewed:?}");
    let nodes = world.store.nodes().await.expect("nodes");
    assert_eq!(nodes[0].lease_until, me.lease_until);
}

async fn a_fenced_node_joins_again(world: World) {
    let before = world.store.join("me").await.expect("it joins");
    fence_me(&world).await;
    let after = world.store.join("me").await.expect("it joins");
    assert_ne!((before.node, before.epoch), (after.node, after.epoch));
    assert_eq!(world.step(claim("a", 1)).await.verdict, Verdict::Granted);
    world.store.renew().await.expect("it is alive");
}

async fn leaving_ends_the_fence(world: World) {
    world.store.join("me").await.expect("it joins");
    world.store.leave().await.expect("it leaves");
    assert_eq!(world.store.member(), None);
    assert_eq!(world.step(claim("a", 1)).await.verdict, Verdict::Granted);
    world.store.leave().await.expect("again is no error");
}

async fn a_fenced_row_that_was_left_half_way_is_taken_over(world: World) {
    let member = other_node(&world).await;
    world.step(held_by("a", 1, member)).await;
    // Whoever fenced it died before it came to the claims.
    let force = true;
    change(&world, NodeChange::Fence { member, force }).await;
    assert_eq!(world.store.take_over(false).await.expect("a count"), 1);
    assert_eq!(world.state("a").await, State::Unknown);
    assert_eq!(world.store.nodes().await.expect("nodes"), []);
}

async fn a_later_life_is_not_fenced_by_an_old_epoch(world: World) {
    let Membership { node, epoch } = other_node(&world).await;
    let member = Membership {
        node,
        epoch: epoch + 1,
    };
    let force = true;
    let state = change(&world, NodeChange::Fence { member, force }).await;
    assert!(!state.expect("a row").fenced);
    let left = change(&world, NodeChange::Leave(member)).await;
    assert!(left.is_some());
    assert_eq!(world.store.nodes().await.expect("nodes").len(), 1);
    let member = Membership {
        node: node + 1,
        epoch,
    };
    assert_eq!(change(&world, NodeChange::Renew(member)).await, None);
}

async fn a_living_node_is_fenced_only_by_force(world: World) {
    let member = other_node(&world).await;
    world.pass(Millis(NODE_LEASE.0 - 1));
    let fence = |force| NodeChange::Fence { member, force };
    let state = change(&world, fence(false)).await.expect("a row");
    assert_eq!((state.fenced, state.epoch), (false, member.epoch));
    world.pass(Millis(1));
    let state = change(&world, fence(false)).await.expect("a row");
    assert_eq!((state.fenced, state.epoch), (true, member.epoch + 1));
}

async fn an_old_epoch_renews_nothing(world: World) {
    let member = other_node(&world).await;
    let force = true;
    change(&world, NodeChange::Fence { member, force }).await;
    world.pass(Millis::seconds(5));
    let epoch = member.epoch + 1;
    for member in [member, Membership { epoch, ..member }] {
        let state = change(&world, NodeChange::Renew(member)).await;
        let state = state.expect("a row");
        assert_eq!(state.lease_until, START.after(NODE_LEASE));
        assert!(state.fenced);
    }
}

async fn nobody_claims_for_a_life_that_is_over(world: World) {
    let first = world.store.join("one").await.expect("it joins");
    world.store.join("one again").await.expect("it joins again");
    let (node, epoch) = (first.node, first.epoch);
    let late = held_by("k", 1, Membership { node, epoch });
    let refused = world.store.step(late).await;
    assert!(matches!(refused, Err(StoreError::Fenced)), "{refused:?}");
    assert!(
        world
            .store
            .load(&claim("k", 1).effect)
            .await
            .expect("loads")
            .is_none()
    );
}
