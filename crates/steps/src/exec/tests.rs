//! Real programs, and what was really run.

mod refused;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel_act::SecretSet;
use semel_flow::Value;
use semel_flow::diagnostic::Span;
use semel_flow::model::{Act, Class, Kind, Tree};
use semel_flow::value::Piece;
use semel_ledger::Millis;
use tempfile::TempDir;

use super::*;
use crate::command::corpus::SHELL;
use crate::command::testing::{command, done, failure, text};

#[derive(Default)]
struct Sent(AtomicUsize);

impl Trace for Sent {
    fn sent(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A directory with programs in it that may be run.
struct Yard(TempDir);

impl Yard {
    fn new() -> Yard {
        Yard(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// A program of the directory.
    fn program(&self, name: &str, script: &str) -> String {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    async fn run(&self, task: &Task) -> (Outcome, usize) {
        perform(&[self.path()], task).await
    }
}

async fn perform(allow: &[&Path], task: &Task) -> (Outcome, usize) {
    let settings = ExecSettings {
        allow: allow.iter().map(|path| path.to_path_buf()).collect(),
    };
    let secrets = SecretSet::from_iter([("TOKEN", "s3cret-t0ken")]);
    let sent = Sent::default();
    let exec = Exec::new(settings, Arc::new(secrets));
    let outcome = exec.perform(task, &sent).await;
    (outcome, sent.0.load(Ordering::SeqCst))
}

fn task(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Task {
    Task {
        act: Arc::new(Act {
            kind: Kind::Exec,
            input: Tree::Null,
            exprs: BTreeMap::new(),
            span: Span::default(),
            shadow: None,
        }),
        input: Value::map(fields),
        class: Class::Guarded,
        scope: None,
        key: Some("order/17".parse().unwrap()),
        attempt: 3,
        timeout: Millis::seconds(20),
    }
}

fn secret() -> Value {
    Value::Sealed(Arc::new([Piece::Secret("TOKEN".into())]))
}

/// In an argument, a variable and the input alike.
#[tokio::test]
async fn no_shell_reads_what_is_passed_on() {
    let yard = Yard::new();
    let program = yard.program("show", r#"printf '%s>' "$VALUE"; cat; printf '>%s' "$@""#);
    let pwned = yard.path().join("pwned");
    let at = pwned.to_str().unwrap();
    let before = std::fs::read_dir(yard.path()).unwrap().count();
    for evil in SHELL.map(|text| text.replace("PWNED", at)) {
        let fields = [
            command(&[&program, &evil, "end"]),
            ("dir", Value::text(yard.path().to_str().unwrap())),
            ("stdin", Value::text(&evil)),
            ("env", Value::map([("VALUE", Value::text(&evil))])),
        ];
        let (outcome, sent) = yard.run(&task(fields)).await;
        let expected = format!("{evil}>{evil}>{evil}>end");
        assert_eq!(text(&done(outcome), "stdout"), expected, "{evil:?}");
        assert_eq!(sent, 1);
    }
    assert!(!pwned.exists());
    assert_eq!(std::fs::read_dir(yard.path()).unwrap().count(), before);
}

#[tokio::test]
async fn arguments_input_and_place_arrive_as_they_are() {
    let yard = Yard::new();
    let program = yard.program("show", r#"pwd; cat; printf '<%s>' "$@""#);
    let words = [
        program.as_str(),
        "a b",
        "$(id)",
        "",
        "*",
        "'\"`\\\n;&|",
        "ö",
    ];
    let dir = yard.path().to_str().unwrap();
    let input = Value::read(br#"{"n":9007199254740993}"#).unwrap();
    let fields = [command(&words), ("dir", Value::text(dir)), ("stdin", input)];
    let (outcome, sent) = yard.run(&task(fields)).await;
    let result = done(outcome);
    let expected = format!("{dir}\n{{\"n\":9007199254740993}}<a b><$(id)><><*><'\"`\\\n;&|><ö>");
    assert_eq!(text(&result, "stdout"), expected);
    assert_eq!(result.get("status"), Some(&Value::Int(0)));
    assert_eq!(result.get("signal"), Some(&Value::Null));
    assert_eq!(result.get("cut"), Some(&Value::Bool(false)));
    assert_eq!(sent, 1);
}

#[tokio::test]
async fn the_environment_is_clean() {
    let yard = Yard::new();
    let program = yard.program("show", "exec /usr/bin/env");
    let env = Value::map([("COLOUR", Value::text("a b")), ("PASS", secret())]);
    let (outcome, _) = yard.run(&task([command(&[&program]), ("env", env)])).await;
    let result = done(outcome);
    let mut names: Vec<&str> = text(&result, "stdout").lines().collect();
    names.sort_unstable();
    // PWD is the shell's own.
    names.retain(|line| !line.starts_with("PWD=") && !line.starts_with("HOME="));
    assert_eq!(
        names,
        [
            "COLOUR=a b",
            "LANG=C.UTF-8",
            "PASS=[secret TOKEN]",
            "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "SEMEL_ATTEMPT=3",
            "SEMEL_KEY=order/17",
        ]
    );
}

#[tokio::test]
async fn exit_codes_say_what_is_known() {
    let yard = Yard::new();
    let program = yard.program("end", r#"echo out; echo "why: $1" >&2; exit "$1""#);
    let expect = || ("expect", Value::list(vec![Value::Int(0), Value::Int(4)]));
    let (outcome, _) = yard.run(&task([command(&[&program, "4"]), expect()])).await;
    assert_eq!(done(outcome).get("status"), Some(&Value::Int(4)));

    let (outcome, sent) = yard.run(&task([command(&[&program, "5"]), expect()])).await;
    let failure = failure(outcome);
    assert_eq!(failure.class, FailureClass::Refused);
    let message = format!("{program} ended with exit code 5: why: 5");
    assert_eq!(failure.message, message);
    assert_eq!(text(&failure.answer.unwrap().names, "stdout"), "out\n");
    assert_eq!(sent, 1);
}

#[tokio::test]
async fn a_signal_or_a_timeout_leaves_it_unknown() {
    let yard = Yard::new();
    let killed = yard.program("killed", "echo before; kill -9 $$");
    let (outcome, _) = yard.run(&task([command(&[&killed])])).await;
    let Outcome::Unknown { message, evidence } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(message, format!("{killed} was ended by signal 9"));
    let names = evidence.unwrap().names;
    assert_eq!(names.get("signal"), Some(&Value::Int(9)));
    assert_eq!(names.get("status"), Some(&Value::Null));
    assert_eq!(text(&names, "stdout"), "before\n");

    let slow = yard.program("slow", "echo before; exec sleep 1000");
    let mut task = task([command(&[&slow])]);
    task.timeout = Millis(500);
    let (outcome, sent) = yard.run(&task).await;
    let Outcome::Unknown { message, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(
        message,
        format!("{slow} did not end within 500ms, and was ended")
    );
    assert_eq!(sent, 1);
}

#[tokio::test]
async fn output_over_the_limit_is_told() {
    let yard = Yard::new();
    let program = yard.program("loud", "printf 12345");
    let fields = || [command(&[&program]), ("output", Value::text("4B"))];
    let (outcome, _) = yard.run(&task(fields())).await;
    let result = done(outcome);
    assert_eq!(text(&result, "stdout"), "1234");
    assert_eq!(result.get("cut"), Some(&Value::Bool(true)));

    let mut looks = task(fields());
    looks.class = Class::Read;
    let (outcome, _) = yard.run(&looks).await;
    assert_eq!(failure(outcome).class, FailureClass::Permanent);
}

#[tokio::test]
async fn secrets_do_not_come_back() {
    let yard = Yard::new();
    let program = yard.program("echo", "cat; echo \"$PASS\" >&2; exit 1");
    let env = Value::map([("PASS", secret())]);
    let fields = [command(&[&program]), ("env", env), ("stdin", secret())];
    let (outcome, _) = yard.run(&task(fields)).await;
    let shown = format!("{outcome:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
    let answer = failure(outcome).answer.unwrap();
    assert_eq!(text(&answer.names, "stdout"), "[secret TOKEN]");
}

#[tokio::test]
async fn no_half_of_a_secret_stays_where_output_is_cut() {
    let yard = Yard::new();
    let program = yard.program("echo", "cat");
    let pieces = [Piece::Plain("12".into()), Piece::Secret("TOKEN".into())];
    let stdin = ("stdin", Value::Sealed(Arc::new(pieces)));
    let fields = [command(&[&program]), stdin, ("output", Value::text("6B"))];
    let (outcome, _) = yard.run(&task(fields)).await;
    let result = done(outcome);
    assert_eq!(text(&result, "stdout"), "12[sec");
    assert_eq!(result.get("cut"), Some(&Value::Bool(true)));
}
