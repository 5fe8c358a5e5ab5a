//! `semel runs watch`: a run's timeline as it grows.

use clap::Args;
use serde_json::value::RawValue;

use super::follow::follow;
use super::timeline::Timeline;
use crate::client::{Client, Event};
use crate::term::{Paint, print_line, tone_of};

/// Follow a run until it is over
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Watch {
    /// The run (run_…), or the event that started it (evt_…)
    run: String,
}

const AFTER_HELP: &str = "\
Exit codes: 0 the run is done, 1 it failed or was cancelled.
--json prints a JSON line for each event: {\"event\": \"entry\" | \"state\" | \"end\", \"data\": …}

EXAMPLE
  semel runs watch run_01a1e1ff70450000a929648c6a93ad99
  semel runs watch run_01a1e1ff70450000a929648c6a93ad99 --json | jq .data.text";

impl Watch {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let mut timeline = Timeline::new();
        let ended = follow(client, &self.run, |event| {
            if json {
                print_line(&as_line(event)?);
            } else if event.name == "entry" {
                timeline.print(&serde_json::from_str(&event.data)?);
            }
            Ok(true)
        })
        .await?;
        let Some(ending) = ended else { return Ok(0) };
        let paint = Paint::stderr();
        if !json {
            let text = paint.on(tone_of(&ending.state), &ending.text());
            say!("semel: {} is {text}", ending.run);
        }
        Ok(ending.exit().code())
    }
}

fn as_line(event: &Event) -> anyhow::Result<String> {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        event: &'a str,
        data: &'a RawValue,
    }
    let (event, data) = (event.name.as_str(), serde_json::from_str(&event.data)?);
    Ok(serde_json::to_string(&Line { event, data })?)
}
