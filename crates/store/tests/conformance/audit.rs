//! Who did what.

use semel_ledger::{Millis, Time};
use semel_store::Page;
use semel_store::audit::{AUDIT_KEPT, AuditChange, AuditEntry, AuditFilter, Deed};

use crate::fixture::World;
use crate::shared::START;

crate::cases![
    deeds_are_listed_newest_first,
    what_came_of_it_is_said_once,
    old_deeds_are_forgotten,
];

fn deed(who: &str, target: &str) -> Deed {
    Deed {
        who: who.into(),
        via: "token".into(),
        address: Some("127.0.0.1".into()),
        action: "POST /v1/runs/{run}/cancel".into(),
        target: target.into(),
        note: None,
        status: None,
    }
}

async fn add(world: &World, deed: Deed) -> i64 {
    let change = AuditChange::Add(deed);
    world.store.write_audit(change).await.expect("a place")
}

async fn list(world: &World, filter: AuditFilter) -> Page<AuditEntry> {
    world.store.audit(&filter).await.expect("a page")
}

fn targets(page: &Page<AuditEntry>) -> Vec<&str> {
    page.items.iter().map(|entry| &*entry.deed.target).collect()
}

async fn deeds_are_listed_newest_first(world: World) {
    for (who, target) in [("ada", "1"), ("eve", "2"), ("ada", "3")] {
        add(&world, deed(who, target)).await;
        world.pass(Millis::seconds(1));
    }
    let at = |seconds: u64| START.after(Millis::seconds(seconds));
    let all = AuditFilter {
        limit: 9,
        ..AuditFilter::default()
    };
    let page = list(&world, all.clone()).await;
    assert_eq!(targets(&page), ["3", "2", "1"]);
    assert_eq!(page.next, None);
    assert_eq!(
        (page.items[0].at, &page.items[0].deed),
        (at(2), &deed("ada", "3"))
    );
    for (filter, found) in [
        (
            AuditFilter {
                who: Some("ada".into()),
                ..all.clone()
            },
            &["3", "1"][..],
        ),
        (
            AuditFilter {
                since: Some(at(1)),
                ..all.clone()
            },
            &["3", "2"],
        ),
        (
            AuditFilter {
                until: Some(at(1)),
                ..all.clone()
            },
            &["1"],
        ),
        (
            AuditFilter {
                who: Some("bob".into()),
                ..all.clone()
            },
            &[],
        ),
    ] {
        assert_eq!(targets(&list(&world, filter).await), found);
    }
    let first = list(
        &world,
        AuditFilter {
            limit: 2,
            ..all.clone()
        },
    )
    .await;
    assert_eq!(targets(&first), ["3", "2"]);
    let rest = AuditFilter {
        before: first.next,
        ..all
    };
    assert_eq!(targets(&list(&world, rest).await), ["1"]);
}

async fn what_came_of_it_is_said_once(world: World) {
    let seq = add(&world, deed("ada", "")).await;
    let end = |status: u16, target: Option<&str>| AuditChange::End {
        seq,
        status,
        target: target.map(Into::into),
        note: target.map(|_| "approve".into()),
    };
    for (status, target, changed) in [(200, Some("run_1"), 1), (500, Some("other"), 0)] {
        let written = world.store.write_audit(end(status, target)).await;
        assert_eq!(written.expect("a number"), changed);
    }
    let page = list(&world, AuditFilter::default()).await;
    let ended = Deed {
        status: Some(200),
        note: Some("approve".into()),
        ..deed("ada", "run_1")
    };
    assert_eq!(page.items[0].deed, ended);
    let other = add(&world, deed("ada", "kept")).await;
    let plain = AuditChange::End {
        seq: other,
        status: 404,
        target: None,
        note: None,
    };
    world.store.write_audit(plain).await.expect("a number");
    let page = list(&world, AuditFilter::default()).await;
    assert_eq!(page.items[0].deed.target.as_ref(), "kept");
    assert_eq!(page.items[0].deed.status, Some(404));
}

async fn old_deeds_are_forgotten(world: World) {
    add(&world, deed("ada", "old")).await;
    world.pass(AUDIT_KEPT);
    add(&world, deed("ada", "new")).await;
    assert_eq!(world.store.sweep_people_bite().await.expect("a number"), 0);
    world.pass(Millis(1));
    assert_eq!(world.store.sweep_people_bite().await.expect("a number"), 1);
    let filter = AuditFilter {
        limit: 9,
        since: Some(Time(0)),
        ..AuditFilter::default()
    };
    assert_eq!(targets(&list(&world, filter).await), ["new"]);
}
