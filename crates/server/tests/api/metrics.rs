//! What is exposed is documented, and what is drawn is exposed.

use std::collections::BTreeSet;

use semel_server::Settings;
use serde_json::json;

use crate::common::{Socket, World};
use crate::runs::ORDER;

const DOCUMENT: &str = include_str!("../../../../docs/metrics.md");
const DASHBOARD: &str = include_str!("../../../../docs/dashboard.json");

/// What is exposed only once a model has been asked, which no test here does.
const LATER: [&str; 1] = ["semel_ai_tokens_total"];

/// A server at which everything that is counted has happened.
async fn busy() -> Socket {
    let socket = Socket::with(Settings::default()).await;
    let world = &socket.world;
    world.deploy(ORDER).await;
    let event = json!({"id":"a","amount":1});
    let answer = world.hook("/hooks/order", &event).await;
    world.settled(&crate::working::run_of(&answer)).await;
    let again = "/v1/once/order%2Fpay/order?part=a&part=pay";
    world.call("POST", again, "").await;
    let fence = world.granted("/v1/guard/mail/m", "").await;
    let lost = json!({"token": fence, "outcome": "unknown"});
    world.call("PUT", "/v1/guard/mail/m", lost).await;
    let decided = json!({"decision": "happened", "by": "ann"});
    world
        .call("POST", "/v1/ledger/mail/m/decide", decided)
        .await;
    socket
}

/// Every line of a kind in what is exposed: name and the rest.
async fn exposed(world: &World) -> String {
    let answer = world.call("GET", "/metrics", "").await;
    assert_eq!(answer.status, 200);
    answer.text().to_owned()
}

#[tokio::test]
async fn every_metric_is_documented_and_every_documented_one_is_there() {
    let socket = busy().await;
    let text = exposed(&socket.world).await;
    let there: BTreeSet<(String, String)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter_map(|line| line.split_once(' '))
        .map(|(name, kind)| {
            let suffix = match kind {
                "counter" => "_total",
                "info" => "_info",
                _ => "",
            };
            (format!("{name}{suffix}"), kind.to_owned())
        })
        .collect();
    let documented: BTreeSet<(String, String)> = DOCUMENT
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|line| line.split_once("` | "))
        .map(|(name, rest)| (name.to_owned(), rest.split(' ').next().unwrap().to_owned()))
        .collect();
    let later: BTreeSet<_> = documented
        .difference(&there)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(later, BTreeSet::from(LATER));
    let unsaid: Vec<_> = there.difference(&documented).collect();
    assert!(unsaid.is_empty(), "{unsaid:?}");
}

#[tokio::test]
async fn the_dashboard_draws_only_what_is_exposed() {
    let socket = busy().await;
    let text = exposed(&socket.world).await;
    let samples: BTreeSet<&str> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(['{', ' ']).next())
        .collect();
    let drawn: BTreeSet<&str> = DASHBOARD
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.starts_with("semel_"))
        .collect();
    assert!(drawn.len() > 10, "{drawn:?}");
    let missing: Vec<_> = drawn.difference(&samples).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
