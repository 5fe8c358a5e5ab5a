//! A server that a test starts, breaks and starts again on the same data, with or without something
//! in front of it (`strace`, `unshare`).

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use serde_json::Value;

use crate::client::Client;
use crate::support::{Home, signal, until};

pub(crate) struct Node {
    pub(crate) child: Child,
    pub(crate) address: String,
    said: PathBuf,
}

impl Node {
    /// Starts on the home's own data and waits until it serves.
    pub(crate) fn start(home: &Home) -> Node {
        let mut node = Node::spawn(home, serve(home), "data");
        node.wait_until_serving(&home.data());
        node
    }

    /// Starts what becomes a server under the process id that it has from the start.
    pub(crate) fn spawn(home: &Home, mut command: Command, name: &str) -> Node {
        let said = home.path(&format!("{name}.said"));
        let child = command.stderr(File::create(&said).unwrap()).spawn();
        Node {
            child: child.unwrap(),
            address: String::new(),
            said,
        }
    }

    pub(crate) fn wait_until_serving(&mut self, data: &Path) {
        let lock = data.join("semel.lock");
        self.address = until("the server announces itself", || {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended: {}", self.said());
            let notice: Value = serde_json::from_slice(&fs::read(&lock).ok()?).ok()?;
            let listen = notice["listen"].as_str()?.to_owned();
            (notice["pid"] == self.child.id()).then_some(listen)
        });
    }

    pub(crate) fn client(&self, token: &str) -> Client {
        Client::new(&self.address, token)
    }

    /// Ends it as the kernel would: at once, and without a word.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends it as an operator would.
    pub(crate) fn terminate(&mut self) -> Option<i32> {
        signal(self.child.id(), "TERM");
        self.end()
    }

    /// Waits for it to end by itself.
    pub(crate) fn end(&mut self) -> Option<i32> {
        until("the server ends", || self.child.try_wait().unwrap()).code()
    }

    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `semel serve` on the home's own data and a free port.
pub(crate) fn serve(home: &Home) -> Command {
    home.command(&["serve", "--log", "warn", "--listen", "127.0.0.1:0"])
}

/// The same command with this in front of it.
pub(crate) fn behind(program: &str, words: &[&str], inner: &Command) -> Command {
    let mut command = Command::new(program);
    command.args(words).arg(inner.get_program());
    command.args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(dir) = inner.get_current_dir() {
        command.current_dir(dir);
    }
    command
}

/// The token that the first start wrote.
pub(crate) fn token_in(data: &Path) -> String {
    let clear = fs::read_to_string(data.join("token")).unwrap();
    clear.trim().to_owned()
}
