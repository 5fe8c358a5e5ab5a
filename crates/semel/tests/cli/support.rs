//! A home for one test: a directory of its own, and `semel` pointed at it.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Loaded machines are slow; no test waits this long unless something is wrong.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);

pub(crate) struct Home {
    dir: TempDir,
}

impl Home {
    pub(crate) fn new() -> Home {
        Home {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Writes a file and gives its path as text.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).unwrap();
        self.path(name).to_str().unwrap().to_owned()
    }

    /// What the destination saw.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// `semel` with these words, in this home, with nothing of the developer's own settings.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_semel"));
        for (name, _) in std::env::vars() {
            if name.starts_with("SEMEL_") || name.starts_with("XDG_") {
                command.env_remove(name);
            }
        }
        command
            .args(words)
            .current_dir(self.dir.path())
            .env("HOME", self.dir.path())
            .env("USER", "ada")
            .env("SEMEL_DATA", self.data())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs with text on stdin.
    pub(crate) fn feed(&self, words: &[&str], input: &[u8]) -> Output {
        let mut command = self.command(words);
        command.stdin(Stdio::piped());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap()
    }

    /// `semel once --scope s --key KEY` and a shell script that appends to the file `seen`.
    pub(crate) fn once(&self, key: &str, script: &str) -> Command {
        self.command(&[
            "once", "--scope", "s", "--key", key, "--", "sh", "-c", script,
        ])
    }

    /// The JSON document that a command prints.
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let output = self.run(words);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{words:?}: {error}: {}", told(&output)))
    }

    /// A server on a free port.
    pub(crate) fn serve(&self, words: &[&str]) -> Server {
        self.serve_with(words, &[("SEMEL_LOG", "warn")])
    }

    /// A server on a free port, with more in its environment.
    pub(crate) fn serve_with(&self, words: &[&str], more: &[(&str, &str)]) -> Server {
        let mut command = self.command(&[&["serve"], words].concat());
        command.env("SEMEL_LISTEN", "127.0.0.1:0");
        command.envs(more.iter().copied());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let (pid, stderr) = (child.id(), child.stderr.take().unwrap());
        let mut server = Server {
            child,
            url: String::new(),
            // Read all along, so that a server that says much is not held up.
            said: Some(std::thread::spawn(|| std::io::read_to_string(stderr))),
        };
        let lock = self.data().join("semel.lock");
        server.url = until("the server announces itself", || {
            let notice: Value = serde_json::from_slice(&fs::read(&lock).ok()?).ok()?;
            let listen = notice["listen"].as_str()?;
            (notice["pid"] == pid).then(|| format!("http://{listen}"))
        });
        server
    }
}

pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
    said: Option<JoinHandle<std::io::Result<String>>>,
}

impl Server {
    /// Ends it as an operator would, and gives what it said.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        signal(self.child.id(), "TERM");
        let code = self.child.wait().unwrap().code();
        let said = self.said.take().unwrap().join().unwrap();
        (code, said.unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks until there is an answer.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited too long: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn signal(pid: u32, name: &str) {
    let status = Command::new("kill")
        .args([format!("-{name}"), pid.to_string()])
        .status();
    assert!(status.unwrap().success());
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// All that a command said, for a failed assertion.
pub(crate) fn told(output: &Output) -> String {
    format!(
        "exit {:?}\n{}\n{}",
        output.status.code(),
        stdout(output),
        stderr(output)
    )
}

/// A text without what differs from run to run: ids, and every number.
pub(crate) fn masked(text: &str) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let id = ["run_", "evt_", "rel_", "rcp_"]
            .iter()
            .find(|id| rest.starts_with(**id));
        let (shown, end) = if let Some(id) = id {
            let digits = rest[id.len()..].find(|c: char| !c.is_ascii_hexdigit());
            (
                format!("{id}…"),
                digits.map_or(rest.len(), |it| it + id.len()),
            )
        } else if first.is_ascii_digit() {
            let digits = rest.find(|c: char| !c.is_ascii_digit());
            ("N".to_owned(), digits.unwrap_or(rest.len()))
        } else {
            (first.to_string(), first.len_utf8())
        };
        masked += &shown;
        rest = &rest[end..];
    }
    masked
}

/// Asserts the exit code, and that stderr says all of these.
#[track_caller]
pub(crate) fn ends(output: &Output, code: i32, says: &[&str]) {
    assert_eq!(output.status.code(), Some(code), "{}", told(output));
    for word in says {
        assert!(
            stderr(output).contains(word),
            "{word:?} is not in:\n{}",
            told(output)
        );
    }
}
