//! `semel diff`: what changed between two releases, and what that means for keys.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use similar::TextDiff;

use super::Context;
use super::release::{self, Lost, Release, print_lost};
use crate::client::Client;
use crate::failure::Failure;
use crate::flows;
use crate::term::{Paint, Tone, print_line, shown_lines};

/// Show what changed between two releases of a flow, or between the live one and a file
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Diff {
    /// Which flow; or a flow file, which is compared with the live release
    #[arg(value_name = "FLOW|FILE")]
    flow: String,
    /// From this release [default: the one that was live before]
    #[arg(value_name = "REL")]
    from: Option<String>,
    /// To this release [default: the live one]
    #[arg(value_name = "REL")]
    to: Option<String>,
}

const AFTER_HELP: &str = "\
EXAMPLE
  semel diff order-paid                         # the live release and the one before
  semel diff order-paid rel_1f0c9a3b5d7e        # that one and the live one
  semel diff flows/order.yaml                   # what a deploy would change";

/// One side.
struct Side {
    name: String,
    text: String,
}

impl From<Release> for Side {
    fn from(release: Release) -> Side {
        Side {
            name: format!("{} ({})", release.short(), release.state()),
            text: release.source,
        }
    }
}

impl Diff {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        let path = Path::new(&self.flow);
        let (flow, from, to) = if path.is_file() {
            self.with_file(&client, path.to_owned()).await?
        } else {
            let (from, to) = self.releases(&client).await?;
            (self.flow.clone(), from, to)
        };
        let diff = TextDiff::from_lines(&from.text, &to.text);
        let text = diff.unified_diff().header(&from.name, &to.name).to_string();
        let lost = lost(&from.text, &to.text);
        if context.json {
            Context::print_json(&json!({
                "flow": flow, "from": from.name, "to": to.name, "diff": text, "abandons": lost,
            }))?;
            return Ok(0);
        }
        if text.is_empty() {
            say!("semel: {} and {} say the same", from.name, to.name);
            return Ok(0);
        }
        print(&text);
        if lost.is_empty() {
            print_line("keys: all that is done is found again");
        }
        print_lost(&lost);
        Ok(0)
    }

    async fn releases(&self, client: &Client) -> anyhow::Result<(Side, Side)> {
        let all = release::releases(client, &self.flow).await?;
        let live = all.iter().find(|release| release.live);
        let to = match (&self.to, live) {
            (Some(name), _) => name,
            (None, Some(live)) => &live.name,
            (None, None) => return Err(self.none_live().into()),
        };
        let before = || {
            let earlier = all.iter().filter(|release| !release.live);
            earlier.max_by_key(|release| release.live_at.clone())
        };
        let from = match (&self.from, before()) {
            (Some(name), _) => name,
            (None, Some(before)) => &before.name,
            (None, None) => {
                return Err(Failure::failed("there is only one release of this flow")
                    .fix("semel diff FILE compares it with a file")
                    .into());
            }
        };
        let from = release::release(client, from).await?;
        let to = release::release(client, to).await?;
        Ok((from.into(), to.into()))
    }

    fn none_live(&self) -> Failure {
        Failure::failed(format!("no release of {} is live", self.flow))
            .fix("name two releases; semel releases FLOW lists them")
    }

    async fn with_file(
        &self,
        client: &Client,
        path: PathBuf,
    ) -> anyhow::Result<(String, Side, Side)> {
        let mut files = flows::read(&[path])?;
        let file = files.pop().filter(|file| file.flow.is_some());
        let flow = file.as_ref().and_then(|file| file.flow.as_ref());
        let Some((file, flow)) = file.as_ref().zip(flow) else {
            return Err(Failure::failed("the file cannot be read as a flow")
                .fix(format!("semel check {}", self.flow))
                .into());
        };
        let name = flow.name.it.clone();
        let from = if let Some(from) = &self.from {
            release::release(client, from).await?
        } else {
            let all = release::releases(client, &name).await?;
            let live = all.iter().find(|release| release.live);
            let live = live.ok_or_else(|| self.none_live())?;
            release::release(client, &live.name).await?
        };
        let to = Side {
            name: file.name(),
            text: file.text.clone(),
        };
        Ok((name, from.into(), to))
    }
}

/// What the second text would not find of what the first has done.
fn lost(from: &str, to: &str) -> Vec<Lost> {
    let (from, to) = (semel_flow::read(from).flow, semel_flow::read(to).flow);
    let Some((from, to)) = from.zip(to) else {
        return Vec::new();
    };
    let lost = semel_flow::abandoned(&from, &to).into_iter();
    lost.map(|lost| Lost {
        scope: lost.scope,
        step: lost.step,
        keys: None,
        why: lost.why,
        keep: lost.keep,
    })
    .collect()
}

fn print(text: &str) {
    let paint = Paint::stdout();
    for line in text.lines() {
        let tone = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => Tone::Strong,
            [b'+', ..] => Tone::Good,
            [b'-', ..] => Tone::Bad,
            [b'@', ..] => Tone::Busy,
            _ => Tone::Dim,
        };
        print_line(&paint.on(tone, &shown_lines(line)));
    }
}
