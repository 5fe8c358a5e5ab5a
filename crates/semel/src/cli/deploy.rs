//! `semel deploy`: flow files become releases that take triggers.

use std::path::PathBuf;

use clap::Args;
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Context;
use super::check::tell_missing;
use super::release::{Lost, short};
use crate::client::{Access, Answer, Call, Client, Session};
use crate::failure::Failure;
use crate::flows::{self, FlowFile};
use crate::term::{Paint, shown};

/// Check flow files and let them take triggers; the same text again changes nothing
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Deploy {
    /// Flow files, or folders of them (*.yaml, *.yml)
    #[arg(required = true, value_name = "FILE|DIR")]
    files: Vec<PathBuf>,
    /// Keep the release from triggers; semel trigger --draft REL runs it
    #[arg(long)]
    draft: bool,
    /// Let it take triggers beside what is live and only record what it would do; semel shadow report compares
    #[arg(long, conflicts_with_all = ["draft", "abandon_keys"])]
    shadow: bool,
    /// Although done keys of the live release would not be found any more
    #[arg(long)]
    abandon_keys: bool,
}

const AFTER_HELP: &str = "\
Runs that are under way keep the release they began with.

EXAMPLE
  semel deploy flows/order.yaml
  semel deploy flows --json
  semel deploy flows/order.yaml --draft
  semel deploy flows/order.yaml --shadow";

/// What became of a file.
#[derive(Debug, Deserialize, Serialize)]
struct Deployed {
    status: String,
    flow: String,
    release: String,
    #[serde(default)]
    missing_secrets: Vec<String>,
}

/// A file and what became of it.
struct Outcome<'a> {
    file: &'a FlowFile,
    became: Result<Deployed, Failure>,
}

impl Deploy {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let files = flows::read(&self.files)?;
        for file in &files {
            let drawn = file.drawn(Paint::stderr().is_on());
            if !drawn.is_empty() {
                say!("{}", drawn.trim_end());
            }
        }
        let wrong = files.iter().filter(|file| file.has_errors()).count();
        if wrong > 0 {
            let message = format!(
                "nothing was deployed: {wrong} of {} files have errors",
                files.len()
            );
            return Err(Failure::failed(message)
                .fix("mend what is said above; semel check shows it again")
                .into());
        }
        let client = Client::new(&context.config)?;
        let session = client.connect(Access::Create).await?;
        let outcomes = self.deploy(&session, &files).await?;
        session.close().await?;
        let failed = outcomes.iter().filter(|it| it.became.is_err()).count();
        if context.json {
            let documents: Vec<_> = outcomes.iter().map(Outcome::document).collect();
            Context::print_json(&json!({"ok": failed == 0, "flows": documents}))?;
        }
        outcomes.iter().for_each(Outcome::tell);
        Ok(u8::from(failed > 0))
    }

    /// Deploys one after the other. A path that one flow gives up and another takes is free only
    /// after the first, so what met a taken path is tried once more.
    async fn deploy<'a>(
        &self,
        session: &Session,
        files: &'a [FlowFile],
    ) -> anyhow::Result<Vec<Outcome<'a>>> {
        let mut outcomes = Vec::new();
        for file in files {
            let became = self.one(session, file).await?;
            outcomes.push(Outcome { file, became });
        }
        for outcome in &mut outcomes {
            let code = outcome
                .became
                .as_ref()
                .err()
                .and_then(|it| it.code.as_deref());
            if code == Some("path_taken") {
                outcome.became = self.one(session, outcome.file).await?;
            }
        }
        Ok(outcomes)
    }

    async fn one(
        &self,
        session: &Session,
        file: &FlowFile,
    ) -> anyhow::Result<Result<Deployed, Failure>> {
        let body = json!({"source": file.text, "draft": self.draft, "abandon": self.abandon_keys, "shadow": self.shadow});
        let call = Call::json(Method::POST, "/v1/flows".to_owned(), &body);
        let answer = session.send(call).await?;
        if answer.status.is_success() {
            return Ok(Ok(answer.parse()?));
        }
        Ok(Err(refused(&answer, "semel deploy … --abandon-keys")))
    }
}

/// Why a release does not take triggers; keys that would be forgotten are told one by one.
pub(super) fn refused(answer: &Answer, abandon: &str) -> Failure {
    #[derive(Deserialize)]
    struct Document {
        abandoned: Vec<Lost>,
    }
    let mut failure = answer.problem();
    if failure.code.as_deref() == Some("keys_abandoned")
        && let Ok(document) = answer.parse::<Document>()
    {
        for lost in &document.abandoned {
            failure.message.push_str("\n  ");
            failure
                .message
                .push_str(&lost.lines().replace('\n', "\n  "));
        }
        failure.fix = Some(format!("write what keeps them, or forget them: {abandon}"));
    }
    failure
}

impl Outcome<'_> {
    fn document(&self) -> Value {
        let file = &self.file.path;
        match &self.became {
            Ok(Deployed {
                status,
                flow,
                release,
                missing_secrets,
            }) => json!({
                "file": file,
                "flow": flow,
                "status": status,
                "release": release,
                "missing_secrets": missing_secrets,
            }),
            Err(failure) => json!({
                "file": file,
                "flow": self.file.flow.as_ref().map(|flow| &flow.name.it),
                "status": "refused",
                "error": {"message": failure.message, "code": failure.code, "fix": failure.fix},
            }),
        }
    }

    fn tell(&self) {
        let name = self.file.name();
        match &self.became {
            Ok(deployed) => {
                let (flow, release) = (shown(&deployed.flow), short(&deployed.release));
                match deployed.status.as_str() {
                    "live" => say!("semel: {name}: {flow} is live as {release}"),
                    "draft" => say!(
                        "semel: {name}: {flow} is kept as {release}, a draft; to run it: semel trigger {flow} --draft {release} --key KEY"
                    ),
                    "shadow" => say!(
                        "semel: {name}: {flow} takes triggers as {release} and does nothing; semel shadow report {} compares",
                        shown(flow.trim_end_matches("~shadow"))
                    ),
                    _ => say!("semel: {name}: {flow} is unchanged ({release})"),
                }
                tell_missing(&name, &deployed.missing_secrets);
            }
            Err(failure) => {
                say!("semel: error: {name}: {}", failure.message);
                if let Some(fix) = &failure.fix {
                    say!("  fix: {fix}");
                }
            }
        }
    }
}
