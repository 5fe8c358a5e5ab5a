//! What each service is sent, and what is known after its answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_act::{SecretSet, Task};
use semel_flow::Value;
use semel_flow::model::{Class, Kind};
use semel_steps::{NotifySettings, Settings, Steps};

use crate::shared;
use crate::sink::{Manner, Sink, answer};
use crate::{message, perform, result, sealed, settings, word};

/// Steps whose secret `HOOK` is an address of the sink, with a channel `ops` that goes there.
fn steps(sink: &Sink) -> Steps {
    let hook = sink.url("/hook");
    let secrets = SecretSet::from_iter([("HOOK", hook.as_str()), ("BOT", "xoxb-s3cret")]);
    let ops = sealed(Value::map([("discord", Value::text("{{HOOK}}"))]));
    Steps::new(Settings {
        secrets: Arc::new(secrets),
        notify: NotifySettings {
            channels: BTreeMap::from([("ops".to_owned(), ops)]),
        },
        ..settings()
    })
}

fn notify(class: Class, input: &str) -> Task {
    shared::task(Kind::Notify, class, "tell", input)
}

#[tokio::test]
async fn each_service_gets_what_it_wants() {
    let mut all = Vec::new();
    for fields in [
        r#"{"slack":{"url":"{{HOOK}}"},"text":"<!channel> & <http://evil|click>","title":"5 > 4"}"#,
        r#"{"slack":{"url":"{{HOOK}}"},"text":"<http://a.example|here>","markup":true}"#,
        r#"{"slack":{"token":"{{BOT}}","to":"C17","api":"API"},"text":"hi"}"#,
        r#"{"slack":{"token":"{{BOT}}","to":"C17","api":"API"},"text":"hi again","update":"17.4"}"#,
        r#"{"discord":"{{HOOK}}","text":"@everyone","title":"News"}"#,
        r#"{"discord":"{{HOOK}}","text":"<@1>","markup":true,"update":"99"}"#,
        r#"{"channel":"ops","text":"by name"}"#,
        r#"{"teams":"{{HOOK}}","text":"a card","title":"News"}"#,
        r#"{"webhook":"{{HOOK}}","text":"anything","title":"News"}"#,
    ] {
        let sink = Sink::new(Manner::Answer(answer(
            "200 OK",
            "",
            r#"{"ok":true,"ts":"17.4","id":"99"}"#,
        )))
        .await;
        let input = fields.replace("API", &sink.url("/api"));
        let (outcome, sent) = perform(&steps(&sink), &notify(Class::Guarded, &input)).await;
        assert_eq!((word(&outcome), sent), ("done", 1), "{outcome:?}");
        let seen = sink.seen().pop().expect("a request");
        let bearer = seen.header("authorization").unwrap_or("-");
        let told = result(&outcome);
        all.push(format!(
            "# {fields}\n{} ({bearer})\n{}\n-> {told}",
            seen.line(),
            seen.body
        ));
    }
    insta::assert_snapshot!(all.join("\n\n"));
}

#[tokio::test]
async fn wrong_messages_are_named_and_nothing_is_sent() {
    let sink = Sink::new(Manner::Answer(answer("200 OK", "", "{}"))).await;
    let mut all = Vec::new();
    let long = format!(
        r#"{{"discord":"{{{{HOOK}}}}","text":"{}"}}"#,
        "x".repeat(2001)
    );
    for fields in [
        r#"{"text":"to nobody"}"#,
        r#"{"channel":"sales","text":"hi"}"#,
        r#"{"slack":{"url":"{{HOOK}}"}}"#,
        r#"{"slack":{"url":"{{HOOK}}"},"text":" "}"#,
        r#"{"slack":{"url":"{{HOOK}}"},"text":["a"]}"#,
        r#"{"slack":{"url":"{{HOOK}}"},"text":"the password is {{BOT}}"}"#,
        r#"{"slack":{"url":"{{HOOK}}"},"text":"hi","update":"17.4"}"#,
        r#"{"discord":"{{HOOK}}","text":"hi","update":"../../99"}"#,
        r#"{"teams":"{{HOOK}}","text":"hi","update":"1"}"#,
        &long,
    ] {
        let (outcome, sent) = perform(&steps(&sink), &notify(Class::Guarded, fields)).await;
        assert_eq!((word(&outcome), sent), ("permanent", 0), "{fields}");
        all.push(message(&outcome));
    }
    assert_eq!(sink.connections(), 0);
    insta::assert_snapshot!(all.join("\n"));
}

/// Slack's methods answer 200 also when they refuse.
#[tokio::test]
async fn what_slack_says_counts_not_its_status() {
    for (body, wanted) in [
        (r#"{"ok":true,"ts":"1.2"}"#, "done"),
        (r#"{"ok":false,"error":"channel_not_found"}"#, "refused"),
        (r#"{"ok":false,"error":"ratelimited"}"#, "transient"),
        (r#"{"ok":false,"error":"internal_error"}"#, "unknown"),
        ("{}", "unknown"),
    ] {
        let sink = Sink::new(Manner::Answer(answer("200 OK", "", body))).await;
        let fields = r#"{"slack":{"token":"{{BOT}}","to":"C17","api":"API"},"text":"hi"}"#;
        let input = fields.replace("API", &sink.url("/api"));
        let (outcome, _) = perform(&steps(&sink), &notify(Class::Guarded, &input)).await;
        assert_eq!(word(&outcome), wanted, "{body}");
        assert!(!format!("{outcome:?}").contains("xoxb"), "{outcome:?}");
    }
}

#[tokio::test]
async fn a_message_whose_answer_is_lost_is_unknown() {
    let sink = Sink::new(Manner::CloseAfterRead).await;
    let fields = r#"{"slack":{"url":"{{HOOK}}"},"text":"hi"}"#;
    let (outcome, sent) = perform(&steps(&sink), &notify(Class::Guarded, fields)).await;
    assert_eq!((word(&outcome), sent), ("unknown", 1), "{outcome:?}");
    assert_eq!(sink.seen().len(), 1, "it was said once");
    assert!(!message(&outcome).contains("/hook"), "{outcome:?}");
}
