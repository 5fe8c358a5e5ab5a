//! What each API is sent, and what is understood of its answer.

use crate::*;

#[tokio::test]
async fn each_api_gets_what_it_wants() {
    let mut all = Vec::new();
    for api in Api::ALL {
        for input in [
            PLAIN,
            r#"{"model":"small","system":"Be short.","prompt":"The code is {{CODE}}.","temperature":0.25,"max_tokens":50,"sample":"2"}"#,
            r#"{"model":"small","messages":[{"role":"user","text":"Hi"},{"role":"system","text":"Be kind."},
                {"role":"assistant","text":"Hello"},{"role":"user","text":"Bye"}]}"#,
            MOOD,
        ] {
            let server = Server::new().await;
            let (outcome, sent) = asked(&server, api, "echo", input).await;
            assert_eq!((word(&outcome), sent), ("done", 1), "{outcome:?}");
            let Outcome::Done(answer) = &outcome else {
                continue;
            };
            let seen = server.seen();
            let [seen] = seen.as_slice() else {
                panic!("{seen:?}");
            };
            assert_eq!(seen.get("key"), Some(&Value::text(KEY)));
            let path = seen.get("path").expect("a path").shown();
            let body = seen.get("body").expect("a body").to_json();
            all.push(format!(
                "{path} {body}\n{}\n-> {}\n",
                answer.names.to_json(),
                result(&outcome)
            ));
        }
    }
    insta::assert_snapshot!(all.join("\n"));
}

#[tokio::test]
async fn what_the_configuration_says_stands_where_the_step_says_nothing() {
    let server = Server::new().await;
    let usual = |model: Model| {
        let model = model.with_max_tokens(300).expect("some");
        model.with_temperature("0.5").expect("a number")
    };
    let small = usual(model(&server, Api::Anthropic, "echo"));
    let steps = steps(small);
    perform(&steps, &ask(PLAIN)).await;
    let own = r#"{"model":"small","prompt":"How are you?","max_tokens":7,"temperature":0}"#;
    perform(&steps, &ask(own)).await;
    let sent: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| {
            let body = seen.get("body").expect("a body");
            let member = |name| body.get(name).expect("a number").to_json();
            (member("max_tokens"), member("temperature"))
        })
        .collect();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(sent, [pair("300", "0.5"), pair("7", "0")]);
}

#[tokio::test]
async fn a_schema_that_leaves_things_open_is_not_called_strict() {
    let open = r#"{"model":"small","prompt":"?","schema":{"type":"object","properties":{"a":{"type":"string"}}}}"#;
    for api in [Api::OpenAiChat, Api::OpenAiResponses] {
        let server = Server::new().await;
        let (outcome, _) = asked(&server, api, "echo", open).await;
        assert_eq!(result(&outcome), r#"{"a":"some text"}"#);
        let body = server.seen()[0].get("body").expect("a body").to_json();
        assert!(body.contains(r#""strict":false"#), "{body}");
    }
}

#[tokio::test]
async fn the_key_is_nowhere_to_be_read() {
    let server = Server::new().await;
    let mut small = model(&server, Api::OpenAiChat, "echo");
    small.key = None;
    let (outcome, _) = perform(&steps(small), &ask(PLAIN)).await;
    assert_eq!(word(&outcome), "refused");
    let echoed = r#"{"model":"small","prompt":"It is {{MODEL_KEY}}, is it?"}"#;
    let (outcome, _) = asked(&server, Api::OpenAiChat, "echo", echoed).await;
    assert_eq!(word(&outcome), "done");
    let told = format!("{outcome:?}");
    assert!(!told.contains(KEY), "{told}");
    let (outcome, _) = asked(&server, Api::Anthropic, "401", PLAIN).await;
    assert_eq!(word(&outcome), "refused");
    assert!(!format!("{outcome:?}").contains(KEY));
}
