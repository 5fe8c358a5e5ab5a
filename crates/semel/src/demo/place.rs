//! Where a demo lives: its directory, with the flows and the settings of its server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::entrance::WATCHER;
use crate::files;

const FLOWS: [(&str, &str); 3] = [
    ("welcome.yaml", include_str!("flows/welcome.yaml")),
    ("collect.yaml", include_str!("flows/collect.yaml")),
    ("ship.yaml", include_str!("flows/ship.yaml")),
];

/// The demo's directory; gone with it unless it is to be kept.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
    kept: bool,
}

impl Directory {
    pub(super) fn new(keep: Option<&Path>) -> anyhow::Result<Directory> {
        let kept = keep.is_some();
        let own = || std::env::temp_dir().join(format!("semel-demo-{}", std::process::id()));
        let path = keep.map_or_else(own, Path::to_owned);
        files::make_private_dir(&path)?;
        let path = path.canonicalize()?;
        Ok(Directory { path, kept })
    }

    pub(super) fn token(&self) -> PathBuf {
        self.path.join("data").join("token")
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Writes the flows and the settings of the demo's server.
pub(super) fn furnish(
    directory: &Path,
    shop: SocketAddr,
    mailbox: SocketAddr,
) -> anyhow::Result<()> {
    let flows = directory.join("flows");
    std::fs::create_dir_all(&flows).context("cannot make the folder of flows")?;
    for (name, text) in FLOWS {
        let text = text.replace("SHOP/", &format!("http://{shop}/"));
        std::fs::write(flows.join(name), text).context("cannot write a flow")?;
    }
    let settings = format!(
        "# The settings of `semel demo`.\n[outgoing]\nallow = [\"127.0.0.1/32\"]\n\n[smtp.default]\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\nfrom = \"The shop <shop@example.com>\"\n\n[groups]\nshop = [\"{WATCHER}\"]\n",
        mailbox.port()
    );
    std::fs::write(directory.join("semel.toml"), settings).context("cannot write the settings")
}
