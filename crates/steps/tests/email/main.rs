//! `email` steps against a real mail server that dies wherever it is told to.
//!
//! What was sent is what the server has stored, read with another program's reader of mail.

#[path = "../shared/mod.rs"]
mod shared;

mod deaths;
mod fields;
mod messages;
mod refusals;
mod secrets;
mod server;

use std::sync::Arc;

use semel_act::{SecretSet, Task};
use semel_flow::model::{Class, Kind};
use semel_steps::{OutgoingRules, Settings, SmtpServer, SmtpServers, SmtpTls, Steps};

use server::Server;
use shared::{message, perform, word};

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
    shared::task(Kind::Email, Class::Guarded, "order-paid/receipt", input)
}

fn letter() -> Task {
    task(r#"{"to":"ann@example.org","subject":"Your receipt","text":"Thank you.\n"}"#)
}
