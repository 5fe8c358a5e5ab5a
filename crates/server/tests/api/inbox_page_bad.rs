//! The page behind a signed link, and those who mean no good.

use serde_json::json;

use crate::gates::{Asking, Gates, on_each_store};
use crate::inbox_page::{is_a_page, link, look, submit, submit_from};
use crate::openapi::fits;

on_each_store![
    links_that_are_none_are_all_alike,
    content_is_shown_as_text,
    forms_of_other_sites_are_refused,
    links_are_made_for_those_who_may,
];

async fn links_that_are_none_are_all_alike(world: Gates) {
    let it = world.asks("1", &Asking::default()).await;
    let path = link(&world, &it, "ann").await;
    let token = path.strip_prefix("/approve/").unwrap();
    let mut flipped = token.to_owned();
    let last = if flipped.pop() == Some('A') { 'B' } else { 'A' };
    flipped.push(last);
    let run = semel_store::run::RunId::parse(&it.run).unwrap();
    let links = &world.app.engine().settings().links;
    let callback = links.callback(run, "ok").unwrap();
    let callback = callback.rsplit('/').next().unwrap().to_owned();
    let gone = semel_store::run::RunId([9; 16]);
    let gone = links.approval(gone, "ok", "ann").unwrap();
    let gone = gone.rsplit('/').next().unwrap().to_owned();
    let mut pages = Vec::new();
    for token in [
        "x",
        "%00",
        "%FF",
        &"A".repeat(5000),
        &token[..20],
        &flipped,
        &callback,
        &gone,
    ] {
        let path = format!("/approve/{token}");
        let looked = look(&world, "GET", &path, &[]).await;
        assert_eq!(looked.status, 404, "{token}");
        is_a_page(&looked);
        let sent = submit(
            &world,
            &path,
            &[("decision", "approve"), ("hash", &it.hash)],
        )
        .await;
        assert_eq!(sent.status, 404, "{token}");
        pages.extend([looked.bytes, sent.bytes]);
    }
    pages.dedup();
    assert_eq!(pages.len(), 1, "nothing can be learnt from them");
    // A step that the run has not come to.
    let early = links.approval(run, "later", "ann").unwrap();
    let early = early.strip_prefix("https://semel.example").unwrap();
    let before = world.everything().await;
    for _ in 0..2 {
        let looked = look(&world, "GET", early, &[]).await;
        assert_eq!(looked.status, 200);
        is_a_page(&looked);
        assert!(looked.text().contains("Nothing is asked yet"));
        submit(
            &world,
            early,
            &[("decision", "approve"), ("hash", &it.hash)],
        )
        .await;
    }
    assert_eq!(world.everything().await, before);
}

async fn content_is_shown_as_text(world: Gates) {
    let hostile =
        "<script>alert(1)</script>\" onmouseover=\"x' \u{202e}gpj\u{1b}[31m ${7*7} {{7*7}}";
    let asking = Asking {
        ask: hostile.to_owned(),
        show: json!({
            "<img src=x onerror=alert(1)>": hostile,
            "big": 9_007_199_254_740_993_u64,
            "list": [hostile, {"deep": [["</table></main>"]]}],
            "</textarea>": null,
        }),
        needed: 2,
        ..Asking::default()
    };
    let it = world.asks("1", &asking).await;
    let note = "</p><script>alert(2)</script>";
    let body = json!({"decision": "approve", "hash": it.hash, "note": note});
    let voted = world
        .say("bob", "POST", &format!("/v1/inbox/{}/decide", it.id), body)
        .await;
    assert_eq!(voted.gist(), "200");
    let path = link(&world, &it, "ann").await;
    let page = look(&world, "GET", &path, &[]).await;
    is_a_page(&page);
    let text = page.text();
    for wrong in [
        "<script",
        "<img",
        "onerror=alert(1)>",
        "\u{202e}",
        "\u{1b}",
        "\0",
        "\" onmouseover",
    ] {
        assert!(!text.contains(wrong), "{wrong:?} in {text}");
    }
    assert_eq!(text.matches("</main>").count(), 1);
    assert_eq!(text.matches("</textarea>").count(), 1);
    for right in [
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "\\u{202e}gpj\\u{1b}[31m ${7*7} {{7*7}}",
        "9007199254740993",
        "&lt;/p&gt;&lt;script&gt;alert(2)&lt;/script&gt;",
        "&lt;img src=x onerror=alert(1)&gt;",
    ] {
        assert!(text.contains(right), "{right:?} in {text}");
    }
    let changed = submit(
        &world,
        &path,
        &[("decision", "approve"), ("hash", "\"><script>")],
    )
    .await;
    assert_eq!(changed.status, 409);
    assert!(!changed.text().contains("<script"));
    let done = submit(
        &world,
        &path,
        &[("decision", "approve"), ("hash", &it.hash), ("note", note)],
    )
    .await;
    assert_eq!(done.status, 200);
    assert!(!done.text().contains("<script"), "{}", done.text());
}

async fn forms_of_other_sites_are_refused(world: Gates) {
    let it = world.asks("1", &Asking::default()).await;
    let path = link(&world, &it, "ann").await;
    let form = [("decision", "approve"), ("hash", &*it.hash)];
    for headers in [
        &[("origin", "https://evil.example")][..],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site"), ("origin", "null")],
    ] {
        let answer = submit_from(&world, &path, &form, headers).await;
        assert_eq!(answer.status, 403, "{headers:?}");
        is_a_page(&answer);
    }
    assert_eq!(world.item(&it.id).await["state"], "waiting");
    let own = [
        ("origin", "https://semel.example"),
        ("sec-fetch-site", "same-origin"),
    ];
    assert_eq!(submit_from(&world, &path, &form, &own).await.status, 200);
}

async fn links_are_made_for_those_who_may(world: Gates) {
    let it = world
        .asks(
            "1",
            &Asking {
                maker: Some("bob"),
                ..Asking::default()
            },
        )
        .await;
    let lost = world.lost("2").await;
    for (id, body, gist) in [
        (&it.id, json!({"for": "mallory"}), "403 not_allowed"),
        (&it.id, json!({"for": "bob"}), "403 not_allowed"),
        (&it.id, json!({}), "400 field_missing"),
        (&it.id, json!({"for": "a\nb"}), "400 field_invalid"),
        (&lost.id, json!({"for": "ann"}), "403 not_allowed"),
        (
            &"item_00000000".to_owned(),
            json!({"for": "ann"}),
            "404 item_missing",
        ),
    ] {
        let answer = world
            .call("POST", &format!("/v1/inbox/{id}/link"), &body)
            .await;
        assert_eq!(answer.gist(), gist, "{body}");
        fits("/v1/inbox/{id}/link", "post", &answer);
    }
}
