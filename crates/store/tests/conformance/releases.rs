//! Texts of flows: kept once, at most one of a flow takes triggers.

use semel_ledger::Millis;
use semel_store::run::{Release, ReleaseChange, ReleaseId};
use semel_store::{Answer, Change, Stored};

use crate::crew::Crew;
use crate::fixture::World;

crate::cases!(
    a_text_is_kept_once,
    deploying_live_takes_over,
    going_live_is_by_what_is_live_now,
    retiring_leaves_none,
    the_same_text_can_go_live_again,
    another_flow_cannot_take_a_text,
    the_revision_tells_of_every_change_of_live,
    lists_are_newest_first,
    a_long_text_is_kept_whole,
);

fn id(n: u8) -> ReleaseId {
    ReleaseId([n; 32])
}

fn deploy(n: u8, flow: &str, live: bool) -> ReleaseChange {
    ReleaseChange::Deploy {
        id: id(n),
        flow: flow.into(),
        source: format!("name: {flow} # {n}").into(),
        by: Some("ann".into()),
        live,
    }
}

fn go_live(flow: &str, n: u8, was: Option<u8>) -> ReleaseChange {
    ReleaseChange::GoLive {
        flow: flow.into(),
        id: id(n),
        was: was.map(id),
    }
}

fn retire(flow: &str) -> ReleaseChange {
    ReleaseChange::Retire { flow: flow.into() }
}

impl Crew {
    async fn release(&self, change: ReleaseChange) -> bool {
        match self.change(Change::Release(change)).await {
            Answer::Released(changed) => changed,
            other => panic!("{other:?} is not of a release"),
        }
    }

    async fn kept(&self, n: u8) -> Release {
        let found = self.store().release(id(n)).await.expect("an answer");
        found.expect("it is kept")
    }

    async fn live_ids(&self) -> Vec<ReleaseId> {
        let live = self.store().live().await.expect("an answer");
        assert!(live.iter().all(|release| release.live));
        live.into_iter().map(|release| release.id).collect()
    }

    async fn revision(&self) -> i64 {
        self.store().live_revision().await.expect("an answer")
    }
}

async fn a_text_is_kept_once(world: World) {
    let crew = Crew::join(world).await;
    assert!(crew.release(deploy(1, "a", false)).await);
    let first = crew.kept(1).await;
    assert_eq!(&*first.flow, "a");
    assert_eq!(first.source, Stored::Inline("name: a # 1".into()));
    assert_eq!(first.created_at, crew.now());
    assert_eq!(first.by.as_deref(), Some("ann"));
    assert_eq!((first.live, first.live_at), (false, None));
    crew.pass(Millis::seconds(1));
    assert!(!crew.release(deploy(1, "a", false)).await);
    assert_eq!(crew.kept(1).await, first);
    assert!(crew.live_ids().await.is_empty());
    assert_eq!(crew.store().release(id(9)).await.expect("an answer"), None);
}

async fn deploying_live_takes_over(world: World) {
    let crew = Crew::join(world).await;
    assert!(crew.release(deploy(1, "a", true)).await);
    assert_eq!(crew.kept(1).await.live_at, Some(crew.now()));
    assert!(crew.release(deploy(2, "b", true)).await);
    crew.pass(Millis::seconds(1));
    assert!(crew.release(deploy(3, "a", true)).await);
    assert_eq!(crew.live_ids().await, [id(3), id(2)]);
    let old = crew.kept(1).await;
    assert_eq!((old.live, old.live_at), (false, Some(crew.now())));
    assert!(!crew.release(deploy(3, "a", true)).await);
}

async fn going_live_is_by_what_is_live_now(world: World) {
    let crew = Crew::join(world).await;
    for n in [1, 2, 3] {
        crew.release(deploy(n, "a", n == 1)).await;
    }
    assert!(!crew.release(go_live("a", 2, None)).await);
    assert!(!crew.release(go_live("a", 2, Some(3))).await);
    assert!(!crew.release(go_live("a", 9, Some(1))).await);
    assert!(!crew.release(go_live("a", 1, Some(1))).await);
    assert_eq!(crew.live_ids().await, [id(1)]);
    assert!(crew.release(go_live("a", 2, Some(1))).await);
    assert_eq!(crew.live_ids().await, [id(2)]);
}

async fn retiring_leaves_none(world: World) {
    let crew = Crew::join(world).await;
    crew.release(deploy(1, "a", true)).await;
    crew.release(deploy(2, "b", true)).await;
    crew.pass(Millis::seconds(1));
    assert!(crew.release(retire("a")).await);
    assert!(!crew.release(retire("a")).await);
    assert!(!crew.release(retire("c")).await);
    assert_eq!(crew.live_ids().await, [id(2)]);
    assert_eq!(crew.kept(1).await.live_at, Some(crew.now()));
    assert!(crew.release(go_live("a", 1, None)).await);
    assert_eq!(crew.live_ids().await, [id(1), id(2)]);
}

async fn the_same_text_can_go_live_again(world: World) {
    let crew = Crew::join(world).await;
    crew.release(deploy(1, "a", true)).await;
    crew.release(deploy(2, "a", true)).await;
    assert!(crew.release(deploy(1, "a", true)).await);
    assert_eq!(crew.live_ids().await, [id(1)]);
}

async fn another_flow_cannot_take_a_text(world: World) {
    let crew = Crew::join(world).await;
    crew.release(deploy(1, "a", true)).await;
    assert!(!crew.release(deploy(1, "b", true)).await);
    assert!(!crew.release(go_live("b", 1, None)).await);
    assert_eq!(&*crew.kept(1).await.flow, "a");
    assert_eq!(crew.live_ids().await, [id(1)]);
}

async fn the_revision_tells_of_every_change_of_live(world: World) {
    let crew = Crew::join(world).await;
    let mut seen = vec![crew.revision().await];
    for change in [
        deploy(1, "a", true),
        deploy(2, "a", true),
        go_live("a", 1, Some(2)),
        deploy(2, "a", true),
        retire("a"),
    ] {
        assert!(crew.release(change).await);
        let revision = crew.revision().await;
        assert!(!seen.contains(&revision), "{seen:?} {revision}");
        seen.push(revision);
    }
    for change in [deploy(3, "a", false), retire("a"), go_live("a", 1, Some(2))] {
        crew.release(change).await;
        assert_eq!(seen.last(), Some(&crew.revision().await));
    }
}

async fn lists_are_newest_first(world: World) {
    let crew = Crew::join(world).await;
    for (n, flow) in [(5, "a"), (2, "b"), (9, "a"), (1, "a")] {
        crew.release(deploy(n, flow, false)).await;
    }
    let ids = async |flow| {
        let all = crew.store().releases(flow).await.expect("an answer");
        all.iter().map(|release| release.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(None).await, [1, 9, 2, 5].map(id));
    assert_eq!(ids(Some("a")).await, [1, 9, 5].map(id));
    assert!(ids(Some("c")).await.is_empty());
}

async fn a_long_text_is_kept_whole(world: World) {
    let crew = Crew::join(world).await;
    let long = "#".repeat(200_000);
    let change = ReleaseChange::Deploy {
        id: id(1),
        flow: "a".into(),
        source: long.clone().into(),
        by: None,
        live: true,
    };
    assert!(crew.release(change).await);
    crew.pass(Millis::days(3));
    crew.store().give_back().await.expect("it gives back");
    let kept = crew.kept(1).await;
    let text = crew.store().text(&kept.source).await.expect("an answer");
    assert_eq!(text.as_deref(), Some(long.as_str()));
}
