//! Runs that wait for an event are told of it, and nobody else is.

use semel_ledger::Millis;
use semel_store::listen::{Listen, Topic};
use semel_store::run::{RunId, RunState};
use semel_store::{Answer, Change};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{advance, finish, rest, run_id, start};

crate::cases!(
    whoever_listens_at_a_place_is_told_and_wakes,
    a_step_listens_at_one_place_until_it_is_hushed,
    only_open_runs_listen_and_are_told,
    topics_stay_and_are_there_once,
    what_is_told_goes_with_its_commit,
);

fn listen(n: u64, step: &str, place: u8) -> Change {
    Change::Listen(Box::new(Listen {
        run: run_id(n),
        step: step.into(),
        place: [place; 16],
        source: "flow/payments".into(),
        path: format!("incoming.p{place}").into(),
    }))
}

fn tell(place: u8, note: &str) -> Change {
    Change::Tell {
        place: [place; 16],
        note: note.into(),
    }
}

async fn listens(crew: &Crew, change: Change) -> bool {
    match crew.change(change).await {
        Answer::Listens(listens) => listens,
        other => panic!("{other:?}"),
    }
}

async fn told(crew: &Crew, place: u8) -> Vec<RunId> {
    match crew.change(tell(place, "hello")).await {
        Answer::Told(runs) => runs,
        other => panic!("{other:?}"),
    }
}

async fn whoever_listens_at_a_place_is_told_and_wakes(world: World) {
    let crew = Crew::join(world).await;
    for n in 1..=4 {
        crew.begin(start(n)).await;
    }
    for (n, place) in [(3, 7), (1, 7), (2, 8)] {
        assert!(listens(&crew, listen(n, "paid", place)).await);
    }
    assert!(listens(&crew, listen(1, "other", 7)).await);
    crew.advance(advance(1, 1, rest(RunState::Waiting))).await;
    crew.pass(Millis::seconds(1));
    assert_eq!(told(&crew, 7).await, [run_id(1), run_id(3)], "each once");
    assert_eq!(told(&crew, 9).await, []);
    assert_eq!(crew.run(1).await.wake, Some(crew.now()));
    assert_eq!(crew.notes(1).await, ["hello".into()]);
    assert_eq!(crew.notes(3).await, ["hello".into()]);
    assert!(crew.notes(2).await.is_empty() && crew.notes(4).await.is_empty());
    assert_eq!(crew.take(9).await, [run_id(1)]);
}

async fn a_step_listens_at_one_place_until_it_is_hushed(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    for place in [1, 2] {
        assert!(listens(&crew, listen(1, "paid", place)).await);
    }
    assert_eq!(told(&crew, 1).await, []);
    assert_eq!(told(&crew, 2).await, [run_id(1)]);
    let hush = |step: &str| Change::Hush {
        run: run_id(1),
        step: step.into(),
    };
    crew.change(hush("another")).await;
    assert_eq!(told(&crew, 2).await, [run_id(1)]);
    crew.change(hush("paid")).await;
    assert_eq!(told(&crew, 2).await, []);
}

async fn only_open_runs_listen_and_are_told(world: World) {
    let crew = Crew::join(world).await;
    assert!(!listens(&crew, listen(9, "paid", 1)).await, "no such run");
    crew.begin(start(1)).await;
    assert!(listens(&crew, listen(1, "paid", 1)).await);
    crew.advance(advance(1, 1, finish(RunState::Done))).await;
    assert_eq!(told(&crew, 1).await, []);
    assert!(!listens(&crew, listen(1, "paid", 1)).await, "it is over");
    let until = crew.now();
    let forgotten = crew.change(Change::Forget {
        runs: vec![run_id(1)],
        until,
    });
    assert!(matches!(forgotten.await, Answer::Counted(1)));
    assert_eq!(told(&crew, 1).await, []);
}

async fn topics_stay_and_are_there_once(world: World) {
    let crew = Crew::join(world).await;
    assert_eq!(crew.store().topics().await.expect("topics"), []);
    crew.begin(start(1)).await;
    for place in [2, 1, 2] {
        listens(&crew, listen(1, "paid", place)).await;
    }
    crew.advance(advance(1, 1, finish(RunState::Done))).await;
    let topic = |place: u8| Topic {
        source: "flow/payments".into(),
        path: format!("incoming.p{place}").into(),
    };
    assert_eq!(
        crew.store().topics().await.expect("topics"),
        [topic(1), topic(2)]
    );
}

async fn what_is_told_goes_with_its_commit(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.begin(start(2)).await;
    let answers = crew
        .changes(vec![
            listen(1, "paid", 1),
            tell(1, "one"),
            Change::Advance(Box::new(advance(2, 1, finish(RunState::Done)))),
            listen(2, "paid", 1),
            tell(1, "two"),
        ])
        .await;
    assert!(matches!(&answers[1], Answer::Told(runs) if *runs == [run_id(1)]));
    assert!(matches!(answers[3], Answer::Listens(false)));
    assert_eq!(crew.notes(1).await, ["one".into(), "two".into()]);
}
