//! Databases that are refused.

use semel_store::access::Scopes;
use semel_store::{Location, OpenError, Options, Store};

use crate::cluster::{Cluster, Place};
use crate::shared::runs::start;

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
                known: 7
            })
        ),
        "{refused:?}"
    );
    place.drop_schema().await;
}

#[tokio::test]
async fn a_database_of_the_first_schema_is_brought_up_to_date() {
    let place = Place::new();
    open(&place).await.unwrap().close().await.unwrap();
    let client = place.client().await;
    let first = include_str!("../../src/postgres/migrations/0001_ledger.sql");
    let back = "DO $$ DECLARE old text := current_schema(); BEGIN \
                EXECUTE 'DROP SCHEMA ' || old || ' CASCADE'; EXECUTE 'CREATE SCHEMA ' || old; END $$; \
                CREATE TABLE migrations \
                    (version bigint PRIMARY KEY, name text NOT NULL, at timestamptz NOT NULL); \
                INSERT INTO migrations VALUES (1, 'ledger', now())";
    client.batch_execute(back).await.unwrap();
    client.batch_execute(first).await.unwrap();
    let token = "INSERT INTO tokens (id, name, hash, created_at) VALUES ('tok_1', 'n', $1, 1)";
    client
        .execute(token, &[&[1u8; 32].as_slice()])
        .await
        .unwrap();

    let store = open(&place).await.unwrap();
    let tokens = store.tokens().await.unwrap();
    assert_eq!(tokens.len(), 1);
    assert_eq!(tokens[0].scopes, Scopes::ALL, "it keeps what it could do");
    store.start(start(1)).await.unwrap();
    let row = client
        .query_one("SELECT flow, state FROM run_list", &[])
        .await;
    let row = row.unwrap();
    let shown: (&str, &str) = (row.get(0), row.get(1));
    assert_eq!(shown, ("orders", "running"));
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
