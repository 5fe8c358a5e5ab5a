//! Who has the data directory, and does a server answer?

use std::path::Path;

use semel_store::lock::{DataLock, LOCK_FILE, Visit};

use super::Check;
use crate::cli::Context;
use crate::client::{Access, Call, Client};

/// Who has the data directory.
pub(super) struct Owner {
    pub(super) check: Check,
    /// A server runs there.
    pub(super) serves: bool,
}

pub(super) async fn owner(context: &Context, directory: &Path) -> Owner {
    // Looking must not make anything.
    if !directory.join(LOCK_FILE).exists() {
        return free();
    }
    match DataLock::visit(directory) {
        Ok(Visit::Free(_)) => free(),
        Ok(Visit::Served(notice)) => Owner {
            serves: true,
            check: match answers(context).await {
                Ok(()) => Check::good("server", format!("runs and answers: {notice}")),
                Err(error) => Check::bad(
                    "server",
                    format!("has the directory ({notice}) but cannot be asked: {error:#}"),
                    "look at its log; start it again if it hangs",
                ),
            },
        },
        Err(error) => Owner {
            serves: false,
            check: Check::bad(
                "server",
                format!("{:#}", anyhow::Error::from(error)),
                "check who owns the directory",
            ),
        },
    }
}

fn free() -> Owner {
    Owner {
        serves: false,
        check: Check::good(
            "server",
            "none runs here; commands open the file themselves",
        ),
    }
}

async fn answers(context: &Context) -> anyhow::Result<()> {
    let client = Client::new(&context.config)?;
    let session = client.connect(Access::Existing).await?;
    for path in ["/readyz", "/v1/ledger?limit=1"] {
        let answer = session.send(Call::get(path)).await?;
        if !answer.status.is_success() {
            return Err(answer.problem().into());
        }
    }
    session.close().await
}

/// A server elsewhere: all that can be seen of it is whether it answers, and takes our token.
pub(super) async fn remote(context: &Context, url: &str) -> Vec<Check> {
    vec![match answers(context).await {
        Ok(()) => Check::good("server", format!("{url} answers and takes the token")),
        Err(error) => Check::bad(
            "server",
            format!("{url}: {error:#}"),
            "check the address, the server and the token (SEMEL_TOKEN_FILE)",
        ),
    }]
}
