//! The server says no, or cannot do what is needed: nothing is sent, and the outcome says why.

use semel_act::Outcome;
use semel_flow::Value;
use semel_steps::{SmtpServer, SmtpTls, Steps};

use crate::server::Server;
use crate::{letter, message, perform, plain, settings, steps, task, through, word};

async fn refused(told: &str, to: &str) -> (&'static str, usize, usize, String) {
    let server = Server::told(told).await;
    let input = format!(r#"{{"to":{to},"subject":"Hi","text":"Hi"}}"#);
    let (outcome, sent) = perform(&steps(&server), &task(&input)).await;
    let stored = server.stored().len();
    (word(&outcome), sent, stored, message(&outcome))
}

#[tokio::test]
async fn a_code_says_whether_to_come_back() {
    for (told, known, sent, said) in [
        (
            r#"{"replies":{"EHLO":"421 too busy"}}"#,
            "transient",
            0,
            "answered 421 too busy to EHLO",
        ),
        (
            r#"{"replies":{"EHLO":"554 go away"}}"#,
            "refused",
            0,
            "answered 554 go away to EHLO",
        ),
        (
            r#"{"replies":{"MAIL":"451 4.3.0 later"}}"#,
            "transient",
            0,
            "451 4.3.0 later to MAIL",
        ),
        (
            r#"{"replies":{"MAIL":"553 not you"}}"#,
            "refused",
            0,
            "553 not you to MAIL",
        ),
        (
            r#"{"replies":{"DATA":"452 disk full"}}"#,
            "transient",
            0,
            "452 disk full to DATA",
        ),
        (
            r#"{"replies":{"DATA":"554 no valid recipients"}}"#,
            "refused",
            0,
            "554 no valid recipients to DATA",
        ),
        (
            r#"{"replies":{"END":"451 greylisted"}}"#,
            "transient",
            1,
            "451 greylisted to the message",
        ),
        (
            r#"{"replies":{"END":"550 5.7.1 looks like spam"}}"#,
            "refused",
            1,
            "550 5.7.1 looks like spam to the message",
        ),
    ] {
        let (word, traced, stored, message) = refused(told, r#""ann@example.org""#).await;
        assert_eq!(
            (word, traced, stored),
            (known, sent, 0),
            "{told}: {message}"
        );
        assert!(message.contains(said), "{message}");
    }
}

#[tokio::test]
async fn what_says_nothing_about_the_message_is_unknown() {
    for reply in ["421 shutting down", "354 go on", "no reply at all"] {
        let told = format!(r#"{{"replies":{{"END":"{reply}"}}}}"#);
        let (word, sent, _, message) = refused(&told, r#""ann@example.org""#).await;
        assert_eq!((word, sent), ("unknown", 1), "{reply}: {message}");
    }
}

#[tokio::test]
async fn one_refused_recipient_is_named_and_nobody_gets_anything() {
    let told = r#"{"replies":{"RCPT bob@example.org":"550 5.1.1 no such user"}}"#;
    let mut server = Server::told(told).await;
    let input = r#"{"to":["ann@example.org","bob@example.org"],"bcc":"cy@example.org","subject":"Hi","text":"Hi"}"#;
    let (outcome, sent) = perform(&steps(&server), &task(input)).await;
    assert_eq!((word(&outcome), sent), ("refused", 0));
    let said = "refused 1 of 3 recipients: bob@example.org (550 5.1.1 no such user); nothing was sent to anybody";
    assert!(message(&outcome).ends_with(said), "{}", message(&outcome));
    let Outcome::Failed(failure) = outcome else {
        panic!("not failed");
    };
    let names = failure.answer.expect("what it said").names;
    assert_eq!(
        names.get("refused").map(Value::to_json).as_deref(),
        Some(r#"[{"address":"bob@example.org","reply":"550 5.1.1 no such user"}]"#)
    );
    assert_eq!(
        names.get("accepted").map(Value::to_json).as_deref(),
        Some("[]")
    );
    let before = server.heard("RSET").await;
    assert!(
        !before.iter().any(|line| line.starts_with("DATA")),
        "{before:?}"
    );
    server.heard("QUIT").await;
    assert_eq!(server.stored().len(), 0);
}

#[tokio::test]
async fn recipients_that_may_be_taken_later_are_tried_later() {
    let busy = r#"{"replies":{"RCPT ann@example.org":"450 4.2.0 greylisted"}}"#;
    let (word, _, stored, message) = refused(busy, r#""ann@example.org""#).await;
    assert_eq!((word, stored), ("transient", 0), "{message}");
    let both =
        r#"{"replies":{"RCPT ann@example.org":"450 greylisted","RCPT bob@example.org":"550 no"}}"#;
    let (word, _, stored, message) =
        refused(both, r#"["ann@example.org","bob@example.org"]"#).await;
    assert_eq!((word, stored), ("refused", 0), "{message}");
    assert!(message.contains("refused 2 of 2 recipients"), "{message}");
    let gone = r#"{"replies":{"RCPT ann@example.org":"421 shutting down"}}"#;
    let (word, _, stored, message) = refused(gone, r#""ann@example.org""#).await;
    assert_eq!((word, stored), ("transient", 0), "{message}");
}

#[tokio::test]
async fn a_message_that_is_too_large_for_the_server_is_not_begun() {
    let mut server = Server::told(r#"{"size":2000}"#).await;
    let long = "x ".repeat(2000);
    let input = format!(r#"{{"to":"a@example.org","subject":"Hi","text":"{long}"}}"#);
    let (outcome, sent) = perform(&steps(&server), &task(&input)).await;
    assert_eq!((word(&outcome), sent), ("refused", 0));
    assert!(message(&outcome).contains("takes messages of up to 2000 bytes"));
    let before = server.heard("QUIT").await;
    assert!(
        !before.iter().any(|line| line.starts_with("MAIL")),
        "{before:?}"
    );
}

#[tokio::test]
async fn our_own_limit_comes_before_any_connection() {
    let server = Server::told("{}").await;
    let small = SmtpServer {
        limit: 200,
        ..plain(&server)
    };
    let (outcome, sent) = perform(&through(small, settings()), &letter()).await;
    assert_eq!((word(&outcome), sent), ("permanent", 0));
    let said = message(&outcome);
    assert!(
        said.ends_with("the limit of the mail server `default` is 200"),
        "{said}"
    );
}

#[tokio::test]
async fn letters_that_the_server_cannot_take_are_refused() {
    let (word, sent, stored, message) = refused("{}", r#""jörg@example.org""#).await;
    assert_eq!((word, sent, stored), ("refused", 0, 0));
    assert!(message.contains("does not offer SMTPUTF8"), "{message}");
}

#[tokio::test]
async fn tls_that_is_required_and_not_offered_ends_it() {
    let mut server = Server::told("{}").await;
    let strict = SmtpServer {
        tls: SmtpTls::StartTls,
        ..plain(&server)
    };
    let (outcome, sent) = perform(&through(strict, settings()), &letter()).await;
    assert_eq!((word(&outcome), sent), ("refused", 0));
    assert!(message(&outcome).ends_with("offers no STARTTLS"));
    let before = server.heard("EHLO").await;
    assert!(before.is_empty(), "{before:?}");
    assert_eq!(server.stored().len(), 0);
}

/// A mail server that is none.
async fn stranger(answer: &'static [u8]) -> u16 {
    use tokio::io::AsyncWriteExt as _;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let _ = stream.write_all(answer).await;
    });
    port
}

fn towards(port: u16) -> Steps {
    let server = SmtpServer {
        port,
        tls: SmtpTls::None,
        from: Some("shop@example.com".to_owned()),
        ..SmtpServer::new("127.0.0.1")
    };
    through(server, settings())
}

#[tokio::test]
async fn what_is_no_mail_server_gets_nothing() {
    static ENDLESS: [u8; 100_000] = [b'2'; 100_000];
    for answer in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"\x16\x03\x01\x00\x00\r\n",
        b"220-one\r\n221 two\r\n",
        b"220 no end",
        &ENDLESS,
    ] {
        let port = stranger(answer).await;
        let (outcome, sent) = perform(&towards(port), &letter()).await;
        assert_eq!(
            (word(&outcome), sent),
            ("never_sent", 0),
            "{}",
            message(&outcome)
        );
    }
}
