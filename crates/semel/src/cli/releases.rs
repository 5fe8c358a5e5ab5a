//! `semel releases`: the texts of flows that were deployed.

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use super::Context;
use super::release::{self, Release};
use crate::client::{Access, Call, Client};
use crate::term::{print_table, shown};
use crate::when;

/// List releases of a flow, the newest first; without a name, what is live
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel releases\n  semel releases order-paid\n  semel releases order-paid --json"
)]
pub(crate) struct Releases {
    /// Which flow
    flow: Option<String>,
}

/// What is live.
#[derive(Debug, Deserialize)]
struct Live {
    flows: Vec<Release>,
}

impl Releases {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        let releases = if let Some(flow) = &self.flow {
            release::releases(&client, flow).await?
        } else {
            let answer = client.ask(Access::Existing, Call::get("/v1/flows")).await?;
            answer.read::<Live>()?.flows
        };
        if context.json {
            Context::print_json(&json!({"releases": releases}))?;
            return Ok(0);
        }
        if releases.is_empty() {
            say!("semel: no flow is live; semel deploy FILE deploys one");
            return Ok(0);
        }
        let header = ["state", "flow", "release", "deployed (UTC)", "by"];
        print_table(&header, releases.iter().map(cells).collect());
        Ok(0)
    }
}

fn cells(release: &Release) -> Vec<String> {
    let at = release.created_at.as_deref().map(when::short);
    let by = release.by.as_deref().map(shown);
    vec![
        release.state().replace(' ', "-"),
        shown(&release.flow).into_owned(),
        release.short().to_owned(),
        at.unwrap_or_default(),
        by.unwrap_or_default().into_owned(),
    ]
}
