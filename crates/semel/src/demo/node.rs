//! The server of the demo: the same binary in a process of its own, so that it can really be killed.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::sender::{SHOPIFY, STRIPE};
use crate::failure::Failure;

/// How long a server may take to say where it is.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it may take to end in good order.
const DRAIN: Duration = Duration::from_secs(15);

/// What a server says when it is there.
#[derive(Debug, Deserialize)]
struct Started {
    listen: SocketAddr,
}

/// A server that lives in a directory, dead or alive.
#[derive(Debug)]
pub(super) struct Node {
    directory: PathBuf,
    child: Child,
    pub(super) address: SocketAddr,
}

impl Node {
    /// Starts a server on a free port.
    pub(super) async fn start(directory: &Path) -> anyhow::Result<Node> {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let (child, address) = start(directory, anywhere).await?;
        Ok(Node {
            directory: directory.to_owned(),
            child,
            address,
        })
    }

    /// `kill -9`, and a new start at the same address.
    pub(super) async fn kill_and_start(&mut self) -> anyhow::Result<()> {
        self.child.kill().await.context("cannot kill the server")?;
        let (child, _) = start(&self.directory, self.address).await?;
        self.child = child;
        Ok(())
    }

    /// Ends it in good order.
    pub(super) async fn stop(mut self) -> anyhow::Result<()> {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        if tokio::time::timeout(DRAIN, self.child.wait())
            .await
            .is_err()
        {
            self.child.kill().await.context("cannot end the server")?;
        }
        Ok(())
    }

    /// Where it logs.
    pub(super) fn log(directory: &Path) -> PathBuf {
        directory.join("server.log")
    }
}

async fn start(directory: &Path, listen: SocketAddr) -> anyhow::Result<(Child, SocketAddr)> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(Node::log(directory))
        .context("cannot write the server's log")?;
    let mut command = Command::new(program);
    command
        .args([
            "serve", "--json", "--log", "warn", "--data", "data", "--flows", "flows",
        ])
        .args(["--listen", &listen.to_string()])
        .current_dir(directory)
        // Nothing of this machine's settings: the demo is the same everywhere.
        .env_clear()
        .env("HOME", directory)
        .env("XDG_CONFIG_HOME", directory)
        .env("SEMEL_SECRET_STRIPE_WEBHOOK", STRIPE)
        .env("SEMEL_SECRET_SHOPIFY", SHOPIFY)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::from(log))
        // Ctrl-C is for the demo, which ends its server itself.
        .process_group(0)
        .kill_on_drop(true);
    let mut child = command.spawn().context("cannot start the server")?;
    let started = tokio::time::timeout(PATIENCE, said(&mut child)).await;
    let started = started.ok().flatten().ok_or_else(|| {
        let log = std::fs::read_to_string(Node::log(directory)).unwrap_or_default();
        let last = log.lines().last().unwrap_or("it said nothing");
        Failure::failed(format!("the demo's server did not start: {last}"))
    })?;
    Ok((child, started.listen))
}

/// The document that a server prints when it is there.
async fn said(child: &mut Child) -> Option<Started> {
    let mut lines = BufReader::new(child.stdout.take()?).lines();
    let mut text = String::new();
    while let Ok(Some(line)) = lines.next_line().await {
        text.push_str(&line);
        if let Ok(started) = serde_json::from_str(&text) {
            return Some(started);
        }
    }
    None
}
