mod disk;
mod ledger;
mod load;
use semel_store::*;
use std::{sync::Arc, time::Duration};
pub async fn quick() -> anyhow::Result<()> {
    let dir = std::env::args().nth(1).unwrap();
    let work: usize = std::env::args().nth(2).unwrap().parse()?;
    let callers: usize = std::env::args().nth(3).unwrap().parse()?;
    let dir = std::path::PathBuf::from(dir);
    std::fs::create_dir_all(&dir)?;
    let b = load::Bounds {
        time: Duration::from_secs(4),
        operations: u64::MAX,
    };
    let i = disk::inserts(&dir, callers, 230, b)?;
    println!("inserts {:.0} p50 {:.0}", i.per_second, i.p50_us);
    let store =
        Arc::new(Store::open(&Location::Sqlite(dir.join("semel.db")), Options::default()).await?);
    if work == 3 {
        ledger::prepare_done(&store, 1).await?;
    }
    let c0 = cpu();
    let m = ledger::measure(&store, ledger::Work::ALL[work], callers, b, (1_000_000, 1)).await?;
    println!(
        "{work} {callers}: {:.0}/s p50 {:.0} p99 {:.0} mem {:.0} cpu/op {:.1}us",
        m.per_second,
        m.p50_us,
        m.p99_us,
        m.memory_mb,
        (cpu() - c0) / m.operations as f64 * 1e6
    );
    Ok(())
}
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) / 100.0
}
