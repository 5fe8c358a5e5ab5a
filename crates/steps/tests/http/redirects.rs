//! Where answers point: what follows, and what stays behind.

use semel_flow::model::Class;

use crate::sink::{Manner, Sink, answer, ok};
use crate::{get, message, perform, result, steps, task, word};

fn moved(status: &str, to: &str) -> String {
    answer(status, &format!("location: {to}\r\n"), "")
}

#[tokio::test]
async fn a_get_follows_and_ends() {
    let sink = Sink::new(Manner::ByPath(vec![
        ("/a/b", moved("302 Found", "../c?x=1")),
        ("/c", moved("308 Permanent Redirect", "/d")),
        ("/d", ok()),
        ("/round", moved("301 Moved Permanently", "/round")),
        ("/bad", moved("302 Found", "javascript:alert(1)")),
        ("/none", answer("302 Found", "", "")),
    ]))
    .await;
    let steps = steps();
    let (outcome, sent) = perform(&steps, &get(&sink.url("/a/b"))).await;
    assert_eq!(sent, 3);
    assert!(message(&outcome).contains(r#"/d""#), "{outcome:?}");
    let paths: Vec<_> = sink
        .seen()
        .iter()
        .map(|seen| seen.path().to_owned())
        .collect();
    assert_eq!(paths, ["/a/b", "/c?x=1", "/d"]);
    let (outcome, sent) = perform(&steps, &get(&sink.url("/round"))).await;
    assert_eq!((word(&outcome), sent), ("refused", 6), "{outcome:?}");
    for path in ["/bad", "/none"] {
        let (outcome, sent) = perform(&steps, &get(&sink.url(path))).await;
        assert_eq!((word(&outcome), sent), ("refused", 1), "{outcome:?}");
    }
}

#[tokio::test]
async fn what_acts_follows_only_where_it_is_safe() {
    let sink = Sink::new(Manner::ByPath(vec![
        ("/301", moved("301 Moved Permanently", "/end")),
        ("/302", moved("302 Found", "/end")),
        ("/303-gone", moved("303 See Other", "/gone")),
        ("/303", moved("303 See Other", "/end")),
        ("/307", moved("307 Temporary Redirect", "/end")),
        ("/gone", answer("404 Not Found", "", "")),
        ("/end", ok()),
    ]))
    .await;
    let steps = steps();
    for (path, known, lines) in [
        ("/301", "refused", vec!["POST /301"]),
        ("/302", "unknown", vec!["POST /302"]),
        ("/303", "done", vec!["POST /303", "GET /end"]),
        ("/303-gone", "unknown", vec!["POST /303-gone", "GET /gone"]),
        ("/307", "done", vec!["POST /307", "POST /end"]),
    ] {
        let before = sink.seen().len();
        let input = format!(
            r#"{{"post":"{}","json":[1],"redirects":3}}"#,
            sink.url(path)
        );
        let (outcome, sent) = perform(&steps, &task(Class::Guarded, &input)).await;
        assert_eq!(
            (word(&outcome), sent),
            (known, lines.len()),
            "{path}: {outcome:?}"
        );
        let seen = &sink.seen()[before..];
        let got: Vec<_> = seen
            .iter()
            .map(|it| it.line().replace(" HTTP/1.1", ""))
            .collect();
        assert_eq!(got, lines);
        for request in seen {
            let is_post = request.line().starts_with("POST");
            assert_eq!(request.body, if is_post { "[1]" } else { "" });
            assert_eq!(request.header("content-type").is_some(), is_post);
        }
    }
}

#[tokio::test]
async fn an_expected_redirect_is_an_answer() {
    let sink = Sink::new(Manner::Answer(moved("302 Found", "/x"))).await;
    let input = format!(r#"{{"get":"{}","expect":[302]}}"#, sink.url("/"));
    let (outcome, _) = perform(&steps(), &task(Class::Read, &input)).await;
    assert_eq!(word(&outcome), "done");
    assert_eq!(sink.seen().len(), 1);
}

#[tokio::test]
async fn credentials_stay_with_their_origin() {
    let other = Sink::new(Manner::Answer(ok())).await;
    let away = moved("307 Temporary Redirect", &other.url("/there"));
    let sink = Sink::new(Manner::ByPath(vec![
        ("/away", away),
        ("/here", moved("307 Temporary Redirect", "/there")),
        ("/there", ok()),
    ]))
    .await;
    let steps = steps();
    let ask = |path: &str, more: &str| {
        let input = format!(
            r#"{{"url":"{}","method":"post","redirects":1,"bearer":"{{{{TOKEN}}}}",
                "headers":{{"cookie":"a=b","x-api-key":"{{{{TOKEN}}}}","x-plain":"1"}}{more}}}"#,
            sink.url(path)
        );
        task(Class::Guarded, &input)
    };
    assert_eq!(
        result(&perform(&steps, &ask("/here", "")).await.0),
        r#"{"id":7}"#
    );
    assert_eq!(
        result(&perform(&steps, &ask("/away", "")).await.0),
        r#"{"id":7}"#
    );
    let private = ["authorization", "cookie", "x-api-key"];
    let here = &sink.seen()[1];
    let there = &other.seen()[0];
    for name in private {
        assert!(here.header(name).is_some(), "{name}");
        assert_eq!(there.header(name), None, "{name}");
    }
    assert_eq!(there.header("x-plain"), Some("1"));
    assert_eq!(
        there.header("host"),
        Some(other.address.to_string().as_str())
    );

    let body = ask("/away", r#","json":{"key":"{{TOKEN}}"}"#);
    let (outcome, _) = perform(&steps, &body).await;
    assert_eq!(word(&outcome), "refused", "{outcome:?}");
    assert!(message(&outcome).contains("carry a secret"), "{outcome:?}");
    assert_eq!(other.seen().len(), 1);
}
