//! What is told and settled when a call does not end with a command that was seen to end.

use std::ffi::OsString;
use std::sync::Arc;

use super::claim::{Claimed, Grant};
use super::settle::{self, Outcome, Settled};
use super::{Job, replay, signals};
use crate::cli::effect;
use crate::failure::{Exit, Failure};
use crate::term::shown;

/// A signal came while the claim was asked for: nothing was run. A claim that was granted after
/// all is given back, so that nobody has to decide about it.
pub(super) async fn stopped(
    job: &Arc<Job>,
    signal: rustix::process::Signal,
    answered: Option<anyhow::Result<Claimed>>,
) -> anyhow::Result<u8> {
    if let Some(Ok(Claimed::Granted(_))) = answered {
        let why = "stopped by a signal before it started";
        settle::settle(job, Outcome::released(why)).await?;
    }
    say!("semel: stopped by a signal; the command was not run");
    Ok(signals::exit_code(signal))
}

/// The command ran, but how it ended was not seen: only a person can tell.
pub(super) async fn not_seen(
    job: &Arc<Job>,
    grant: &Grant,
    error: &std::io::Error,
    lost: bool,
) -> anyhow::Result<Failure> {
    let message = format!("the command was started, but how it ended was not seen: {error}");
    if !lost {
        settle::settle(job, Outcome::not_seen(message.clone())).await?;
    }
    let help = effect::decide_help(&job.effect, grant.attempt, &job.client.flags());
    Ok(Failure::new(Exit::NeedsPerson, message).fix(help.trim_end()))
}

/// The command ended, but the ledger does not know.
pub(super) fn not_recorded(job: &Job, attempt: u64, code: u8, settled: &Settled) -> Failure {
    let why = match settled {
        Settled::Lost(error) => format!("the ledger could not be told: {error}"),
        _ => "its claim had run out, so the ledger calls it unknown".to_owned(),
    };
    let message = format!("the command ended with exit code {code}, but {why}");
    let help = effect::decide_help(&job.effect, attempt, &job.client.flags());
    Failure::new(Exit::NeedsPerson, message).fix(help.trim_end())
}

/// Like a shell: 127 if there is no such command, 126 if it cannot be run. Nothing happened, so
/// the next call tries again.
pub(super) async fn not_started(
    job: &Arc<Job>,
    grant: &Grant,
    command: &[OsString],
    error: &std::io::Error,
) -> anyhow::Result<u8> {
    let name = command.first().map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default();
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => 127,
        _ => 126,
    };
    let reason = format!(
        "the command could not be started: {}: {error}",
        shown(&name)
    );
    say!("semel: {reason}");
    let settled = settle::settle(job, Outcome::not_started(reason)).await?;
    if job.json {
        replay::print_document(&replay::Document {
            verdict: "granted",
            ran: false,
            outcome: "failed",
            exit_code: code,
            attempt: Some(grant.attempt),
            result: None,
            receipt: None,
        });
    }
    match settled {
        Settled::Recorded(_) => Ok(code),
        other => Err(not_recorded(job, grant.attempt, code, &other).into()),
    }
}
