//! `semel doctor`: is this machine fit to keep promises?
//!
//! Owns the list of checks and how they are told. Looks only: the one thing it writes is a small
//! file in the data directory, to measure the disk, which it removes. A PostgreSQL store is opened
//! as any command opens it, which makes or updates its tables.

mod backups;
mod database;
mod directory;
mod disk;
mod secrets;
mod server;
mod work;

use std::path::Path;

use clap::Args;
use semel_store::{Location, Options, Store};
use serde::Serialize;
use serde_json::json;

use super::Context;
use crate::config::{Name, parent, redacted};
use crate::failure::Exit;
use crate::term::{Paint, Tone, print_line, shown};

/// Check the data directory, the database, the server and the disk
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  semel doctor --data /var/lib/semel\n  semel doctor --json")]
pub(crate) struct Doctor {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Finding {
    Good,
    Doubt,
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    finding: Finding,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Check {
    fn good(name: &'static str, detail: impl Into<String>) -> Check {
        Check {
            name,
            finding: Finding::Good,
            detail: detail.into(),
            fix: None,
        }
    }

    fn doubt(name: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Check {
        Check {
            finding: Finding::Doubt,
            fix: Some(fix.into()),
            ..Check::good(name, detail)
        }
    }

    fn bad(name: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Check {
        Check {
            finding: Finding::Bad,
            ..Check::doubt(name, detail, fix)
        }
    }
}

impl Doctor {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let mut checks = Vec::new();
        if let Some(url) = context.config.text(Name::Server) {
            checks.extend(server::remote(context, url).await);
            checks.extend(work(context, &checks).await);
        } else {
            let data = context.config.data()?;
            checks.extend(directory::check(&data));
            match context.config.location()? {
                Location::Sqlite(path) => {
                    let owner = server::owner(context, &parent(&path)).await;
                    checks.push(owner.check);
                    if owner.serves {
                        checks.extend(work(context, &checks).await);
                    }
                    checks.push(backups::check(&parent(&path)));
                    checks.extend(database::check(&path));
                    checks.push(secrets::of_file(&data, &path));
                }
                Location::Postgres(url) => checks.extend(postgres(&url, &data).await),
                Location::Memory => {}
            }
            checks.extend(disk::check(&data));
        }
        let ok = checks.iter().all(|check| check.finding != Finding::Bad);
        if context.json {
            Context::print_json(&json!({"ok": ok, "checks": checks}))?;
        } else {
            checks.iter().for_each(print);
        }
        Ok(if ok { Exit::Done } else { Exit::Failed }.code())
    }
}

/// What a server says about its work, if it can be asked at all.
async fn work(context: &Context, before: &[Check]) -> Vec<Check> {
    if before
        .iter()
        .any(|it| it.name == "server" && it.finding == Finding::Bad)
    {
        return Vec::new();
    }
    work::check(context).await.unwrap_or_else(|error| {
        let detail = format!("cannot be asked about its work: {error:#}");
        vec![Check::doubt("server", detail, "look at its log")]
    })
}

fn print(check: &Check) {
    let paint = Paint::stdout();
    let mark = match check.finding {
        Finding::Good => paint.on(Tone::Good, "✓"),
        Finding::Doubt => paint.on(Tone::Doubt, "!"),
        Finding::Bad => paint.on(Tone::Bad, "✗"),
    };
    print_line(&format!(
        "{mark} {:<16} {}",
        check.name,
        shown(&check.detail)
    ));
    if let Some(fix) = &check.fix {
        print_line(&format!("    fix: {}", shown(fix)));
    }
}

/// Opening checks the version and every setting that durability rests on.
async fn postgres(url: &str, data: &Path) -> Vec<Check> {
    let location = Location::Postgres(url.to_owned());
    let shown = redacted(url);
    match Store::open(&location, Options::default()).await {
        Ok(store) => {
            let drift = store.clock().wall_drift();
            let secrets = secrets::of_store(data, &store).await;
            let _ = store.close().await;
            if drift.abs() > 60_000 {
                let detail = format!(
                    "{shown} opens, but its clock differs from this machine's by {drift} ms"
                );
                let clocks = Check::doubt("database", detail, "set both clocks by NTP");
                return vec![clocks, secrets];
            }
            let sound = format!("{shown} opens; version and settings are sound");
            vec![Check::good("database", sound), secrets]
        }
        Err(error) => {
            let detail = format!("{shown}: {:#}", anyhow::Error::from(error));
            vec![Check::bad(
                "database",
                detail,
                "check the address, the password and the server's log",
            )]
        }
    }
}
