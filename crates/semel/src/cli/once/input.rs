//! What a command works on, as the ledger remembers it.

use std::fs::File;
use std::io::Read as _;

use anyhow::Context as _;
use semel_ledger::json::Canonical;
use serde_json::value::RawValue;

use crate::failure::Failure;

/// JSON up to this size is remembered as it is, so that a conflict can say what differs. Leaves
/// room for the rest of a claim within the longest body that the API takes.
const MAX_JSON: usize = 960 * 1024;
/// What is read from stdin must be kept for the command.
const MAX_STDIN: usize = 16 * 1024 * 1024;

/// An input.
#[derive(Debug)]
pub(super) struct Input {
    /// A JSON object or array as it stands; of anything else the hash.
    pub(super) value: Box<RawValue>,
    /// What was taken from stdin, for the command.
    pub(super) stdin: Option<Vec<u8>>,
}

/// Reads `FILE`, or stdin for `-`.
pub(super) fn read(name: &str) -> anyhow::Result<Input> {
    if name == "-" {
        let mut bytes = Vec::new();
        let most = MAX_STDIN as u64 + 1;
        std::io::stdin()
            .lock()
            .take(most)
            .read_to_end(&mut bytes)
            .context("cannot read stdin")?;
        if bytes.len() > MAX_STDIN {
            return Err(Failure::usage("--input - takes at most 16 MiB")
                .fix("write it to a file: --input FILE")
                .into());
        }
        let value = describe(&bytes)?;
        return Ok(Input {
            value,
            stdin: Some(bytes),
        });
    }
    let open = || -> std::io::Result<Box<RawValue>> {
        let mut file = File::open(name)?;
        if file.metadata()?.len() <= MAX_JSON as u64 {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            return describe(&bytes).map_err(std::io::Error::other);
        }
        let mut hasher = blake3::Hasher::new();
        let bytes = std::io::copy(&mut file, &mut hasher)?;
        hashed(&hasher, bytes).map_err(std::io::Error::other)
    };
    let value = open().map_err(|error| Failure::usage(format!("--input {name}: {error}")))?;
    Ok(Input { value, stdin: None })
}

fn describe(bytes: &[u8]) -> serde_json::Result<Box<RawValue>> {
    if bytes.len() <= MAX_JSON
        && let Ok(value) = Canonical::read(bytes)
        && value.as_str().starts_with(['{', '['])
        && fits_a_claim(&value)
    {
        return RawValue::from_string(value.as_str().to_owned());
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(bytes);
    hashed(&hasher, bytes.len() as u64)
}

/// A claim nests its input one level deeper.
fn fits_a_claim(value: &Canonical) -> bool {
    Canonical::read(format!("[{}]", value.as_str()).as_bytes()).is_ok()
}

fn hashed(hasher: &blake3::Hasher, bytes: u64) -> serde_json::Result<Box<RawValue>> {
    let hash = hasher.finalize().to_hex();
    RawValue::from_string(format!(r#"{{"blake3":"{hash}","bytes":{bytes}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_kept_and_spelling_does_not_matter() {
        let text = |bytes: &[u8]| describe(bytes).unwrap().get().to_owned();
        assert_eq!(
            text(b"{ \"b\":1.0, \"a\":[ ] }"),
            text(br#"{"a":[],"b":1}"#)
        );
        assert_eq!(text(b"[9007199254740993]\n"), "[9007199254740993]");
        for other in [&b"plain text"[..], b"7", b"{\"a\":1,\"a\":2}", b"\xff", b""] {
            assert!(text(other).starts_with("{\"blake3\":\""));
        }
    }
}
