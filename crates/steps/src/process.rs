//! Programs that run on this machine: started in a process group of their own, watched, and ended
//! whole.
//!
//! Owns the life of a group, its three streams and their limits. What may be run, and what its end
//! says about an effect, is up to the callers.
//!
//! The invariant: nothing of the group outlives its [`Running`]. When the program has ended, ran
//! too long or is no longer wanted (dropped), the group gets SIGTERM, and SIGKILL after a grace.
//! The group's leader is not reaped before that, so its number cannot mean anybody else. Only what
//! began a session of its own gets away.

mod group;
mod stream;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::{Instant, timeout, timeout_at};

use group::Group;
pub(crate) use stream::Captured;
use stream::Stream;

/// How long what stays of a group after its program has ended may take to close its streams.
const LINGER: Duration = Duration::from_secs(1);

/// The directories of programs that are found by name.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What to run. The environment has nothing but this, and PATH, HOME and LANG.
pub(crate) struct Program {
    /// The real path of the program.
    pub(crate) path: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) dir: PathBuf,
    /// How much of each stream is kept.
    pub(crate) limit: usize,
}

/// Why nothing is known about a program's end.
#[derive(Debug)]
pub(crate) enum Unseen {
    /// It did not begin.
    NeverStarted(io::Error),
    /// It began, and cannot be watched.
    Lost(io::Error),
    /// It took too long and was ended.
    TimedOut,
}

/// A program on its way.
pub(crate) struct Running {
    group: Group,
    stdin: Option<ChildStdin>,
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
}

/// What a program wrote.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) stdout: Captured,
    pub(crate) stderr: Captured,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Code(i32),
    Signal(i32),
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> End {
        match (status.code(), status.signal()) {
            (Some(code), _) => End::Code(code),
            (None, signal) => End::Signal(signal.unwrap_or_default()),
        }
    }
}

impl Program {
    /// Starts it.
    pub(crate) fn start(&self) -> Result<Running, Unseen> {
        let home = std::env::var_os("HOME").unwrap_or_else(|| "/".into());
        let mut child = Command::new(&self.path)
            .args(&self.arguments)
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", home)
            .env("LANG", "C.UTF-8")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&self.dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(Unseen::NeverStarted)?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = Group::of(child).map_err(Unseen::Lost)?;
        let (stdin, Some(stdout), Some(stderr)) = streams else {
            return Err(Unseen::Lost(io::ErrorKind::BrokenPipe.into()));
        };
        Ok(Running {
            group,
            stdin,
            stdout: Stream::new(stdout, self.limit),
            stderr: Stream::new(stderr, self.limit),
        })
    }
}

impl Running {
    /// Whether the program wrote this line; everything up to its end is taken out of its output.
    pub(crate) async fn says(&mut self, line: &str, by: Instant) -> Result<bool, Unseen> {
        let Running { stdout, stderr, .. } = self;
        let said = async {
            tokio::select! {
                said = stdout.find(line.as_bytes()) => said,
                // It must not be held up by a stream that nobody reads; its end says nothing.
                () = stderr.drain_for_ever() => false,
            }
        };
        let said = timeout_at(by, said).await;
        if said.is_err() {
            self.group.end().await;
        }
        said.map_err(|_| Unseen::TimedOut)
    }

    /// Gives it its input and waits for its end; whatever it leaves behind is ended.
    pub(crate) async fn finish(&mut self, input: &[u8], by: Instant) -> Result<End, Unseen> {
        let ended = timeout_at(by, self.run(input)).await;
        if ended.is_err() {
            self.group.end().await;
        }
        let status = ended.map_err(|_| Unseen::TimedOut)?;
        status.map(End::from).map_err(Unseen::Lost)
    }

    async fn run(&mut self, input: &[u8]) -> io::Result<ExitStatus> {
        let Running {
            group,
            stdin,
            stdout,
            stderr,
        } = self;
        let stdin = stdin.take();
        let feed = async move {
            if let Some(mut stdin) = stdin {
                // A program need not read its input.
                let _ = stdin.write_all(input).await;
            }
        };
        let streams = async { tokio::join!(feed, stdout.drain(), stderr.drain()) };
        tokio::pin!(streams);
        let closed = tokio::select! {
            () = group.exited() => false,
            _ = &mut streams => true,
        };
        if closed {
            group.exited().await;
        }
        group.signal(Signal::TERM);
        if !closed {
            let _ = timeout(LINGER, streams).await;
        }
        group.reap().await
    }

    /// What it wrote so far.
    pub(crate) fn output(self) -> Output {
        Output {
            stdout: self.stdout.captured(),
            stderr: self.stderr.captured(),
        }
    }
}
