//! What a duplicate costs.

use semel_ledger::{Owner, Verdict};
use semel_store::Options;
use tokio_postgres::Client;

use crate::cluster::Cluster;
use crate::load::{claim, fence, settle};

async fn written(client: &Client) -> String {
    let sql = "SELECT pg_current_wal_insert_lsn()::text";
    client.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_claim_writes_nothing() {
    // Nobody else writes there, and nothing happens in the background.
    let cluster = Cluster::start("autovacuum = off\ncheckpoint_timeout = 1h\nbgwriter_delay = 10s");
    let place = cluster.place();
    let store = place.open(Options::default()).await;
    let first = fence();
    store.step(claim("k", first, Owner::Client)).await.unwrap();
    store.step(settle("k", first)).await.unwrap();
    // The first read of a row notes in it that its writer committed.
    store
        .step(claim("k", fence(), Owner::Client))
        .await
        .unwrap();

    let client = place.client().await;
    let checkpoint = "CHECKPOINT";
    client.batch_execute(checkpoint).await.unwrap();
    let before = written(&client).await;
    for _ in 0..300 {
        let answered = store
            .step(claim("k", fence(), Owner::Client))
            .await
            .unwrap();
        assert_eq!(answered.verdict, Verdict::Done);
        let change = claim("k", fence(), Owner::Client).into();
        store.commit(vec![change]).await.unwrap();
    }
    assert_eq!(written(&client).await, before);
    store.write_receipts().await.unwrap();
    assert_ne!(written(&client).await, before, "a receipt is written");
}
