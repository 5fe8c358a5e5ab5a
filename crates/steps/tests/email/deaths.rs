//! The server dies at every stage of the conversation: what is known, and what it has stored.

use semel_act::{Outcome, Perform as _, Task, Trace};
use semel_flow::Value;
use semel_ledger::Millis;
use semel_steps::{OutgoingRules, Settings, SmtpServer, SmtpTls};

use crate::server::Server;
use crate::{letter, message, perform, plain, settings, steps, task, through, word};

/// Where it dies; what is known then; how often it was said that a byte may have an effect; how
/// many messages the server has stored.
const STAGES: [(&str, &str, usize, usize); 10] = [
    ("ACCEPT", "never_sent", 0, 0),
    ("GREETING", "never_sent", 0, 0),
    ("EHLO", "never_sent", 0, 0),
    ("MAIL", "never_sent", 0, 0),
    ("RCPT", "never_sent", 0, 0),
    ("DATA", "never_sent", 0, 0),
    ("BODY", "never_sent", 0, 0),
    // The same from here, and yet there is a mail in one case and none in the other.
    ("END", "unknown", 1, 0),
    ("STORED", "unknown", 1, 1),
    ("REPLIED", "done", 1, 1),
];

fn dying(at: &str, how: &str) -> String {
    format!(r#"{{"die":{{"at":"{at}","how":"{how}"}}}}"#)
}

/// A mail that does not fit between two kernels, if it must be on its way when the server dies.
fn mail(at: &str) -> Task {
    let mut task = letter();
    if at == "BODY"
        && let Value::Map(members) = &task.input
    {
        let mut members = (**members).clone();
        let line = "So long that it goes on for many a line, each of them like this one.\n";
        members.insert("text".into(), Value::text(&line.repeat(250_000)));
        task.input = Value::map(members);
    }
    task
}

async fn each_stage(how: &str) {
    for (at, known, sent, stored) in STAGES {
        let mut server = Server::told(&dying(at, how)).await;
        let (outcome, traced) = perform(&steps(&server), &mail(at)).await;
        if how == "kill" {
            server.died().await;
        }
        let told = (word(&outcome), traced, server.stored().len());
        assert_eq!(told, (known, sent, stored), "{at}: {}", message(&outcome));
    }
}

#[tokio::test]
async fn a_cut_connection_is_judged_by_whether_the_end_was_said() {
    each_stage("cut").await;
}

#[tokio::test]
async fn a_killed_server_is_judged_by_whether_the_end_was_said() {
    each_stage("kill").await;
}

#[tokio::test]
async fn under_tls_it_is_judged_alike() {
    for (at, known, sent, stored) in STAGES {
        let told = format!(r#"{{"tls":"implicit","die":{{"at":"{at}","how":"cut"}}}}"#);
        let server = Server::under_tls(&told, "localhost").await;
        let to = SmtpServer {
            host: "localhost".to_owned(),
            tls: SmtpTls::Implicit,
            ..plain(&server)
        };
        let trusting = Settings {
            roots: server.certificate.iter().cloned().collect(),
            ..settings()
        };
        let (outcome, traced) = perform(&through(to, trusting), &mail(at)).await;
        let told = (word(&outcome), traced, server.stored().len());
        assert_eq!(told, (known, sent, stored), "{at}: {}", message(&outcome));
    }
}

/// Whoever is told that a byte may leave dies of it.
struct Dying;

impl Trace for Dying {
    fn sent(&self) {
        panic!("killed before the end of the message");
    }
}

#[tokio::test]
async fn if_we_die_right_before_the_end_there_is_no_mail() {
    let mut server = Server::told("{}").await;
    let steps = steps(&server);
    let performing = tokio::spawn(async move {
        steps.perform(&letter(), &Dying).await;
    });
    assert!(performing.await.expect_err("a death").is_panic());
    server.heard("LOST").await;
    assert_eq!(server.stored().len(), 0);
}

#[tokio::test]
async fn a_server_that_falls_silent_is_judged_by_whether_the_end_was_said() {
    let each = STAGES
        .into_iter()
        .map(|(at, known, sent, stored)| async move {
            let server = Server::told(&dying(at, "hang")).await;
            let task = Task {
                timeout: Millis::seconds(8),
                ..mail(at)
            };
            let (outcome, traced) = perform(&steps(&server), &task).await;
            let told = (word(&outcome), traced, server.stored().len());
            assert_eq!(told, (known, sent, stored), "{at}: {}", message(&outcome));
            if known != "done" {
                assert!(message(&outcome).contains("did not answer in time"));
            }
        });
    let running: Vec<_> = each.map(tokio::spawn).collect();
    for stage in running {
        stage.await.expect("a stage");
    }
}

#[tokio::test]
async fn a_mail_that_may_have_been_sent_can_be_looked_for() {
    let server = Server::told(&dying("STORED", "cut")).await;
    let (outcome, _) = perform(&steps(&server), &letter()).await;
    let Outcome::Unknown { message, evidence } = outcome else {
        panic!("known: {outcome:?}");
    };
    let evidence = evidence.expect("what it is called").names;
    let id = evidence.get("message_id").and_then(Value::as_text);
    let id = id.expect("a name").to_owned();
    assert!(message.contains(&id), "{message}");
    let Some(Value::List(headers)) = server.only().get("headers").cloned() else {
        panic!("no headers");
    };
    let wanted = Value::list(vec![Value::text("Message-ID"), Value::text(&id)]);
    assert!(headers.contains(&wanted), "{headers:?}");
}

#[tokio::test]
async fn nobody_listens() {
    let mut server = Server::told(&dying("ACCEPT", "kill")).await;
    let steps = steps(&server);
    perform(&steps, &letter()).await;
    server.died().await;
    let (outcome, sent) = perform(&steps, &letter()).await;
    assert_eq!((word(&outcome), sent), ("never_sent", 0));
    assert!(message(&outcome).contains("cannot connect to 127.0.0.1"));
}

/// Whoever configures a server on a private address means it; nothing else is opened by that.
#[tokio::test]
async fn a_configured_server_may_be_private() {
    let server = Server::told("{}").await;
    let closed = || Settings {
        rules: OutgoingRules::default(),
        ..settings()
    };
    let (outcome, _) = perform(&through(plain(&server), closed()), &letter()).await;
    assert_eq!(word(&outcome), "done", "{outcome:?}");
    assert_eq!(server.stored().len(), 1);
}

/// A flow names a configured server and nothing else.
#[tokio::test]
async fn a_flow_cannot_say_where_a_server_is() {
    let server = Server::told("{}").await;
    let steps = steps(&server);
    let port = plain(&server).port;
    for more in [
        format!(r#""via":"127.0.0.1:{port}""#),
        r#""via":"127.0.0.1""#.to_owned(),
        format!(r#""via":"smtp://127.0.0.1:{port}""#),
        r#""host":"127.0.0.1""#.to_owned(),
        format!(r#""server":"127.0.0.1","port":{port}"#),
    ] {
        let input = format!(r#"{{"to":"ann@example.com","subject":"x","text":"x",{more}}}"#);
        let (outcome, sent) = perform(&steps, &task(&input)).await;
        assert_eq!(
            (word(&outcome), sent),
            ("permanent", 0),
            "{more}: {outcome:?}"
        );
    }
    assert_eq!(server.stored().len(), 0);
}
