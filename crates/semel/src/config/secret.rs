//! Values that are used and never shown.

use std::fmt;
use std::path::Path;

use anyhow::Context as _;

use crate::failure::Failure;

/// A token's clear text. Its only way out is [`Secret::reveal`].
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(text: &str) -> Secret {
        Secret(text.trim().to_owned())
    }

    pub(crate) fn read(path: &Path) -> anyhow::Result<Secret> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the token file {}", path.display()))?;
        let secret = Secret::new(&text);
        if secret.0.is_empty() || !secret.0.bytes().all(|byte| byte.is_ascii_graphic()) {
            let path = path.display();
            return Err(Failure::failed(format!("the token file {path} holds no token")).into());
        }
        Ok(secret)
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A store address without its password, for messages.
pub(crate) fn redacted(address: &str) -> String {
    let mut text = address.to_owned();
    if let Some((scheme, rest)) = address.split_once("://")
        && let Some((user, host)) = rest.rsplit_once('@')
        && let Some((name, _)) = user.split_once(':')
    {
        text = format!("{scheme}://{name}:…@{host}");
    }
    if let Some(at) = text.find("password=") {
        let start = at + "password=".len();
        let end = text[start..].find('&').map_or(text.len(), |n| start + n);
        text.replace_range(start..end, "…");
    }
    text
}

/// Whether a store address has a password in it.
pub(crate) fn has_password(address: &str) -> bool {
    redacted(address) != address
}

/// Whether a server's address names a user, and so a password, before its host.
pub(crate) fn has_credentials(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.contains('@')
}
