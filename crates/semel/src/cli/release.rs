//! Releases as the API tells of them, and how they are shown.

use serde::{Deserialize, Serialize};

use crate::client::{Access, Call, Client, segment};
use crate::term::{Paint, Tone, print_line, shown};

/// How many digits of a release's name are shown; as many are understood.
const DIGITS: usize = 12;

/// A release, with its text if that was asked for.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Release {
    #[serde(rename = "release")]
    pub(super) name: String,
    pub(super) flow: String,
    pub(super) live: bool,
    pub(super) live_at: Option<String>,
    pub(super) created_at: Option<String>,
    pub(super) by: Option<String>,
    #[serde(default, skip_serializing)]
    pub(super) source: String,
}

impl Release {
    /// Its name, as far as it is needed to tell it from others.
    pub(super) fn short(&self) -> &str {
        short(&self.name)
    }

    /// Whether it takes triggers, or ever did.
    pub(super) fn state(&self) -> &'static str {
        match (self.live, &self.live_at) {
            (true, _) => "live",
            (false, Some(_)) => "was live",
            (false, None) => "draft",
        }
    }
}

/// A release's name, as far as it is needed.
pub(super) fn short(release: &str) -> &str {
    let end = "rel_".len() + DIGITS;
    release.get(..end).unwrap_or(release)
}

/// Done keys that another release would not find.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Lost {
    pub(super) scope: String,
    pub(super) step: Option<String>,
    /// How many, where the ledger was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) keys: Option<u64>,
    pub(super) why: String,
    pub(super) keep: String,
}

impl Lost {
    /// One of them, for people.
    pub(super) fn lines(&self) -> String {
        let whose = match &self.step {
            Some(step) => format!("step {}", shown(step)),
            None => "the flow's runs".to_owned(),
        };
        let keys = match self.keys {
            Some(1) => "1 done key".to_owned(),
            Some(keys) => format!("{keys} done keys"),
            None => "done keys".to_owned(),
        };
        format!(
            "{keys} of {whose} (scope {}) would not be found: {}\n  to keep them: {}",
            shown(&self.scope),
            shown(&self.why),
            shown(&self.keep)
        )
    }
}

/// Prints what would not be found, as a warning each.
pub(super) fn print_lost(lost: &[Lost]) {
    let paint = Paint::stdout();
    for lost in lost {
        print_line(&format!(
            "{} {}",
            paint.on(Tone::Doubt, "keys:"),
            lost.lines()
        ));
    }
}

/// All releases of a flow, the newest first.
pub(super) async fn releases(client: &Client, flow: &str) -> anyhow::Result<Vec<Release>> {
    #[derive(Deserialize)]
    struct Listed {
        releases: Vec<Release>,
    }
    let path = format!("/v1/flows/{}/releases", segment(flow));
    let listed: Listed = client
        .ask(Access::Existing, Call::get(path))
        .await?
        .read()?;
    Ok(listed.releases)
}

/// One release with its text.
pub(super) async fn release(client: &Client, name: &str) -> anyhow::Result<Release> {
    let path = format!("/v1/releases/{}", segment(name));
    client.ask(Access::Existing, Call::get(path)).await?.read()
}
