//! `semel rerun`: show what doing a run again would do, then do exactly that.

use clap::Args;
use hyper::Method;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::release::short;
use super::runs::{finish, path, tell_again};
use super::{Context, user};
use crate::client::{Access, Answer, Call, Client, Query, quoted};
use crate::failure::{Exit, Failure};
use crate::term::{print_line, print_table, shortened, shown};

/// Do a run again: first show for each step what would happen, then do exactly that
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Rerun {
    /// The run (run_…), or the event that started it (evt_…)
    #[arg(required_unless_present = "unit", conflicts_with = "unit")]
    run: Option<String>,
    /// Instead of a run: the latest of the flow about this key
    #[arg(
        long,
        value_name = "KEY",
        requires = "flow",
        allow_hyphen_values = true
    )]
    unit: Option<String>,
    /// With --unit: which flow
    #[arg(long, requires = "unit")]
    flow: Option<String>,
    /// By this release: live, or rel_… [default: the one the run had]
    #[arg(long, value_name = "live|REL")]
    release: Option<String>,
    /// Show what would happen, and change nothing
    #[arg(
        long,
        required_unless_present = "plan_hash",
        conflicts_with = "plan_hash"
    )]
    plan: bool,
    /// Carry out the plan that was shown with this hash, if it is still true
    #[arg(long, value_name = "HASH")]
    plan_hash: Option<String>,
    /// With --plan-hash: wait until the new run is over, or waits for a person
    #[arg(long, conflicts_with = "plan")]
    wait: bool,
    /// Who asks [default: $USER]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

const AFTER_HELP: &str = "\
For each step: reuse (its recorded result stands), execute, blocked (it cannot be done), ask (a person
must decide first). Exit code 4: the plan has changed since it was shown, and nothing was started.

EXAMPLE
  semel rerun run_01a1e1ff70450000a929648c6a93ad99 --plan
  semel rerun run_01a1e1ff70450000a929648c6a93ad99 --plan-hash 1f0c9a3b5d7e2468
  semel rerun --unit order/10492 --flow order-paid --release live --plan";

#[derive(Debug, Deserialize)]
struct Plan {
    run: String,
    flow: String,
    key: String,
    release: String,
    #[serde(rename = "plan_hash")]
    hash: String,
    steps: Vec<Planned>,
}

#[derive(Debug, Deserialize)]
struct Planned {
    step: String,
    class: String,
    what: String,
    why: String,
    effect: Option<Effect>,
}

#[derive(Debug, Deserialize)]
struct Effect {
    scope: String,
    key: String,
}

#[derive(Debug, Deserialize)]
struct Started {
    status: String,
    run: Option<String>,
}

impl Rerun {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        let run = match (&self.run, &self.unit) {
            (Some(run), _) => run.clone(),
            (None, unit) => {
                self.latest(&client, unit.as_deref().unwrap_or_default())
                    .await?
            }
        };
        match &self.plan_hash {
            None => self.show(&client, &run, context.json).await,
            Some(hash) => self.carry_out(&client, &run, hash, context.json).await,
        }
    }

    /// The latest run about a key.
    async fn latest(&self, client: &Client, key: &str) -> anyhow::Result<String> {
        #[derive(Deserialize)]
        struct Row {
            run: String,
        }
        #[derive(Deserialize)]
        struct Listed {
            runs: Vec<Row>,
        }
        let query = Query::default()
            .with_some("flow", self.flow.as_deref())
            .with("key", key)
            .with("limit", "1");
        let call = Call::get(query.after("/v1/runs"));
        let listed: Listed = client.ask(Access::Existing, call).await?.read()?;
        let latest = listed.runs.into_iter().next().map(|row| row.run);
        latest.ok_or_else(|| {
            let flow = self.flow.as_deref().unwrap_or_default();
            let message = format!("no run of {} is about {}", shown(flow), shown(key));
            let fix = "the key is the whole key of the run, as semel runs ls shows it";
            Failure::failed(message).fix(fix).into()
        })
    }

    async fn show(&self, client: &Client, run: &str, json: bool) -> anyhow::Result<u8> {
        let mut body = json!({});
        if let Some(release) = &self.release {
            body["release"] = release.as_str().into();
        }
        let call = Call::json(Method::POST, path(run, "/plan"), &body);
        let found: Box<RawValue> = client.ask(Access::Existing, call).await?.read()?;
        if json {
            print_line(found.get());
            return Ok(0);
        }
        let plan: Plan = serde_json::from_str(found.get())?;
        plan.print();
        let release = self
            .release
            .as_deref()
            .map(|it| format!(" --release {}", quoted(it)));
        let release = release.unwrap_or_default();
        let (run, hash) = (&plan.run, &plan.hash);
        say!(
            "semel: nothing was done; to do exactly this: semel rerun {run}{release} --plan-hash {hash}"
        );
        Ok(0)
    }

    async fn carry_out(
        &self,
        client: &Client,
        run: &str,
        hash: &str,
        json: bool,
    ) -> anyhow::Result<u8> {
        let mut body = json!({"plan_hash": hash});
        if let Some(release) = &self.release {
            body["release"] = release.as_str().into();
        }
        if let Some(by) = self.by.clone().or_else(user) {
            body["by"] = by.into();
        }
        let call = Call::json(Method::POST, path(run, "/rerun"), &body);
        let answer = client.ask(Access::Existing, call).await?;
        if !answer.status.is_success() {
            return Err(refused(&answer, json).into());
        }
        let mut document: Value = answer.parse()?;
        let started: Started = serde_json::from_value(document.clone())?;
        if !json {
            tell_again(&started.status, started.run.as_deref());
        }
        let mut exit = Exit::Done;
        if let Some(run) = started.run.filter(|_| self.wait) {
            let ending = finish(client, &run).await?;
            exit = ending.exit();
            document["state"] = ending.state.as_str().into();
            document["why"] = ending.why.as_str().into();
            if !json {
                say!("semel: {run} is {}", ending.text());
            }
        }
        if json {
            Context::print_json(&document)?;
        }
        Ok(exit.code())
    }
}

/// Why nothing was started; a plan that has changed is shown as it is now.
fn refused(answer: &Answer, json: bool) -> Failure {
    #[derive(Deserialize)]
    struct Document {
        plan: Plan,
    }
    let failure = answer.problem();
    if failure.code.as_deref() != Some("plan_changed") {
        return failure;
    }
    if let Ok(Document { plan }) = answer.parse()
        && !json
    {
        plan.print();
    }
    Failure {
        exit: Exit::Conflict,
        fix: Some("look at the plan as it is now (--plan), and take its hash".to_owned()),
        ..failure
    }
}

impl Plan {
    fn print(&self) {
        let title = format!(
            "{} {} ({}), by {}",
            shown(&self.flow),
            shown(&self.key),
            self.run,
            short(&self.release)
        );
        print_line(&title);
        let cells = |planned: &Planned| {
            let effect = planned.effect.as_ref();
            vec![
                planned.what.clone(),
                shown(&planned.step).into_owned(),
                planned.class.clone(),
                shortened(&planned.why, 100),
                effect
                    .map(|it| shortened(&format!("{} {}", it.scope, it.key), 80))
                    .unwrap_or_default(),
            ]
        };
        let rows = self.steps.iter().map(cells).collect();
        print_table(&["plan", "step", "class", "why", "effect"], rows);
        print_line(&format!("plan hash: {}", self.hash));
    }
}
