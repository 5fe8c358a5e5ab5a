//! Where a demo lives: its directory, with the flows and the settings of its server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use semel_store::blob::hex;
use semel_store::store::random_bytes;

use super::entrance::WATCHER;
use crate::failure::Failure;
use crate::files;

const FLOWS: [(&str, &str); 3] = [
    ("welcome.yaml", include_str!("flows/welcome.yaml")),
    ("collect.yaml", include_str!("flows/collect.yaml")),
    ("ship.yaml", include_str!("flows/ship.yaml")),
];

/// How the settings of a demo begin, and no others.
const MARK: &str = "# The settings of `semel demo`.";

/// The demo's directory; gone with it unless it is to be kept.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
    kept: bool,
}

impl Directory {
    pub(super) fn new(keep: Option<&Path>) -> anyhow::Result<Directory> {
        let kept = keep.is_some();
        let name = || format!("semel-demo-{}", hex(&random_bytes::<8>()));
        let path = keep.map_or_else(|| std::env::temp_dir().join(name()), Path::to_owned);
        if !is_ours(&path) {
            let message = format!("{} holds something that is not a demo's", path.display());
            let fix = "name an empty or a new directory with --keep DIR; nothing was changed";
            return Err(Failure::usage(message).fix(fix).into());
        }
        files::make_private_dir(&path)?;
        let path = path.canonicalize()?;
        Ok(Directory { path, kept })
    }

    pub(super) fn token(&self) -> PathBuf {
        self.path.join("data").join("token")
    }
}

/// Whether a demo may write there: it is new, empty, or an earlier demo's.
fn is_ours(path: &Path) -> bool {
    let settings = std::fs::read_to_string(path.join("semel.toml"));
    let empty = std::fs::read_dir(path).map_or(true, |mut inside| inside.next().is_none());
    empty || settings.is_ok_and(|settings| settings.starts_with(MARK))
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
        "{MARK}\n[outgoing]\nallow = [\"127.0.0.1/32\"]\n\n[smtp.default]\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\nfrom = \"The shop <shop@example.com>\"\n\n[groups]\nshop = [\"{WATCHER}\"]\n",
        mailbox.port()
    );
    std::fs::write(directory.join("semel.toml"), settings).context("cannot write the settings")
}
