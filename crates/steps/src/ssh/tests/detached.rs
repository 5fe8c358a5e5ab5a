//! Work that is started once and goes on without us.

use std::process::{Command, Stdio};

use proptest::prelude::*;
use semel_ledger::{EffectId, Scope};

use super::super::plan::Work;
use super::super::script::{self, Greeting, marker, quoted};
use super::*;

fn detached(machine: &Machine, script: &str) -> Task {
    machine.task(&[shell(script), ("detach", Value::Bool(true))])
}

async fn status(machine: &Machine, key: &str) -> Value {
    let scope = ("scope", Value::text("nightly/reindex"));
    let mut task = machine.task(&[("status", Value::text(key)), scope]);
    task.class = Class::Read;
    (task.key, task.scope) = (None, None);
    let state = done(machine.perform(&task).await.0);
    assert_eq!(state.get("signal"), Some(&Value::Null));
    state
}

fn effect() -> EffectId {
    let scope = Scope::new("nightly/reindex").unwrap();
    EffectId::new(scope, "order/17".parse().unwrap())
}

fn markers(machine: &Machine) -> std::path::PathBuf {
    machine.path("home/.semel").join(marker(&effect()))
}

#[tokio::test]
async fn work_is_started_once_and_can_be_asked_about() {
    let machine = Machine::start();
    assert_eq!(text(&status(&machine, "order/17").await, "state"), "none");
    let began = Pipe::new(&machine, "began");
    let go = Pipe::new(&machine, "go");
    let ended = Pipe::new(&machine, "ended");
    let script = machine.noting(&format!(
        "echo $SEMEL_KEY > {}; read go < {}; cat; echo err >&2; exec 3> {}; exit 6",
        began.0.display(),
        go.0.display(),
        ended.0.display(),
    ));
    let mut task = detached(&machine, &script);
    if let Value::Map(members) = &task.input {
        let more = [("stdin".into(), Value::text("input\n"))];
        task.input = Value::map(members.as_ref().clone().into_iter().chain(more));
    }
    let (outcome, sent) = machine.perform(&task).await;
    assert_eq!(sent, 1);
    let result = done(outcome);
    assert_eq!(
        (
            text(&result, "state"),
            text(&result, "key"),
            text(&result, "scope")
        ),
        ("started", "order/17", "nightly/reindex")
    );
    // The connection is over, and the work goes on.
    super::ended(machine.session()).await;
    super::ended(machine.session()).await;
    assert_eq!(began.written().await, "order/17\n");
    assert_eq!(
        text(&status(&machine, "order/17").await, "state"),
        "running"
    );
    assert_eq!(
        text(&done(machine.perform(&task).await.0), "state"),
        "already"
    );
    std::fs::write(&go.0, "go\n").unwrap();
    ended.written().await;
    // The work has ended; its keeper notes that within moments.
    let state = loop {
        let state = status(&machine, "order/17").await;
        if text(&state, "state") != "running" {
            break state;
        }
    };
    assert_eq!(text(&state, "state"), "ended");
    assert_eq!(state.get("status"), Some(&Value::Int(6)));
    assert_eq!(text(&state, "stdout"), "input\n");
    assert_eq!(text(&state, "stderr"), "err\n");
    assert_eq!(
        text(&done(machine.perform(&task).await.0), "state"),
        "already"
    );
    assert_eq!(machine.ran(), 1);
}

#[tokio::test]
async fn many_at_once_start_it_once() {
    let machine = Machine::start();
    let task = Arc::new(detached(&machine, &machine.noting("exit 0")));
    let ssh = Arc::new(machine.ssh(SshSettings::default()));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let (ssh, task) = (Arc::clone(&ssh), Arc::clone(&task));
        calls.spawn(async move { ssh.perform(&task, &semel_act::Untraced).await });
    }
    let mut started = 0;
    while let Some(outcome) = calls.join_next().await {
        match outcome.unwrap() {
            Outcome::Done(answer) => {
                started += usize::from(text(&answer.result, "state") == "started");
            }
            // Asked in the very moment in which another was about to start it.
            Outcome::Unknown { message, .. } => assert!(message.contains(".semel"), "{message}"),
            Outcome::Failed(failure) => panic!("{failure:?}"),
        }
    }
    assert_eq!(started, 1);
    let state = loop {
        let state = status(&machine, "order/17").await;
        if text(&state, "state") != "running" {
            break state;
        }
    };
    assert_eq!(text(&state, "state"), "ended");
    assert_eq!(machine.ran(), 1);
}

#[tokio::test]
async fn other_work_under_the_same_key_is_refused() {
    let machine = Machine::start();
    done(machine.perform(&detached(&machine, "exit 0")).await.0);
    let (outcome, _) = machine
        .perform(&detached(&machine, &machine.noting("exit 0")))
        .await;
    let failure = failure(outcome);
    assert_eq!(failure.class, FailureClass::Refused);
    assert!(
        failure.message.contains("under the key order/17"),
        "{}",
        failure.message
    );
    assert_eq!(machine.ran(), 0);
}

/// Keys are names within a scope: what another flow started under the same is not this one's.
#[tokio::test]
async fn the_same_key_of_another_flow_is_other_work() {
    let machine = Machine::start();
    done(machine.perform(&detached(&machine, "exit 0")).await.0);
    let mut other = detached(&machine, &machine.noting("exit 0"));
    other.scope = Scope::new("weekly/reindex").ok();
    let result = done(machine.perform(&other).await.0);
    assert_eq!(text(&result, "state"), "started");
    // Whoever asks about itself need not say who it is; whoever else asks must.
    let mut asks = machine.task(&[("status", Value::text("order/17"))]);
    asks.class = Class::Read;
    for (scope, state) in [("weekly/reindex", true), ("monthly/reindex", false)] {
        asks.scope = Scope::new(scope).ok();
        let told = done(machine.perform(&asks).await.0);
        assert_eq!(text(&told, "state") != "none", state, "{scope}");
    }
    asks.scope = None;
    let failure = failure(machine.perform(&asks).await.0);
    assert_eq!(failure.class, FailureClass::Permanent);
    let told = "write the scope that started it";
    assert!(failure.message.contains(told), "{}", failure.message);
}

#[tokio::test]
async fn half_started_and_lost_work_is_told() {
    let machine = Machine::start();
    let task = detached(&machine, &machine.noting("exit 0"));
    std::fs::create_dir_all(markers(&machine)).unwrap();
    assert_eq!(
        text(&status(&machine, "order/17").await, "state"),
        "starting"
    );
    let message = unknown(machine.perform(&task).await.0);
    assert!(
        message.contains("whether its work began is not known"),
        "{message}"
    );
    // As after the machine was started anew: the number is taken, by somebody else.
    let somebody = format!("{}\nanother boot\n1\n", std::process::id());
    std::fs::write(markers(&machine).join("pid"), somebody).unwrap();
    assert_eq!(text(&status(&machine, "order/17").await, "state"), "lost");
    assert_eq!(machine.ran(), 0);
}

#[tokio::test]
async fn work_that_cannot_be_noted_is_not_started() {
    let machine = Machine::start();
    std::fs::write(machine.path("home/.semel"), "in the way").unwrap();
    let task = detached(&machine, &machine.noting("exit 0"));
    let failure = failure(machine.perform(&task).await.0);
    assert_eq!(failure.class, FailureClass::Refused, "{}", failure.message);
    assert_eq!(machine.ran(), 0);
}

/// What a shell makes of a script for that work, if it gets to read this.
fn played(machine: &Machine, work: &Work, input: &[u8]) -> std::process::Output {
    let task = machine.task(&[]);
    let script = script::of(work, &Greeting::new(), &task, 1000);
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .env("HOME", machine.path("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input).unwrap();
    child.wait_with_output().unwrap()
}

#[tokio::test]
async fn a_cut_connection_starts_nothing() {
    let machine = Machine::start();
    let noting = machine.noting("exit 0");
    let words = || ["sh", "-c", &noting].map(str::to_owned).to_vec();
    let start = Work::Start {
        words: words(),
        stdin: b"whole".to_vec(),
        effect: effect(),
    };
    let run = Work::Run {
        words: words(),
        stdin: Vec::new(),
        expect: vec![0],
    };
    // Our word did not arrive, or not whole.
    for input in [&b""[..], b"g", b"go"] {
        for work in [&start, &run] {
            assert_eq!(played(&machine, work, input).status.code(), Some(255));
        }
    }
    // It did, but its input did not: it is as if nobody had asked.
    let cut = played(&machine, &start, b"go\nwhol");
    assert_eq!(cut.status.code(), Some(script::NO_INPUT));
    assert!(!markers(&machine).exists());
    assert_eq!(machine.ran(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_quoted_word_is_one_word(words in prop::collection::vec("[^\0]{0,12}", 1..4)) {
        let line: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        let script = format!("printf '%s\\0' {}", line.join(" "));
        let out = Command::new("sh").args(["-c", &script]).output().unwrap();
        let expected = words.join("\0") + "\0";
        prop_assert_eq!(String::from_utf8(out.stdout).unwrap(), expected);
    }
}
