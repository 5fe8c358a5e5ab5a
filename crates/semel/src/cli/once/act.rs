//! Running the command.

use std::ffi::OsString;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use semel_ledger::EffectId;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};
use tokio::sync::watch;

use super::signals::Signals;
use super::stream::{Captured, tee};

/// What to run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) command: &'a [OsString],
    pub(super) effect: &'a EffectId,
    pub(super) attempt: u64,
    /// What the command gets to read, if semel has read its stdin already.
    pub(super) stdin: Option<Vec<u8>>,
    /// Pass the output on as it comes.
    pub(super) live: bool,
}

/// How a command ended.
#[derive(Debug)]
pub(super) struct Ended {
    status: ExitStatus,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
    pub(super) took: Duration,
}

impl Ended {
    pub(super) fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    /// The exit code as shells tell it: 128 and the signal, if one ended it.
    pub(super) fn exit_code(&self) -> u8 {
        let code = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => code,
            (None, Some(signal)) => 128 + signal,
            (None, None) => 255,
        };
        u8::try_from(code).unwrap_or(255)
    }
}

/// Why there is no end to tell of. The two must not be mixed up: after the first the command may
/// run again, after the second it may have taken effect.
#[derive(Debug)]
pub(super) enum Unseen {
    NeverStarted(std::io::Error),
    Lost(std::io::Error),
}

/// Runs the command to its end.
pub(super) async fn act(run: Run<'_>, signals: &mut Signals) -> Result<Ended, Unseen> {
    let started = Instant::now();
    let mut child = spawn(&run).map_err(Unseen::NeverStarted)?;
    if let (Some(mut pipe), Some(stdin)) = (child.stdin.take(), run.stdin) {
        tokio::spawn(async move {
            // A command need not read its input.
            let _ = pipe.write_all(&stdin).await;
        });
    }
    let (ended, exited) = watch::channel(false);
    let out = if run.live {
        own(std::io::stdout().as_fd())
    } else {
        None
    };
    let stdout = child
        .stdout
        .take()
        .map(|from| tokio::spawn(tee(from, out, exited.clone())));
    let out = if run.live {
        own(std::io::stderr().as_fd())
    } else {
        None
    };
    let stderr = child
        .stderr
        .take()
        .map(|from| tokio::spawn(tee(from, out, exited)));
    let pid = child.id();
    let status = tokio::select! {
        status = child.wait() => status.map_err(Unseen::Lost)?,
        () = signals.pass_on(pid) => unreachable!("signals are passed on for ever"),
    };
    ended.send_replace(true);
    let took = started.elapsed();
    let gathered = async |stream: Option<tokio::task::JoinHandle<Captured>>| match stream {
        Some(stream) => stream.await.unwrap_or_default(),
        None => Captured::default(),
    };
    Ok(Ended {
        status,
        stdout: gathered(stdout).await,
        stderr: gathered(stderr).await,
        took,
    })
}

/// One of our own streams, to be written without holding up the signs of life. A stream that was
/// closed before we started takes nothing.
fn own(stream: BorrowedFd<'_>) -> Option<tokio::fs::File> {
    let stream = stream.try_clone_to_owned().ok()?;
    Some(tokio::fs::File::from_std(stream.into()))
}

/// The command stays in our process group, so that a terminal treats both as one.
fn spawn(run: &Run<'_>) -> std::io::Result<Child> {
    let Some((program, arguments)) = run.command.split_first() else {
        return Err(std::io::ErrorKind::NotFound.into());
    };
    Command::new(program)
        .args(arguments)
        .env("SEMEL_SCOPE", run.effect.scope.as_str())
        .env("SEMEL_KEY", run.effect.key.as_str())
        .env("SEMEL_ATTEMPT", run.attempt.to_string())
        .stdin(if run.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::inherit()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}
