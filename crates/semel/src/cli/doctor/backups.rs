//! Is there a backup of the file?

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::Check;
use crate::cli::backup::MARK;

/// How old the last one may be.
const OLD: Duration = Duration::from_hours(7 * 24);
const FIX: &str = "semel backup FILE makes one while the server runs; let a timer do it every day";

pub(super) fn check(directory: &Path) -> Check {
    let made = std::fs::metadata(directory.join(MARK)).and_then(|mark| mark.modified());
    let Ok(made) = made else {
        let detail = "none was made with semel backup";
        return Check::doubt("backup", detail, FIX);
    };
    let age = SystemTime::now().duration_since(made).unwrap_or_default();
    let days = age.as_secs() / 86_400;
    if age > OLD {
        let detail = format!("the last one was made {days} days ago");
        return Check::doubt("backup", detail, FIX);
    }
    let detail = match days {
        0 => "the last one was made within a day".to_owned(),
        days => format!("the last one was made {days} days ago"),
    };
    Check::good("backup", detail)
}
