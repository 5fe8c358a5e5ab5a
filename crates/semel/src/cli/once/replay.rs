//! Answering from the record: the first run's output, byte for byte, and its exit code.

use std::io::Write as _;

use hyper::StatusCode;
use serde_json::{Value, json};

use super::Job;
use super::claim::Record;
use crate::client::{Access, Call, Session, or_null};
use crate::term::{shown, try_print_line};
use crate::when;

/// What `--json` prints.
#[derive(Debug)]
pub(super) struct Document<'a> {
    pub(super) verdict: &'a str,
    pub(super) ran: bool,
    pub(super) outcome: &'a str,
    pub(super) exit_code: u8,
    pub(super) attempt: Option<u64>,
    pub(super) result: Option<&'a Value>,
    pub(super) receipt: Option<&'a str>,
}

/// Prints the one JSON document. The exit code tells what happened to the effect, so it stays as
/// it is when the document cannot be written.
pub(super) fn print_json(document: &Value) {
    match try_print_line(&format!("{document:#}")) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            say!("semel: cannot write to stdout: {error}");
        }
        _ => {}
    }
}

pub(super) fn print_document(document: &Document<'_>) {
    let of = |name: &str| document.result.and_then(|result| result.get(name)).cloned();
    print_json(&json!({
        "verdict": document.verdict,
        "ran": document.ran,
        "outcome": document.outcome,
        "exit_code": document.exit_code,
        "signal": of("signal"),
        "attempt": document.attempt,
        "stdout": of("stdout"),
        "stderr": of("stderr"),
        "duration_ms": of("duration_ms"),
        "receipt": document.receipt,
    }));
}

/// Does what the first run did, without doing it.
pub(super) async fn replay(job: &Job, record: &Record) -> anyhow::Result<u8> {
    let result: Value = serde_json::from_str(or_null(record.result.as_deref()))?;
    let code = exit_code(&result);
    if job.json {
        print_document(&Document {
            verdict: "done",
            ran: false,
            outcome: "done",
            exit_code: code.unwrap_or(0),
            attempt: Some(record.first.attempt),
            result: Some(&result),
            receipt: record.receipt.as_deref(),
        });
        return Ok(code.unwrap_or(0));
    }
    let mut stderr = std::io::stderr();
    if result.get("stdout").is_some() || result.get("stderr").is_some() {
        let session = job.client.connect(Access::Create).await?;
        // Whoever listened may be gone; the exit code still counts.
        let _ = write(&session, &result["stdout"], &mut std::io::stdout()).await?;
        let _ = write(&session, &result["stderr"], &mut stderr).await?;
        session.close().await?;
    }
    say!("semel: {}", message(record, code.is_some()));
    Ok(code.unwrap_or(0))
}

/// The exit code on record; none if it was not recorded by `semel once`, or is no longer kept.
fn exit_code(result: &Value) -> Option<u8> {
    let number = |name: &str| result.get(name).and_then(Value::as_u64);
    let code = number("exit_code").or_else(|| number("signal").map(|signal| 128 + signal))?;
    Some(u8::try_from(code).unwrap_or(255))
}

fn message(record: &Record, has_code: bool) -> String {
    let at = record.first.settled_at.as_deref().map(when::short);
    let at = at.map(|at| format!(" at {at} UTC")).unwrap_or_default();
    let attempt = record.first.attempt;
    let how = if has_code {
        "replayed, not run"
    } else {
        "not run; no output is on record"
    };
    let receipt = record
        .receipt
        .as_deref()
        .map(|id| format!(" [receipt {}]", shown(id)));
    let receipt = receipt.unwrap_or_default();
    format!("already done{at} (attempt {attempt}); {how}{receipt}")
}

/// Writes a recorded stream as it was. The outer error is ours, the inner one the listener's.
async fn write(
    session: &Session,
    stream: &Value,
    out: &mut impl std::io::Write,
) -> anyhow::Result<std::io::Result<()>> {
    if let Some(text) = stream.get("text").and_then(Value::as_str) {
        return Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }
    let Some(hash) = stream.get("blob").and_then(Value::as_str) else {
        return Ok(Ok(()));
    };
    let answer = session.send(Call::get(format!("/v1/blobs/{hash}"))).await?;
    if answer.status == StatusCode::NOT_FOUND {
        say!("semel: an output of the first run is not here (imported without it?)");
        return Ok(Ok(()));
    }
    if !answer.status.is_success() {
        return Err(answer.problem().into());
    }
    let written = out.write_all(&answer.body).and_then(|()| out.flush());
    if let Some(total) = stream.get("total_bytes").and_then(Value::as_u64) {
        let kept = answer.body.len();
        let _ = writeln!(
            std::io::stderr(),
            "semel: the output was {total} bytes long; the first {kept} are on record"
        );
    }
    Ok(written)
}
