//! What the fields of a step become on the wire, and what an answer becomes in the flow.

use semel_flow::model::Class;

use crate::sink::{Manner, Sink, answer, ok};
use crate::{message, perform, result, steps, task, word};

/// What the destination saw of a request with these fields; `URL` stands for its address.
async fn seen(fields: &str) -> String {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let input = fields.replace("URL", &sink.url(""));
    let (outcome, _) = perform(&steps(), &task(Class::Guarded, &input)).await;
    assert_eq!(word(&outcome), "done", "{outcome:?}");
    let seen = sink.seen().pop().expect("a request");
    let head = seen.head.trim_end().replace("\r\n", "\n");
    let text = format!("{head}\n\n{}", seen.body.replace("\r\n", "\n"));
    text.replace(&sink.address.to_string(), "HOST")
}

#[tokio::test]
async fn fields_become_requests() {
    let mut all = Vec::new();
    for fields in [
        r#"{"get":"URL/a b?q=ü","query":{"x":"1&2","y":[1,2],"gone":null}}"#,
        r#"{"post":"URL/j","json":{"n":12345678901234567890,"s":"${7*7}"},"bearer":"{{TOKEN}}"}"#,
        r#"{"put":"URL","form":{"a":"b c"},"basic":{"user":"u","password":"{{TOKEN}}"}}"#,
        r#"{"patch":"URL","body":"x","content_type":"text/csv","idempotency":{"header":"Idempotency-Key","window":"24h"}}"#,
        r#"{"delete":"URL","idempotency":{"header":"X-Key","window":"24h","quoted":true}}"#,
        r#"{"method":"purge","url":"URL","headers":{"X-A":"ä","User-Agent":"me"}}"#,
        r#"{"post":"URL"}"#,
        r#"{"post":"URL","multipart":[{"name":"a","value":"{{TOKEN}}"}]}"#,
    ] {
        all.push(format!("# {fields}\n{}", seen(fields).await));
    }
    insta::assert_snapshot!(all.join("\n\n"));
}

#[tokio::test]
async fn wrong_fields_are_named_and_nothing_is_sent() {
    let sink = Sink::new(Manner::Answer(ok())).await;
    let mut all = Vec::new();
    for fields in [
        r#"{"post":"URL","headers":{"x-a":"1\r\nx-b: 2"}}"#,
        r#"{"post":"URL","headers":{"x a":"1"}}"#,
        r#"{"post":"URL","headers":{"Host":"other"}}"#,
        r#"{"post":"URL","headers":{"Transfer-Encoding":"chunked"}}"#,
        r#"{"post":"URL","headers":[]}"#,
        r#"{"post":"URL","bearer":"a\nb"}"#,
        r#"{"post":"URL","bearer":"{{NONE}}"}"#,
        r#"{"post":"URL","json":{"a":["{{NONE}}"]}}"#,
        r#"{"post":"URL","basic":{"user":"u"}}"#,
        r#"{"post":"URL","basic":{"user":"u","password":"p"},"bearer":"x"}"#,
        r#"{"post":"URL","bearer":"x","headers":{"authorization":"y"}}"#,
        r#"{"post":"URL","content_type":"a\r\nb","body":"x"}"#,
        r#"{"post":"URL/\r\nx"}"#,
        r#"{"post":"http://user:{{TOKEN}}@a.example/"}"#,
        r#"{"post":null}"#,
        r#"{"post":["URL"]}"#,
        r#"{"json":{}}"#,
        r#"{"url":"URL"}"#,
        r#"{"url":"URL","method":"A B"}"#,
        r#"{"url":"URL","method":"connect"}"#,
        r#"{"post":"URL","get":"URL"}"#,
        r#"{"post":"URL","json":1,"body":"x"}"#,
        r#"{"post":"URL","jsno":1}"#,
        r#"{"post":"URL","timeouts":{"connect":"5"}}"#,
        r#"{"post":"URL","timeouts":{"total":true}}"#,
        r#"{"post":"URL","limit":"17MiB"}"#,
        r#"{"post":"URL","limit":"lots"}"#,
        r#"{"post":"URL","redirects":21}"#,
        r#"{"post":"URL","redirects":-1}"#,
        r#"{"post":"URL","expect":["ok"]}"#,
        r#"{"post":"URL","expect":[99]}"#,
        r#"{"post":"URL","paging":{"max":1}}"#,
        r#"{"get":"URL","paging":{"max":1}}"#,
        r#"{"post":"URL","idempotency":{"header":"a b"}}"#,
        r#"{"post":"URL","query":"a=b"}"#,
    ] {
        let input = fields.replace("URL", &sink.url(""));
        let (outcome, sent) = perform(&steps(), &task(Class::Guarded, &input)).await;
        assert_eq!(
            (word(&outcome), sent),
            ("permanent", 0),
            "{fields}: {outcome:?}"
        );
        all.push(format!("{fields}\n  {}", message(&outcome)));
    }
    let mut keyless = task(Class::Guarded, r#"{"post":"http://a/","idempotency":{}}"#);
    keyless.key = None;
    all.push(message(&perform(&steps(), &keyless).await.0));
    assert_eq!(sink.connections(), 0);
    insta::assert_snapshot!(all.join("\n"));
}

#[tokio::test]
async fn an_answer_is_seen_by_its_names() {
    let text = answer(
        "200 OK",
        "X-One: a\r\nx-one: b\r\n",
        r#"{"id":9007199254740993}"#,
    );
    let sink = Sink::new(Manner::Answer(text)).await;
    let input = format!(r#"{{"get":"{}"}}"#, sink.url("/p?q=1"));
    let (outcome, _) = perform(&steps(), &task(Class::Read, &input)).await;
    let told = message(&outcome).replace(&sink.address.to_string(), "HOST");
    insta::assert_snapshot!(told);
    assert_eq!(result(&outcome), r#"{"id":9007199254740993}"#);
}

#[tokio::test]
async fn expected_statuses_decide() {
    let sink = Sink::new(Manner::ByPath(vec![
        ("/404", answer("404 Not Found", "", "")),
        ("/200", ok()),
        ("/500", answer("500 Oh", "", "")),
    ]))
    .await;
    for (class, path, expect, known) in [
        (Class::Set, "/404", "[200,404]", "done"),
        (Class::Guarded, "/500", "[500]", "done"),
        (Class::Guarded, "/500", "[404]", "unknown"),
        (Class::Guarded, "/404", "[200]", "refused"),
        // It claims to have done it, though not as expected.
        (Class::Guarded, "/200", "[201]", "unknown"),
        (Class::Read, "/200", "[201]", "refused"),
    ] {
        let input = format!(r#"{{"post":"{}","expect":{expect}}}"#, sink.url(path));
        let (outcome, _) = perform(&steps(), &task(class, &input)).await;
        assert_eq!(word(&outcome), known, "{path} {expect}: {outcome:?}");
    }
}

#[tokio::test]
async fn an_answer_over_the_limit_is_lost_but_not_forgotten() {
    let long = format!("\"{}\"", "x".repeat(2000));
    let chunks = format!(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
        long.len()
    );
    for text in [answer("200 OK", "", &long), chunks] {
        let sink = Sink::new(Manner::Answer(text)).await;
        for (class, limit, known) in [
            (Class::Guarded, "\"1KiB\"", "unknown"),
            (Class::Read, "1024", "permanent"),
            (Class::Guarded, "2002", "done"),
        ] {
            let input = format!(r#"{{"post":"{}","limit":{limit}}}"#, sink.url("/"));
            let (outcome, _) = perform(&steps(), &task(class, &input)).await;
            assert_eq!(word(&outcome), known, "{limit}: {outcome:?}");
            if known != "done" {
                assert!(message(&outcome).contains("raise `limit`"), "{outcome:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_head_has_no_body_to_wait_for() {
    let text = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n".to_owned();
    let sink = Sink::new(Manner::Answer(text)).await;
    let steps = steps();
    let input = format!(r#"{{"head":"{}"}}"#, sink.url("/"));
    for _ in 0..2 {
        let (outcome, _) = perform(&steps, &task(Class::Read, &input)).await;
        assert_eq!(result(&outcome), "null");
    }
    assert_eq!(sink.connections(), 1);
}
