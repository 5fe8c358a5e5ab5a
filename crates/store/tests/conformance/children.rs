//! A run that waits for others is told when the last of them ends.

use semel_store::run::{RunState, Start, WhenFull};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{
    Starting as _, advance, finish, finish_and_tell, lane, rest, run_id, start,
};

crate::cases!(
    the_parent_is_told_by_the_last_of_a_lane,
    the_parent_is_told_at_once_without_a_lane,
    a_parent_that_is_over_is_told_nothing,
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
