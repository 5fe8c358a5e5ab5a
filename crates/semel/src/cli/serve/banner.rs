//! What a start tells the person at the terminal.

use std::net::SocketAddr;
use std::path::Path;

use semel_server::SetupLink;
use serde_json::{Value, json};

use super::token::TokenFile;
use crate::client::{quoted, served_url};
use crate::term::{Paint, Tone};

#[derive(Debug)]
pub(super) struct Banner<'a> {
    pub(super) address: SocketAddr,
    pub(super) tls: bool,
    pub(super) data: &'a Path,
    pub(super) store: &'a str,
    pub(super) token: TokenFile,
    /// For the first admin, as long as nobody has an account.
    pub(super) setup: Option<SetupLink>,
}

impl Banner<'_> {
    fn token_path(&self) -> &Path {
        match &self.token {
            TokenFile::Made(path) | TokenFile::There(path) => path,
        }
    }

    /// For scripts: where to go.
    pub(super) fn document(&self) -> Value {
        json!({
            "pid": std::process::id(),
            "listen": self.address.to_string(),
            "url": served_url(self.address, self.tls),
            "data": self.data,
            "token_file": self.token_path(),
            "setup_url": self.setup.as_ref().map(|setup| &setup.url),
        })
    }

    pub(super) fn print(&self) {
        let paint = Paint::stderr();
        let url = served_url(self.address, self.tls);
        let row = |name: &str, value: &str| {
            say!("  {} {value}", paint.on(Tone::Dim, &format!("{name:<7}")));
        };
        let version = env!("CARGO_PKG_VERSION");
        say!("{} {version}", paint.on(Tone::Strong, "semel"));
        row("listen", &url);
        row("data", &self.data.display().to_string());
        row("store", self.store);
        let path = self.token_path().display().to_string();
        match &self.token {
            TokenFile::Made(_) => row("token", &format!("{path} (made just now)")),
            TokenFile::There(_) => row("token", &path),
        }
        if let Some(setup) = &self.setup {
            row("set up", &format!("{} (once, for a day)", setup.url));
        }
        if self.token_path().exists() {
            let path = quoted(&path);
            row(
                "try",
                &format!(
                    "curl -X POST -H \"Authorization: Bearer $(cat {path})\" {url}/v1/once/hello/world"
                ),
            );
        }
        if !self.address.ip().is_loopback() && !self.tls {
            let warning = "other machines can reach this address; the API asks for a token, but nothing is encrypted: --tls-cert and --tls-key, or put TLS in front";
            say!("{} {warning}", paint.on(Tone::Doubt, "semel: warning:"));
        }
    }
}
