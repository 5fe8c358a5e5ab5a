//! Real programs, and what was really run.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel_act::Failure;
use semel_flow::Value;
use semel_flow::diagnostic::Span;
use semel_flow::model::{Act, Class, Kind, Tree};
use semel_flow::value::Piece;
use semel_ledger::Millis;
use tempfile::TempDir;

use super::*;

#[derive(Default)]
struct Sent(AtomicUsize);

impl Trace for Sent {
    fn sent(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

struct Fixed(HashMap<&'static str, &'static str>);

impl Secrets for Fixed {
    fn secret(&self, name: &str) -> Option<Arc<str>> {
        self.0.get(name).map(|value| (*value).into())
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
    let secrets = Fixed(HashMap::from([("TOKEN", "s3cret-t0ken")]));
    let sent = Sent::default();
    let exec = Exec::new(settings, Arc::new(secrets));
    let outcome = exec.perform(task, &sent).await;
    (outcome, sent.0.load(Ordering::SeqCst))
}

fn task(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Task {
    Task {
        act: Arc::new(Act {
            kind: Kind::Other("exec"),
            input: Tree::Null,
            exprs: BTreeMap::new(),
            span: Span::default(),
        }),
        input: Value::map(fields),
        class: Class::Guarded,
        key: Some("order/17".parse().unwrap()),
        attempt: 3,
        timeout: Millis::seconds(20),
    }
}

fn command(words: &[&str]) -> (&'static str, Value) {
    let words = words.iter().map(|word| Value::text(word)).collect();
    ("command", Value::list(words))
}

fn secret() -> Value {
    Value::Sealed(Arc::new([Piece::Secret("TOKEN".into())]))
}

fn done(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Done(answer) => {
            assert_eq!(answer.names, answer.result);
            answer.result
        }
        other => panic!("{other:?}"),
    }
}

fn failure(outcome: Outcome) -> Failure {
    match outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_text).unwrap()
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
            "PASS=***",
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
async fn nothing_is_run_unless_it_is_allowed() {
    let yard = Yard::new();
    let ran = yard.path().join("ran");
    let touch = format!("echo ran >> {}", ran.display());
    let outside = yard.program("outside/program", &touch);
    let inside = yard.program("inside/program", "exit 0");
    let allowed = yard.path().join("inside");
    symlink(&outside, allowed.join("link")).unwrap();
    symlink(yard.path().join("outside"), allowed.join("folder")).unwrap();
    let sibling = yard.program("inside-too/program", &touch);
    let inside_of = |rest: &str| format!("{}/{rest}", allowed.display());
    let permanent = [
        outside.clone(),
        inside_of("link"),
        inside_of("folder/program"),
        inside_of("../outside/program"),
        inside_of("program/../../outside/program"),
        sibling,
        "program".to_owned(),
        "inside/program".to_owned(),
        "./program".to_owned(),
        "sh".to_owned(),
        "/bin/sh".to_owned(),
        "/proc/self/exe".to_owned(),
        "/proc/self/root/bin/sh".to_owned(),
        allowed.display().to_string(),
    ];
    for name in permanent {
        let words = [name.as_str(), "-c", &touch];
        let mut task = task([command(&words)]);
        // Where a relative name would find it.
        task.input = Value::map([
            command(&words),
            (
                "dir",
                Value::text(yard.path().join("outside").to_str().unwrap()),
            ),
            (
                "env",
                Value::map([("PATH", Value::text(yard.path().to_str().unwrap()))]),
            ),
        ]);
        let (outcome, sent) = perform(&[&allowed], &task).await;
        let class = failure(outcome).class;
        let expected = match name.contains("program/..") {
            // A file is no directory: there is no such program.
            true => FailureClass::NeverSent,
            false => FailureClass::Permanent,
        };
        assert_eq!((class, sent), (expected, 0), "{name}");
    }
    assert!(!ran.exists(), "something was run");

    let (outcome, _) = perform(&[], &task([command(&[&inside])])).await;
    assert!(failure(outcome).message.starts_with("`exec` is off"));
    let (outcome, _) = perform(&[Path::new("inside")], &task([command(&[&inside])])).await;
    assert_eq!(failure(outcome).class, FailureClass::Permanent);
    for entry in [Path::new(&inside), &allowed] {
        done(perform(&[entry], &task([command(&[&inside])])).await.0);
    }
    // A link to what is allowed is what is allowed.
    symlink(&inside, yard.path().join("other-name")).unwrap();
    let other = yard.path().join("other-name").display().to_string();
    done(perform(&[&allowed], &task([command(&[&other])])).await.0);
}

#[tokio::test]
async fn what_cannot_start_was_never_sent() {
    let yard = Yard::new();
    let missing = yard.path().join("missing").display().to_string();
    let (outcome, _) = yard.run(&task([command(&[&missing])])).await;
    assert_eq!(failure(outcome).class, FailureClass::NeverSent);
    let plain = yard.program("plain", "exit 0");
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (outcome, _) = yard.run(&task([command(&[&plain])])).await;
    assert_eq!(failure(outcome).class, FailureClass::NeverSent);
    let fine = yard.program("fine", "exit 0");
    let nowhere = ("dir", Value::text("/no/such/place"));
    let (outcome, _) = yard.run(&task([command(&[&fine]), nowhere])).await;
    assert_eq!(failure(outcome).class, FailureClass::NeverSent);
}

#[tokio::test]
async fn wrong_fields_are_named_and_nothing_is_run() {
    let yard = Yard::new();
    let ran = yard.path().join("ran");
    let program = yard.program("touch", &format!("echo ran >> {}", ran.display()));
    let good = || command(&[&program]);
    let words = |more: Value| ("command", Value::list(vec![Value::text(&program), more]));
    let long = "x".repeat(131_072);
    let cases = [
        (
            task([("command", Value::text("rm -rf /"))]),
            "`command` is text; write a list: the program and its arguments",
        ),
        (
            task([("command", Value::list(vec![]))]),
            "`command` is empty",
        ),
        (task([("env", Value::Null)]), "`command` is missing"),
        (
            task([words(secret())]),
            "`command[1]` has a secret in it, and everybody on the machine can read arguments; pass it by `stdin` or `env`",
        ),
        (
            task([words(Value::text("a\0b"))]),
            "`command[1]` has a U+0000 in it; no program can be given one",
        ),
        (
            task([words(Value::list(vec![]))]),
            "`command[1]` is a list; write text",
        ),
        (
            task([words(Value::text(&long))]),
            "`command[1]` has 131072 bytes; the limit is 131071: pass it by `stdin`",
        ),
        (
            task([good(), ("dir", Value::text("tmp"))]),
            "`dir` is not a whole path; begin it with /",
        ),
        (
            task([good(), ("shell", Value::Bool(true))]),
            "`exec` has no field `shell`",
        ),
        (
            task([good(), ("expect", Value::Int(256))]),
            "`expect` has something that is not an exit code from 0 to 255",
        ),
        (
            task([good(), ("output", Value::text("1GiB"))]),
            "`output` is not a size up to 16MiB; write a number with B, KiB or MiB, such as 4MiB",
        ),
        (
            task([
                good(),
                (
                    "env",
                    Value::map([("LD_PRELOAD", Value::text("/tmp/x.so"))]),
                ),
            ]),
            "`env.LD_PRELOAD` says which code is loaded into programs; leave it out",
        ),
        (
            task([
                good(),
                ("env", Value::map([("SEMEL_KEY", Value::text("x"))])),
            ]),
            "`env.SEMEL_KEY` is set by Semel itself; leave it out",
        ),
        (
            task([good(), ("env", Value::map([("A=B", Value::text("x"))]))]),
            "`env.A=B` is not the name of a variable; write letters, digits and _",
        ),
    ];
    for (task, expected) in cases {
        let (outcome, sent) = yard.run(&task).await;
        let failure = failure(outcome);
        assert_eq!(failure.message, expected);
        assert_eq!(
            (failure.class, sent),
            (FailureClass::Permanent, 0),
            "{expected}"
        );
    }
    assert!(!ran.exists(), "something was run");
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
    assert_eq!(text(&answer.names, "stdout"), "***");
}
