//! Runs are found by what they are about, newest first.

use semel_ledger::{Millis, Scope, Time};
use semel_store::run::{RunFilter, RunId, RunState};

use crate::crew::Crew;
use crate::fixture::World;
use crate::shared::runs::{Starting as _, advance, finish, rest, run_id, show, start};
use crate::shared::{Saying as _, claim, once};

crate::cases!(
    runs_are_listed_newest_first_in_pages,
    runs_are_found_by_flow,
    runs_are_found_by_state,
    runs_are_found_by_key,
    runs_are_found_by_time,
    runs_are_found_by_a_part_of_what_they_say,
    runs_are_found_by_when_they_changed,
    children_are_listed_by_their_parent,
    children_are_counted_by_state,
    done_keys_are_counted_by_scope,
    names_of_runs_grow,
);

impl Crew {
    async fn list(&self, filter: RunFilter) -> Vec<RunId> {
        let limit = 100;
        let filter = RunFilter { limit, ..filter };
        let page = self.store().runs(&filter).await.expect("an answer");
        assert_eq!(page.next, None);
        page.items.iter().map(|run| run.id).collect()
    }
}

fn ids<const N: usize>(numbers: [u64; N]) -> Vec<RunId> {
    numbers.map(run_id).to_vec()
}

async fn runs_are_listed_newest_first_in_pages(world: World) {
    let crew = Crew::join(world).await;
    for n in [3, 1, 2, 5, 4] {
        crew.begin(start(n)).await;
    }
    let mut filter = RunFilter {
        limit: 2,
        ..RunFilter::default()
    };
    let mut pages = Vec::new();
    loop {
        let page = crew.store().runs(&filter).await.expect("an answer");
        pages.push(page.items.iter().map(|run| run.id).collect::<Vec<_>>());
        let Some(next) = page.next else { break };
        filter.before = Some(next);
    }
    assert_eq!(pages, [ids([5, 4]), ids([3, 2]), ids([1])]);
    let whole = crew.store().run(run_id(3)).await.expect("an answer");
    filter = RunFilter {
        before: Some(run_id(4)),
        limit: 1,
        ..RunFilter::default()
    };
    let listed = crew.store().runs(&filter).await.expect("an answer").items;
    assert_eq!(listed.into_iter().next(), whole);
}

async fn runs_are_found_by_flow(world: World) {
    let crew = Crew::join(world).await;
    for (n, flow) in [(1, "a"), (2, "b"), (3, "a")] {
        crew.begin(start(n).flow(flow)).await;
    }
    let of = |flow: &str| RunFilter {
        flow: Some(flow.to_owned()),
        ..RunFilter::default()
    };
    assert_eq!(crew.list(of("a")).await, ids([3, 1]));
    assert_eq!(crew.list(of("b")).await, ids([2]));
    assert!(crew.list(of("c")).await.is_empty());
}

async fn runs_are_found_by_state(world: World) {
    let crew = Crew::join(world).await;
    for n in 1..=5 {
        crew.begin(start(n)).await;
    }
    for (n, next) in [
        (1, rest(RunState::Parked)),
        (2, finish(RunState::Done)),
        (3, finish(RunState::Failed)),
        (4, show(RunState::Retrying)),
    ] {
        assert!(crew.advance(advance(n, 1, next)).await);
    }
    let of = |states: &[RunState]| RunFilter {
        states: states.to_vec(),
        ..RunFilter::default()
    };
    assert_eq!(crew.list(of(&[RunState::Parked])).await, ids([1]));
    assert_eq!(crew.list(of(&[RunState::Done])).await, ids([2]));
    let some = [RunState::Done, RunState::Failed, RunState::Running];
    assert_eq!(crew.list(of(&some)).await, ids([5, 3, 2]));
    let bad = [RunState::Retrying, RunState::Failed];
    assert_eq!(crew.list(of(&bad)).await, ids([4, 3]));
    assert!(crew.list(of(&[RunState::Undone])).await.is_empty());
}

async fn runs_are_found_by_key(world: World) {
    let crew = Crew::join(world).await;
    for (n, flow, key) in [(1, "a", "k/1"), (2, "b", "k/1"), (3, "a", "k/10")] {
        crew.begin(start(n).flow(flow).key(key)).await;
    }
    let of = |key: &str, flow: Option<&str>| RunFilter {
        key: Some(key.to_owned()),
        flow: flow.map(str::to_owned),
        ..RunFilter::default()
    };
    assert_eq!(crew.list(of("k/1", None)).await, ids([2, 1]));
    assert_eq!(crew.list(of("k/1", Some("a"))).await, ids([1]));
    assert_eq!(crew.list(of("k/10", None)).await, ids([3]));
    assert!(crew.list(of("k", None)).await.is_empty());
}

async fn runs_are_found_by_time(world: World) {
    let crew = Crew::join(world).await;
    let began = crew.now();
    for n in 1..=4 {
        crew.begin(start(n)).await;
        crew.pass(Millis::seconds(10));
    }
    let between = |since: Option<u64>, until: Option<u64>| RunFilter {
        since: since.map(|s| began.after(Millis::seconds(s))),
        until: until.map(|s| began.after(Millis::seconds(s))),
        ..RunFilter::default()
    };
    assert_eq!(crew.list(between(Some(10), Some(30))).await, ids([3, 2]));
    assert_eq!(crew.list(between(Some(30), None)).await, ids([4]));
    assert_eq!(crew.list(between(None, Some(10))).await, ids([1]));
}

async fn runs_are_found_by_a_part_of_what_they_say(world: World) {
    let crew = Crew::join(world).await;
    for (n, key) in [(1, "k/Ada"), (2, "k/x_y"), (3, "k/ada-2"), (4, "other")] {
        crew.begin(start(n).key(key)).await;
    }
    let parked = start(5).run(|run| run.why = "waits for Adam".into());
    crew.begin(parked).await;
    let of = |text: &str| RunFilter {
        text: Some(text.to_owned()),
        ..RunFilter::default()
    };
    assert_eq!(crew.list(of("ADA")).await, ids([5, 3, 1]));
    assert_eq!(
        crew.list(of("_")).await,
        ids([2]),
        "nothing stands for more"
    );
    assert!(crew.list(of("nobody")).await.is_empty());
    let first = RunFilter {
        limit: 1,
        before: Some(run_id(5)),
        ..of("ada")
    };
    let page = crew.store().runs(&first).await.expect("an answer");
    assert_eq!(page.next, Some(run_id(3)));
    let second = RunFilter {
        before: page.next,
        ..first
    };
    let page = crew.store().runs(&second).await.expect("an answer");
    assert_eq!(page.items[0].id, run_id(1));
    assert_eq!(page.next, None);
}

async fn runs_are_found_by_when_they_changed(world: World) {
    let crew = Crew::join(world).await;
    for n in 1..=3 {
        crew.begin(start(n)).await;
    }
    crew.pass(Millis::seconds(10));
    let late = crew.now();
    assert!(crew.advance(advance(2, 1, rest(RunState::Parked))).await);
    let changed = RunFilter {
        changed: Some(late),
        ..RunFilter::default()
    };
    assert_eq!(crew.list(changed).await, ids([2]));
}

async fn children_are_listed_by_their_parent(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    crew.begin(start(2).child_of(1).key("same")).await;
    crew.begin(start(3).key("same")).await;
    crew.begin(start(4).child_of(1)).await;
    let of = |parent: Option<u64>, key: Option<&str>| RunFilter {
        parent: parent.map(run_id),
        key: key.map(str::to_owned),
        ..RunFilter::default()
    };
    assert_eq!(crew.list(of(None, None)).await, ids([3, 1]));
    assert_eq!(crew.list(of(Some(1), None)).await, ids([4, 2]));
    assert_eq!(crew.list(of(Some(1), Some("same"))).await, ids([2]));
    assert_eq!(crew.list(of(None, Some("same"))).await, ids([3]));
    assert_eq!(crew.run(2).await.parent, Some(run_id(1)));
}

async fn children_are_counted_by_state(world: World) {
    let crew = Crew::join(world).await;
    crew.begin(start(1)).await;
    for n in 2..=5 {
        crew.begin(start(n).child_of(1)).await;
    }
    crew.begin(start(6)).await;
    for (n, state) in [
        (2, RunState::Failed),
        (3, RunState::Done),
        (4, RunState::Done),
    ] {
        assert!(crew.advance(advance(n, 1, finish(state))).await);
    }
    let children = crew.store().children(run_id(1)).await.expect("an answer");
    let expected = [
        (RunState::Running, 1),
        (RunState::Done, 2),
        (RunState::Failed, 1),
    ];
    assert_eq!(children, expected);
    let none = crew.store().children(run_id(6)).await.expect("an answer");
    assert!(none.is_empty());
}

async fn done_keys_are_counted_by_scope(world: World) {
    for (n, scope) in [(1, "a"), (2, "a"), (3, "b")] {
        world.step(once(&n.to_string(), n).of_scope(scope)).await;
    }
    world.step(claim("4", 4).of_scope("a")).await;
    let count = async |scope: &str| {
        let scope = Scope::new(scope).expect("a scope");
        world.store.done_keys(&scope).await.expect("an answer")
    };
    assert_eq!(
        (count("a").await, count("b").await, count("c").await),
        (2, 1, 0)
    );
}

async fn names_of_runs_grow(world: World) {
    let names: Vec<RunId> = (0..1000).map(|_| world.store.new_run_id()).collect();
    assert!(names.is_sorted_by(|a, b| a < b));
    let Time(now) = world.store.now();
    assert_eq!(names[0].0[..6], now.to_be_bytes()[2..]);
    world.pass(Millis(1));
    assert!(world.store.new_run_id() > names[999]);
    assert_eq!(RunId::parse(&names[7].text()), Some(names[7]));
}
