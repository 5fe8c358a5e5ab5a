//! `semel once`: run a command the first time, replay it ever after.
//!
//! Owns the order claim → act → settle for one command. The parts: what the input is ([`input`]),
//! asking ([`claim`]), running ([`act`], [`stream`]), holding the claim meanwhile ([`hold`]), saying
//! how it ended ([`settle`]), answering from the record ([`replay`]), and all that can go amiss
//! ([`amiss`]).
//!
//! The invariants: the command starts only under a grant; what is settled as done was seen to end;
//! whatever semel cannot know (it lost the claim, the command was killed, the ledger cannot be
//! reached) is never settled as done and ends with exit code 3 or on the next call.

mod act;
mod amiss;
mod claim;
mod hold;
mod input;
mod refused;
mod replay;
mod settle;
mod signals;
mod stream;

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use semel_ledger::{EffectId, Millis};
use semel_store::blob::hex;

use super::{Context, effect};
use crate::client::Client;
use crate::config::SHORTEST;

use act::{Ended, Run, Unseen};
use claim::{Claimed, Grant};
use settle::{Outcome, Settled};

/// Run a command once for a key; again, replay its output and exit code
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Once {
    /// Which action, such as nightly-report
    #[arg(long)]
    scope: String,
    /// Which thing, such as 2026-03-01; parts are joined with / (write %25 for %, %2F for a / inside a part)
    #[arg(long, required_unless_present = "parts", allow_hyphen_values = true)]
    key: Option<String>,
    /// A further part of the key, taken as it is; may be repeated
    #[arg(long = "part", value_name = "PART", allow_hyphen_values = true)]
    parts: Vec<String>,
    /// How long the claim holds without a sign of life from semel (at least 1s)
    #[arg(long, default_value = "1h", value_parser = lease, value_name = "SPAN")]
    lease: Millis,
    /// What to do if an earlier run's outcome is unknown
    #[arg(long, value_enum, value_name = "RULE")]
    on_unknown: Option<OnUnknown>,
    /// How long the result protects from a repeat [default: the ledger's, 30d]
    #[arg(long, value_parser = remember, value_name = "SPAN")]
    remember: Option<Millis>,
    /// What the command works on; other input under the same key is a conflict (- for stdin)
    #[arg(long, value_name = "FILE")]
    input: Option<String>,
    /// Who asks, as shown to others [default: user@host]
    #[arg(long, value_name = "TEXT")]
    owner: Option<String>,
    /// Exit codes that mean that nothing happened, so that the next call runs again
    #[arg(long, value_delimiter = ',', value_name = "CODES")]
    retry_on: Vec<u8>,
    /// The command and its arguments; no shell is involved
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const AFTER_HELP: &str = "\
The exit code is the command's own. When it did not run and nothing is on record to replay:
3 an earlier run's outcome is unknown, 4 other input under the same key, 5 running elsewhere.

EXAMPLE
  semel once --scope nightly-report --key \"$(date +%F)\" -- ./report.sh
  semel once --scope invoice --key \"$ORDER\" --input order.json -- ./send-invoice order.json
  semel once --scope upload --key 7 --retry-on 75 -- ./upload 7";

/// How long a claim that is under way when a signal comes is waited for: its answer may be a grant.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, ValueEnum)]
enum OnUnknown {
    /// Ask a person (exit 3)
    Ask,
    /// Run again: a repeat is harmless
    Retry,
    /// Take it as done
    Skip,
}

impl OnUnknown {
    fn name(self) -> &'static str {
        match self {
            OnUnknown::Ask => "ask",
            OnUnknown::Retry => "retry",
            OnUnknown::Skip => "skip",
        }
    }
}

fn lease(text: &str) -> Result<Millis, String> {
    let span = effect::span(text)?;
    if span < Millis::seconds(1) {
        return Err("is too short; the shortest lease is 1s".to_owned());
    }
    Ok(span)
}

fn remember(text: &str) -> Result<Millis, String> {
    let span = effect::span(text)?;
    if span < SHORTEST {
        return Err("is too short; remember takes 1s to 3650d".to_owned());
    }
    Ok(span)
}

/// What all parts of one `once` share.
#[derive(Debug)]
struct Job {
    client: Client,
    effect: EffectId,
    /// The claim's name, chosen here so that a claim with a lost answer can be sent again.
    token: String,
    lease: Millis,
    json: bool,
}

impl Once {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let job = Arc::new(Job {
            client: Client::new(&context.config)?,
            effect: effect::effect(&self.scope, self.key.as_deref(), &self.parts)?,
            token: hex(&semel_store::store::random_bytes::<16>()),
            lease: self.lease,
            json: context.json,
        });
        let input = self.input.as_deref().map(input::read).transpose()?;
        let ask = claim::Ask {
            input: input.as_ref().map(|input| input.value.clone()),
            on_unknown: self.on_unknown.map(OnUnknown::name),
            remember: self.remember,
            owner: self.owner.clone().unwrap_or_else(claim::owner),
        };
        // From here on a signal is for the command, or stops us before it starts.
        let mut signals = signals::Signals::install()?;
        let claimed = {
            let mut claim = Box::pin(claim::claim(&job, ask));
            tokio::select! {
                claimed = &mut claim => claimed?,
                signal = signals.first() => {
                    let answered = tokio::time::timeout(GRACE, claim).await;
                    return amiss::stopped(&job, signal, answered.ok()).await;
                }
            }
        };
        match claimed {
            Claimed::Granted(grant) => {
                let stdin = input.and_then(|input| input.stdin);
                self.act(&job, &grant, stdin, &mut signals).await
            }
            Claimed::Done(record) => replay::replay(&job, &record).await,
            Claimed::Refused(refusal) => Ok(refused::refused(&job, &refusal)),
        }
    }

    /// Runs the command under its grant and says how it ended.
    async fn act(
        &self,
        job: &Arc<Job>,
        grant: &Grant,
        stdin: Option<Vec<u8>>,
        signals: &mut signals::Signals,
    ) -> anyhow::Result<u8> {
        if let Some(signal) = signals.pending() {
            settle::settle(
                job,
                Outcome::released("stopped by a signal before it started"),
            )
            .await?;
            return Ok(signals::exit_code(signal));
        }
        let hold = hold::Hold::start(Arc::clone(job));
        let run = Run {
            command: &self.command,
            effect: &job.effect,
            attempt: grant.attempt,
            stdin,
            live: !job.json,
        };
        let started = act::act(run, signals).await;
        let lost = hold.stop().await;
        match started {
            Ok(ended) => self.record(job, grant, ended, lost).await,
            Err(Unseen::NeverStarted(error)) => {
                amiss::not_started(job, grant, &self.command, &error).await
            }
            Err(Unseen::Lost(error)) => {
                Err(amiss::not_seen(job, grant, &error, lost).await?.into())
            }
        }
    }

    async fn record(
        &self,
        job: &Arc<Job>,
        grant: &Grant,
        ended: Ended,
        lost: bool,
    ) -> anyhow::Result<u8> {
        let code = ended.exit_code();
        let outcome = if self.retry_on.contains(&code) {
            Outcome::failed(&ended, format!("exit code {code} (--retry-on)"))
        } else if let Some(signal) = ended.signal() {
            Outcome::unknown(&ended, format!("the command was ended by signal {signal}"))
        } else {
            Outcome::done(&ended)
        };
        let word = outcome.word;
        let settled = if lost {
            Settled::Stale
        } else {
            settle::settle(job, outcome).await?
        };
        if let Settled::Recorded(result) = settled {
            if word == "unknown" {
                say!(
                    "semel: the command was ended by a signal; whether it took effect is unknown, and the next call will ask"
                );
            }
            if job.json {
                replay::print_document(&replay::Document {
                    verdict: "granted",
                    ran: true,
                    outcome: word,
                    exit_code: code,
                    attempt: Some(grant.attempt),
                    result: Some(&result),
                    receipt: None,
                });
            }
            return Ok(code);
        }
        Err(amiss::not_recorded(job, grant.attempt, code, &settled).into())
    }
}
