//! Telling why the command was not run.

use serde_json::json;

use super::Job;
use super::claim::Refusal;
use super::replay;
use crate::cli::effect;
use crate::failure::Exit;
use crate::term::shown;
use crate::when;

/// Says why not, and what to do, and gives the exit code.
pub(super) fn refused(job: &Job, refusal: &Refusal) -> u8 {
    let (exit, message, help) = match refusal.verdict.as_str() {
        "busy" => (Exit::Busy, busy(refusal), String::new()),
        "unknown" => {
            let help = effect::decide_help(&job.effect, refusal.attempt, &job.client.flags());
            (Exit::NeedsPerson, unknown(job, refusal), help)
        }
        "conflict" => (Exit::Conflict, conflict(job, refusal), String::new()),
        _ => (Exit::Failed, "the ledger refused".to_owned(), String::new()),
    };
    say!("semel: {message}");
    if !help.is_empty() {
        say!("{}", help.trim_end());
    }
    if job.json {
        let decide = |decision| effect::decide_command(&job.effect, decision, &job.client.flags());
        let decide = (exit == Exit::NeedsPerson).then(|| {
            json!({"happened": decide("happened"), "resend": decide("resend"), "failed": decide("failed")})
        });
        replay::print_json(&json!({
            "verdict": refusal.verdict,
            "ran": false,
            "exit_code": exit.code(),
            "message": message,
            "owner": refusal.owner,
            "pid": refusal.pid(),
            "attempt": refusal.attempt,
            "lease_until": refusal.lease_until,
            "since": refusal.since,
            "differs": refusal.differs,
            "decide": decide,
            "receipt": refusal.receipt,
        }));
    }
    exit.code()
}

fn busy(refusal: &Refusal) -> String {
    let owner = refusal.owner.as_deref().map_or("somebody".into(), shown);
    let pid = refusal.pid().map(|pid| format!(" (process {pid})"));
    let until = refusal.lease_until.as_deref().map(when::short);
    let until = until.map(|until| format!("; the claim holds until {until} UTC"));
    format!(
        "busy: {owner}{} is running it{}",
        pid.unwrap_or_default(),
        until.unwrap_or_default()
    )
}

fn unknown(job: &Job, refusal: &Refusal) -> String {
    let since = refusal.since.as_deref().map(when::short);
    let since = since
        .map(|since| format!(" since {since} UTC"))
        .unwrap_or_default();
    format!(
        "not run: nobody knows{since} whether {} {} happened; the run before was cut short",
        shown(job.effect.scope.as_str()),
        shown(job.effect.key.as_str()),
    )
}

fn conflict(job: &Job, refusal: &Refusal) -> String {
    let differs: Vec<_> = refusal
        .differs
        .iter()
        .map(|pointer| shown(pointer))
        .collect();
    let differs = if differs.is_empty() {
        String::new()
    } else {
        format!("; these differ: {}", differs.join(", "))
    };
    format!(
        "not run: {} {} stands for another input{differs}",
        shown(job.effect.scope.as_str()),
        shown(job.effect.key.as_str()),
    )
}
