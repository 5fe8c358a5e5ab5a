//! What a server that runs has to say about its work: its clock, its flows' secrets, the destinations,
//! what waits for a person.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::json;

use super::Check;
use crate::cli::Context;
use crate::client::{Access, Call, Client, Session, quoted};
use crate::term::shortened;

/// How far clocks may be apart.
const APART: SignedDuration = SignedDuration::from_secs(5);
/// How long a person may take before somebody should look.
const LONG: SignedDuration = SignedDuration::from_hours(24);
/// How many of what waits are counted.
const COUNTED: usize = 100;

pub(super) async fn check(context: &Context) -> anyhow::Result<Vec<Check>> {
    let client = Client::new(&context.config)?;
    let session = client.connect(Access::Existing).await?;
    let checks = vec![
        clock(&session).await?,
        secrets(&session).await?,
        destinations(&session).await?,
        inbox(&session).await?,
    ];
    session.close().await?;
    Ok(checks)
}

async fn clock(session: &Session) -> anyhow::Result<Check> {
    #[derive(Deserialize)]
    struct Now {
        now: String,
    }
    let overview = session.send(Call::get("/v1/overview")).await?;
    let now: Timestamp = overview.read::<Now>()?.now.parse()?;
    let apart = now.duration_since(Timestamp::now());
    if apart.abs() <= APART {
        return Ok(Check::good(
            "clock",
            "the server's and this machine's agree",
        ));
    }
    let detail = format!(
        "the server's differs from this machine's by {} s",
        apart.as_secs()
    );
    Ok(Check::doubt("clock", detail, "set both clocks by NTP"))
}

async fn secrets(session: &Session) -> anyhow::Result<Check> {
    #[derive(Deserialize)]
    struct Flows {
        flows: Vec<Flow>,
    }
    #[derive(Deserialize)]
    struct Flow {
        flow: String,
    }
    #[derive(Deserialize)]
    struct Source {
        source: String,
    }
    #[derive(Deserialize)]
    struct Checked {
        missing_secrets: Vec<String>,
    }
    let flows: Flows = session.send(Call::get("/v1/flows")).await?.read()?;
    let mut missing = Vec::new();
    for Flow { flow } in &flows.flows {
        let one = session.send(Call::get(format!("/v1/flows/{flow}"))).await?;
        let Source { source } = one.read()?;
        let path = "/v1/check".to_owned();
        let asked = Call::json(hyper::Method::POST, path, &json!({ "source": source }));
        let checked: Checked = session.send(asked).await?.read()?;
        let names = checked.missing_secrets.into_iter();
        missing.extend(names.map(|name| (name, flow.clone())));
    }
    let Some((first, _)) = missing.first() else {
        let detail = format!(
            "{} flows are live, and have all they name",
            flows.flows.len()
        );
        return Ok(Check::good("flows", detail));
    };
    let fix = format!("semel secrets set {}", quoted(first));
    let named = |(name, flow): &(String, String)| format!("{name} (flow {flow})");
    let all: Vec<String> = missing.iter().map(named).collect();
    let detail = format!("secrets are not set: {}", shortened(&all.join(", "), 200));
    Ok(Check::bad("flows", detail, fix))
}

async fn destinations(session: &Session) -> anyhow::Result<Check> {
    #[derive(Deserialize)]
    struct Page {
        destinations: Vec<Destination>,
    }
    #[derive(Deserialize)]
    struct Destination {
        name: String,
        breaker: String,
    }
    let page: Page = session.send(Call::get("/v1/destinations")).await?.read()?;
    let all = page.destinations.len();
    let left = page.destinations.into_iter();
    let left: Vec<String> = left
        .filter(|it| it.breaker != "closed")
        .map(|it| it.name)
        .collect();
    if left.is_empty() {
        let detail = format!("{all} spoken to, none is left alone");
        return Ok(Check::good("destinations", detail));
    }
    let detail = format!("left alone after failures in a row: {}", left.join(", "));
    let fix = "semel top shows them; what could not be sent is tried again by itself";
    Ok(Check::doubt("destinations", detail, fix))
}

async fn inbox(session: &Session) -> anyhow::Result<Check> {
    #[derive(Deserialize)]
    struct Page {
        items: Vec<serde::de::IgnoredAny>,
    }
    let until = Timestamp::now() - LONG;
    let path = format!("/v1/inbox?until={until:.0}&limit={COUNTED}");
    let page: Page = session.send(Call::get(path)).await?.read()?;
    Ok(match page.items.len() {
        0 => Check::good("inbox", "nothing waits for longer than a day"),
        count => {
            let least = if count == COUNTED { "at least " } else { "" };
            let detail = format!("{least}{count} wait for a person for longer than a day");
            Check::doubt("inbox", detail, "semel inbox ls")
        }
    })
}
