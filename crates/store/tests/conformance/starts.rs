//! A run is started together with the effect that stands for its key, or not at all.

use semel_ledger::{Millis, State, Verdict};
use semel_store::run::{RunState, StartOutcome};
use semel_store::{Change, ReceiptFilter};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{FLOW, RELEASE, Starting as _, key_of, run_id, start};
use crate::shared::{Saying as _, once};

crate::cases!(
    a_run_starts_with_its_effect_and_its_first_row,
    a_second_start_of_the_key_is_refused_with_a_receipt,
    a_refused_start_writes_nothing,
    a_stale_event_starts_nothing_and_is_on_record,
    a_newer_version_is_applied,
    a_run_without_an_effect_starts_once,
    a_run_may_begin_later,
    a_process_that_passes_by_starts_for_others,
    a_parked_run_waits_for_a_person,
);

async fn a_run_starts_with_its_effect_and_its_first_row(world: World) {
    let crew = Crew::join(world).await;
    let with = once("order/1", 1).of_scope(FLOW).result("\"run 1\"");
    let started = crew.start(start(1).once(with)).await;
    let verdict = started.answered.map(|answered| answered.verdict);
    assert_eq!(verdict, Some(Verdict::First));
    assert_eq!(started.outcome, StartOutcome::Started { held: true });

    let loaded = crew.load(1).await;
    assert_eq!(loaded.run.id, run_id(1));
    assert_eq!(&*loaded.run.flow, FLOW);
    assert_eq!(loaded.run.release, RELEASE);
    assert_eq!(loaded.run.key.as_str(), "order/1");
    assert_eq!((loaded.run.parent, loaded.run.wake), (None, None));
    assert_eq!(loaded.run.state, RunState::Running);
    assert_eq!(&*loaded.run.why, "began");
    assert_eq!(loaded.run.created_at, crew.now());
    assert_eq!(loaded.run.changed_at, crew.now());
    assert_eq!(loaded.run.node, Some(crew.node));
    assert!(!loaded.run.waits);
    let [row] = &loaded.journal[..] else {
        panic!("{:?}", loaded.journal)
    };
    assert_eq!((row.at, row.written_at), (0, crew.now()));
    assert_eq!(&*row.row, "{\"opening\":1}");
    assert!(loaded.mail.is_empty());

    let effect = crew.store().load(&key_of(1)).await.expect("an answer");
    let effect = effect.expect("the effect is there");
    assert_eq!(effect.entry.state, State::Done);
}

async fn a_second_start_of_the_key_is_refused_with_a_receipt(world: World) {
    let crew = Crew::join(world).await;
    let with = |n| once("order/1", n).of_scope(FLOW).result("\"run 1\"");
    crew.begin(start(1).once(with(1))).await;
    // Once by the hint and the read, and once by the writer, as another process would ask it.
    let second = crew.start(start(2).once(with(2))).await;
    let neighbour = crew.world.neighbour().await;
    let third = match &neighbour {
        Some(store) => store
            .start(start(3).once(with(3)))
            .await
            .expect("an answer"),
        None => crew.start(start(3).once(with(3))).await,
    };
    for started in [second, third] {
        assert_eq!(started.outcome, StartOutcome::Refused);
        let answered = started.answered.expect("an answer");
        assert_eq!(answered.verdict, Verdict::Done);
        assert!(answered.receipt.is_some());
        assert!(answered.record.is_some(), "it tells of the first");
    }
    if let Some(store) = neighbour {
        store.write_receipts().await.expect("receipts");
    }
    let receipts = crew.world.receipts(ReceiptFilter::default()).await;
    assert_eq!(receipts.len(), 2);
    assert!(crew.find(2).await.is_none() && crew.find(3).await.is_none());
}

async fn a_refused_start_writes_nothing(world: World) {
    let crew = Crew::join(world).await;
    let with = |n| once("order/1", n).of_scope(FLOW);
    crew.begin(start(1).once(with(1)).latest(1, 5)).await;
    let second = start(2).once(with(2)).latest(1, 9).run(|run| {
        run.contents = vec![vec![1; 40_000]];
    });
    let answers = crew.changes(vec![Change::Start(Box::new(second))]).await;
    assert!(format!("{answers:?}").contains("Refused"), "{answers:?}");
    assert!(crew.find(2).await.is_none());
    // The version was not raised, or this one would be stale.
    let third = crew.start(start(3).latest(1, 6)).await;
    assert_eq!(third.outcome, StartOutcome::Started { held: true });
}

async fn a_stale_event_starts_nothing_and_is_on_record(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1).latest(1, 5)).await;
    let with = once("order/2", 2).of_scope(FLOW).result("\"run 2\"");
    let old = start(2).once(with).latest(1, 4).otherwise("\"stale\"");
    let started = crew.start(old).await;
    assert_eq!(started.outcome, StartOutcome::Stale);
    let verdict = started.answered.map(|answered| answered.verdict);
    assert_eq!(verdict, Some(Verdict::First));
    assert!(crew.find(2).await.is_none());
    let record = crew.store().load(&key_of(2)).await.expect("an answer");
    let result = record.and_then(|record| record.result).expect("a result");
    let text = crew.store().text(&result).await.expect("an answer");
    assert_eq!(text.as_deref(), Some("\"stale\""));
    // Without an effect it is stale all the same; another thing is not.
    let again = crew.start(start(3).latest(1, 4)).await;
    assert_eq!(again.outcome, StartOutcome::Stale);
    crew.begin(start(4).latest(2, 4)).await;
}

async fn a_newer_version_is_applied(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1).latest(1, 5)).await;
    crew.begin(start(2).latest(1, 5)).await;
    let both = vec![
        Change::Start(Box::new(start(3).latest(1, 8))),
        Change::Start(Box::new(start(4).latest(1, 7))),
    ];
    let answers = crew.changes(both).await;
    assert!(format!("{answers:?}").contains("Stale"), "{answers:?}");
    assert!(crew.find(3).await.is_some() && crew.find(4).await.is_none());
}

async fn a_run_without_an_effect_starts_once(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    let again = crew.start(start(1)).await;
    assert!(again.answered.is_none());
    assert_eq!(again.outcome, StartOutcome::Refused);
    assert_eq!(crew.positions(1).await, [0]);
}

async fn a_run_may_begin_later(world: World) {
    let crew = Crew::join(world).await;
    let at = crew.now().after(Millis::seconds(10));
    let later = start(1)
        .state(RunState::Queued)
        .run(|run| run.wake = Some(at));
    let started = crew.start(later).await;
    assert_eq!(started.outcome, StartOutcome::Started { held: false });
    let run = crew.run(1).await;
    assert_eq!((run.node, run.wake), (None, Some(at)));
    assert!(crew.take(10).await.is_empty());
    crew.pass(Millis::seconds(10));
    assert_eq!(crew.take(10).await, [run_id(1)]);
}

async fn a_process_that_passes_by_starts_for_others(world: World) {
    let started = world.store.start(start(1)).await.expect("an answer");
    assert_eq!(started.outcome, StartOutcome::Started { held: false });
    let crew = Crew::join(world).await;
    let run = crew.run(1).await;
    assert_eq!((run.node, run.wake), (None, Some(crew.now())));
    assert_eq!(crew.take(10).await, [run_id(1)]);
}

async fn a_parked_run_waits_for_a_person(world: World) {
    let crew = Crew::join(world).await;
    let started = crew.start(start(1).state(RunState::Parked)).await;
    assert_eq!(started.outcome, StartOutcome::Started { held: false });
    let run = crew.run(1).await;
    assert_eq!((run.node, run.wake), (None, None));
    assert!(crew.take(10).await.is_empty());
    assert!(crew.mail(1, "go").await);
    assert_eq!(crew.take(10).await, [run_id(1)]);
}
