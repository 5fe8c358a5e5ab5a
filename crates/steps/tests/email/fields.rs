//! Fields that are wrong: refused by name, before anything is sent.

use semel_act::Task;
use semel_steps::SmtpServer;

use crate::server::Server;
use crate::{message, perform, plain, settings, steps, task, through, word};

/// Fields, and the beginning of what is said about them.
const WRONG: &[(&str, &str)] = &[
    (
        r#""subject":"a\r\nBcc: eve@example.net""#,
        "`subject` has a line break or another control character at byte 1; remove it",
    ),
    (r#""subject":"a\nb""#, "`subject` has a line break"),
    (
        r#""to":"a@b.example\r\nRCPT TO:<eve@example.net>""#,
        "`to` has a line break or another control character at byte 11",
    ),
    (
        r#""cc":["a@b.example","c@d.example\nX: y"]"#,
        "`cc[1]` has a line break",
    ),
    (r#""from":"a\r\n <a@b.example>""#, "`from` has a line break"),
    (r#""reply_to":"Ann""#, "`reply_to` has no @"),
    (
        r#""to":"a@b.example, c@d.example""#,
        "`to` has `@` before its @",
    ),
    (r#""to":[]"#, "`to` is missing"),
    (r#""to":null"#, "`to` is missing"),
    (r#""to":{"a":1}"#, "`to` is an object; write text"),
    (r#""subject":null"#, "`subject` is missing"),
    (r#""text":null"#, "email has neither `text` nor `html`"),
    (r#""text":["a"]"#, "`text` is a list; write text"),
    (
        r#""headers":{"X-A":"1\r\n\r\nbody"}"#,
        "`headers.X-A` has a line break",
    ),
    (
        r#""headers":{"X A":"1"}"#,
        "`headers.X A` is not the name of a header",
    ),
    (
        r#""headers":{"X:A":"1"}"#,
        "`headers.X:A` is not the name of a header",
    ),
    (
        r#""headers":{"":"1"}"#,
        "`headers.` is not the name of a header",
    ),
    (
        r#""headers":{"bCC":"eve@example.net"}"#,
        "`headers.bCC` is written by the step itself; leave it out",
    ),
    (
        r#""headers":{"Content-Type":"text/html"}"#,
        "`headers.Content-Type` is written by the step itself",
    ),
    (
        r#""headers":{"Message-Id":"<1@a>"}"#,
        "`headers.Message-Id` is written by the step itself",
    ),
    (
        r#""headers":"X-A: 1""#,
        "`headers` is text; write names with text",
    ),
    (
        r#""attachments":{"name":"a"}"#,
        "`attachments` is an object; write a list of files",
    ),
    (
        r#""attachments":[{"content":"a"}]"#,
        "`attachments[0].name` is missing",
    ),
    (
        r#""attachments":[{"name":"a"}]"#,
        "`attachments[0].content` is missing",
    ),
    (
        r#""attachments":[{"name":"a\nb","content":"a"}]"#,
        "`attachments[0].name` has a line break",
    ),
    (
        r#""attachments":[{"name":"a","base64":"%%"}]"#,
        "`attachments[0].base64` is not base64",
    ),
    (
        r#""attachments":[{"name":"a","base64":"","content":""}]"#,
        "`attachments[0]` has both `content` and `base64`",
    ),
    (
        r#""attachments":[{"name":"a","content":"","type":"pdf"}]"#,
        "`attachments[0].type` is not a content type",
    ),
    (
        r#""attachments":[{"name":"a","content":"","type":"multipart/mixed; boundary=x"}]"#,
        "`attachments[0].type` is not a content type",
    ),
    (
        r#""attachments":[{"name":"a","content":"","filename":"x"}]"#,
        "email has no field `attachments[0].filename`",
    ),
    (
        r#""via":"other""#,
        "there is no mail server `other`; configured are: default",
    ),
    (r#""subjet":"x""#, "email has no field `subjet`"),
];

#[tokio::test]
async fn wrong_fields_are_named_and_nothing_is_sent() {
    let server = Server::told("{}").await;
    let steps = steps(&server);
    for &(fields, said) in WRONG {
        let name = fields.split('"').nth(1).expect("a name");
        let rest = [
            ("to", r#""to":"ann@example.org""#),
            ("subject", r#""subject":"Hi""#),
            ("text", r#""text":"Hi""#),
        ];
        let rest: Vec<_> = rest.iter().filter(|(other, _)| *other != name).collect();
        let rest: Vec<_> = rest.iter().map(|(_, text)| *text).collect();
        let input = format!("{{{},{fields}}}", rest.join(","));
        let (outcome, sent) = perform(&steps, &task(&input)).await;
        assert_eq!((word(&outcome), sent), ("permanent", 0), "{input}");
        let message = message(&outcome);
        assert!(message.starts_with(said), "{message}\nnot {said}");
    }
    assert_eq!(server.stored().len(), 0);
}

#[tokio::test]
async fn too_many_of_anything_are_refused() {
    let server = Server::told("{}").await;
    let steps = steps(&server);
    let many: Vec<_> = (0..101).map(|n| format!(r#""a{n}@example.org""#)).collect();
    let headers: Vec<_> = (0..21).map(|n| format!(r#""X-{n}":"1""#)).collect();
    let files = vec![r#"{"name":"a","content":"a"}"#; 51];
    for (fields, said) in [
        (
            format!(r#""bcc":[{}]"#, many.join(",")),
            "`to, cc and bcc` has 102 entries; the limit is 100",
        ),
        (
            format!(r#""headers":{{{}}}"#, headers.join(",")),
            "`headers` has 21 entries; the limit is 20",
        ),
        (
            format!(r#""attachments":[{}]"#, files.join(",")),
            "`attachments` has 51 entries; the limit is 50",
        ),
        (
            format!(r#""headers":{{"X-A":"{}"}}"#, "x".repeat(1000)),
            "a header of the message has a word of over 998 bytes",
        ),
    ] {
        let input = format!(r#"{{"to":"a@example.org","subject":"Hi","text":"Hi",{fields}}}"#);
        let (outcome, sent) = perform(&steps, &task(&input)).await;
        assert_eq!((word(&outcome), sent), ("permanent", 0));
        assert_eq!(message(&outcome).split(';').next(), said.split(';').next());
    }
}

#[tokio::test]
async fn a_mail_needs_a_sender_and_a_key() {
    let server = Server::told("{}").await;
    let nameless = SmtpServer {
        from: None,
        ..plain(&server)
    };
    let (outcome, _) = perform(&through(nameless, settings()), &crate::letter()).await;
    assert_eq!(word(&outcome), "permanent");
    let said = message(&outcome);
    assert_eq!(
        said,
        "email has no `from`, and the mail server `default` has none either"
    );
    let unkeyed = Task {
        key: None,
        scope: None,
        ..crate::letter()
    };
    let (outcome, _) = perform(&steps(&server), &unkeyed).await;
    assert_eq!(word(&outcome), "permanent");
    assert!(message(&outcome).starts_with("email needs the key of its step"));
}
