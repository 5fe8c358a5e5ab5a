//! A secret's value, from a file, from stdin, or typed unseen.

use std::fs::File;
use std::io::{IsTerminal as _, Read};
use std::path::Path;

use anyhow::Context as _;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::failure::Failure;

/// The longest value that a server takes.
const MAX_BYTES: usize = 16 * 1024;

/// Reads a value. One line break at its end is no part of it: editors and `echo` add one.
pub(super) fn read(name: &str, from: Option<&Path>) -> anyhow::Result<String> {
    let text = match from {
        Some(path) => {
            let shown = || format!("cannot read {}", path.display());
            let file = File::open(path).with_context(shown)?;
            all(file).with_context(shown)?
        }
        None if std::io::stdin().is_terminal() => typed(&format!("the value of {name}"))?,
        None => all(std::io::stdin().lock()).context("cannot read stdin")?,
    };
    let text = String::from_utf8(text).map_err(|_| {
        Failure::usage("the value is not UTF-8 text").fix("encode it, such as with base64")
    })?;
    let value = text.strip_suffix('\n').unwrap_or(&text);
    let value = value.strip_suffix('\r').unwrap_or(value);
    if value.trim().is_empty() {
        return Err(
            Failure::usage("the value is empty or blank; nothing was set")
                .fix("give it on stdin, or name a file: --from FILE")
                .into(),
        );
    }
    if value.len() > MAX_BYTES {
        let message =
            format!("the value has over {MAX_BYTES} bytes, which is the limit; nothing was set");
        return Err(Failure::usage(message).into());
    }
    Ok(value.to_owned())
}

/// Reads a new password: from stdin, or typed twice.
pub(in crate::cli) fn password(of: &str) -> anyhow::Result<String> {
    let line = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| Failure::usage("the password is not UTF-8 text"))?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        Ok::<_, anyhow::Error>(text.strip_suffix('\r').unwrap_or(text).to_owned())
    };
    if !std::io::stdin().is_terminal() {
        return line(all(std::io::stdin().lock()).context("cannot read stdin")?);
    }
    let first = line(typed(&format!("a password for {of}"))?)?;
    let second = line(typed("the same once more")?)?;
    if first != second {
        return Err(Failure::usage("the two passwords differ; nothing was changed").into());
    }
    Ok(first)
}

fn all(source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // With room for the line break, and one byte more to notice that it is too long.
    source.take(MAX_BYTES as u64 + 3).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// One line from the terminal, which does not show it.
fn typed(what: &str) -> anyhow::Result<Vec<u8>> {
    say!("semel: {what} (not shown), then Enter:");
    let stdin = std::io::stdin();
    let before = tcgetattr(&stdin)?;
    let mut unseen = before.clone();
    unseen.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Flush, &unseen)?;
    let mut line = String::new();
    let read = stdin.read_line(&mut line);
    tcsetattr(&stdin, OptionalActions::Flush, &before)?;
    read.context("cannot read the terminal")?;
    Ok(line.into_bytes())
}
