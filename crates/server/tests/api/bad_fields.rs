//! Members of bodies that cannot be used, and the answer each must get.

use serde_json::json;

use crate::bad_bodies::refused;
use crate::common::World;

const PATH: &str = "/v1/guard/s/k";

#[tokio::test]
async fn fields() {
    let long = "x".repeat(256);
    fields_are_refused(&[
        (json!([]), "400 field_invalid", "the body", "a JSON object"),
        (
            json!({"imput":1}),
            "400 field_unknown",
            "imput",
            "did you mean input?",
        ),
        (
            json!({"zebra":1}),
            "400 field_unknown",
            "zebra",
            "known are: input",
        ),
        (
            json!({"lease":60}),
            "400 field_invalid",
            "lease",
            "must be a text",
        ),
        (
            json!({"lease":"60"}),
            "400 field_invalid",
            "lease",
            "has no unit after `60`",
        ),
        (
            json!({"lease":"500ms"}),
            "400 field_invalid",
            "lease",
            "from 1s to 7d",
        ),
        (
            json!({"lease":"8d"}),
            "400 field_invalid",
            "lease",
            "from 1s to 7d",
        ),
        (
            json!({"remember":"0s"}),
            "400 field_invalid",
            "remember",
            "from 1s to 3650d",
        ),
        (
            json!({"remember":"-1d"}),
            "400 field_invalid",
            "remember",
            "`-1d`",
        ),
        (
            json!({"on_unknown":"rety"}),
            "400 field_invalid",
            "on_unknown",
            "did you mean retry?",
        ),
        (
            json!({"owner":long}),
            "400 field_invalid",
            "owner",
            "the limit is 255",
        ),
        (
            json!({"owner":"a\nb"}),
            "400 field_invalid",
            "owner",
            "control characters",
        ),
        (json!({"owner":" "}), "400 field_invalid", "owner", "blank"),
        (
            json!({"token":"ABC"}),
            "400 field_invalid",
            "token",
            "32 lower-case hex",
        ),
    ])
    .await;
}

#[tokio::test]
async fn fields_of_a_process() {
    let machine = "ab".repeat(16);
    let negative = json!({"process":{"machine":machine,"pid":-1,"started":1}});
    let huge = json!({"process":{"machine":machine,"pid":1,"started":u64::MAX}});
    fields_are_refused(&[
        (
            json!({"process":1}),
            "400 field_invalid",
            "process",
            "a JSON object",
        ),
        (
            json!({"process":{"pid":1}}),
            "400 field_missing",
            "process.machine",
            "is needed",
        ),
        (negative, "400 field_invalid", "process.pid", "whole number"),
        (huge, "400 field_invalid", "process.started", "too large"),
        (
            json!({"process":{"pidd":1}}),
            "400 field_unknown",
            "process.pidd",
            "did you mean pid?",
        ),
    ])
    .await;
}

async fn fields_are_refused(table: &[(serde_json::Value, &str, &str, &str)]) {
    let world = World::new().await;
    for (body, gist, field, says) in table {
        let answer = world.call("POST", PATH, body).await;
        refused(&world, &answer, gist, &body.to_string()).await;
        assert_eq!(answer.json()["field"], *field, "{body}");
        assert!(answer.text().contains(says), "{body}: {}", answer.text());
    }
}

#[tokio::test]
async fn settlements() {
    let world = World::new().await;
    let token = world.granted(PATH, "").await;
    let blob = "ab".repeat(32);
    for (body, gist, field) in [
        (json!({"outcome":"done"}), "400 field_missing", "token"),
        (json!({"token":token}), "400 field_missing", "outcome"),
        (
            json!({"token":token,"outcome":"dne"}),
            "400 field_invalid",
            "outcome",
        ),
        (
            json!({"token":token,"outcome":"done","reason":"x".repeat(4097)}),
            "400 field_invalid",
            "reason",
        ),
        (
            json!({"token":token,"outcome":"done","external_id":7}),
            "400 field_invalid",
            "external_id",
        ),
        (
            json!({"token":token,"outcome":"done","blobs":"x"}),
            "400 field_invalid",
            "blobs",
        ),
        (
            json!({"token":token,"outcome":"done","blobs":["x"]}),
            "400 field_invalid",
            "blobs",
        ),
        (
            json!({"token":token,"outcome":"done","blobs":[blob]}),
            "400 field_invalid",
            "blobs",
        ),
    ] {
        let answer = world.call("PUT", PATH, &body).await;
        assert_eq!(answer.gist(), gist, "{body}");
        assert_eq!(answer.json()["field"], field, "{body}");
    }
    let effect = world.call("GET", "/v1/ledger/s/k", "").await.json();
    assert_eq!(effect["state"], "claimed", "nothing was settled");
}
