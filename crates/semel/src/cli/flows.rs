//! `semel flows`: what is live.

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::release::Release;
use super::{Context, steps};
use crate::client::{Access, Call, Client, segment};
use crate::term::{Paint, Tone, print_line, print_table, shown};
use crate::when;

/// List, look at and end flows that take triggers
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  semel flows ls\n  semel flows show order-paid")]
pub(crate) struct Flows {
    #[command(subcommand)]
    verb: FlowsVerb,
}

#[derive(Debug, Subcommand)]
enum FlowsVerb {
    /// List what is live
    #[command(after_help = "EXAMPLE\n  semel flows ls --json")]
    Ls,
    /// Show a flow: what starts it, and what each step does
    #[command(
        after_help = "EXAMPLE\n  semel flows show order-paid\n  semel flows show order-paid --source"
    )]
    Show {
        /// Which flow
        flow: String,
        /// Print the flow file that is live, and nothing else
        #[arg(long)]
        source: bool,
    },
    /// Let a flow take no more triggers; runs under way go on, and what is done stays on record
    #[command(after_help = "EXAMPLE\n  semel flows retire order-paid")]
    Retire {
        /// Which flow
        flow: String,
    },
}

#[derive(Debug, Deserialize)]
struct Listed {
    flows: Vec<Flow>,
}

#[derive(Debug, Deserialize)]
struct Flow {
    #[serde(flatten)]
    release: Release,
    #[serde(default)]
    triggers: Vec<Value>,
    description: Option<String>,
    remember: Option<String>,
    overlap: Option<String>,
    #[serde(default)]
    steps: Vec<steps::Row>,
}

impl Flows {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        match self.verb {
            FlowsVerb::Ls => list(&client, context.json).await,
            FlowsVerb::Show { flow, source } => show(&client, &flow, source, context.json).await,
            FlowsVerb::Retire { flow } => retire(&client, &flow, context.json).await,
        }?;
        Ok(0)
    }
}

async fn list(client: &Client, json: bool) -> anyhow::Result<()> {
    let answer = client.ask(Access::Existing, Call::get("/v1/flows")).await?;
    let found: Box<RawValue> = answer.read()?;
    if json {
        print_line(found.get());
        return Ok(());
    }
    let listed: Listed = serde_json::from_str(found.get())?;
    if listed.flows.is_empty() {
        say!("semel: no flow is live; semel deploy FILE deploys one");
        return Ok(());
    }
    let row = |flow: &Flow| {
        let triggers: Vec<_> = flow.triggers.iter().map(trigger).collect();
        let release = &flow.release;
        vec![
            release.state().to_owned(),
            shown(&release.flow).into_owned(),
            release.short().to_owned(),
            release
                .live_at
                .as_deref()
                .map(when::short)
                .unwrap_or_default(),
            triggers.join(", "),
        ]
    };
    let rows = listed.flows.iter().map(row).collect();
    print_table(
        &["state", "flow", "release", "since (UTC)", "started by"],
        rows,
    );
    Ok(())
}

/// What starts a flow, in a few words.
fn trigger(trigger: &Value) -> String {
    let text = |name: &str| trigger.get(name).and_then(Value::as_str);
    let words = match (text("kind"), text("cron"), text("every")) {
        (Some("webhook"), ..) => format!("webhook {}", text("path").unwrap_or_default()),
        (Some("event"), ..) => format!("event {}", text("event").unwrap_or_default()),
        (Some(kind), Some(cron), _) => {
            format!("{kind} {cron:?} {}", text("zone").unwrap_or_default())
        }
        (Some(kind), _, Some(every)) => format!("{kind} every {every}"),
        (kind, ..) => kind.unwrap_or_default().to_owned(),
    };
    shown(&words).into_owned()
}

async fn show(client: &Client, flow: &str, source: bool, json: bool) -> anyhow::Result<()> {
    let call = Call::get(format!("/v1/flows/{}", segment(flow)));
    let found: Box<RawValue> = client.ask(Access::Existing, call).await?.read()?;
    if json {
        print_line(found.get());
        return Ok(());
    }
    let flow: Flow = serde_json::from_str(found.get())?;
    if source {
        print_line(flow.release.source.trim_end_matches('\n'));
        return Ok(());
    }
    let paint = Paint::stdout();
    let row = |name: &str, value: &str| {
        if !value.is_empty() {
            let name = paint.on(Tone::Dim, &format!("{name:<12}"));
            print_line(&format!("{name} {value}"));
        }
    };
    let text = |text: &Option<String>| text.as_deref().map(shown).unwrap_or_default().into_owned();
    let release = &flow.release;
    row("flow", &shown(&release.flow));
    row("about", &text(&flow.description));
    row("release", release.short());
    let since = release.live_at.as_deref().map(when::short);
    row(
        "live since",
        &since.map(|at| at + " UTC").unwrap_or_default(),
    );
    row("by", &text(&release.by));
    for (index, started) in flow.triggers.iter().map(trigger).enumerate() {
        row(if index == 0 { "started by" } else { "" }, &started);
    }
    row("remembered", &text(&flow.remember));
    row("overlap", &text(&flow.overlap));
    print_line("");
    steps::print(&flow.steps);
    Ok(())
}

async fn retire(client: &Client, flow: &str, json: bool) -> anyhow::Result<()> {
    let call = Call::delete(format!("/v1/flows/{}", segment(flow)));
    let found: Box<RawValue> = client.ask(Access::Existing, call).await?.read()?;
    if json {
        print_line(found.get());
    } else {
        say!(
            "semel: {} takes no more triggers; semel deploy or semel rollback brings it back",
            shown(flow)
        );
    }
    Ok(())
}
