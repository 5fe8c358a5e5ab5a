//! A run that waits for others is told when the last of them ends.

use std::sync::Arc;
use std::time::Duration;

use semel_store::Change;
use semel_store::run::{RunFilter, RunState, Start, WhenFull};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{
    Starting as _, advance, finish, finish_and_tell, lane, rest, run_id, start,
};

crate::cases!(
    the_parent_is_told_by_the_last_of_a_lane,
    the_parent_is_told_at_once_without_a_lane,
    a_parent_that_is_over_is_told_nothing,
    lanes_move_on_under_a_storm,
);

fn queue(n: u64, width: u32) -> Start {
    start(n).in_lane(lane(1, width, WhenFull::Queue))
}

async fn the_parent_is_told_by_the_last_of_a_lane(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    assert!(crew.advance(advance(1, 1, rest(RunState::Waiting))).await);
    for n in 2..=4 {
        crew.start(queue(n, 2).child_of(1)).await;
    }
    let told = |n, at| advance(n, at, finish_and_tell(&format!("{n} is done")));
    assert!(crew.advance(told(3, 1)).await);
    assert_eq!(crew.take(10).await, [run_id(4)]);
    assert!(crew.advance(told(2, 1)).await);
    assert!(crew.notes(1).await.is_empty());
    assert!(crew.advance(told(4, 1)).await);
    assert_eq!(crew.notes(1).await, ["4 is done"].map(Into::into));
    assert_eq!(crew.take(10).await, [run_id(1)]);
}

async fn the_parent_is_told_at_once_without_a_lane(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    for n in 2..=3 {
        crew.begin(start(n).child_of(1)).await;
    }
    assert!(crew.advance(advance(2, 1, finish_and_tell("2"))).await);
    assert!(crew.advance(advance(3, 1, finish(RunState::Done))).await);
    assert_eq!(crew.notes(1).await, ["2"].map(Into::into));
}

async fn a_parent_that_is_over_is_told_nothing(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.begin(start(2).child_of(1)).await;
    assert!(
        crew.advance(advance(1, 1, finish(RunState::Cancelled)))
            .await
    );
    assert!(crew.advance(advance(2, 1, finish_and_tell("2"))).await);
    assert!(crew.notes(1).await.is_empty());
}

/// Two nodes start and end runs of few lanes at the same time; nothing is left behind, no lane
/// ever holds more than its width, and the parent is told exactly once.
async fn lanes_move_on_under_a_storm(world: World) {
    const RUNS: u64 = 60;
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.advance(advance(1, 1, rest(RunState::Waiting))).await;
    let other = crew.world.neighbour().await;
    if let Some(other) = &other {
        other.join("other").await.expect("it joins");
    }
    let stores = [Some(Arc::clone(crew.store())), other];
    let stores: Vec<_> = stores.into_iter().flatten().collect();
    for n in 2..2 + RUNS {
        crew.start(queue(n, 3).child_of(1)).await;
    }
    let workers = stores.into_iter().map(|store| {
        tokio::spawn(async move {
            let mine = store.member().expect("a member").node;
            loop {
                store
                    .commit(vec![Change::Take { limit: 2 }])
                    .await
                    .expect("it takes");
                let filter = RunFilter {
                    parent: Some(run_id(1)),
                    limit: 1000,
                    ..Default::default()
                };
                let runs = store.runs(&filter).await.expect("runs").items;
                if runs.iter().all(|run| !run.state.is_open()) {
                    return;
                }
                let inside = runs.iter().filter(|run| run.state.is_open() && !run.waits);
                assert!(inside.count() <= 3);
                let held = runs.into_iter().filter(|run| run.node == Some(mine));
                let ends = held.map(|run| {
                    let mut end = advance(0, 1, finish_and_tell("the last"));
                    end.run = run.id;
                    Change::Advance(Box::new(end))
                });
                store.commit(ends.collect()).await.expect("they end");
            }
        })
    });
    for worker in workers.collect::<Vec<_>>() {
        tokio::time::timeout(Duration::from_mins(1), worker)
            .await
            .expect("no lane stands still")
            .expect("no lane is too full");
    }
    assert_eq!(crew.notes(1).await, ["the last"].map(Into::into));
}
