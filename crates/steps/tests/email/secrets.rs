//! Over TLS and with a password: who is not trusted gets neither, and nobody reads it afterwards.

use semel_steps::{Settings, SmtpLogin, SmtpServer, SmtpTls, Steps};

use crate::server::{PASSWORD, Server, USER};
use crate::{letter, message, perform, plain, settings, through, word};

fn told(tls: &str, mechanism: &str) -> String {
    let tls = format!(r#""tls":"{tls}","#);
    let tls = if tls.contains("none") { "" } else { &tls };
    format!(r#"{{{tls}"user":"{USER}","password":"{PASSWORD}","mechanism":"{mechanism}"}}"#)
}

fn as_user(server: &Server, tls: SmtpTls, password: &str, trusted: bool) -> Steps {
    let to = SmtpServer {
        host: "localhost".to_owned(),
        tls,
        login: Some(SmtpLogin {
            user: USER.to_owned(),
            password: password.to_owned(),
        }),
        ..plain(server)
    };
    let roots = server.certificate.iter().filter(|_| trusted).cloned();
    let settings = Settings {
        roots: roots.collect(),
        ..settings()
    };
    through(to, settings)
}

#[tokio::test]
async fn every_way_in_works() {
    for (name, tls) in [
        ("implicit", SmtpTls::Implicit),
        ("starttls", SmtpTls::StartTls),
        ("none", SmtpTls::None),
    ] {
        for mechanism in ["PLAIN", "LOGIN"] {
            let server = Server::under_tls(&told(name, mechanism), "localhost").await;
            let steps = as_user(&server, tls, "MAIL", true);
            let (outcome, sent) = perform(&steps, &letter()).await;
            let told = (word(&outcome), sent, server.stored().len());
            assert_eq!(
                told,
                ("done", 1, 1),
                "{name} {mechanism}: {}",
                message(&outcome)
            );
        }
    }
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_not_told() {
    for mechanism in ["PLAIN", "LOGIN"] {
        let server = Server::under_tls(&told("starttls", mechanism), "localhost").await;
        let steps = as_user(&server, SmtpTls::StartTls, "WRONG", true);
        let (outcome, sent) = perform(&steps, &letter()).await;
        let known = (word(&outcome), sent, server.stored().len());
        assert_eq!(known, ("refused", 0, 0), "{}", message(&outcome));
        assert!(
            message(&outcome).contains("535 5.7.8"),
            "{}",
            message(&outcome)
        );
    }
}

#[tokio::test]
async fn a_stranger_gets_no_password_and_no_mail() {
    for (name, tls) in [
        ("implicit", SmtpTls::Implicit),
        ("starttls", SmtpTls::StartTls),
    ] {
        for (certificate, trusted) in [("localhost", false), ("other.example", true)] {
            let server = Server::under_tls(&told(name, "PLAIN"), certificate).await;
            let steps = as_user(&server, tls, "MAIL", trusted);
            let (outcome, sent) = perform(&steps, &letter()).await;
            let known = (word(&outcome), sent, server.stored().len());
            assert_eq!(known, ("never_sent", 0, 0), "{name}: {}", message(&outcome));
            assert!(message(&outcome).contains("no TLS connection to localhost"));
        }
    }
}

#[tokio::test]
async fn a_password_that_comes_back_is_hidden() {
    let repeated = format!(
        r#"{{"user":"{USER}","password":"{PASSWORD}","replies":{{"MAIL":"550 why {PASSWORD}?"}}}}"#
    );
    let server = Server::told(&repeated).await;
    let steps = as_user(&server, SmtpTls::None, "MAIL", false);
    let (outcome, _) = perform(&steps, &letter()).await;
    assert!(
        message(&outcome).contains("550 why [secret MAIL]?"),
        "{}",
        message(&outcome)
    );
    assert!(!format!("{outcome:?}").contains(PASSWORD));
}

#[tokio::test]
async fn a_secret_that_does_not_exist_ends_it_before_any_connection() {
    let server = Server::told("{}").await;
    let steps = as_user(&server, SmtpTls::None, "NOT_SET", false);
    let (outcome, sent) = perform(&steps, &letter()).await;
    assert_eq!((word(&outcome), sent), ("permanent", 0));
    let said = message(&outcome);
    assert!(
        said.starts_with("the password of the mail server `default`: there is no secret NOT_SET")
    );
}

#[tokio::test]
async fn a_server_that_knows_no_passwords_gets_none() {
    let server = Server::told(r#"{"mechanism":"NONE"}"#).await;
    let steps = as_user(&server, SmtpTls::None, "MAIL", false);
    let (outcome, sent) = perform(&steps, &letter()).await;
    assert_eq!((word(&outcome), sent), ("refused", 0));
    assert!(message(&outcome).ends_with("offers neither AUTH PLAIN nor AUTH LOGIN"));
}
