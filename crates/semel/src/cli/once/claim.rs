//! Asking for the claim, until there is an answer.

use std::time::{Duration, Instant};

use hyper::Method;
use semel_ledger::{Millis, Process};
use semel_store::blob::{hex, unhex};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Job;
use crate::client::{Access, Answer, Call, Unreachable, guard};
use crate::process::{self, Life};

/// How long a ledger out of reach is asked again: long enough for a server to be restarted.
const PATIENCE: Duration = Duration::from_secs(15);

/// What the claim says.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) input: Option<Box<RawValue>>,
    pub(super) on_unknown: Option<&'static str>,
    pub(super) remember: Option<Millis>,
    pub(super) owner: String,
}

#[derive(Debug, Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a RawValue>,
    lease: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_unknown: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remember: Option<String>,
    owner: &'a str,
    token: &'a str,
    process: ProcessName,
}

/// A process as the API writes it.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct ProcessName {
    machine: String,
    pid: u32,
    started: u64,
}

impl From<Process> for ProcessName {
    fn from(process: Process) -> ProcessName {
        ProcessName {
            machine: hex(&process.machine),
            pid: process.pid,
            started: process.started,
        }
    }
}

impl ProcessName {
    fn process(&self) -> Option<Process> {
        Some(Process {
            machine: unhex(&self.machine)?,
            pid: self.pid,
            started: self.started,
        })
    }
}

/// What came of the claim.
#[derive(Debug)]
pub(super) enum Claimed {
    Granted(Grant),
    Done(Record),
    Refused(Refusal),
}

#[derive(Debug, Deserialize)]
pub(super) struct Grant {
    pub(super) attempt: u64,
}

/// The first run, as the ledger remembers it.
#[derive(Debug, Deserialize)]
pub(super) struct Record {
    #[serde(default)]
    pub(super) result: Option<Box<RawValue>>,
    pub(super) first: First,
    pub(super) receipt: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct First {
    pub(super) attempt: u64,
    pub(super) settled_at: Option<String>,
}

/// Why not.
#[derive(Debug, Deserialize)]
pub(super) struct Refusal {
    pub(super) verdict: String,
    pub(super) owner: Option<String>,
    process: Option<ProcessName>,
    pub(super) lease_until: Option<String>,
    pub(super) since: Option<String>,
    #[serde(default)]
    pub(super) attempt: u64,
    #[serde(default)]
    pub(super) differs: Vec<String>,
    pub(super) receipt: Option<String>,
}

impl Refusal {
    pub(super) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.pid)
    }
}

/// Claims. An owner that is found dead is reported, which makes its claim unknown.
pub(super) async fn claim(job: &Job, ask: Ask) -> anyhow::Result<Claimed> {
    let here = process::this()?;
    let body = Body {
        input: ask.input.as_deref(),
        lease: job.lease.to_string(),
        on_unknown: ask.on_unknown,
        remember: ask.remember.map(|span| span.to_string()),
        owner: &ask.owner,
        token: &job.token,
        process: here.into(),
    };
    let call = Call::json(Method::POST, guard(&job.effect, ""), &body);
    let claimed = read(&send(job, &call).await?)?;
    let owner = match &claimed {
        Claimed::Refused(refusal) if refusal.verdict == "busy" => refusal.process.as_ref(),
        _ => None,
    };
    let Some(owner) = owner else {
        return Ok(claimed);
    };
    let life = owner.process().map(|owner| process::alive(&owner, &here));
    if life != Some(Life::Dead) {
        return Ok(claimed);
    }
    let dead = serde_json::json!({"process": owner});
    let abandon = Call::json(Method::POST, guard(&job.effect, "/abandon"), &dead);
    // If somebody else was faster, the next answer tells.
    send(job, &abandon).await?;
    read(&send(job, &call).await?)
}

/// Sends a call that may be sent twice, until it is answered.
async fn send(job: &Job, call: &Call) -> anyhow::Result<Answer> {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(50);
    loop {
        let answered = send_now(job, call).await;
        let passing = match &answered {
            Ok(answer) => answer.is_passing(),
            Err(error) => error.is::<Unreachable>(),
        };
        if !passing || Instant::now() + pause > deadline {
            return answered;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(2));
    }
}

/// Sends a call over whichever way leads to the ledger right now.
pub(super) async fn send_now(job: &Job, call: &Call) -> anyhow::Result<Answer> {
    let session = job.client.connect(Access::Create).await?;
    let answer = session.send(call.clone()).await?;
    session.close().await?;
    Ok(answer)
}

fn read(answer: &Answer) -> anyhow::Result<Claimed> {
    match answer.status.as_u16() {
        201 => answer.parse().map(Claimed::Granted),
        200 => answer.parse().map(Claimed::Done),
        409 | 422 => answer.parse().map(Claimed::Refused),
        _ => Err(answer.problem().into()),
    }
}

/// Who asks, if nobody says.
pub(super) fn owner() -> String {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    let user = user.unwrap_or_else(|_| format!("uid {}", rustix::process::getuid().as_raw()));
    let uname = rustix::system::uname();
    let clean: String = format!("{user}@{}", uname.nodename().to_string_lossy())
        .chars()
        .filter(|c| !c.is_control())
        .take(100)
        .collect();
    clean
}
