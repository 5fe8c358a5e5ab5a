//! What happened, at a glance; and the destinations.

use semel_ledger::Time;
use semel_server::Settings;
use semel_store::count::{Part, Span};
use serde_json::{Value, json};

use crate::common::{START, Socket, World};
use crate::openapi::fits;
use crate::outside::Mood;
use crate::runs::{ORDER, ordered, shown};
use crate::working::Working;

async fn overview(world: &World, query: &str) -> Value {
    let answer = world.call("GET", &format!("/v1/overview{query}"), "").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    fits("/v1/overview", "get", &answer);
    answer.json()
}

fn sum(series: &Value) -> u64 {
    let numbers = series.as_array().unwrap().iter();
    numbers.map(|number| number.as_u64().unwrap()).sum()
}

#[tokio::test]
async fn what_happened_is_counted_where_it_happened() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    let first = ordered(&world, "a").await;
    for _ in 0..3 {
        let again = json!({"id":"a","amount":21});
        world.hook("/hooks/order", &again).await;
    }
    world.sink.feels(Mood::Refuses);
    ordered(&world, "b").await;
    // The same effect, asked for by somebody else; and one of their own.
    world
        .call("POST", "/v1/once/order%2Fpay/order?part=a&part=pay", "")
        .await;
    let fence = world.granted("/v1/guard/mail/m", "").await;
    let done = json!({"token": fence, "outcome": "done"});
    world.call("PUT", "/v1/guard/mail/m", done).await;
    let it = overview(&world, "").await;
    let expected = json!({
        "events": 5, "duplicates": 3, "runs": 2, "done": 1, "failed": 1, "effects": 3, "blocked": 1,
    });
    assert_eq!(it["totals"], expected);
    assert_eq!(it["states"]["done"], 1);
    assert_eq!(it["states"]["failed"], 1);
    assert_eq!(it["states"]["running"], 0);
    for what in [
        "events",
        "duplicates",
        "done",
        "failed",
        "effects",
        "blocked",
    ] {
        assert_eq!(sum(&it["series"][what]), expected[what], "{what}");
    }
    let flows = json!([{"flow":"order","runs":2,"failed":1,"duplicates":3}]);
    assert_eq!(it["flows"], flows);
    // Long after, it is in no minute of the last hour.
    world.pass("2h");
    assert_eq!(
        overview(&world, "").await["totals"]["events"],
        5,
        "not written yet: it counts as now"
    );
    let spans = shown(&world, &first).await;
    let pay = spans["steps"].as_array().unwrap()[1].clone();
    assert_eq!(pay["request"]["json"], json!({"total": 42}));
    assert_eq!(pay["spans"][0]["what"], "attempt");
    assert_eq!(pay["spans"][0]["outcome"], "done");
}

#[tokio::test]
async fn counts_are_kept_when_the_server_stops() {
    let socket = Socket::with(Settings::default()).await;
    let world = &socket.world;
    world.deploy(ORDER).await;
    let before = Time(START.0 - 60_000);
    for id in ["a", "a", "b"] {
        let event = json!({"id":id,"amount":1});
        world.hook("/hooks/order", &event).await;
    }
    let store = std::sync::Arc::clone(&world.store);
    socket.stop().await.unwrap();
    let flows = store.counts_together(
        Span::Hour,
        &Part::Flows,
        before,
        &["events", "duplicates", "runs"],
    );
    let flows = flows.await.unwrap();
    let of = |what: &str| {
        let found = flows
            .iter()
            .find(|it| *it.name == *"order" && *it.what == *what);
        found.map_or(0, |it| it.count)
    };
    assert_eq!((of("events"), of("duplicates"), of("runs")), (3, 1, 2));
}

#[tokio::test]
async fn what_waits_for_a_person_is_shown() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    world.sink.feels(Mood::Mute);
    ordered(&world, "a").await;
    let it = overview(&world, "?since=2026-01-01T00:00:00Z").await;
    assert_eq!(it["inbox"], 1);
    assert_eq!(it["states"]["parked"], 1);
    let steps = world.call("GET", "/v1/flows/order/steps", "").await;
    fits("/v1/flows/{flow}/steps", "get", &steps);
    let steps = steps.json();
    let pay = json!({"done":0,"failed":0,"unknown":1,"blocked":0,"under_way":1});
    assert_eq!(steps["steps"]["pay"], pay);
    assert_eq!(steps["steps"]["sum"]["done"], 1);
    assert_eq!(steps["steps"]["tell"]["under_way"], 0);
    assert_eq!(steps["whole"], true);
}

#[tokio::test]
async fn runs_are_found_by_a_part_of_their_key() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    for id in ["Ada", "bob"] {
        ordered(&world, id).await;
    }
    let answer = world.call("GET", "/v1/runs?text=ADA", "").await;
    fits("/v1/runs", "get", &answer);
    let runs = answer.json()["runs"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 1);
    assert_eq!(runs[0]["key"], "order/Ada");
}

#[tokio::test]
async fn a_flow_is_drawn_as_it_is_and_as_it_is_written() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    let picture = world.call("GET", "/v1/flows/order/picture", "").await;
    assert_eq!(picture.header("content-type"), "image/svg+xml");
    for step in ["sum", "pay", "tell"] {
        assert!(picture.text().contains(&format!("data-step=\"{step}\"")));
    }
    let none = world.call("GET", "/v1/flows/none/picture", "").await;
    assert_eq!(none.gist(), "404 flow_missing");
    let broken = ORDER.replace("event.amount * 2", "event.amount * ");
    for (source, drawn, errors) in [(ORDER, true, 0), (&broken, true, 1), ("{", false, 1)] {
        let asked = json!({ "source": source });
        let answer = world.call("POST", "/v1/picture", asked).await;
        fits("/v1/picture", "post", &answer);
        let answer = answer.json();
        assert_eq!(answer["svg"].is_string(), drawn, "{source}");
        assert_eq!(answer["errors"], errors, "{answer}");
    }
    let schema = world.call("GET", "/v1/schema", "").await;
    assert_eq!(schema.json(), semel_flow::schema());
}

#[tokio::test]
async fn destinations_are_listed() {
    let world = Working::new().await;
    let answer = world.call("GET", "/v1/destinations", "").await;
    fits("/v1/destinations", "get", &answer);
    let all = answer.json()["destinations"].clone();
    assert_eq!(all[0]["name"], "sink.example:443");
    assert_eq!(all[0]["breaker"], "open");
    assert_eq!(all[0]["until"], "2026-01-01T00:00:09.000Z");
    assert_eq!(all[0]["p95_ms"], 25);
    assert_eq!(overview(&world, "").await["destinations"], all);
}
