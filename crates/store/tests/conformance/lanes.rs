//! A lane lets so many runs through at a time, the others in order.

use semel_ledger::{Millis, Verdict};
use semel_store::run::{Next, RunState, StartOutcome, WhenFull};
use semel_store::{Answer, Change};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{
    FLOW, Starting as _, advance, finish, key_of, lane, mail, rest, run_id, start,
};
use crate::shared::{Saying as _, once};

crate::cases!(
    a_full_lane_queues,
    the_oldest_is_let_in_when_one_ends,
    a_wider_lane_lets_more_in,
    lanes_are_apart,
    a_full_lane_skips_and_that_is_on_record,
    a_full_lane_replaces,
    a_lane_with_room_replaces_nobody,
    who_yields_lets_the_next_pass,
    who_waits_and_ends_lets_nobody_in,
    being_let_in_while_held_is_not_lost,
    one_commit_fills_a_lane,
);

const QUEUE: u8 = 1;

fn queue(n: u64, width: u32) -> semel_store::run::Start {
    start(n).in_lane(lane(QUEUE, width, WhenFull::Queue))
}

async fn a_full_lane_queues(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(queue(1, 1)).await;
    let started = crew.start(queue(2, 1)).await;
    assert_eq!(started.outcome, StartOutcome::Started { held: false });
    let run = crew.run(2).await;
    assert_eq!(
        (run.state, run.node, run.wake),
        (RunState::Queued, None, None)
    );
    assert!(run.waits);
    assert!(!crew.run(1).await.waits);
    assert!(crew.take(10).await.is_empty());
    assert_eq!(crew.positions(2).await, [0]);
}

async fn the_oldest_is_let_in_when_one_ends(world: World) {
    let crew = Crew::join(world).await;
    for n in 1..=3 {
        crew.start(queue(n, 1)).await;
    }
    crew.pass(Millis::seconds(1));
    assert!(crew.advance(advance(1, 1, finish(RunState::Failed))).await);
    let run = crew.run(2).await;
    assert_eq!((run.state, run.wake), (RunState::Queued, Some(crew.now())));
    assert!(!run.waits);
    assert!(crew.run(3).await.waits);
    assert_eq!(crew.take(10).await, [run_id(2)]);
    // It counts although it was not taken at once: the lane is full.
    assert!(!crew.advance(advance(3, 1, finish(RunState::Done))).await);
    crew.start(queue(4, 1)).await;
    assert!(crew.run(4).await.waits);
    for n in [2, 3, 4] {
        assert!(crew.advance(advance(n, 1, finish(RunState::Done))).await);
        crew.take(10).await;
    }
    crew.begin(queue(5, 1)).await;
}

async fn a_wider_lane_lets_more_in(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(queue(1, 2)).await;
    crew.begin(queue(2, 2)).await;
    crew.start(queue(3, 2)).await;
    crew.start(queue(4, 2)).await;
    assert!(crew.advance(advance(2, 1, finish(RunState::Done))).await);
    assert_eq!(crew.take(10).await, [run_id(3)]);
    assert!(crew.run(4).await.waits);
}

async fn lanes_are_apart(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(queue(1, 1)).await;
    crew.begin(start(2).in_lane(lane(2, 1, WhenFull::Queue)))
        .await;
    crew.start(start(3).in_lane(lane(2, 1, WhenFull::Queue)))
        .await;
    crew.begin(start(4)).await;
    assert!(crew.advance(advance(1, 1, finish(RunState::Done))).await);
    assert!(crew.advance(advance(4, 1, finish(RunState::Done))).await);
    assert!(crew.run(3).await.waits);
}

async fn a_full_lane_skips_and_that_is_on_record(world: World) {
    let crew = Crew::join(world).await;
    let narrow = lane(QUEUE, 1, WhenFull::Skip);
    crew.begin(start(1).in_lane(narrow)).await;
    let with = once("order/2", 2).of_scope(FLOW).result("\"run 2\"");
    let second = start(2).in_lane(narrow).once(with).otherwise("\"skipped\"");
    let started = crew.start(second.latest(1, 9)).await;
    assert_eq!(started.outcome, StartOutcome::Skipped);
    let verdict = started.answered.map(|answered| answered.verdict);
    assert_eq!(verdict, Some(Verdict::First));
    assert!(crew.find(2).await.is_none());
    let record = crew.store().load(&key_of(2)).await.expect("an answer");
    let result = record.and_then(|record| record.result).expect("a result");
    let text = crew.store().text(&result).await.expect("an answer");
    assert_eq!(text.as_deref(), Some("\"skipped\""));
    // What was skipped was not applied.
    crew.begin(start(3).latest(1, 8)).await;
    assert!(crew.advance(advance(1, 1, finish(RunState::Done))).await);
    crew.begin(start(4).in_lane(narrow)).await;
}

async fn a_full_lane_replaces(world: World) {
    let crew = Crew::join(world).await;
    let newest = lane(QUEUE, 1, WhenFull::Replace);
    crew.begin(start(1).in_lane(newest)).await;
    crew.start(start(2).in_lane(newest)).await;
    crew.start(start(3).in_lane(newest)).await;
    let cancel = r#"{"cancel":{"by":"replaced"}}"#;
    assert_eq!(crew.notes(1).await, [cancel, cancel].map(Into::into));
    assert_eq!(crew.notes(2).await, [cancel].map(Into::into));
    assert!(crew.notes(3).await.is_empty());
    // The one that waits is woken to be ended; the one that is held is told.
    assert_eq!(crew.run(1).await.wake, None);
    assert_eq!(crew.take(10).await, [run_id(2)]);
    assert!(crew.run(2).await.waits);
    assert!(
        crew.advance(advance(2, 1, finish(RunState::Cancelled)))
            .await
    );
    assert!(crew.run(3).await.waits);
    assert!(
        crew.advance(advance(1, 1, finish(RunState::Cancelled)))
            .await
    );
    assert_eq!(crew.take(10).await, [run_id(3)]);
    assert!(!crew.run(3).await.waits);
}

async fn a_lane_with_room_replaces_nobody(world: World) {
    let crew = Crew::join(world).await;
    let wide = lane(QUEUE, 2, WhenFull::Replace);
    crew.begin(start(1).in_lane(wide)).await;
    crew.begin(start(2).in_lane(wide)).await;
    assert!(crew.notes(1).await.is_empty());
}

async fn who_yields_lets_the_next_pass(world: World) {
    let crew = Crew::join(world).await;
    for n in 1..=3 {
        crew.start(queue(n, 1)).await;
    }
    let yielding = Next::Rest {
        state: RunState::Parked,
        why: "for a person".into(),
        wake: None,
        yields: true,
    };
    assert!(crew.advance(advance(1, 1, yielding)).await);
    assert_eq!(crew.take(10).await, [run_id(2)]);
    // It is out of the lane: its end lets nobody in.
    assert!(crew.mail(1, "go").await);
    assert_eq!(crew.take(10).await, [run_id(1)]);
    assert!(crew.advance(advance(1, 2, finish(RunState::Done))).await);
    assert!(crew.run(3).await.waits);
    assert!(crew.advance(advance(2, 1, finish(RunState::Done))).await);
    assert!(!crew.run(3).await.waits);
}

async fn who_waits_and_ends_lets_nobody_in(world: World) {
    let crew = Crew::join(world).await;
    for n in 1..=3 {
        crew.start(queue(n, 1)).await;
    }
    assert!(crew.mail(2, "cancel").await);
    assert_eq!(crew.take(10).await, [run_id(2)]);
    assert!(
        crew.advance(advance(2, 1, finish(RunState::Cancelled)))
            .await
    );
    let run = crew.run(2).await;
    assert!(!run.waits);
    assert!(crew.run(3).await.waits);
    assert!(crew.advance(advance(1, 1, finish(RunState::Done))).await);
    assert!(!crew.run(3).await.waits);
}

async fn being_let_in_while_held_is_not_lost(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(queue(1, 1)).await;
    crew.start(queue(2, 1)).await;
    assert!(crew.mail(2, "hello").await);
    assert_eq!(crew.take(10).await, [run_id(2)]);
    let seq = crew.load(2).await.mail[0].seq;
    assert!(crew.advance(advance(1, 1, finish(RunState::Done))).await);
    // Whoever holds it does not know yet that it may begin, and lets go of it again.
    let mut again = advance(2, 1, rest(RunState::Queued));
    again.read_mail = Some(seq);
    assert!(crew.advance(again).await);
    assert_eq!(crew.take(10).await, [run_id(2)]);
    assert!(!crew.run(2).await.waits);
}

async fn one_commit_fills_a_lane(world: World) {
    let crew = Crew::join(world).await;
    let starts = (1..=3).map(|n| Change::Start(Box::new(queue(n, 2))));
    let answers = crew.changes(starts.collect()).await;
    let held: Vec<StartOutcome> = answers
        .iter()
        .map(|answer| match answer {
            Answer::Started(started) => started.outcome,
            other => panic!("{other:?}"),
        })
        .collect();
    let started = |held| StartOutcome::Started { held };
    assert_eq!(held, [started(true), started(true), started(false)]);
    let ends = vec![
        Change::Advance(Box::new(advance(1, 1, finish(RunState::Done)))),
        Change::Advance(Box::new(advance(2, 1, finish(RunState::Done)))),
        Change::Take { limit: 9 },
        mail(3, "hello"),
    ];
    let answers = crew.changes(ends).await;
    assert_eq!(crew.run(3).await.node, Some(crew.node));
    assert!(
        format!("{answers:?}").contains("Taken([RunId"),
        "{answers:?}"
    );
    assert_eq!(crew.notes(3).await.len(), 1);
}
