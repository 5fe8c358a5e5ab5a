//! The mail server of a test: a process of its own, and a folder with what it has taken.

use std::path::Path;
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::CertificateDer;
use semel_flow::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

pub(crate) const USER: &str = "shop";
pub(crate) const PASSWORD: &str = "c0rrect horse";

/// A server that runs until it is dropped, or dies before.
pub(crate) struct Server {
    pub(crate) port: u16,
    process: Child,
    /// It ends when this does.
    _leash: ChildStdin,
    said: Lines<BufReader<ChildStdout>>,
    store: TempDir,
    /// Whom to trust, if it speaks TLS.
    pub(crate) certificate: Option<CertificateDer<'static>>,
}

impl Server {
    /// A server that is told this; see `server.py`.
    pub(crate) async fn told(told: &str) -> Server {
        Server::start(told, None).await
    }

    /// A server that speaks TLS under this name.
    pub(crate) async fn under_tls(told: &str, name: &str) -> Server {
        Server::start(told, Some(name)).await
    }

    async fn start(told: &str, name: Option<&str>) -> Server {
        let store = tempfile::tempdir().expect("a folder");
        let told = Value::read(told.as_bytes()).expect(told);
        let Value::Map(members) = told else {
            panic!("not an object");
        };
        let mut members = (*members).clone();
        let path = |name: &str| store.path().join(name).to_str().expect("text").to_owned();
        members.insert("store".into(), Value::text(&path("")));
        members.insert("cert".into(), Value::text(&path("cert.pem")));
        members.insert("key".into(), Value::text(&path("key.pem")));
        let certificate = name.map(|name| certified(store.path(), name));
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/smtp-server");
        let mut process = Command::new(script)
            .arg(Value::map(members).to_json())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("scripts/smtp-server");
        let leash = process.stdin.take().expect("its input");
        let stdout = process.stdout.take().expect("its output");
        let mut said = BufReader::new(stdout).lines();
        let port = said.next_line().await.expect("a line").expect("a port");
        Server {
            port: port.parse().expect("a port"),
            process,
            _leash: leash,
            said,
            store,
            certificate,
        }
    }

    /// What it has taken so far.
    pub(crate) fn stored(&self) -> Vec<Value> {
        let files = std::fs::read_dir(self.store.path()).expect("the folder");
        let paths = files.map(|file| file.expect("a file").path());
        let kept = paths.filter(|path| path.extension().is_some_and(|it| it == "json"));
        kept.map(|path| Value::read(&std::fs::read(path).expect("a message")).expect("JSON"))
            .collect()
    }

    /// The one message that it has taken.
    pub(crate) fn only(&self) -> Value {
        let mut stored = self.stored();
        assert_eq!(stored.len(), 1, "{stored:?}");
        stored.remove(0)
    }

    /// Waits until it has read that command, and tells which it read before.
    pub(crate) async fn heard(&mut self, command: &str) -> Vec<String> {
        let mut heard = Vec::new();
        loop {
            let line = self.said.next_line().await.expect("a line");
            let line = line.unwrap_or_else(|| panic!("no {command} after {heard:?}"));
            if line.split(' ').next() == Some(command) {
                return heard;
            }
            heard.push(line);
        }
    }

    /// Waits until it is dead.
    pub(crate) async fn died(&mut self) {
        let status = self.process.wait().await.expect("an end");
        assert!(!status.success());
    }
}

/// Makes a certificate and leaves it where the server looks for it.
fn certified(folder: &Path, name: &str) -> CertificateDer<'static> {
    let made = generate_simple_self_signed(vec![name.to_owned()]);
    let CertifiedKey { cert, signing_key } = made.expect("a certificate");
    let write = |file: &str, label: &str, der: &[u8]| {
        let text = STANDARD.encode(der);
        let pem = format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n");
        std::fs::write(folder.join(file), pem).expect("a file");
    };
    write("cert.pem", "CERTIFICATE", cert.der());
    write("key.pem", "PRIVATE KEY", &signing_key.serialize_der());
    cert.der().clone()
}
