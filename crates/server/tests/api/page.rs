//! The page as it is served: one document for all its addresses, files that never change, and a policy that lets nothing else in.

use axum::body::Body;
use axum::http::Request;

use serde_json::Value;

use crate::browser::Browser;
use crate::common::{Answer, World};

async fn ask(world: &World, path: &str, header: (&str, &str)) -> Answer {
    let request = Request::builder().uri(path).header(header.0, header.1);
    world.send(request.body(Body::empty()).unwrap()).await
}

/// The files that the document names.
fn named(document: &str) -> Vec<String> {
    let parts = document.split("\"/assets/").skip(1);
    let names = parts.map(|rest| rest.split('"').next().unwrap());
    names.map(|name| format!("/assets/{name}")).collect()
}

#[tokio::test]
async fn the_documents_files_are_there_and_may_be_kept_for_ever() {
    let world = World::new().await;
    let browser = Browser::of_new(&world, "ada", "viewer").await;
    let document = browser.ask(&world, "GET", "/", Value::Null).await;
    let files = named(document.text());
    assert_eq!(files.len(), 2, "{}", document.text());
    for path in &files {
        let plain = ask(&world, path, ("accept-encoding", "identity")).await;
        assert_eq!(plain.status, 200, "{path}");
        assert!(plain.header("cache-control").contains("immutable"));
        assert_eq!(plain.header("x-content-type-options"), "nosniff");
        let packed = ask(&world, path, ("accept-encoding", "br, gzip;q=0.5")).await;
        assert_eq!(packed.header("content-encoding"), "gzip");
        assert!(packed.bytes.len() < plain.bytes.len() / 2);
        let tag = plain.header("etag").to_owned();
        let again = ask(&world, path, ("if-none-match", &tag)).await;
        assert_eq!((again.status.as_u16(), again.bytes.len()), (304, 0));
    }
    let other = files[0].replace("page-", "page-0");
    let missing = ask(&world, &other, ("accept", "*/*")).await;
    assert_eq!(missing.gist(), "404 not_found");
}

#[tokio::test]
async fn every_address_is_the_same_document_under_a_strict_policy() {
    let world = World::new().await;
    let browser = Browser::of_new(&world, "ada", "viewer").await;
    let first = browser.ask(&world, "GET", "/", Value::Null).await;
    for path in ["/app/runs", "/app/ledger/a%2Fb/c/d", "/app/nothing/there"] {
        let other = browser.ask(&world, "GET", path, Value::Null).await;
        assert_eq!(other.bytes, first.bytes, "{path}");
        let stranger = ask(&world, path, ("accept", "*/*")).await;
        let told = (stranger.status.as_u16(), stranger.header("location"));
        assert_eq!(told, (303, "/login"), "{path}");
    }
    let policy = first.header("content-security-policy");
    for rule in [
        "default-src 'none'",
        "script-src 'self';",
        "style-src 'self';",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ] {
        assert!(policy.contains(rule), "{policy}");
    }
    // The policy would refuse them, so none may be there.
    assert!(!first.text().contains("<style") && !first.text().contains("<script>"));
    assert_eq!(first.header("cache-control"), "no-cache");
}
