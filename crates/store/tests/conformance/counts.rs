//! What happened, counted: by the minute and the hour, all together, by flow and by step.

use semel_ledger::{Millis, Time};
use semel_store::Change;
use semel_store::count::{Count, HOURS_KEPT, MINUTES_KEPT, Part, Span};

use semel_store::run::RunState;

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{Starting as _, advance, finish, rest, start};
use crate::shared::{Saying as _, request};

crate::cases!(
    counts_add_up_apart_and_together,
    sweeping_takes_only_counts_that_are_not_kept,
    what_stands_is_counted_by_state,
);

fn count(at: Time, flow: &str, step: &str, what: &str, count: u64) -> Count {
    Count {
        at,
        flow: flow.into(),
        step: step.into(),
        what: what.into(),
        count,
    }
}

async fn add(world: &World, counts: Vec<Count>) {
    let added = world.store.commit(vec![Change::Counts(counts)]).await;
    added.expect("added");
}

/// As text, to compare: minutes from the start, name, what, how often.
async fn read(world: &World, span: Span, part: Part, together: bool) -> String {
    let store = &world.store;
    let counts = if together {
        store
            .counts_together(span, &part, Time(0), &["runs", "done"])
            .await
    } else {
        store.counts(span, &part, Time(0)).await
    };
    let line = |it: &semel_store::count::Counted| {
        let minute = it.at.0 / 60_000;
        format!("{minute} {}/{} {}", it.name, it.what, it.count)
    };
    let lines: Vec<String> = counts.expect("counts").iter().map(line).collect();
    lines.join(", ")
}

async fn counts_add_up_apart_and_together(world: World) {
    let at = |minutes: i64| Time(minutes * 60_000 + 59_999);
    add(
        &world,
        vec![
            count(at(0), "steps", "", "runs", 1),
            count(at(0), "shop", "", "runs", 2),
            count(at(0), "shop", "charge", "done", 2),
            count(at(61), "", "", "blocked", 7),
        ],
    )
    .await;
    add(&world, vec![count(at(0), "shop", "", "runs", 3)]).await;
    add(&world, vec![count(at(1), "shop", "", "runs", 4)]).await;
    let part = |span, part| read(&world, span, part, false);
    let whole = part(Span::Minute, Part::Whole).await;
    assert_eq!(whole, "0 /runs 6, 1 /runs 4, 61 /blocked 7");
    assert_eq!(
        part(Span::Hour, Part::Whole).await,
        "0 /runs 10, 60 /blocked 7"
    );
    let flows = part(Span::Minute, Part::Flows).await;
    assert_eq!(flows, "0 shop/runs 5, 0 steps/runs 1, 1 shop/runs 4");
    let steps = part(Span::Hour, Part::StepsOf("shop".into())).await;
    assert_eq!(steps, "0 charge/done 2");
    let together = read(&world, Span::Minute, Part::Flows, true).await;
    assert_eq!(together, "0 shop/runs 9, 0 steps/runs 1");
    let late = world
        .store
        .counts(Span::Minute, &Part::Whole, Time(60_000))
        .await;
    assert_eq!(late.expect("counts").len(), 2);
}

async fn sweeping_takes_only_counts_that_are_not_kept(world: World) {
    let now = world.store.now();
    add(&world, vec![count(now, "shop", "charge", "done", 1)]).await;
    add(&world, vec![count(now, "shop", "", "runs", 1)]).await;
    assert_eq!(world.store.sweep_counts_bite().await.expect("swept"), 0);
    world.pass(Millis(MINUTES_KEPT.0 + 60_000));
    // The whole, the flow and the step.
    assert_eq!(world.store.sweep_counts_bite().await.expect("swept"), 3);
    assert_eq!(world.store.sweep_counts_bite().await.expect("swept"), 0);
    world.pass(Millis(HOURS_KEPT.0));
    assert_eq!(world.store.sweep_counts_bite().await.expect("swept"), 3);
    world.pass(Millis(world.store.keep().0 + 86_400_000));
    assert_eq!(world.store.sweep_counts_bite().await.expect("swept"), 3);
    let left = world
        .store
        .counts(Span::Day, &Part::Whole, Time(0))
        .await
        .expect("counts");
    assert!(left.is_empty());
}

async fn what_stands_is_counted_by_state(world: World) {
    world.step(request("a", 1, "{\"ask\":1}").by("run")).await;
    let crew = Crew::join(world).await;
    for n in 1..=4 {
        crew.begin(start(n)).await;
    }
    crew.begin(start(5).child_of(1)).await;
    assert!(crew.advance(advance(2, 1, rest(RunState::Parked))).await);
    assert!(crew.advance(advance(3, 1, finish(RunState::Done))).await);
    assert!(crew.advance(advance(4, 1, finish(RunState::Failed))).await);
    let standing = crew.store().standing().await.expect("an answer");
    let expected = [(RunState::Running, 1), (RunState::Parked, 1)];
    assert_eq!(standing.runs, expected);
    assert_eq!(standing.reviews, 1);
}
