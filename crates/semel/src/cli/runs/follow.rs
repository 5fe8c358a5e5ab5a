//! Following a run, over restarts of the server, until it is over.

use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::path;
use crate::client::{Access, Call, Client, Event, LAST_EVENT, Session, Unreachable};
use crate::failure::{Exit, Failure};

/// How long a server that does not answer is waited for.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long between two attempts to reach it.
const PAUSE: Duration = Duration::from_millis(300);

/// Where a run stands.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Ending {
    pub(crate) run: String,
    pub(crate) state: String,
    pub(crate) why: String,
}

impl Ending {
    /// The exit code that a run's state stands for.
    pub(crate) fn exit(&self) -> Exit {
        match self.state.as_str() {
            "done" => Exit::Done,
            "parked" | "unknown" => Exit::NeedsPerson,
            _ => Exit::Failed,
        }
    }

    /// The state and why, in a few words.
    pub(crate) fn text(&self) -> String {
        if self.why.is_empty() || self.why == self.state {
            return self.state.clone();
        }
        format!("{}: {}", self.state, crate::term::shown(&self.why))
    }
}

/// Follows a run to its end, or until it waits for a person.
pub(crate) async fn finish(client: &Client, run: &str) -> anyhow::Result<Ending> {
    let mut parked = None;
    let ended = follow(client, run, |event| {
        if event.name == "state" {
            let state: Ending = serde_json::from_str(&event.data)?;
            parked = (state.state == "parked").then_some(state);
        }
        Ok(parked.is_none())
    })
    .await?;
    ended
        .or(parked)
        .context("the server stopped telling about the run")
}

/// Follows a run, telling of everything once, until it is over or `tell` answers false.
pub(super) async fn follow(
    client: &Client,
    run: &str,
    mut tell: impl FnMut(&Event) -> anyhow::Result<bool>,
) -> anyhow::Result<Option<Ending>> {
    let mut read = String::new();
    let mut deadline = tokio::time::Instant::now() + PATIENCE;
    loop {
        match listen(client, run, &mut read, &mut tell).await {
            Ok(Heard::Ended(ending)) => return Ok(Some(ending)),
            Ok(Heard::Enough) => return Ok(None),
            // The server stops, or the line broke: it goes on where it was.
            Ok(Heard::Nothing) => {}
            Ok(Heard::Something) => deadline = tokio::time::Instant::now() + PATIENCE,
            Err(error)
                if error
                    .chain()
                    .any(<dyn std::error::Error>::is::<Unreachable>) =>
            {
                if tokio::time::Instant::now() > deadline {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// What came over one connection.
enum Heard {
    Nothing,
    Something,
    Enough,
    Ended(Ending),
}

async fn listen(
    client: &Client,
    run: &str,
    read: &mut String,
    tell: &mut impl FnMut(&Event) -> anyhow::Result<bool>,
) -> anyhow::Result<Heard> {
    let session = client.connect(Access::Existing).await?;
    check_worked_on(&session, run).await?;
    let mut call = Call::get(path(run, "/watch"));
    if !read.is_empty() {
        call.header = Some((LAST_EVENT, read.clone()));
    }
    let mut events = session.follow(call).await?;
    let mut heard = Heard::Nothing;
    while let Some(event) = events.next().await? {
        heard = Heard::Something;
        if !event.id.is_empty() {
            read.clone_from(&event.id);
        }
        let goes_on = tell(&event)?;
        if event.name == "end" {
            return Ok(Heard::Ended(serde_json::from_str(&event.data)?));
        }
        if !goes_on {
            return Ok(Heard::Enough);
        }
    }
    Ok(heard)
}

/// Without a server a run that is open would stay as it is for as long as it is looked at.
async fn check_worked_on(session: &Session, run: &str) -> anyhow::Result<()> {
    if !session.is_alone() {
        return Ok(());
    }
    let found: Ending = session.send(Call::get(path(run, ""))).await?.read()?;
    if matches!(
        found.state.as_str(),
        "done" | "failed" | "undone" | "cancelled"
    ) {
        return Ok(());
    }
    let message = format!("the run is {}, and no server works on it", found.state);
    Err(Failure::failed(message)
        .fix("start one: semel serve; semel runs show shows the run as it is")
        .into())
}
