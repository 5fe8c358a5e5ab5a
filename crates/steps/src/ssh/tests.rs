//! Commands on a real sshd: what is known, against what really ran there.

mod detached;
mod sshd;
mod strict;

use semel_flow::Value;
use semel_flow::model::Class;
use semel_ledger::Millis;

use super::*;
use crate::command::corpus::SHELL;
use crate::command::testing::{command, done, failure, text};
use sshd::{Machine, Pipe, ended, kill};

fn shell(script: &str) -> (&'static str, Value) {
    command(&["sh", "-c", script])
}

fn unknown(outcome: Outcome) -> String {
    match outcome {
        Outcome::Unknown { message, .. } => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn arguments_arrive_as_they_are() {
    let machine = Machine::start();
    let mut corpus: Vec<String> = (1..=0x7f_u8).map(|c| char::from(c).to_string()).collect();
    let pwned = machine.path("pwned");
    let at = pwned.to_str().unwrap();
    corpus.extend(SHELL.map(|text| text.replace("PWNED", at)));
    let mut words = vec!["/usr/bin/printf", "%s>"];
    words.extend(corpus.iter().map(String::as_str));
    let (outcome, sent) = machine.perform(&machine.task(&[command(&words)])).await;
    let expected = corpus.join(">") + ">";
    assert_eq!(text(&done(outcome), "stdout"), expected);
    assert_eq!(sent, 1);
    assert!(!pwned.exists());
}

#[tokio::test]
async fn input_output_and_environment() {
    let machine = Machine::start();
    // What a login says is no part of the output.
    std::fs::write(machine.path("home/.bashrc"), "echo welcome\n").unwrap();
    let script = machine.noting("echo $SEMEL_KEY $SEMEL_ATTEMPT >&2; wc -c; cat");
    let long = "ö\n".repeat(100_000);
    let fields = [shell(&script), ("stdin", Value::text(&long))];
    let result = done(machine.perform(&machine.task(&fields)).await.0);
    assert_eq!(text(&result, "stdout"), "300000\n");
    assert_eq!(text(&result, "stderr"), "order/17 2\n");
    assert_eq!(result.get("status"), Some(&Value::Int(0)));

    let input = Value::read(br#"{"n":9007199254740993,"s":"'"}"#).unwrap();
    let fields = [
        command(&["cat"]),
        ("stdin", input),
        ("output", Value::text("9B")),
    ];
    let result = done(machine.perform(&machine.task(&fields)).await.0);
    assert_eq!(text(&result, "stdout"), r#"{"n":9007"#);
    assert_eq!(result.get("cut"), Some(&Value::Bool(true)));
    assert_eq!(machine.ran(), 1);
}

#[tokio::test]
async fn exit_codes_say_what_is_known() {
    let machine = Machine::start();
    let expect = || ("expect", Value::list(vec![Value::Int(0), Value::Int(4)]));
    let ending = |how: &str| [shell(&machine.noting(how)), expect()];
    let result = done(machine.perform(&machine.task(&ending("exit 4"))).await.0);
    assert_eq!(result.get("status"), Some(&Value::Int(4)));

    let task = machine.task(&ending("echo why >&2; exit 5"));
    let failure_of = failure(machine.perform(&task).await.0);
    assert_eq!(failure_of.class, FailureClass::Refused);
    assert_eq!(
        failure_of.message,
        "the command on 127.0.0.1 ended with exit code 5: why"
    );
    for how in ["exit 255", "kill -9 $$"] {
        let message = unknown(machine.perform(&machine.task(&ending(how))).await.0);
        assert!(message.contains("by a signal or with 255"), "{message}");
    }
    assert_eq!(machine.ran(), 4);

    let missing = machine.task(&[command(&["/no/such/program"])]);
    let failure_of = failure(machine.perform(&missing).await.0);
    assert_eq!(failure_of.class, FailureClass::Refused);
    // No word is taken for something that only the shell has.
    let builtin = machine.task(&[command(&["cd", "/"])]);
    let failure_of = failure(machine.perform(&builtin).await.0);
    assert_eq!(failure_of.class, FailureClass::Refused);
}

#[tokio::test]
async fn a_connection_lost_in_the_middle_is_unknown() {
    let machine = Machine::start();
    let began = Pipe::new(&machine, "began");
    let script = machine.noting(&format!("echo 1 > {}; sleep 5", began.0.display()));
    let task = machine.task(&[shell(&script)]);
    let killing = async {
        began.written().await;
        kill(machine.session());
    };
    let ((outcome, sent), ()) = tokio::join!(machine.perform(&task), killing);
    let message = unknown(outcome);
    assert!(
        message.contains("the connection to 127.0.0.1 was lost"),
        "{message}"
    );
    assert_eq!((machine.ran(), sent), (1, 1));
}

#[tokio::test]
async fn a_connection_lost_before_it_stood_was_never_sent() {
    let machine = Machine::start();
    let task = machine.task(&[shell(&machine.noting("exit 0"))]);
    // Killed as soon as it is connected to, before or during the handshake.
    let killing = async {
        tokio::task::yield_now().await;
        kill(machine.session());
    };
    let ((outcome, sent), ()) = tokio::join!(machine.perform(&task), killing);
    assert_eq!(failure(outcome).class, FailureClass::NeverSent);
    assert_eq!((machine.ran(), sent), (0, 0));
}

#[tokio::test]
async fn a_timeout_ends_the_connection() {
    let machine = Machine::start();
    let began = Pipe::new(&machine, "began");
    let script = machine.noting(&format!("echo 1 > {}; sleep 5", began.0.display()));
    let mut task = machine.task(&[shell(&script)]);
    task.timeout = Millis::seconds(2);
    let ((outcome, sent), _) = tokio::join!(machine.perform(&task), began.written());
    let message = unknown(outcome);
    assert!(message.contains("did not end within 2s"), "{message}");
    assert_eq!((machine.ran(), sent), (1, 1));
    ended(machine.session()).await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_ends_the_connection() {
    let machine = Machine::start();
    let began = Pipe::new(&machine, "began");
    let script = machine.noting(&format!("echo 1 > {}; sleep 5", began.0.display()));
    let task = machine.task(&[shell(&script)]);
    tokio::select! {
        (outcome, _) = machine.perform(&task) => panic!("{outcome:?}"),
        _ = began.written() => {}
    }
    ended(machine.session()).await;
}

#[tokio::test]
async fn a_forced_command_is_unknown() {
    let machine = Machine::start();
    let line = format!(
        "command=\"echo ran >> {}; echo $SSH_ORIGINAL_COMMAND\" {}",
        machine.path("ran").display(),
        machine.host_key("user"),
    );
    std::fs::write(machine.path("authorized"), line).unwrap();
    let (outcome, sent) = machine.perform(&machine.task(&[command(&["true"])])).await;
    let message = unknown(outcome);
    assert!(message.contains("a command that it forces"), "{message}");
    assert_eq!((machine.ran(), sent), (1, 0));
}
