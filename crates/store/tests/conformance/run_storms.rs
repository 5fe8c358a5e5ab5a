//! Nodes that do things to the same runs at the same moment.
//!
//! Where a store can have neighbours, the second one is another process's; memory has one for both.

use std::sync::Arc;
use std::time::Duration;

use semel_store::run::{Advance, Next, RunFilter, RunState, Start, WhenFull};
use semel_store::{Answer, Change, Store};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{
    Starting as _, advance, finish_and_tell, lane, mail, rest, run_id, start,
};

crate::cases!(
    lanes_move_on_under_a_storm,
    of_two_that_end_at_once_one_tells,
    mail_that_comes_while_resting_is_found,
    mail_and_rest_at_the_same_moment_leave_nobody_asleep,
    what_two_senders_say_is_all_read,
);

fn queue(n: u64, width: u32) -> Start {
    start(n).in_lane(lane(1, width, WhenFull::Queue))
}

/// The second node; where there can be none, the first again.
async fn other(crew: &Crew) -> Arc<Store> {
    let Some(store) = crew.world.neighbour().await else {
        return Arc::clone(crew.store());
    };
    store.join("other").await.expect("it joins");
    store
}

async fn moves(store: &Store, advance: Advance) {
    let change = Change::Advance(Box::new(advance));
    let moved = store.commit(vec![change]).await.expect("an answer");
    assert!(matches!(moved[..], [Answer::Advanced(true)]), "{moved:?}");
}

async fn sends(store: &Store, n: u64, note: &str) {
    let sent = store.commit(vec![mail(n, note)]).await.expect("an answer");
    assert!(matches!(sent[..], [Answer::Mailed(true)]), "{sent:?}");
}

/// Two nodes start and end runs of few lanes at the same time; nothing is left behind, no lane
/// ever holds more than its width, and the parent is told exactly once.
async fn lanes_move_on_under_a_storm(world: World) {
    const RUNS: u64 = 60;
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.advance(advance(1, 1, rest(RunState::Waiting))).await;
    let stores = [Arc::clone(crew.store()), other(&crew).await];
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

async fn of_two_that_end_at_once_one_tells(world: World) {
    let crew = Crew::join(world).await;
    let other = other(&crew).await;
    crew.begin(start(1)).await;
    for round in 1..=60 {
        let (one, two) = (round * 10, round * 10 + 1);
        let narrow = lane(u8::try_from(round).expect("few"), 2, WhenFull::Queue);
        let child = |n| start(n).child_of(1).in_lane(narrow);
        crew.begin(child(one)).await;
        other.start(child(two)).await.expect("an answer");
        let end = |n| advance(n, 1, finish_and_tell("the last"));
        tokio::join!(moves(crew.store(), end(one)), moves(&other, end(two)));
        let told = usize::try_from(round).expect("few");
        assert_eq!(crew.notes(1).await.len(), told, "round {round}");
    }
}

/// One task sends, another reads and rests: whatever the order, every note is read, and the run
/// never rests with mail that nobody will look at.
async fn mail_that_comes_while_resting_is_found(world: World) {
    const NOTES: usize = 150;
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    let sender = other(&crew).await;
    let sending = tokio::spawn(async move {
        for n in 0..NOTES {
            sends(&sender, 1, &n.to_string()).await;
        }
    });
    let (mut read, mut at, mut idle) = (Vec::new(), 1, 0);
    while read.len() < NOTES {
        let loaded = crew.load(1).await;
        read.extend(loaded.mail.iter().map(|mail| mail.note.clone()));
        let mut resting = advance(1, at, rest(RunState::Waiting));
        resting.read_mail = loaded.mail.last().map(|mail| mail.seq);
        assert!(crew.advance(resting).await);
        at += 1;
        while read.len() < NOTES && crew.take(1).await.is_empty() {
            idle += 1;
            assert!(!sending.is_finished() || idle < 5_000, "a note was lost");
            tokio::task::yield_now().await;
        }
    }
    sending.await.expect("all were sent");
    let expected: Vec<Box<str>> = (0..NOTES).map(|n| n.to_string().into()).collect();
    assert_eq!(read, expected);
    assert!(crew.notes(1).await.is_empty());
}

async fn mail_and_rest_at_the_same_moment_leave_nobody_asleep(world: World) {
    let crew = Crew::join(world).await;
    let other = other(&crew).await;
    for n in 1..=100 {
        crew.begin(start(n)).await;
        let resting = advance(n, 1, rest(RunState::Waiting));
        tokio::join!(
            moves(crew.store(), resting),
            sends(&other, n, "are you there?")
        );
        assert_eq!(crew.take(10).await, [run_id(n)], "run {n} sleeps");
        assert_eq!(crew.notes(n).await.len(), 1);
    }
}

/// A note that gets its position first and is seen second must not go unread.
async fn what_two_senders_say_is_all_read(world: World) {
    const NOTES: usize = 150;
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    let senders = [other(&crew).await, other(&crew).await].map(|store| {
        tokio::spawn(async move {
            for n in 0..NOTES {
                sends(&store, 1, &n.to_string()).await;
            }
        })
    });
    let (mut read, mut at) = (0, 1);
    let mut all_sent = false;
    while !all_sent {
        // Looked at first: what is sent by now is found by the look that follows.
        all_sent = senders.iter().all(tokio::task::JoinHandle::is_finished);
        let mail = crew.load(1).await.mail;
        read += mail.len();
        let mut reading = advance(1, at, Next::GoOn);
        reading.read_mail = mail.last().map(|mail| mail.seq);
        moves(crew.store(), reading).await;
        at += 1;
    }
    for sender in senders {
        sender.await.expect("all were sent");
    }
    assert_eq!(read, 2 * NOTES);
}
