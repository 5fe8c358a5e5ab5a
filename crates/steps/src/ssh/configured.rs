//! What the operator's configuration of `ssh` says about a host.
//!
//! A flow may write any host. One that the configuration leads to (by a name of its own, or through
//! another machine) is the operator's word; any other is judged as if there were no configuration.

use std::path::Path;

use tokio::time::Instant;

use super::SshSettings;
use super::plan::Plan;
use crate::process::{End, Program};

/// How much of an answer is read.
const LIMIT: usize = 64 * 1024;

/// How `ssh` would get to a host.
#[derive(Debug, Default, PartialEq, Eq)]
struct Way {
    name: String,
    through: Option<String>,
}

/// Whether the configuration itself says how to get to the host; `None` if it cannot be read.
pub(super) async fn leads(
    settings: &SshSettings,
    config: &Path,
    plan: &Plan,
    by: Instant,
) -> Option<bool> {
    let with = way(settings, &config.display().to_string(), plan, by).await?;
    // `ssh` spells some hosts anew by itself, such as 127.1: that is not the operator's word.
    let without = way(settings, "none", plan, by).await?;
    Some(with != without)
}

/// Asks `ssh` what it would do with that configuration.
async fn way(settings: &SshSettings, config: &str, plan: &Plan, by: Instant) -> Option<Way> {
    let port = format!("Port={}", plan.port);
    let user = format!("User={}", plan.user);
    let words = [
        "-G", "-F", config, "-o", &port, "-o", &user, "--", &plan.host,
    ];
    let program = Program {
        path: settings.program.clone(),
        arguments: words.map(Into::into).to_vec(),
        env: Vec::new(),
        dir: "/".into(),
        limit: LIMIT,
    };
    let mut running = program.start().ok()?;
    let ended = running.finish(&[], by).await.ok()?;
    let said = running.output().stdout;
    (ended == End::Code(0)).then(|| read(&String::from_utf8_lossy(&said.bytes)))
}

/// Reads what `ssh -G` says: a setting and its value on each line.
fn read(said: &str) -> Way {
    let mut way = Way::default();
    for line in said.lines() {
        match line.split_once(' ') {
            Some(("hostname", name)) => way.name = name.to_ascii_lowercase(),
            Some(("proxyjump" | "proxycommand", through)) if through != "none" => {
                way.through = Some(through.to_owned());
            }
            _ => {}
        }
    }
    way
}
