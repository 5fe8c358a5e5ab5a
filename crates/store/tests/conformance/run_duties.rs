//! What becomes of runs whose node is gone, and of runs that ended long ago.

use semel_ledger::{Millis, Outcome, Owner, State};
use semel_store::blob::BlobRef;
use semel_store::node::NODE_LEASE;
use semel_store::run::{Next, RunState};
use semel_store::{Answer, Change};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{Starting as _, advance, finish, rest, run_id, start};
use crate::shared::{Saying as _, claim, settle};

crate::cases!(
    leaving_frees_runs,
    a_dead_nodes_runs_are_free,
    a_dead_node_can_be_looked_at_before_it_is_buried,
    a_node_that_serves_keeps_its_runs,
    a_fenced_node_moves_nothing,
    ended_runs_are_swept_with_all_that_is_theirs,
    open_runs_are_never_swept,
    a_child_is_not_swept_before_its_parents_end,
    large_values_stay_as_long_as_the_run,
);

async fn leaving_frees_runs(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.begin(start(2)).await;
    crew.advance(advance(2, 1, rest(RunState::Parked))).await;
    crew.store().leave().await.expect("it leaves");
    let run = crew.run(1).await;
    assert_eq!((run.node, run.wake), (None, Some(crew.now())));
    assert_eq!(run.state, RunState::Running);
    assert_eq!(crew.run(2).await.wake, None);
}

/// Makes the node miss its lease while another one, if there can be another, serves.
async fn dies(crew: &Crew) {
    crew.pass(Millis(NODE_LEASE.0 + 1));
    // In memory there is one store; it joins under a new number, as after a restart.
    crew.store().join("next").await.expect("it joins");
}

async fn a_dead_nodes_runs_are_free(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    dies(&crew).await;
    assert!(!crew.advance(advance(1, 1, finish(RunState::Done))).await);
    crew.store().take_over(false).await.expect("it takes over");
    assert!(crew.run(1).await.node.is_none());
    assert_eq!(crew.take(10).await, [run_id(1)]);
    assert!(crew.advance(advance(1, 1, finish(RunState::Done))).await);
    let nodes = crew.store().nodes().await.expect("an answer");
    assert_eq!(nodes.len(), 1);
}

async fn a_dead_node_can_be_looked_at_before_it_is_buried(world: World) {
    let crew = Crew::join(world).await;
    let member = crew.store().member().expect("a member");
    let owner = Owner::Node {
        node: member.node,
        epoch: member.epoch,
    };
    for n in [1, 2] {
        let key = n.to_string();
        crew.world.step(claim(&key, n).owner(owner)).await;
    }
    dies(&crew).await;
    let dead = crew.store().dead_nodes(false).await.expect("an answer");
    let [dead] = &dead[..] else {
        panic!("{dead:?}")
    };
    assert_eq!(dead.node, member.node);
    assert!(crew.store().fence(dead, false).await.expect("an answer"));
    let held = crew
        .store()
        .held_by(dead.node, 10)
        .await
        .expect("an answer");
    assert_eq!(held.len(), 2);
    let settled = settle("1", 1, Outcome::Done).result("\"seen\"");
    crew.world.step(settled).await;
    let unknown = crew.store().bury(dead).await.expect("an answer");
    assert_eq!(unknown, 1);
    assert_eq!(crew.world.state("1").await, State::Done);
    assert_eq!(crew.world.state("2").await, State::Unknown);
    let dead = crew.store().dead_nodes(false).await.expect("an answer");
    assert!(dead.is_empty());
}

async fn a_node_that_serves_keeps_its_runs(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    let first = crew.node;
    crew.store().join("next").await.expect("it joins");
    let free = Change::Free {
        node: first,
        limit: 10,
    };
    assert!(matches!(crew.change(free).await, Answer::Counted(0)));
    assert_eq!(crew.run(1).await.node, Some(first));
    let dead = crew.store().dead_nodes(false).await.expect("an answer");
    assert!(dead.is_empty());
    let nodes = crew.store().nodes().await.expect("an answer");
    let node = nodes.iter().find(|node| node.node == first);
    let fenced = crew.store().fence(node.expect("it serves"), false).await;
    assert!(!fenced.expect("an answer"));
}

async fn a_fenced_node_moves_nothing(world: World) {
    let crew = Crew::join(world).await;
    let Some(other) = crew.world.neighbour().await else {
        return;
    };
    crew.begin(start(1)).await;
    other.join("other").await.expect("it joins");
    other.take_over(true).await.expect("it takes over");
    for change in [
        Change::Advance(Box::new(advance(1, 1, Next::GoOn))),
        Change::Advance(Box::new(advance(1, 1, finish(RunState::Done)))),
        Change::Take { limit: 5 },
        Change::Start(Box::new(start(2))),
    ] {
        let refused = crew.store().commit(vec![change]).await;
        assert!(refused.is_err(), "{refused:?}");
    }
    assert_eq!(crew.positions(1).await, [0]);
    assert!(crew.find(2).await.is_none());
}

async fn ended_runs_are_swept_with_all_that_is_theirs(world: World) {
    let crew = Crew::join(world).await;
    let content = vec![7; 50_000];
    let hash = BlobRef::of(&content).hash;
    crew.begin(start(1).run(|run| run.contents = vec![content]))
        .await;
    crew.begin(start(2)).await;
    assert!(crew.advance(advance(1, 1, finish(RunState::Done))).await);
    crew.pass(crew.store().keep());
    assert!(crew.advance(advance(2, 1, finish(RunState::Failed))).await);
    let swept = crew.store().sweep_runs_bite(None).await.expect("it sweeps");
    assert_eq!((swept.seen, swept.swept, swept.next), (2, 1, None));
    assert!(crew.find(1).await.is_none());
    assert!(crew.find(2).await.is_some());
    crew.store().give_back().await.expect("it gives back");
    assert_eq!(crew.store().blob(hash).await.expect("an answer"), None);
    // Nothing of the journal is left in the way of a run of the same name.
    crew.begin(start(1)).await;
    assert_eq!(crew.positions(1).await, [0]);
}

async fn open_runs_are_never_swept(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.begin(start(2)).await;
    crew.advance(advance(2, 1, rest(RunState::Parked))).await;
    crew.pass(Millis::days(10_000));
    let swept = crew.store().sweep_runs_bite(None).await.expect("it sweeps");
    assert_eq!((swept.seen, swept.swept), (2, 0));
    let forced = Change::Forget {
        runs: vec![run_id(1), run_id(2), run_id(3)],
        until: crew.now(),
    };
    assert!(matches!(crew.change(forced).await, Answer::Counted(0)));
    assert!(crew.find(1).await.is_some() && crew.find(2).await.is_some());
}

async fn a_child_is_not_swept_before_its_parents_end(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.begin(start(2).child_of(1)).await;
    assert!(crew.advance(advance(2, 1, finish(RunState::Done))).await);
    crew.pass(Millis::days(100));
    let sweep = async || crew.store().sweep_runs_bite(None).await.expect("it sweeps");
    assert_eq!(sweep().await.swept, 0);
    assert!(crew.advance(advance(1, 1, finish(RunState::Done))).await);
    assert_eq!(sweep().await.swept, 1);
    assert!(crew.find(2).await.is_none() && crew.find(1).await.is_some());
}

async fn large_values_stay_as_long_as_the_run(world: World) {
    let crew = Crew::join(world).await;
    let [first, second, unused] = [1, 2, 3].map(|n| vec![n; 50_000]);
    let hashes = [&first, &second, &unused].map(|content| BlobRef::of(content).hash);
    crew.begin(start(1).run(|run| run.contents = vec![first]))
        .await;
    let mut more = advance(1, 1, Next::GoOn);
    more.contents = vec![second.clone(), second];
    assert!(crew.advance(more).await);
    crew.change(Change::Blob(unused)).await;
    crew.pass(Millis::days(3));
    crew.store().give_back().await.expect("it gives back");
    let mut kept = Vec::new();
    for hash in hashes {
        kept.push(crew.store().blob(hash).await.expect("an answer").is_some());
    }
    assert_eq!(kept, [true, true, false]);
}
