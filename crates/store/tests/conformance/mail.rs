//! Mail is never lost between two looks at it.

use semel_ledger::Millis;
use semel_store::run::{Next, RunState};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{advance, rest, rest_until, run_id, start};

crate::cases!(
    mail_waits_in_order,
    nobody_gets_mail_who_is_not_there,
    mail_wakes_who_rests,
    mail_never_makes_a_wake_later,
    mail_does_not_take_a_run_from_its_holder,
    what_was_read_goes_and_nothing_else,
    unread_mail_wakes_at_once,
);

async fn mail_waits_in_order(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.begin(start(2)).await;
    for note in ["a", "b", "c"] {
        assert!(crew.mail(1, note).await);
        crew.pass(Millis::seconds(1));
    }
    let all = crew.load(1).await.mail;
    let notes: Vec<&str> = all.iter().map(|mail| &*mail.note).collect();
    assert_eq!(notes, ["a", "b", "c"]);
    assert!(all.is_sorted_by(|a, b| a.seq < b.seq && a.at < b.at));
    assert!(crew.notes(2).await.is_empty());
}

async fn nobody_gets_mail_who_is_not_there(world: World) {
    let crew = Crew::join(world).await;
    assert!(!crew.mail(1, "hello").await);
}

async fn mail_wakes_who_rests(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.advance(advance(1, 1, rest(RunState::Parked))).await;
    assert!(crew.take(1).await.is_empty());
    crew.pass(Millis::seconds(1));
    assert!(crew.mail(1, "hello").await);
    let run = crew.run(1).await;
    assert_eq!((run.wake, run.state), (Some(crew.now()), RunState::Parked));
    assert_eq!(crew.take(1).await, [run_id(1)]);
}

async fn mail_never_makes_a_wake_later(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    let at = crew.now().after(Millis::seconds(1));
    crew.advance(advance(1, 1, rest_until(at))).await;
    crew.pass(Millis::seconds(9));
    assert!(crew.mail(1, "hello").await);
    assert_eq!(crew.run(1).await.wake, Some(at));
}

async fn mail_does_not_take_a_run_from_its_holder(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    let before = crew.run(1).await;
    crew.pass(Millis::seconds(1));
    assert!(crew.mail(1, "hello").await);
    assert_eq!(crew.run(1).await, before);
}

async fn what_was_read_goes_and_nothing_else(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.begin(start(2)).await;
    for (n, note) in [(1, "a"), (2, "b"), (1, "c"), (1, "d")] {
        crew.mail(n, note).await;
    }
    let seq = crew.load(1).await.mail[1].seq;
    let mut read = advance(1, 1, Next::GoOn);
    read.read_mail = Some(seq);
    assert!(crew.advance(read.clone()).await);
    assert_eq!(crew.notes(1).await, ["d"].map(Into::into));
    assert_eq!(crew.notes(2).await, ["b"].map(Into::into));
    // A row that is not written reads nothing.
    read.read_mail = Some(i64::MAX);
    assert!(!crew.advance(read).await);
    assert_eq!(crew.notes(1).await, ["d"].map(Into::into));
    // A position that was read is never given again.
    let mut rest_of_it = advance(1, 2, Next::GoOn);
    rest_of_it.read_mail = Some(i64::MAX);
    assert!(crew.advance(rest_of_it).await);
    crew.mail(1, "e").await;
    assert!(crew.load(1).await.mail[0].seq > seq + 1);
}

async fn unread_mail_wakes_at_once(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.mail(1, "a").await;
    crew.mail(1, "b").await;
    let [first, second] = [0, 1].map(async |place| crew.load(1).await.mail[place].seq);
    let (first, second) = (first.await, second.await);
    let late = crew.now().after(Millis::days(1));
    let mut half = advance(1, 1, rest_until(late));
    half.read_mail = Some(first);
    assert!(crew.advance(half).await);
    assert_eq!(crew.run(1).await.wake, Some(crew.now()));
    assert_eq!(crew.take(1).await, [run_id(1)]);
    let mut whole = advance(1, 2, rest_until(late));
    whole.read_mail = Some(second);
    assert!(crew.advance(whole).await);
    assert_eq!(crew.run(1).await.wake, Some(late));
}
