//! What a flow sees of a request's headers, and what is kept of them: what it names, no more.

use semel_store::run::RunState;
use serde_json::{Value, json};

use crate::common::World;
use crate::hooks_signed::digits;
use crate::working::{Working, run_of};

const GITHUB: &str = "\
name: issues
on:
  webhook:
    path: /hooks/github
    verify: github
    secret: ${{ secrets.GITHUB }}
    filter: request.headers[\"x-github-event\"] == \"issues\"
let:
  kind: request.headers[\"x-github-event\"]
steps:
  - id: note
    set: {kind: \"${{ kind }}\", agent: \"${{ default(request.headers.`user-agent`, \\\"nobody\\\") }}\"}
  - id: each
    for_each: '[1]'
    key: ${{ item }}
    steps:
      - {id: inner, http: {post: \"https://sink.example/${{ kind }}\"}}
";

/// Delivers as GitHub does.
async fn github(world: &World, more: &[(&str, &str)]) -> crate::common::Answer {
    let body = r#"{"action":"opened"}"#;
    let signature = format!("sha256={}", digits("hush", body));
    let mut headers = vec![
        ("content-type", "application/json"),
        ("x-hub-signature-256", &*signature),
        ("x-hub-signature", "sha1=canary-signature"),
        ("cookie", "canary-cookie"),
        ("x-other", "canary-other"),
    ];
    headers.extend(more);
    world.deliver("/hooks/github", &headers, body).await
}

#[tokio::test]
async fn a_flow_sees_the_headers_that_it_names_and_no_others_are_kept() {
    let world = Working::new().await;
    world.environment.put("GITHUB", "hush");
    world.deploy(GITHUB).await;
    let push = [("x-github-event", "push"), ("x-github-delivery", "g-1")];
    let answer = github(&world, &push).await;
    assert_eq!(answer.json(), json!({"status":"ignored"}));

    let issues = [("x-github-event", "issues"), ("x-github-delivery", "g-2")];
    let answer = github(&world, &issues).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let run = run_of(&answer);
    assert_eq!(world.settled(&run).await, RunState::Done);
    assert_eq!(world.sink.seen(), ["https://sink.example/issues"]);
    let shown = world.call("GET", &format!("/v1/runs/{run}"), "").await;
    let json = shown.json();
    assert_eq!(json["headers"], json!({"x-github-event":"issues"}));
    let steps: &Value = &json["steps"];
    let noted = json!({"kind":"issues","agent":"nobody"});
    assert_eq!(steps[0]["result"], noted);
    assert!(!shown.text().contains("canary"), "{}", shown.text());
    let id = semel_store::run::RunId::parse(&run).unwrap();
    let loaded = world.store.load_run(id).await.unwrap().unwrap();
    for row in &loaded.journal {
        assert!(!row.row.contains("canary"), "{}", row.row);
    }

    let resent = github(&world, &[issues[0], issues[1], ("user-agent", "other")]).await;
    assert_eq!(resent.json()["status"], "duplicate", "not compared");
}

#[tokio::test]
async fn a_repeated_run_has_the_headers_and_one_by_hand_has_none() {
    let world = Working::new().await;
    world.environment.put("GITHUB", "hush");
    world.deploy(GITHUB).await;
    let issues = [("x-github-event", "issues"), ("x-github-delivery", "g-1")];
    let run = run_of(&github(&world, &issues).await);
    assert_eq!(world.settled(&run).await, RunState::Done);
    let plan = world
        .call("POST", &format!("/v1/runs/{run}/plan"), "{}")
        .await;
    assert_eq!(plan.status, 200, "{}", plan.text());
    let hash = plan.json()["plan_hash"].as_str().unwrap().to_owned();
    let again = json!({ "plan_hash": hash });
    let again = world
        .call("POST", &format!("/v1/runs/{run}/rerun"), again)
        .await;
    let again = run_of(&again);
    world.settled(&again).await;
    let shown = world.call("GET", &format!("/v1/runs/{again}"), "").await;
    assert_eq!(shown.json()["headers"]["x-github-event"], "issues");

    let by_hand = run_of(&world.trigger("issues", "k", "{}").await);
    assert_eq!(world.settled(&by_hand).await, RunState::Failed);
    let shown = world.call("GET", &format!("/v1/runs/{by_hand}"), "").await;
    let why = "`request.headers` has no member `x-github-event`";
    assert!(shown.text().contains(why), "{}", shown.text());
}

#[tokio::test]
async fn headers_in_keys_and_headers_that_are_missing_doubled_or_no_text() {
    let world = World::new().await;
    world
        .deploy(
            "\
name: tagged
on:
  webhook: {path: /hooks/tagged, verify: none}
key: ${{ request.headers[\"x-tag\"] }}
steps:
  - {id: note, set: {n: 1}}
",
        )
        .await;
    let json = ("content-type", "application/json");
    for (headers, key) in [
        (&[json, ("x-tag", "a")][..], "a"),
        (&[json, ("X-Tag", "b/c")], "b%2Fc"),
        (&[json, ("x-tag", "d"), ("x-tag", "e")], "d, e"),
        (&[json, ("x-tag", "é")], "é"),
    ] {
        let answer = world.deliver("/hooks/tagged", headers, "{}").await;
        assert_eq!(answer.status, 202, "{key}: {}", answer.text());
        let runs = world.runs().await;
        let run = runs.iter().find(|run| run.id.text() == run_of(&answer));
        assert_eq!(run.unwrap().key.as_str(), key);
    }
    let bytes = axum::http::HeaderValue::from_bytes(b"\xff").unwrap();
    let request = axum::http::Request::post("/hooks/tagged")
        .header(json.0, json.1)
        .header("x-tag", bytes);
    let unread = world.send(request.body("{}".into()).unwrap()).await;
    let missing = world.deliver("/hooks/tagged", &[json], "[]").await;
    for answer in [unread, missing] {
        assert_eq!(answer.status, 202, "{}", answer.text());
        let runs = world.runs().await;
        let run = runs.iter().find(|run| run.id.text() == run_of(&answer));
        let run = run.unwrap();
        assert_eq!(run.state, RunState::Parked);
        assert!(run.why.contains("x-tag"), "{}", run.why);
    }
}

#[tokio::test]
async fn a_flow_that_would_keep_a_credential_is_not_deployed() {
    let world = World::new().await;
    for header in ["authorization", "cookie", "x-hub-signature-256"] {
        let source = GITHUB.replace("user-agent", header);
        let body = json!({ "source": source });
        let answer = world.call("POST", "/v1/flows", body).await;
        assert_eq!(answer.gist(), "422 flow_invalid", "{header}");
        assert!(answer.text().contains("C014"), "{}", answer.text());
    }
}

/// Slack shows what it is answered to whoever typed the command, and takes only 200 for received.
#[tokio::test]
async fn what_people_do_in_slack_is_taken_in_silence() {
    let world = World::new().await;
    world.environment.put("SLACK", "hush");
    world
        .deploy(
            "\
name: commands
on:
  webhook:
    path: /hooks/slack
    verify: slack
    secret: ${{ secrets.SLACK }}
    filter: default(event.command, \"/due\") == \"/due\"
steps:
  - {id: note, set: {n: 1}}
",
        )
        .await;
    let time = (crate::common::START.0 / 1000).to_string();
    let deliver = async |kind: &str, body: &str| {
        let signature = format!("v0={}", digits("hush", &format!("v0:{time}:{body}")));
        let headers = [
            ("content-type", kind),
            ("x-slack-request-timestamp", &*time),
            ("x-slack-signature", &*signature),
        ];
        world
            .deliver("/hooks/slack", &headers, body.to_owned())
            .await
    };
    let form = "application/x-www-form-urlencoded";
    for (body, runs, what) in [
        ("command=%2Fdue&text=now&trigger_id=1.2", 1, "a command"),
        ("command=%2Fdue&text=now&trigger_id=1.2", 1, "again"),
        ("command=%2Fdue&text=later&trigger_id=1.2", 2, "a conflict"),
        ("command=%2Fother&trigger_id=1.3", 2, "filtered"),
        (
            "payload=%7B%22type%22%3A%22view_submission%22%2C%22trigger_id%22%3A%221.4%22%7D",
            3,
            "a click",
        ),
    ] {
        let answer = deliver(form, body).await;
        assert_eq!((answer.status.as_u16(), answer.text()), (200, ""), "{what}");
        assert_eq!(world.runs().await.len(), runs, "{what}");
    }
    let event = r#"{"type":"event_callback","event_id":"Ev1"}"#;
    let answer = deliver("application/json", event).await;
    assert_eq!(answer.status, 202, "events are answered as ever");
    assert_eq!(answer.json()["status"], "accepted");
    let refused = deliver(form, "command=%zz").await;
    assert_eq!(refused.gist(), "400 form_invalid");
}
