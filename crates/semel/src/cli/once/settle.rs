//! Saying how the command ended, until the ledger has it.

use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::Method;
use serde_json::{Value, json};

use super::Job;
use super::act::Ended;
use super::stream::Captured;
use crate::client::{Access, Call, Session, guard};

/// How long a ledger out of reach is waited for, so that a restart of the server loses nothing.
const PATIENCE: Duration = Duration::from_mins(1);

/// How it ended.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) word: &'static str,
    reason: Option<String>,
    /// Everything of the result but the streams.
    result: Option<Value>,
    stdout: Captured,
    stderr: Captured,
}

impl Outcome {
    fn of(word: &'static str, ended: &Ended, reason: Option<String>) -> Outcome {
        let took = u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX);
        let result = match ended.signal() {
            Some(signal) => json!({"signal": signal, "duration_ms": took}),
            None => json!({"exit_code": ended.exit_code(), "duration_ms": took}),
        };
        Outcome {
            word,
            reason,
            result: Some(result),
            stdout: ended.stdout.clone(),
            stderr: ended.stderr.clone(),
        }
    }

    pub(super) fn done(ended: &Ended) -> Outcome {
        Outcome::of("done", ended, None)
    }

    pub(super) fn failed(ended: &Ended, reason: String) -> Outcome {
        Outcome::of("failed", ended, Some(reason))
    }

    pub(super) fn unknown(ended: &Ended, reason: String) -> Outcome {
        Outcome::of("unknown", ended, Some(reason))
    }

    fn bare(word: &'static str, reason: String) -> Outcome {
        Outcome {
            word,
            reason: Some(reason),
            result: None,
            stdout: Captured::default(),
            stderr: Captured::default(),
        }
    }

    pub(super) fn not_started(reason: String) -> Outcome {
        Outcome::bare("failed", reason)
    }

    pub(super) fn not_seen(reason: String) -> Outcome {
        Outcome::bare("unknown", reason)
    }

    pub(super) fn released(reason: &str) -> Outcome {
        Outcome::bare("released", reason.to_owned())
    }
}

/// What the ledger says to it.
#[derive(Debug)]
pub(super) enum Settled {
    /// It is on record, with this result.
    Recorded(Value),
    /// The claim had run out.
    Stale,
    /// It could not be told.
    Lost(String),
}

/// Settles, again and again until it is answered or patience ends. The same settlement twice is one.
pub(super) async fn settle(job: &Job, outcome: Outcome) -> anyhow::Result<Settled> {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(50);
    let mut told = false;
    loop {
        let problem = match try_settle(job, &outcome).await {
            Ok(Ok(settled)) => return Ok(settled),
            Ok(Err(problem)) => problem,
            Err(error) => format!("{error:#}"),
        };
        if Instant::now() + pause > deadline {
            return Ok(Settled::Lost(problem));
        }
        if !told {
            say!("semel: the outcome is not recorded yet, trying for a minute: {problem}");
            told = true;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(2));
    }
}

/// One try; the inner error is one that may pass.
async fn try_settle(job: &Job, outcome: &Outcome) -> anyhow::Result<Result<Settled, String>> {
    let session = job.client.connect(Access::Create).await?;
    let mut blobs = Vec::new();
    let mut result = outcome.result.clone();
    if let Some(Value::Object(result)) = &mut result {
        for (name, stream) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
            result.insert(name.to_owned(), store(&session, stream, &mut blobs).await?);
        }
    }
    let mut body = json!({"token": job.token, "outcome": outcome.word});
    if let Value::Object(body) = &mut body {
        body.extend(result.clone().map(|result| ("result".to_owned(), result)));
        body.extend(
            outcome
                .reason
                .clone()
                .map(|why| ("reason".to_owned(), why.into())),
        );
        if !blobs.is_empty() {
            body.insert("blobs".to_owned(), blobs.into());
        }
    }
    let call = Call::json(Method::PUT, guard(&job.effect, ""), &body);
    let answer = session.send(call).await?;
    session.close().await?;
    match answer.status.as_u16() {
        200 => Ok(Ok(Settled::Recorded(result.unwrap_or_default()))),
        404 | 409 => Ok(Ok(Settled::Stale)),
        _ => Ok(Err(answer.problem().to_string())),
    }
}

/// A stream as the record holds it: its text, or a reference to its bytes.
async fn store(
    session: &Session,
    stream: &Captured,
    blobs: &mut Vec<String>,
) -> anyhow::Result<Value> {
    if let Some(text) = stream.as_text() {
        return Ok(json!({"text": text}));
    }
    let content = Bytes::copy_from_slice(&stream.kept);
    let answer = session.send(Call::blob(content)).await?;
    let stored: Value = answer.read()?;
    let blob = stored["blob"].as_str().unwrap_or_default().to_owned();
    blobs.push(blob.clone());
    let mut value = json!({"blob": blob, "bytes": stream.kept.len()});
    if stream.is_cut() {
        value["truncated"] = true.into();
        value["total_bytes"] = stream.total.into();
    }
    Ok(value)
}
