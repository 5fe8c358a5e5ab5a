//! Following a run while it happens.

use std::time::Duration;

use axum::body::{Body, HttpBody};
use http_body_util::BodyExt;
use semel_server::Settings;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::common::{Socket, World};
use crate::runs::{ORDER, ordered, shown};
use crate::working::{Working, run_of};

/// A stream of events, read one by one.
pub(crate) struct Stream {
    body: Body,
    rest: String,
}

impl Stream {
    async fn open(world: &World, run: &str, last: Option<&str>) -> Stream {
        Stream::get(world, &format!("/v1/runs/{run}/watch"), last).await
    }

    pub(crate) async fn get(world: &World, path: &str, last: Option<&str>) -> Stream {
        let mut request = world.request("GET", path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let request = request.body(Body::empty()).unwrap();
        let response = world.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Stream {
            body: response.into_body(),
            rest: String::new(),
        }
    }

    /// The next event: its name and data; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        while !self.rest.contains("\n\n") {
            let frame = self.body.frame().await?.unwrap();
            let bytes = frame.into_data().unwrap();
            self.rest.push_str(std::str::from_utf8(&bytes).unwrap());
        }
        let end = self.rest.find("\n\n").unwrap();
        let event: String = self.rest.drain(..end + 2).collect();
        let field = |name: &str| {
            let line = event.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_default().to_owned()
        };
        let data = serde_json::from_str(&field("data: ")).unwrap();
        let next = (field("event: "), data);
        Some(next)
    }

    async fn all(mut self) -> Vec<(String, Value)> {
        let mut all = Vec::new();
        while let Some(next) = self.next().await {
            all.push(next);
        }
        all
    }
}

#[tokio::test]
async fn a_run_that_is_over_is_told_and_the_stream_ends() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    let run = ordered(&world, "a").await;
    let all = Stream::open(&world, &run, None).await.all().await;
    let (last, entries) = all.split_last().unwrap();
    assert_eq!(last.0, "end");
    assert_eq!(last.1["state"], "done");
    let told: Vec<&Value> = entries.iter().map(|(_, data)| data).collect();
    let shown = shown(&world, &run).await;
    let timeline: Vec<&Value> = shown["timeline"].as_array().unwrap().iter().collect();
    assert_eq!(told, timeline, "the same entries");
    let seen = (entries.len() - 1).to_string();
    let rest = Stream::open(&world, &run, Some(&seen)).await.all().await;
    assert_eq!(rest, all[entries.len() - 1..], "goes on where it stopped");
}

#[tokio::test]
async fn what_happens_is_told_when_it_happens() {
    let world = Working::new().await;
    world.deploy(ORDER).await;
    let run = world
        .held("/hooks/order", json!({"id":"a","amount":1}))
        .await;
    let mut stream = Stream::open(&world, &run, None).await;
    let mut names = Vec::new();
    while names.last().is_none_or(|name| name != "state") {
        names.push(stream.next().await.unwrap().0);
    }
    assert!(!stream.body.is_end_stream(), "the run is not over");
    world.sink.holds.send_replace(false);
    let all = stream.all().await;
    assert_eq!(all.last().unwrap().0, "end");
    assert!(all.iter().any(|(_, data)| data["what"] == "ended"));
}

#[tokio::test]
async fn what_another_node_does_is_seen_by_looking() {
    let world = World::new().await;
    world.deploy(ORDER).await;
    let answer = world
        .hook("/hooks/order", json!({"id":"a","amount":1}))
        .await;
    let run = run_of(&answer);
    let mut stream = Stream::open(&world, &run, None).await;
    assert_eq!(stream.next().await.unwrap().1["what"], "opened");
    assert_eq!(stream.next().await.unwrap().1["state"], "queued");
    // An engine that this server's streams do not follow.
    let other = semel_engine::Engine::new(
        std::sync::Arc::clone(&world.store),
        std::sync::Arc::clone(&world.sink) as _,
        semel_engine::Settings::default(),
    );
    world.store.join("other").await.unwrap();
    let _duties = other.duties();
    let all = stream.all().await;
    assert_eq!(all.last().unwrap().1["state"], "done");
}

#[tokio::test]
async fn a_stream_does_not_keep_the_server_from_stopping() {
    let socket = Socket::with(Settings {
        drain: Duration::from_mins(1),
        ..Settings::default()
    })
    .await;
    socket.world.deploy(ORDER).await;
    let event = json!({"amount":1});
    let answer = socket.world.hook("/hooks/order", &event).await;
    let run = run_of(&answer);
    let request = format!(
        "GET /v1/runs/{run}/watch HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\n\r\n",
        socket.world.token
    );
    let address = socket.address;
    let reading = tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut first = [0; 512];
        let read = stream.read(&mut first).await.unwrap();
        assert!(read > 0);
        (stream, first)
    });
    let (mut stream, _) = reading.await.unwrap();
    let stopping = tokio::time::timeout(Duration::from_secs(20), socket.stop());
    stopping.await.expect("it stops").unwrap();
    let mut rest = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut rest)
        .await
        .unwrap();
}
