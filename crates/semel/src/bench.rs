mod disk;
mod ledger;
mod load;
use semel_store::*;
use std::{sync::Arc, time::Duration};
pub async fn quick() -> anyhow::Result<()> {
    let dir = std::env::args().nth(1).unwrap();
    let dir = std::path::PathBuf::from(dir);
    std::fs::create_dir_all(&dir)?;
    let b = load::Bounds {
        time: Duration::from_secs(3),
        operations: u64::MAX,
    };
    println!("syncs {:.0}", disk::syncs(&dir, b)?.per_second);
    for n in [1, 64, 512] {
        println!(
            "inserts {n} {:.0}",
            disk::inserts(&dir, n, 230, b)?.per_second
        );
    }
    let store =
        Arc::new(Store::open(&Location::Sqlite(dir.join("semel.db")), Options::default()).await?);
    let mut first = 1_000_000u64;
    ledger::prepare_done(&store, 1).await?;
    for work in ledger::Work::ALL {
        for c in [1, 64, 512] {
            let m = ledger::measure(&store, work, c, b, (first, 1)).await?;
            first += 1_000_000_000;
            println!(
                "{} {c}: {:.0}/s p50 {:.0} p99 {:.0} mem {:.0}",
                work.name(),
                m.per_second,
                m.p50_us,
                m.p99_us,
                m.memory_mb
            );
        }
    }
    Ok(())
}
