//! A real sshd, started for each connection as inetd would, with keys and a home of its own.

use std::fs::{self, File};
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use semel_act::{Outcome, SecretSet, Task, Trace};
use semel_flow::Value;
use semel_flow::diagnostic::Span;
use semel_flow::model::{Act, Class, Kind, Tree};
use semel_flow::value::Piece;
use semel_ledger::{Millis, Scope};
use tempfile::TempDir;

use super::super::{OutgoingRules, Ssh, SshSettings};

const SSHD: &str = "/usr/sbin/sshd";

/// Counts how often it was told that a byte may leave.
#[derive(Default)]
pub(super) struct Sent(AtomicUsize);

impl Trace for Sent {
    fn sent(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A machine to log in to.
pub(super) struct Machine {
    dir: TempDir,
    port: u16,
    /// The sshd of each connection, as they come.
    sessions: mpsc::Receiver<Child>,
}

impl Machine {
    pub(super) fn start() -> Machine {
        assert!(Path::new(SSHD).exists(), "install openssh-server");
        let dir = tempfile::tempdir().unwrap();
        for name in ["host", "user", "stranger"] {
            key(dir.path(), name);
        }
        let at = |name: &str| dir.path().join(name).display().to_string();
        fs::create_dir(dir.path().join("home")).unwrap();
        fs::copy(at("user.pub"), at("authorized")).unwrap();
        let config = format!(
            "HostKey {}\nAuthorizedKeysFile {}\nSetEnv HOME={}\nStrictModes no\nUsePAM no\n\
             PermitRootLogin yes\nPidFile none\nLogLevel VERBOSE\n",
            at("host"),
            at("authorized"),
            at("home"),
        );
        fs::write(at("config"), config).unwrap();
        if rustix::process::geteuid().is_root() {
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, sessions) = mpsc::channel();
        let config = at("config");
        let log = at("log");
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let session = session(&config, &log, stream.unwrap());
                if tell.send(session).is_err() {
                    break;
                }
            }
        });
        Machine {
            dir,
            port,
            sessions,
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A command line for a shell there that notes that it ran, and then goes on.
    pub(super) fn noting(&self, then: &str) -> String {
        format!("echo ran >> {}; {then}", self.path("ran").display())
    }

    /// How often something ran there.
    pub(super) fn ran(&self) -> usize {
        self.read("ran").lines().count()
    }

    /// The sshd of the next connection.
    pub(super) fn session(&self) -> Child {
        let session = self.sessions.recv_timeout(Duration::from_secs(20));
        session.expect("nobody connected")
    }

    pub(super) fn connections(&self) -> usize {
        self.sessions.try_iter().count()
    }

    pub(super) fn host_key(&self, name: &str) -> String {
        let line = self.read(&format!("{name}.pub"));
        let words: Vec<_> = line.split(' ').take(2).collect();
        words.join(" ")
    }

    /// A task for it: these fields beside those that say where.
    pub(super) fn task(&self, fields: &[(&'static str, Value)]) -> Task {
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        let identity = Value::Sealed(Arc::new([Piece::Secret("KEY".into())]));
        let whereto = [
            ("host", Value::text("127.0.0.1")),
            ("port", Value::Int(self.port.into())),
            ("user", Value::text(user.trim())),
            ("identity", identity),
            ("host_key", Value::text(&self.host_key("host"))),
        ];
        Task {
            act: Arc::new(Act {
                kind: Kind::Ssh,
                input: Tree::Null,
                exprs: std::collections::BTreeMap::new(),
                span: Span::default(),
                shadow: None,
            }),
            input: Value::map(whereto.into_iter().chain(fields.iter().cloned())),
            class: Class::Guarded,
            scope: Scope::new("nightly/reindex").ok(),
            key: Some("order/17".parse().unwrap()),
            attempt: 2,
            timeout: Millis::seconds(30),
        }
    }

    pub(super) fn ssh(&self, settings: SshSettings) -> Ssh {
        self.under(settings, OutgoingRules::parse("127.0.0.0/8,::1").unwrap())
    }

    /// With rules that let nobody reach this machine.
    pub(super) fn closed(&self, settings: SshSettings) -> Ssh {
        self.under(settings, OutgoingRules::default())
    }

    fn under(&self, settings: SshSettings, rules: OutgoingRules) -> Ssh {
        // As secrets from files come: without the line break at the end.
        let key = self.read("user").trim_end().to_owned();
        let stranger = self.read("stranger");
        let secrets = SecretSet::from_iter([("KEY", key), ("STRANGER", stranger)]);
        Ssh::new(settings, rules, Arc::new(secrets))
    }

    /// Performs a task, and says how often something may have left.
    pub(super) async fn perform(&self, task: &Task) -> (Outcome, usize) {
        self.perform_with(SshSettings::default(), task).await
    }

    pub(super) async fn perform_with(
        &self,
        settings: SshSettings,
        task: &Task,
    ) -> (Outcome, usize) {
        let sent = Sent::default();
        let outcome = self.ssh(settings).perform(task, &sent).await;
        (outcome, sent.0.load(Ordering::SeqCst))
    }
}

fn key(dir: &Path, name: &str) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
        .arg(dir.join(name))
        .status();
    assert!(made.expect("install openssh-client").success());
}

/// One sshd for one connection, in a process group of its own.
fn session(config: &str, log: &str, stream: TcpStream) -> Child {
    let log = File::options().create(true).append(true).open(log).unwrap();
    let output = stream.try_clone().unwrap();
    Command::new(SSHD)
        .args(["-i", "-e", "-f", config])
        .stdin(OwnedFd::from(stream))
        .stdout(OwnedFd::from(output))
        .stderr(log)
        .process_group(0)
        .spawn()
        .unwrap()
}

/// Kills all of a session's sshd, at once; what it started goes on.
pub(super) fn kill(mut session: Child) {
    let pid = i32::try_from(session.id()).unwrap();
    kill_process_group(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    session.wait().unwrap();
}

/// Waits until a session's sshd has ended: the connection is gone.
pub(super) async fn ended(mut session: Child) {
    let (tell, told) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || tell.send(session.wait()));
    let told = tokio::time::timeout(Duration::from_secs(20), told).await;
    told.expect("the connection is still there")
        .unwrap()
        .unwrap();
}

/// A pipe in the file system, to wait for what happens on the other side.
pub(super) struct Pipe(pub(super) PathBuf);

impl Pipe {
    pub(super) fn new(machine: &Machine, name: &str) -> Pipe {
        let path = machine.path(name);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        Pipe(path)
    }

    /// Waits until somebody has written to it and closed it.
    pub(super) async fn written(&self) -> String {
        let path = self.0.clone();
        let (tell, told) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let mut text = String::new();
            File::open(path).unwrap().read_to_string(&mut text).unwrap();
            tell.send(text)
        });
        let told = tokio::time::timeout(Duration::from_secs(20), told).await;
        told.expect("nobody wrote").unwrap()
    }
}
