//! The model of a test: a process of its own, and a file with what it was asked.

use std::process::Stdio;

use semel_flow::Value;
use semel_steps::Api;
use tempfile::NamedTempFile;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};

/// What it wants to be shown.
pub(crate) const KEY: &str = "sk-c4nary-key";

/// A server that runs until it is dropped.
pub(crate) struct Server {
    address: String,
    _process: Child,
    /// It ends when this does.
    _leash: ChildStdin,
    log: NamedTempFile,
}

impl Server {
    pub(crate) async fn new() -> Server {
        let log = NamedTempFile::new().expect("a file");
        let mut process = Command::new("python3")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ai/server.py"))
            .arg(log.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("python3");
        let leash = process.stdin.take().expect("its input");
        let stdout = process.stdout.take().expect("its output");
        let port = BufReader::new(stdout).lines().next_line().await;
        let port = port.expect("a line").expect("a port");
        Server {
            address: format!("127.0.0.1:{port}"),
            _process: process,
            _leash: leash,
            log,
        }
    }

    /// Where it is, without any path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// As it is named in messages.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Where it serves that API.
    pub(crate) fn base(&self, api: Api) -> String {
        match api {
            Api::OpenAiChat | Api::OpenAiResponses => format!("{}/v1", self.url()),
            Api::Anthropic => self.url(),
        }
    }

    /// What it was asked, in order: path, key and body.
    pub(crate) fn seen(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.log.path()).expect("the log");
        let lines = text.lines();
        lines
            .map(|line| Value::read(line.as_bytes()).expect(line))
            .collect()
    }
}
