//! The data directory and the token in it.

use std::path::Path;

use super::Check;
use crate::client::quoted;
use crate::files;

/// Below this the store will soon be full.
const LITTLE_SPACE: u64 = 1 << 30;
const NO_SPACE: u64 = 64 << 20;

pub(super) fn check(data: &Path) -> Vec<Check> {
    let shown = data.display().to_string();
    let Some(mode) = files::mode(data) else {
        return vec![Check::bad(
            "data directory",
            format!("{shown} is not there"),
            "semel serve or semel once makes it; or name another with --data DIR",
        )];
    };
    let word = quoted(&shown);
    let mut checks = vec![if mode & 0o077 == 0 {
        Check::good("data directory", shown)
    } else {
        let detail = format!("{shown} can be entered by others (mode {mode:03o})");
        Check::doubt("data directory", detail, format!("chmod 700 {word}"))
    }];
    checks.push(match semel_store::sqlite::network_file_system(data) {
        Some(kind) => Check::bad(
            "file system",
            format!("{kind}: locks and syncs cannot be trusted there"),
            "use a local disk, or PostgreSQL",
        ),
        None => Check::good("file system", "local"),
    });
    checks.extend(space(data));
    checks.push(token(data));
    checks
}

fn space(data: &Path) -> Option<Check> {
    let found = rustix::fs::statvfs(data).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let detail = format!("{} MiB free", free >> 20);
    let fix = "make room, or move the data directory to a larger disk";
    Some(match free {
        free if free < NO_SPACE => Check::bad("space", detail, fix),
        free if free < LITTLE_SPACE => Check::doubt("space", detail, fix),
        _ => Check::good("space", detail),
    })
}

fn token(data: &Path) -> Check {
    let path = data.join("token");
    let shown = path.display().to_string();
    match files::mode(&path) {
        None => Check::doubt(
            "token file",
            format!("{shown} is not there"),
            "semel serve makes it at its first start",
        ),
        Some(mode) if mode & 0o077 != 0 => Check::bad(
            "token file",
            format!("{shown} can be read by others (mode {mode:03o})"),
            format!("chmod 600 {}", quoted(&shown)),
        ),
        Some(_) => Check::good("token file", shown),
    }
}
