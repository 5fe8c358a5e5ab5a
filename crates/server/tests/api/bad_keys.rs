//! Keys, scopes and parameters that cannot be used, and the answer each must get.

use serde_json::json;

use crate::bad_bodies::refused;
use crate::common::World;

#[tokio::test]
async fn keys() {
    let world = World::new().await;
    let long = "x".repeat(256);
    let many = "&part=p".repeat(16);
    for (path, gist) in [
        ("/v1/guard".to_owned(), "400 key_missing"),
        ("/v1/guard/".to_owned(), "400 key_missing"),
        ("/v1/guard/s".to_owned(), "400 key_missing"),
        ("/v1/guard/s/".to_owned(), "400 key_missing"),
        ("/v1/guard//k".to_owned(), "400 key_missing"),
        ("/v1/once/s/".to_owned(), "400 key_missing"),
        ("/v1/guard/s/%20%09".to_owned(), "400 key_missing"),
        ("/v1/guard/%20/k".to_owned(), "400 key_missing"),
        ("/v1/guard/s/k?part=".to_owned(), "400 key_missing"),
        (format!("/v1/guard/s/{long}"), "400 key_invalid"),
        (format!("/v1/guard/{long}/k"), "400 key_invalid"),
        (format!("/v1/guard/s/k?part={long}"), "400 key_invalid"),
        ("/v1/guard/s/a%0D%0Ab".to_owned(), "400 key_invalid"),
        ("/v1/guard/s/a%00".to_owned(), "400 key_invalid"),
        ("/v1/guard/s/%FF".to_owned(), "400 key_invalid"),
        ("/v1/guard/s/k?part=%FF".to_owned(), "400 parameter_invalid"),
        (format!("/v1/guard/s/k?{}", &many[1..]), "400 key_invalid"),
        ("/v1/guard/s/k?parts=a".to_owned(), "400 parameter_unknown"),
        ("/v1/guard/s/a/b".to_owned(), "404 not_found"),
    ] {
        let answer = world.call("POST", &path, "").await;
        refused(&world, &answer, gist, &path).await;
    }
    let typo = world.call("POST", "/v1/guard/s/k?parts=a", "").await.json();
    assert_eq!(typo["fix"], "did you mean part?");
    assert_eq!(typo["field"], "parts");
    let slash = world.call("POST", "/v1/guard/s/a/b", "").await.json();
    assert!(slash["fix"].as_str().unwrap().contains("%2F"));
}

#[tokio::test]
async fn different_spellings_are_different_keys_and_come_back_as_they_were() {
    let world = World::new().await;
    for (path, parts, text) in [
        ("a%3Ab?part=c", json!(["a:b", "c"]), "a:b/c"),
        ("a?part=b%3Ac", json!(["a", "b:c"]), "a/b:c"),
        ("a%2Fb", json!(["a/b"]), "a%2Fb"),
        ("a?part=b", json!(["a", "b"]), "a/b"),
        ("a%252Fb", json!(["a%2Fb"]), "a%252Fb"),
        ("%C3%A9", json!(["\u{e9}"]), "\u{e9}"),
        ("e%CC%81", json!(["e\u{301}"]), "e\u{301}"),
        ("a%20b?part=c+d", json!(["a b", "c d"]), "a b/c d"),
        ("%2E%2E", json!([".."]), ".."),
        ("-rf", json!(["-rf"]), "-rf"),
    ] {
        world.granted(&format!("/v1/guard/s%2Ft/{path}"), "").await;
        let effect = world
            .call("GET", &format!("/v1/ledger/s%2Ft/{path}"), "")
            .await;
        let effect = effect.json();
        assert_eq!(effect["scope"], "s/t");
        assert_eq!(effect["parts"], parts, "{path}");
        assert_eq!(effect["key"], text, "{path}");
    }
}

#[tokio::test]
async fn parameters_of_lists() {
    let world = World::new().await;
    for (path, field) in [
        ("/v1/ledger?limit=0", "limit"),
        ("/v1/ledger?limit=1001", "limit"),
        ("/v1/ledger?limit=x", "limit"),
        ("/v1/ledger?limit=1&limit=2", "limit"),
        ("/v1/ledger?since=2026-13-01", "since"),
        ("/v1/ledger?after=7", "after"),
        ("/v1/ledger?state=dne", "state"),
        ("/v1/receipts?key=k", "key"),
        ("/v1/receipts?part=k", "part"),
        ("/v1/receipts?verdict=granted", "verdict"),
        ("/v1/receipts/tally?by=week", "by"),
    ] {
        let answer = world.call("GET", path, "").await;
        assert_eq!(answer.gist(), "400 parameter_invalid", "{path}");
        assert_eq!(answer.json()["field"], field, "{path}");
    }
    let typo = world.call("GET", "/v1/ledger?scop=s", "").await;
    assert_eq!(typo.json()["fix"], "did you mean scope?");
}
