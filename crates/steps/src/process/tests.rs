//! Groups of real processes, and whether they are really gone.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, test_kill_process};
use tokio::sync::oneshot;

use crate::secrets::Redactor;

use super::{End, Instant, OsString, Program, Signal, Unseen, timeout};

/// A shell with this script; `$1` is a directory of the test's own.
fn shell(script: &str, dir: &Path) -> Program {
    let words = ["-c", script, "test"].map(OsString::from);
    Program {
        path: "/bin/sh".into(),
        arguments: words.into_iter().chain([dir.into()]).collect(),
        env: Vec::new(),
        dir: "/".into(),
        limit: 1 << 20,
    }
}

/// A pipe in the file system, held by every process that the test wants to be gone.
struct Held(BufReader<File>);

fn pipe(dir: &Path) {
    let made = Command::new("mkfifo").arg(dir.join("held")).status();
    assert!(made.unwrap().success());
}

impl Held {
    /// Waits until somebody holds it and has written his number there.
    fn by(dir: &Path) -> (Held, Pid) {
        let mut held = Held(BufReader::new(File::open(dir.join("held")).unwrap()));
        let mut line = String::new();
        held.0.read_line(&mut line).unwrap();
        let number = line.trim().parse().unwrap();
        (held, Pid::from_raw(number).unwrap())
    }

    /// Waits until nobody holds it any more.
    async fn released(mut self) {
        let (tell, told) = oneshot::channel();
        std::thread::spawn(move || tell.send(self.0.read_to_end(&mut Vec::new())));
        let told = timeout(Duration::from_secs(20), told).await;
        told.expect("somebody still holds the pipe")
            .unwrap()
            .unwrap();
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// A child and a grandchild that both ignore being asked to end.
const STUBBORN: &str = r#"
trap '' TERM
(exec 3>"$1/held"; sh -c 'echo $$ >&3; exec sleep 1000' & wait) &
wait"#;

#[tokio::test]
async fn too_slow_a_group_is_gone_with_grandchildren() {
    let dir = tempfile::tempdir().unwrap();
    pipe(dir.path());
    let mut running = shell(STUBBORN, dir.path()).start().unwrap();
    let (held, grandchild) = Held::by(dir.path());
    assert_eq!(test_kill_process(grandchild), Ok(()));
    let ended = running.finish(&[], Instant::now()).await;
    assert!(matches!(ended, Err(Unseen::TimedOut)), "{ended:?}");
    held.released().await;
}

#[tokio::test]
async fn a_group_that_nobody_waits_for_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    pipe(dir.path());
    let mut running = shell(STUBBORN, dir.path()).start().unwrap();
    let (held, _) = Held::by(dir.path());
    {
        let finish = running.finish(&[], soon());
        tokio::pin!(finish);
        let begun = timeout(Duration::ZERO, &mut finish).await;
        assert!(begun.is_err());
    }
    drop(running);
    held.released().await;
}

#[test]
fn a_group_is_gone_with_its_runtime() {
    let dir = tempfile::tempdir().unwrap();
    pipe(dir.path());
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let first = runtime();
    let held = first.block_on(async {
        let running = shell(STUBBORN, dir.path()).start().unwrap();
        let (held, _) = Held::by(dir.path());
        drop(running);
        held
    });
    drop(first);
    runtime().block_on(held.released());
}

#[tokio::test]
async fn what_a_program_leaves_behind_is_ended() {
    let dir = tempfile::tempdir().unwrap();
    pipe(dir.path());
    let script = r#"(exec 3>"$1/held"; sh -c 'echo $$ >&3; exec sleep 1000') & read go; echo done"#;
    let mut running = shell(script, dir.path()).start().unwrap();
    let (held, _) = Held::by(dir.path());
    let ended = running.finish(&[], soon()).await;
    assert!(matches!(ended, Ok(End::Code(0))), "{ended:?}");
    assert_eq!(running.output().stdout.bytes, b"done\n");
    held.released().await;
}

#[tokio::test]
async fn a_session_of_its_own_does_not_hold_us_up() {
    let dir = tempfile::tempdir().unwrap();
    pipe(dir.path());
    let script = r#"setsid sh -c 'echo $$ >&3; exec sleep 1000' 3>"$1/held" & read go; echo done"#;
    let mut running = shell(script, dir.path()).start().unwrap();
    let (held, daemon) = Held::by(dir.path());
    let ended = running.finish(&[], soon()).await;
    assert!(matches!(ended, Ok(End::Code(0))), "{ended:?}");
    assert_eq!(running.output().stdout.bytes, b"done\n");
    // It got away, as is documented: only now it is gone.
    rustix::process::kill_process(daemon, Signal::KILL).unwrap();
    held.released().await;
}

#[tokio::test]
async fn a_polite_program_may_clean_up() {
    let dir = tempfile::tempdir().unwrap();
    pipe(dir.path());
    let script = r#"trap 'echo bye > "$1/bye"; exit 0' TERM
exec 3>"$1/held"; echo $$ >&3; sleep 1000 & wait"#;
    let mut running = shell(script, dir.path()).start().unwrap();
    let (_held, _) = Held::by(dir.path());
    let ended = running.finish(&[], Instant::now()).await;
    assert!(matches!(ended, Err(Unseen::TimedOut)), "{ended:?}");
    let bye = std::fs::read_to_string(dir.path().join("bye")).unwrap();
    assert_eq!(bye, "bye\n");
}

#[tokio::test]
async fn input_and_output_pass_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let input = vec![b'x'; 300_000];
    let mut running = shell("cat; cat >&2 <\"$1/none\"; exit 7", dir.path())
        .start()
        .unwrap();
    let ended = running.finish(&input, soon()).await;
    assert!(matches!(ended, Ok(End::Code(7))), "{ended:?}");
    let output = running.output();
    let none = Redactor::default();
    assert_eq!(output.stdout.bytes, input);
    assert!(output.stderr.last_line(&none).contains("none"));
}

#[tokio::test]
async fn what_is_over_the_limit_is_read_and_dropped() {
    let dir = tempfile::tempdir().unwrap();
    let mut program = shell("yes ä | head -c 5000000; exit 3", dir.path());
    program.limit = 1000;
    let mut running = program.start().unwrap();
    let ended = running.finish(&[], soon()).await;
    assert!(matches!(ended, Ok(End::Code(3))), "{ended:?}");
    let stdout = running.output().stdout;
    assert!(stdout.is_cut());
    // The limit falls inside a letter, and the rest is still text.
    let value = stdout.value(&Redactor::default());
    let shown = value.as_text().unwrap();
    assert_eq!((shown.len(), shown.chars().count()), (999, 666));
}

#[tokio::test]
async fn a_line_is_found_behind_noise_whatever_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let mut program = shell("echo noise; echo ready; read go; echo $go-more", dir.path());
    program.limit = 4;
    let mut running = program.start().unwrap();
    assert!(running.says("ready", soon()).await.unwrap());
    let ended = running.finish(b"go\n", soon()).await;
    assert!(matches!(ended, Ok(End::Code(0))), "{ended:?}");
    let stdout = running.output().stdout;
    let shown = stdout.value(&Redactor::default());
    assert_eq!((shown.as_text(), stdout.is_cut()), (Some("go-m"), true));

    let mut running = shell("echo almost read; exit 5", dir.path())
        .start()
        .unwrap();
    assert!(!running.says("ready", soon()).await.unwrap());
    let ended = running.finish(&[], soon()).await;
    assert!(matches!(ended, Ok(End::Code(5))), "{ended:?}");
}

#[tokio::test]
async fn a_program_that_is_none_never_started() {
    let dir = tempfile::tempdir().unwrap();
    let mut program = shell("", dir.path());
    program.path = dir.path().join("none");
    assert!(matches!(program.start(), Err(Unseen::NeverStarted(_))));
}
