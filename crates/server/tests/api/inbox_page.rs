//! The page behind a signed link.

use axum::body::Body;
use axum::http::Request;
use semel_ledger::Decision;
use serde_json::json;

use crate::common::Answer;
use crate::gates::{Asking, Gates, Waiting, on_each_store};
use crate::openapi::fits;

on_each_store![
    a_scanner_changes_nothing,
    a_person_decides_by_the_form,
    what_comes_late_gets_a_page_of_its_own,
];

/// The path of a person's link.
pub(crate) async fn link(world: &Gates, it: &Waiting, person: &str) -> String {
    let path = format!("/v1/inbox/{}/link", it.id);
    let answer = world.call("POST", &path, json!({"for": person})).await;
    assert_eq!(answer.gist(), "200", "{}", answer.text());
    fits("/v1/inbox/{id}/link", "post", &answer);
    let url = answer.json()["url"].as_str().unwrap().to_owned();
    url.strip_prefix("https://semel.example")
        .unwrap()
        .to_owned()
}

pub(crate) async fn look(
    world: &Gates,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    world.send(request.body(Body::empty()).unwrap()).await
}

/// Sends the form as a browser does.
pub(crate) async fn submit(world: &Gates, path: &str, form: &[(&str, &str)]) -> Answer {
    let headers = [("sec-fetch-site", "same-origin"), ("origin", "null")];
    submit_from(world, path, form, &headers).await
}

pub(crate) async fn submit_from(
    world: &Gates,
    path: &str,
    form: &[(&str, &str)],
    headers: &[(&str, &str)],
) -> Answer {
    let escaped = |text: &str| -> String {
        let byte = |byte: u8| match byte {
            b' ' => "+".to_owned(),
            byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        };
        text.bytes().map(byte).collect()
    };
    let pairs = form
        .iter()
        .map(|(name, value)| format!("{name}={}", escaped(value)));
    let body = pairs.collect::<Vec<_>>().join("&");
    let mut request =
        Request::post(path).header("content-type", "application/x-www-form-urlencoded");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    world.send(request.body(Body::from(body)).unwrap()).await
}

pub(crate) fn is_a_page(answer: &Answer) {
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    let policy = answer.header("content-security-policy");
    for part in [
        "default-src 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "style-src 'sha256-",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    let text = answer.text();
    for tag in [
        "<script", "<link", "<img", "<iframe", "<a ", "<base", "<object", "<svg",
    ] {
        assert!(!text.contains(tag), "{tag} in {text}");
    }
}

async fn a_scanner_changes_nothing(world: Gates) {
    let it = world
        .asks(
            "1",
            &Asking {
                needed: 2,
                ..Asking::default()
            },
        )
        .await;
    let path = link(&world, &it, "ann").await;
    let before = world.everything().await;
    let purposes: [&[(&str, &str)]; 5] = [
        &[],
        &[("purpose", "prefetch")],
        &[
            ("sec-purpose", "prefetch;prerender"),
            ("sec-fetch-dest", "document"),
        ],
        &[
            ("user-agent", "Mozilla/5.0 SafeLinks"),
            ("sec-fetch-site", "cross-site"),
        ],
        &[("x-moz", "prefetch"), ("origin", "https://evil.example")],
    ];
    for round in 0..100 {
        let headers = purposes[round % purposes.len()];
        let page = look(&world, "GET", &path, headers).await;
        assert_eq!(page.status, 200);
        is_a_page(&page);
        assert!(page.text().contains("value=\"approve\""));
        let head = look(&world, "HEAD", &path, headers).await;
        assert_eq!((head.status.as_u16(), head.bytes.len()), (200, 0));
    }
    for method in ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"] {
        assert_eq!(
            look(&world, method, &path, &[]).await.status,
            405,
            "{method}"
        );
    }
    for query in ["?decision=approve", "?decision=approve&hash=x"] {
        let asked = format!("{path}{query}");
        assert_eq!(look(&world, "GET", &asked, &[]).await.status, 200);
    }
    assert_eq!(world.everything().await, before);
}

async fn a_person_decides_by_the_form(world: Gates) {
    let it = world
        .asks(
            "1",
            &Asking {
                needed: 2,
                ..Asking::default()
            },
        )
        .await;
    let (ann, bob) = (
        link(&world, &it, "ann").await,
        link(&world, &it, "bob").await,
    );
    let approve = [
        ("decision", "approve"),
        ("note", "fine\r\nby me"),
        ("hash", &*it.hash),
    ];
    let voted = submit(&world, &ann, &approve).await;
    assert_eq!(voted.status, 200);
    is_a_page(&voted);
    assert!(
        voted
            .text()
            .contains("Your approval is recorded. 1 more needed."),
        "{}",
        voted.text()
    );
    assert!(!voted.text().contains("<form"));
    let again = submit(&world, &ann, &approve).await;
    assert!(
        again.text().contains("recorded already"),
        "{}",
        again.text()
    );
    let looked = look(&world, "GET", &ann, &[]).await;
    assert!(
        looked
            .text()
            .contains("You approved this on 2026-01-01 00:00:00 UTC. 1 more needed.")
    );
    let decided = submit(&world, &bob, &[("decision", "approve"), ("hash", &it.hash)]).await;
    assert!(
        decided.text().contains("Approved by bob (link)"),
        "{}",
        decided.text()
    );
    let shown = world.item(&it.id).await;
    assert_eq!(shown["decided"]["by"], "bob (link)");
    assert_eq!(shown["voters"][0]["note"], "fine\nby me");
    let late = look(&world, "GET", &ann, &[]).await;
    assert_eq!(late.status, 200);
    assert!(late.text().contains("Approved by bob (link)") && !late.text().contains("<form"));
}

async fn what_comes_late_gets_a_page_of_its_own(world: Gates) {
    let it = world.asks("1", &Asking::default()).await;
    let ann = link(&world, &it, "ann").await;
    let form = |decision: &'static str, hash: &str| {
        [("decision", decision.to_owned()), ("hash", hash.to_owned())]
    };
    let send = async |decision, hash: &str| {
        let form = form(decision, hash);
        let form: Vec<_> = form
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let page = submit(&world, &ann, &form).await;
        is_a_page(&page);
        (page.status.as_u16(), page.text().to_owned())
    };
    let (status, text) = send("approve", "0123").await;
    assert_eq!(status, 409);
    assert!(text.contains("It has changed since it was shown"));
    // Asked again with other content: what was shown no longer counts.
    world.untold(&it, Decision::Resend).await;
    let dearer = Asking {
        show: json!({"amount": 501}),
        ..Asking::default()
    };
    let now = world.asks_again(&it, &dearer).await;
    let (status, text) = send("approve", &it.hash).await;
    assert_eq!(status, 409, "{text}");
    assert_eq!(world.item(&it.id).await["state"], "waiting");
    assert_eq!(send("reject", &now.hash).await.0, 200);
    let (status, text) = send("reject", &now.hash).await;
    assert_eq!(status, 200);
    assert!(text.contains("This was recorded already"), "{text}");
    let (status, text) = send("approve", &now.hash).await;
    assert_eq!(status, 409);
    assert!(
        text.contains("ann (link) decided") && text.contains("reject"),
        "{text}"
    );
    let late = world.asks("2", &Asking::default()).await;
    let path = link(&world, &late, "ann").await;
    world.pass("2d");
    let looked = look(&world, "GET", &path, &[]).await;
    assert_eq!(looked.status, 410);
    is_a_page(&looked);
    assert!(!looked.text().contains("<form"));
    let answer = submit(
        &world,
        &path,
        &[("decision", "approve"), ("hash", &late.hash)],
    )
    .await;
    assert_eq!(answer.status, 410);
    for (form, status) in [
        (&[("decision", "maybe"), ("hash", "x")][..], 400),
        (&[("hash", "x")], 400),
        (&[("decision", "approve"), ("decision", "reject")], 400),
        (&[("decision", "approve"), ("extra", "1")], 400),
    ] {
        let answer = submit(&world, &path, form).await;
        assert_eq!(answer.status, status, "{form:?}");
        is_a_page(&answer);
    }
    let long = "ä".repeat(2049);
    let answer = submit(&world, &path, &[("decision", "approve"), ("note", &long)]).await;
    assert_eq!(answer.status, 400);
    let json = Request::post(&path).header("content-type", "application/json");
    let answer = world.send(json.body(Body::from("{}")).unwrap()).await;
    assert_eq!(answer.status, 415);
}
