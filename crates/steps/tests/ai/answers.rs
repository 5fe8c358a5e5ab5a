//! What is known after each answer, and after none.

use std::time::Duration;

use semel_ledger::Millis;

use crate::*;

#[tokio::test]
async fn every_answer_says_what_is_known() {
    let server = Server::new().await;
    let mut lines = Vec::new();
    for (name, input) in [
        ("401", PLAIN),
        ("404", PLAIN),
        ("429", PLAIN),
        ("429-7", PLAIN),
        ("500", PLAIN),
        ("503", PLAIN),
        ("503-2", PLAIN),
        ("529", PLAIN),
        ("529-30", PLAIN),
        ("cut", PLAIN),
        ("malformed", PLAIN),
        ("page", PLAIN),
        ("other", PLAIN),
        ("refuse", PLAIN),
        ("length", PLAIN),
        ("filter", PLAIN),
        ("broken", PLAIN),
        ("empty", PLAIN),
        ("misfit", MOOD),
        ("not-json", MOOD),
    ] {
        for api in Api::ALL {
            let (outcome, sent) = asked(&server, api, name, input).await;
            let after = match &outcome {
                Outcome::Failed(failure) => failure.retry_after,
                _ => None,
            };
            let after = after.map(|after| format!(" after {after}"));
            let told = message(&outcome).replace(server.address(), "model");
            let known = word(&outcome);
            lines.push(format!(
                "{name} {}: {known}{} (sent {sent}) {told}",
                api.name(),
                after.unwrap_or_default()
            ));
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_model_that_never_answers_leaves_it_unknown() {
    for api in Api::ALL {
        let server = Server::new().await;
        let task = Task {
            timeout: Millis(700),
            ..ask(PLAIN)
        };
        let steps = steps(model(&server, api, "hang"));
        let performing = perform(&steps, &task);
        let waited = tokio::time::timeout(Duration::from_secs(15), performing).await;
        let (outcome, sent) = waited.expect("its own timeout");
        assert_eq!((word(&outcome), sent), ("unknown", 1), "{outcome:?}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn nobody_there_is_never_sent() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address");
    drop(free);
    let gone = Model::new(Api::OpenAiChat, "echo").expect("a name");
    let gone = gone
        .at(&format!("http://{address}/v1"))
        .expect("an address");
    let (outcome, sent) = perform(&steps(gone), &ask(PLAIN)).await;
    assert_eq!((word(&outcome), sent), ("never_sent", 0), "{outcome:?}");
}

/// What was paid for is on record, also where it cannot be used.
#[tokio::test]
async fn an_answer_that_cannot_be_used_is_evidence() {
    let server = Server::new().await;
    let (outcome, _) = asked(&server, Api::OpenAiChat, "misfit", MOOD).await;
    let Outcome::Failed(failure) = &outcome else {
        panic!("{outcome:?}");
    };
    let evidence = failure.answer.as_ref().expect("the answer").names.to_json();
    assert_eq!(
        evidence,
        r#"{"cost":0.00000345,"currency":"USD","json":null,"model":"misfit-2026","stop":"stop","text":"{\"mood\": {\"not\": \"so\"}, \"score\": 7}","usage":{"input":3,"output":5}}"#
    );
}
