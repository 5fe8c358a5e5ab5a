//! `POST /callbacks/{token}`, answer by answer, on every kind of store.

use axum::body::Body;
use axum::http::Request;
use semel_store::Location;
use semel_store::blob::hex;
use semel_store::run::{RunId, RunState};
use semel_store::store::random_bytes;
use serde_json::json;

use crate::common::Answer;
use crate::openapi::fits;
use crate::runs::shown;
use crate::working::{Working, run_of};

const FLOW: &str = "\
name: called
on:
  webhook: {path: /hooks/called, verify: none}
key: called/${{ event.id }}
steps:
  - {id: ask, http: {post: \"https://sink.example/${{ callbacks.paid }}\"}}
  - {id: paid, wait: {callback: {timeout: 24h}}}
  - {id: late, wait: {callback: {timeout: 24h}}}
  - {id: after, http: {post: \"https://sink.example/${{ steps.paid.result.n }}\"}}
";

/// The same on a file and on PostgreSQL.
async fn everywhere(test: impl AsyncFn(&Working)) {
    let dir = tempfile::tempdir().unwrap();
    test(&Working::on(&Location::Sqlite(dir.path().join("semel.db"))).await).await;
    test(&Working::on(&Location::Postgres(postgres())).await).await;
}

/// The test cluster's address, with a schema that no other test uses.
fn postgres() -> String {
    let url = std::env::var("SEMEL_TEST_POSTGRES");
    let url = url.expect("SEMEL_TEST_POSTGRES names no PostgreSQL cluster: run ./test");
    let separator = if url.contains('?') { '&' } else { '?' };
    let schema = hex(&random_bytes::<8>());
    format!("{url}{separator}semel_schema=test_{schema}")
}

/// A run that waits, and the path of its callback.
async fn waiting(world: &Working, id: &str) -> (String, String) {
    let calls = world.sink.seen().len();
    let answer = world.hook("/hooks/called", json!({"id":id})).await;
    let run = run_of(&answer);
    world.sink.reached(calls + 1).await;
    let seen = world.sink.seen();
    let (_, path) = seen
        .last()
        .unwrap()
        .rsplit_once("https://sink.example/")
        .unwrap();
    let path = path.split_once("/callbacks/").unwrap().1.to_owned();
    world.rests(&run, "waits for its callback").await;
    (run, format!("/callbacks/{path}"))
}

impl Working {
    /// Waits until a run rests with these words.
    async fn rests(&self, run: &str, why: &str) {
        let id = RunId::parse(run).unwrap();
        let mut moves = self.app.engine().follow();
        while !self.store.run(id).await.unwrap().unwrap().why.contains(why) {
            while moves.recv().await.unwrap().run != id {}
        }
    }

    async fn post(&self, path: &str, json: &str) -> Answer {
        let headers = [("content-type", "application/json")];
        let answer = self.deliver(path, &headers, json.to_owned()).await;
        fits("/callbacks/{token}", "post", &answer);
        answer
    }

    fn link(&self, run: &str, step: &str) -> String {
        let links = &self.app.engine().settings().links;
        let link = links.callback(RunId::parse(run).unwrap(), step).unwrap();
        format!("/callbacks/{}", link.split_once("/callbacks/").unwrap().1)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_callback_counts_and_every_other_is_told_so() {
    everywhere(async |world| {
        world.deploy(FLOW).await;
        let (run, path) = waiting(world, "a").await;
        for _ in 0..100 {
            for method in ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"] {
                let request = Request::builder().method(method).uri(&path);
                let answer = world.send(request.body(Body::empty()).unwrap()).await;
                assert_eq!(answer.status, 405, "{method}");
            }
        }
        assert_eq!(shown(world, &run).await["state"], "waiting");
        // Before its turn: kept.
        let late = world.link(&run, "late");
        assert_eq!(
            world.post(&late, "").await.json(),
            json!({"status":"accepted"})
        );
        let answer = world.post(&path, r#"{"n":9007199254740993}"#).await;
        assert_eq!(
            (answer.gist(), answer.json()),
            ("200".into(), json!({"status":"accepted"}))
        );
        assert_eq!(world.settled(&run).await, RunState::Done);
        let last = world.sink.seen().pop().unwrap();
        assert_eq!(last, "https://sink.example/9007199254740993");
        for (path, body) in [(&path, "{\"n\": 9007199254740993 }"), (&late, "null")] {
            let again = world.post(path, body).await;
            assert_eq!(again.gist(), "200");
            assert_eq!(again.json(), json!({"status":"already_recorded"}));
        }
        let other = world.post(&path, r#"{"n":2}"#).await;
        assert_eq!(other.gist(), "409 callback_answered");
        assert_eq!(other.json()["first"]["at"], "2026-01-01T00:00:00Z");
        assert_eq!(
            other.json()["first"]["fingerprint"].as_str().unwrap().len(),
            64
        );
        assert!(!other.text().contains("9007199254740993"));
        world.store.write_receipts().await.unwrap();
        let receipts = world.call("GET", "/v1/receipts?scope=callback", "").await;
        let receipts = receipts.json();
        assert_eq!(
            receipts["receipts"].as_array().unwrap().len(),
            3,
            "{receipts}"
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_over_is_gone_and_what_is_not_ours_was_never_there() {
    everywhere(async |world| {
        world.deploy(FLOW).await;
        let (run, path) = waiting(world, "a").await;
        world.pass("24h");
        world.app.engine().look();
        assert_eq!(world.settled(&run).await, RunState::Failed);
        for path in [&path, &world.link(&run, "late")] {
            for _ in 0..2 {
                assert_eq!(world.post(path, "1").await.gist(), "410 callback_expired");
            }
        }
        let mut forged = path.clone();
        let end = forged.pop().unwrap();
        forged.push(if end == 'A' { 'E' } else { 'A' });
        let gone = world.link(&format!("run_{}", "00".repeat(16)), "paid");
        let nowhere = world.post("/callbacks/x", "1").await;
        assert_eq!(nowhere.gist(), "404 not_found");
        for path in [
            forged.as_str(),
            &gone,
            "/callbacks/%ff",
            &format!("{path}A"),
            &path[..60],
        ] {
            let answer = world.post(path, "1").await;
            assert_eq!(answer.text(), nowhere.text(), "{path}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_body_that_no_reader_reads_alike_is_refused_and_changes_nothing() {
    let world = Working::new().await;
    world.deploy(FLOW).await;
    let (run, path) = waiting(&world, "a").await;
    let json = [("content-type", "application/json")];
    for (body, gist) in [
        ("{\"n\":1", "400 json_invalid"),
        ("{\"n\":1,\"n\":2}", "400 json_invalid"),
        ("1 2", "400 json_invalid"),
    ] {
        let answer = world.deliver(&path, &json, body).await;
        assert_eq!(answer.gist(), gist, "{body}");
    }
    let deep = "[".repeat(100) + &"]".repeat(100);
    assert_eq!(
        world.deliver(&path, &json, deep).await.gist(),
        "400 too_deep"
    );
    let long = format!("\"{}\"", "a".repeat(2 << 20));
    assert_eq!(
        world.deliver(&path, &json, long).await.gist(),
        "413 body_too_large"
    );
    let text = [("content-type", "text/plain")];
    let answer = world.deliver(&path, &text, "hello").await;
    assert_eq!(answer.gist(), "415 content_type_unsupported");
    assert_eq!(shown(&world, &run).await["state"], "waiting");
    let shown = shown(&world, &run).await.to_string();
    let token = path.strip_prefix("/callbacks/").unwrap();
    assert!(
        !shown.contains(token),
        "links are good for whoever has them"
    );
    assert_eq!(world.deliver(&path, &[], "").await.gist(), "200");
}
