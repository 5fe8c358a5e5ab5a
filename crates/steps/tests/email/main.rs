//! `email` steps against a real mail server that dies wherever it is told to.
//!
//! What was sent is what the server has stored, read with another program's reader of mail.

mod deaths;
mod fields;
mod messages;
mod refusals;
mod secrets;
mod server;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel_act::{Outcome, Perform as _, SecretSet, Task, Trace};
use semel_flow::Value;
use semel_flow::diagnostic::Span;
use semel_flow::model::{Act, Class, Kind, Tree};
use semel_ledger::{Millis, Scope};
use semel_steps::{OutgoingRules, Settings, SmtpServer, SmtpServers, SmtpTls, Steps};

use server::Server;

/// Counts how often it was told that a byte may leave.
#[derive(Default)]
struct Sent(AtomicUsize);

impl Trace for Sent {
    fn sent(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn settings() -> Settings {
    let secrets = SecretSet::from_iter([("MAIL", server::PASSWORD), ("WRONG", "not-the-password")]);
    Settings {
        rules: OutgoingRules::parse("127.0.0.1,::1").expect("ranges"),
        ..Settings::new(Arc::new(secrets))
    }
}

/// How a server is spoken to if a test says nothing else.
fn plain(server: &Server) -> SmtpServer {
    SmtpServer {
        port: server.port,
        tls: SmtpTls::None,
        from: Some("Shop <shop@example.com>".to_owned()),
        ..SmtpServer::new("127.0.0.1")
    }
}

fn through(server: SmtpServer, settings: Settings) -> Steps {
    let mut smtp = SmtpServers::default();
    smtp.add("default", server).expect("a server");
    Steps::new(Settings { smtp, ..settings })
}

fn steps(server: &Server) -> Steps {
    through(plain(server), settings())
}

/// A task with these fields.
fn task(input: &str) -> Task {
    Task {
        act: Arc::new(Act {
            kind: Kind::Email,
            input: Tree::Null,
            exprs: BTreeMap::new(),
            span: Span::default(),
        }),
        input: Value::read(input.as_bytes()).expect(input),
        class: Class::Guarded,
        scope: Some(Scope::new("order-paid/receipt").expect("a scope")),
        key: Some("order/17".parse().expect("a key")),
        attempt: 1,
        timeout: Millis::seconds(20),
    }
}

fn letter() -> Task {
    task(r#"{"to":"ann@example.org","subject":"Your receipt","text":"Thank you.\n"}"#)
}

async fn perform(steps: &Steps, task: &Task) -> (Outcome, usize) {
    let sent = Sent::default();
    let outcome = steps.perform(task, &sent).await;
    (outcome, sent.0.load(Ordering::SeqCst))
}

/// What is known about the effect, in a word.
fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "done",
        Outcome::Failed(failure) => failure.class.name(),
        Outcome::Unknown { .. } => "unknown",
    }
}

fn message(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(answer) => format!("done: {}", answer.names.to_json()),
        Outcome::Failed(failure) => failure.message.clone(),
        Outcome::Unknown { message, .. } => message.clone(),
    }
}
