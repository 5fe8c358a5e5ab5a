//! What arrives, as another program reads it.

use semel_act::{Outcome, Task};
use semel_flow::Value;
use semel_ledger::Scope;
use semel_steps::SmtpServer;

use crate::server::Server;
use crate::{letter, message, perform, plain, settings, steps, task, through, word};

/// The header of that name.
fn header(mail: &Value, name: &str) -> String {
    let Some(Value::List(headers)) = mail.get("headers") else {
        panic!("no headers in {mail:?}");
    };
    let found: Vec<_> = headers
        .iter()
        .filter_map(|header| match header {
            Value::List(pair) if pair[0].as_text() == Some(name) => pair[1].as_text(),
            _ => None,
        })
        .collect();
    assert_eq!(found.len(), 1, "{name} in {}", mail.to_json());
    found[0].to_owned()
}

fn json(mail: &Value, name: &str) -> String {
    mail.get(name).map(Value::to_json).expect(name)
}

async fn arrived(input: &str) -> (Outcome, Value) {
    let server = Server::told(r#"{"utf8":true}"#).await;
    let (outcome, sent) = perform(&steps(&server), &task(input)).await;
    assert_eq!((word(&outcome), sent), ("done", 1), "{}", message(&outcome));
    let mail = server.only();
    assert_eq!(json(&mail, "defects"), "[]", "{}", mail.to_json());
    (outcome, mail)
}

#[tokio::test]
async fn a_plain_mail() {
    let (outcome, mail) = arrived(
        r#"{"to":["Ann Lee <ann@example.org>","ann@example.org"],"cc":"\"Müller, Bob\" <bob@bücher.example>",
            "bcc":["cy@example.net",null],"reply_to":"help@example.com","subject":"Dein Beleg für März – danke 🎉",
            "text":"Hello\n.\n.. dots\r\nand an end\r","headers":{"X-Order":"17","List-Unsubscribe":"<https://a.example/u>"}}"#,
    )
    .await;
    assert_eq!(json(&mail, "from"), r#""shop@example.com""#);
    assert_eq!(
        json(&mail, "to"),
        r#"["ann@example.org","bob@xn--bcher-kva.example","cy@example.net"]"#
    );
    assert_eq!(header(&mail, "From"), "Shop <shop@example.com>");
    assert_eq!(
        header(&mail, "To"),
        "Ann Lee <ann@example.org>, ann@example.org"
    );
    assert_eq!(
        header(&mail, "Cc"),
        "\"Müller, Bob\" <bob@xn--bcher-kva.example>"
    );
    assert_eq!(header(&mail, "Reply-To"), "help@example.com");
    assert_eq!(header(&mail, "Subject"), "Dein Beleg für März – danke 🎉");
    assert_eq!(header(&mail, "X-Order"), "17");
    assert_eq!(header(&mail, "List-Unsubscribe"), "<https://a.example/u>");
    assert!(header(&mail, "Date").ends_with(" +0000"));
    assert!(!mail.to_json().contains("Bcc"));
    assert_eq!(
        json(&mail, "bodies"),
        r#"{"plain":"Hello\r\n.\r\n.. dots\r\nand an end\r\n"}"#
    );
    let Outcome::Done(answer) = outcome else {
        panic!("not done");
    };
    let id = header(&mail, "Message-ID");
    assert_eq!(
        answer.result.to_json(),
        format!(
            r#"{{"accepted":["ann@example.org","bob@xn--bcher-kva.example","cy@example.net"],"message_id":"{id}","reply":"250 2.0.0 OK queued as Q1"}}"#
        )
    );
    assert_eq!(json(&answer.names, "code"), "250");
    assert_eq!(json(&answer.names, "refused"), "[]");
}

#[tokio::test]
async fn text_and_html_and_files_arrive_to_the_last_byte() {
    let (_, mail) = arrived(
        r#"{"to":"ann@example.org","subject":"Files","text":"Größe\n","html":"<p>Größe</p>",
            "attachments":[
              {"name":"Übersicht \"März\".csv","type":"text/csv","content":"a;ö\n.\r\n\r1"},
              {"name":"x.bin","base64":"AAECAw0KDQ0KLg0K/w=="},
              {"name":"order.json","type":"application/json","content":{"id":12345678901234567890}}]}"#,
    )
    .await;
    assert_eq!(
        json(&mail, "types"),
        r#"["multipart/mixed","multipart/alternative","text/plain","text/html","text/csv","application/octet-stream","application/json"]"#
    );
    assert_eq!(
        json(&mail, "bodies"),
        r#"{"html":"<p>Größe</p>","plain":"Größe\r\n"}"#
    );
    assert_eq!(
        json(&mail, "files"),
        r#"[{"base64":"YTvDtgouDQoNMQ==","charset":"utf-8","name":"Übersicht \"März\".csv","type":"text/csv"},{"base64":"AAECAw0KDQ0KLg0K/w==","charset":null,"name":"x.bin","type":"application/octet-stream"},{"base64":"eyJpZCI6MTIzNDU2Nzg5MDEyMzQ1Njc4OTB9","charset":null,"name":"order.json","type":"application/json"}]"#
    );
}

#[tokio::test]
async fn letters_of_the_world_arrive_where_the_server_takes_them() {
    let (_, mail) =
        arrived(r#"{"to":"Jörg <jörg@example.org>","subject":"Hi","html":"<p>Hi</p>"}"#).await;
    assert_eq!(json(&mail, "to"), r#"["jörg@example.org"]"#);
    assert!(json(&mail, "options").contains("SMTPUTF8"));
    assert_eq!(header(&mail, "To"), "Jörg <jörg@example.org>");
}

#[tokio::test]
async fn long_lines_and_many_words_are_taken_apart_and_put_together() {
    let long = "wörter ".repeat(300);
    let line = "x".repeat(3000);
    let input = format!(
        r#"{{"to":"a@example.org","subject":"{}","text":"{line}","headers":{{"X-Long":"{long}"}}}}"#,
        long.trim()
    );
    let (_, mail) = arrived(&input).await;
    assert_eq!(header(&mail, "Subject"), long.trim());
    assert_eq!(header(&mail, "X-Long").trim(), long.trim());
    assert_eq!(
        json(&mail, "bodies"),
        format!(r#"{{"plain":"{line}\r\n"}}"#)
    );
}

#[tokio::test]
async fn the_message_id_is_that_of_the_effect() {
    let server = Server::told("{}").await;
    let steps = steps(&server);
    let id = async |task: &Task| {
        let (outcome, _) = perform(&steps, task).await;
        let Outcome::Done(answer) = outcome else {
            panic!("not done: {outcome:?}");
        };
        json(&answer.result, "message_id")
    };
    let first = id(&letter()).await;
    let again = Task {
        attempt: 2,
        ..task(r#"{"to":"ann@example.org","subject":"Corrected","text":"Other"}"#)
    };
    assert_eq!(id(&again).await, first);
    let other_thing = Task {
        key: Some("order/18".parse().expect("a key")),
        ..letter()
    };
    assert_ne!(id(&other_thing).await, first);
    // Another mail about the same order: who drops what it has seen must not drop this.
    let other_action = Task {
        scope: Some(Scope::new("order-paid/shipped").expect("a scope")),
        ..letter()
    };
    assert_ne!(id(&other_action).await, first);
    assert!(first.ends_with("@example.com>\""), "{first}");
    assert_eq!(first.len(), "\"<@example.com>\"".len() + 32);
}

#[tokio::test]
async fn the_step_may_name_its_sender_and_the_server_its_name() {
    let mut server = Server::told("{}").await;
    let named = SmtpServer {
        helo: Some("semel.example.com".to_owned()),
        ..plain(&server)
    };
    let task = task(
        r#"{"from":"Billing <billing@shop.example>","to":"a@example.org","subject":"Hi","text":"Hi"}"#,
    );
    let (outcome, _) = perform(&through(named, settings()), &task).await;
    assert_eq!(word(&outcome), "done", "{}", message(&outcome));
    let mail = server.only();
    assert_eq!(header(&mail, "From"), "Billing <billing@shop.example>");
    assert_eq!(json(&mail, "from"), r#""billing@shop.example""#);
    assert!(header(&mail, "Message-ID").ends_with("@shop.example>"));
    let before = server.heard("MAIL").await;
    assert_eq!(before, ["EHLO semel.example.com"]);
    // It is told goodbye, and nothing was said twice.
    let after = server.heard("QUIT").await;
    assert_eq!(after, ["RCPT TO:<a@example.org>", "DATA None"]);
}
