//! How fast this disk makes things durable.

use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use super::Check;
use crate::files;

/// How long to measure.
const WHILE: Duration = Duration::from_millis(400);
/// Slower than this, and one caller at a time will notice.
const SLOW: u128 = 100;

pub(super) fn check(data: &Path) -> Option<Check> {
    if !data.is_dir() {
        return None;
    }
    let path = data.join(format!(".doctor.{}.tmp", std::process::id()));
    let measured = measure(&path);
    let _ = std::fs::remove_file(&path);
    Some(match measured {
        Ok(rate) if rate < SLOW => Check::doubt(
            "disk",
            format!("{rate} syncs a second"),
            "a disk with a protected cache is faster; many callers share one sync",
        ),
        Ok(rate) => Check::good("disk", format!("{rate} syncs a second")),
        Err(error) => Check::bad(
            "disk",
            format!("cannot write and sync: {error}"),
            "look at the disk",
        ),
    })
}

fn measure(path: &Path) -> std::io::Result<u128> {
    let mut file = files::create_private(path)?;
    let page = [7; 4096];
    file.write_all(&page)?;
    file.sync_all()?;
    let start = Instant::now();
    let mut syncs = 0;
    while start.elapsed() < WHILE {
        file.rewind()?;
        file.write_all(&page)?;
        file.sync_data()?;
        syncs += 1;
    }
    Ok(syncs * 1000 / start.elapsed().as_millis().max(1))
}
