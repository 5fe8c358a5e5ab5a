//! Databases that are refused.

use semel_store::{Location, OpenError, Options, Store};

use crate::cluster::{Cluster, Place};

async fn open(place: &Place) -> Result<Store, OpenError> {
    Store::open(&Location::Postgres(place.url()), Options::default()).await
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let place = Place::new();
    open(&place).await.unwrap().close().await.unwrap();
    let client = place.client().await;
    let newer = "INSERT INTO migrations VALUES (99, 'from the future', now())";
    client.batch_execute(newer).await.unwrap();
    let refused = open(&place).await;
    assert!(
        matches!(
            refused,
            Err(OpenError::Newer {
                found: 99,
                known: 2
            })
        ),
        "{refused:?}"
    );
    place.drop_schema().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_may_start_at_once() {
    let place = Place::new();
    let (a, b) = tokio::join!(open(&place), open(&place));
    assert!(a.is_ok() && b.is_ok(), "{a:?} {b:?}");
    place.drop_schema().await;
}

#[tokio::test]
async fn a_server_that_does_not_sync_is_refused() {
    for setting in ["fsync", "full_page_writes"] {
        let cluster = Cluster::start(&format!("{setting} = off"));
        let refused = open(&cluster.place()).await;
        assert!(
            matches!(&refused, Err(OpenError::NotDurable { setting: found, .. }) if *found == setting),
            "{refused:?}"
        );
    }
}

#[tokio::test]
async fn the_ledger_is_readable_by_plain_sql() {
    let place = Place::new();
    let store = open(&place).await.unwrap();
    let owner = semel_ledger::Owner::Node { node: 7, epoch: 1 };
    let change = crate::load::claim("order/1", crate::load::fence(), owner);
    store.step(change).await.unwrap();
    let client = place.client().await;
    let sql = "SELECT key, state, owner, lease_until::text, created_at <= now() FROM ledger";
    let row = client.query_one(sql, &[]).await.unwrap();
    assert_eq!(row.get::<_, &str>(0), "order/1");
    assert_eq!(row.get::<_, &str>(1), "claimed");
    assert_eq!(row.get::<_, &str>(2), "node 7");
    assert_eq!(row.get::<_, &str>(3), "infinity");
    assert!(row.get::<_, bool>(4));
    place.drop_schema().await;
}
