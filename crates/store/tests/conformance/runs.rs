//! A run is held by one node at a time, and its journal only grows.

use semel_ledger::{Millis, Time};
use semel_store::Change;
use semel_store::run::{Next, RunState};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::once;
use crate::shared::runs::{Starting as _, advance, finish, rest, rest_until, run_id, show, start};

crate::cases!(
    rows_are_written_once,
    only_the_holder_moves_a_run,
    going_on_leaves_the_row_alone,
    showing_changes_what_people_see,
    resting_lets_go,
    a_finished_run_is_over,
    taking_is_by_wake_and_limited,
    a_run_is_taken_once,
    the_next_wake_is_of_runs_that_rest,
    a_whole_commit_is_one,
    who_is_no_member_holds_nothing,
    many_runs_are_loaded_in_order,
);

async fn rows_are_written_once(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    assert!(crew.advance(advance(1, 1, Next::GoOn)).await);
    let mut second = advance(1, 1, Next::GoOn);
    second.row = Some("another".into());
    assert!(!crew.advance(second.clone()).await);
    second.next = finish(RunState::Done);
    assert!(!crew.advance(second.clone()).await);
    second.row = None;
    assert!(!crew.advance(second).await);
    assert!(!crew.advance(advance(1, 0, rest(RunState::Waiting))).await);
    let loaded = crew.load(1).await;
    assert_eq!(&*loaded.journal[1].row, "{\"row\":1}");
    assert_eq!(loaded.journal.len(), 2);
    assert_eq!(loaded.run.state, RunState::Running);
    assert_eq!(loaded.run.node, Some(crew.node));
}

async fn only_the_holder_moves_a_run(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    assert!(crew.advance(advance(1, 1, rest(RunState::Waiting))).await);
    for next in [
        show(RunState::Retrying),
        rest(RunState::Parked),
        finish(RunState::Done),
    ] {
        assert!(!crew.advance(advance(1, 2, next)).await);
    }
    assert!(!crew.advance(advance(2, 1, finish(RunState::Done))).await);
    assert_eq!(crew.positions(1).await, [0, 1]);
    assert_eq!(crew.state(1).await, RunState::Waiting);
    assert!(crew.find(2).await.is_none());
}

async fn going_on_leaves_the_row_alone(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    let before = crew.run(1).await;
    crew.pass(Millis::seconds(1));
    assert!(crew.advance(advance(1, 1, Next::GoOn)).await);
    assert_eq!(crew.run(1).await, before);
    let journal = crew.load(1).await.journal;
    assert_eq!(journal[1].written_at, crew.now());
    // A row is not needed.
    let mut quiet = advance(1, 2, Next::GoOn);
    quiet.row = None;
    assert!(crew.advance(quiet).await);
    assert_eq!(crew.positions(1).await, [0, 1]);
}

async fn showing_changes_what_people_see(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.pass(Millis::seconds(1));
    assert!(crew.advance(advance(1, 1, show(RunState::Retrying))).await);
    let run = crew.run(1).await;
    assert_eq!(run.state, RunState::Retrying);
    assert_eq!(&*run.why, "shown as retrying");
    assert_eq!(run.changed_at, crew.now());
    assert!(run.created_at < run.changed_at);
    assert_eq!(run.node, Some(crew.node));
}

async fn resting_lets_go(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    let at = crew.now().after(Millis::seconds(5));
    assert!(crew.advance(advance(1, 1, rest_until(at))).await);
    let run = crew.run(1).await;
    assert_eq!((run.node, run.wake), (None, Some(at)));
    assert_eq!((run.state, &*run.why), (RunState::Waiting, "for a time"));
    crew.pass(Millis::seconds(5));
    assert_eq!(crew.take(10).await, [run_id(1)]);
    let run = crew.run(1).await;
    assert_eq!((run.node, run.wake), (Some(crew.node), None));
    assert_eq!(run.state, RunState::Waiting, "taking shows nothing");
    assert!(crew.advance(advance(1, 2, rest(RunState::Waiting))).await);
    assert_eq!(crew.run(1).await.wake, None);
}

async fn a_finished_run_is_over(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    assert!(crew.mail(1, "too late to read").await);
    assert!(crew.advance(advance(1, 1, finish(RunState::Failed))).await);
    let loaded = crew.load(1).await;
    assert_eq!(loaded.run.state, RunState::Failed);
    assert_eq!((loaded.run.node, loaded.run.wake), (None, None));
    assert!(loaded.mail.is_empty());
    assert!(!crew.mail(1, "nobody reads this").await);
    assert!(crew.take(10).await.is_empty());
    assert!(!crew.advance(advance(1, 2, show(RunState::Running))).await);
}

async fn taking_is_by_wake_and_limited(world: World) {
    let crew = Crew::join(world).await;
    let now = crew.now();
    for (n, wait) in [(1, 30), (2, 10), (3, 20), (4, 10), (5, 99)] {
        let wake = now.after(Millis::seconds(wait));
        crew.start(start(n).run(|run| run.wake = Some(wake))).await;
    }
    crew.pass(Millis::seconds(30));
    assert_eq!(crew.take(3).await, [2, 4, 3].map(run_id));
    assert_eq!(crew.take(3).await, [run_id(1)]);
    assert!(crew.take(3).await.is_empty());
}

async fn a_run_is_taken_once(world: World) {
    let crew = Crew::join(world).await;
    let Some(other) = crew.world.neighbour().await else {
        return;
    };
    other.join("other").await.expect("it joins");
    for n in 1..=40 {
        let due = start(n).run(|run| run.wake = Some(Time(0)));
        crew.start(due).await;
    }
    let taken = |store: std::sync::Arc<semel_store::Store>| async move {
        let mut all = Vec::new();
        for _ in 0..10 {
            let answers = store.commit(vec![Change::Take { limit: 4 }]).await;
            match answers.expect("answers").pop() {
                Some(semel_store::Answer::Taken(runs)) => all.extend(runs),
                other => panic!("{other:?}"),
            }
        }
        all
    };
    let one = tokio::spawn(taken(std::sync::Arc::clone(crew.store())));
    let two = tokio::spawn(taken(other));
    let mut all = one.await.expect("it ends");
    all.extend(two.await.expect("it ends"));
    all.extend(crew.take(100).await);
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!((count, all.len()), (40, 40));
}

async fn the_next_wake_is_of_runs_that_rest(world: World) {
    let crew = Crew::join(world).await;
    let wake = async || crew.store().next_wake().await.expect("an answer");
    assert_eq!(wake().await, None);
    crew.begin(start(1)).await;
    assert_eq!(wake().await, None);
    let at = crew.now().after(Millis::seconds(9));
    crew.advance(advance(1, 1, rest_until(at))).await;
    crew.begin(start(2)).await;
    let later = at.after(Millis::seconds(9));
    crew.advance(advance(2, 1, rest_until(later))).await;
    assert_eq!(wake().await, Some(at));
    crew.pass(Millis::seconds(9));
    crew.take(1).await;
    assert_eq!(wake().await, Some(later));
}

async fn a_whole_commit_is_one(world: World) {
    let crew = Crew::join(world).await;
    let due = Some(Time(0));
    let changes = vec![
        Change::Start(Box::new(start(1))),
        Change::Advance(Box::new(advance(1, 1, Next::GoOn))),
        Change::from(once("order/1/step", 1)),
        Change::Start(Box::new(start(2).child_of(1).run(|run| run.wake = due))),
        Change::Advance(Box::new(advance(1, 2, rest(RunState::Waiting)))),
        crate::shared::runs::mail(1, "hello"),
        Change::Take { limit: 10 },
        Change::Advance(Box::new(advance(1, 3, finish(RunState::Done)))),
        crate::shared::runs::mail(1, "too late"),
    ];
    let answers = crew.changes(changes).await;
    let answers = format!("{answers:?}");
    assert!(
        answers.contains("Taken([") && answers.contains("Mailed(true)"),
        "{answers}"
    );
    assert!(!answers.contains("Advanced(false)"), "{answers}");
    assert!(answers.ends_with("Mailed(false)]"), "{answers}");
    assert_eq!(crew.positions(1).await, [0, 1, 2, 3]);
    assert_eq!(crew.state(1).await, RunState::Done);
    assert_eq!(crew.run(2).await.node, Some(crew.node));
}

async fn who_is_no_member_holds_nothing(world: World) {
    world.store.start(start(1)).await.expect("an answer");
    let changes = vec![
        Change::Take { limit: 5 },
        Change::Advance(Box::new(advance(1, 1, Next::GoOn))),
        Change::Advance(Box::new(advance(1, 1, finish(RunState::Done)))),
    ];
    let answers = world.store.commit(changes).await.expect("answers");
    let answers = format!("{answers:?}");
    assert_eq!(answers, "[Taken([]), Advanced(false), Advanced(false)]");
}

async fn many_runs_are_loaded_in_order(world: World) {
    let crew = Crew::join(world).await;
    for n in [1, 2, 3] {
        crew.begin(start(n)).await;
        crew.advance(advance(n, 1, Next::GoOn)).await;
        crew.mail(n, &format!("to {n}")).await;
    }
    let ids = [3, 9, 1, 2].map(run_id);
    let loaded = crew.store().load_runs(&ids).await.expect("an answer");
    let found: Vec<_> = loaded.iter().map(|loaded| loaded.run.id).collect();
    assert_eq!(found, [3, 1, 2].map(run_id));
    for loaded in &loaded {
        assert_eq!((loaded.journal.len(), loaded.mail.len()), (2, 1));
    }
    assert_eq!(&*loaded[0].mail[0].note, "to 3");
    let none = crew.store().load_runs(&[]).await.expect("an answer");
    assert!(none.is_empty());
}
