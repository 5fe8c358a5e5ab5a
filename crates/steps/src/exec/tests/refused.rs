//! What is not run.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::*;

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
        // A file is no directory: there is no such program.
        let expected = if name.contains("program/..") {
            FailureClass::NeverSent
        } else {
            FailureClass::Permanent
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
