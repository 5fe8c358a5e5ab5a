//! `semel receipt verify`: is a signed proof what a server said? Needs no server.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use semel_server::{ProofError, verify_proof};
use serde_json::json;
use serde_json::value::RawValue;

use super::card::Proof;
use crate::cli::Context;
use crate::failure::Failure;
use crate::term::print_line;

/// Check a signed proof: that nothing in it was changed, and who signed it
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Verify {
    /// The document that semel receipt --signed printed
    file: PathBuf,
    /// The key it must be signed with: its 64 digits, or a file that holds them
    #[arg(long, value_name = "PUB")]
    key: Option<String>,
}

const AFTER_HELP: &str = "\
Exit codes: 0 the signature is right, 1 it is not, or another key's.

EXAMPLE
  semel receipt verify proof.json --key semel.pub";

impl Verify {
    pub(super) fn run(self, json: bool) -> anyhow::Result<u8> {
        let path = self.file.display();
        let document = std::fs::read(&self.file)
            .map_err(|error| Failure::usage(format!("cannot read {path}: {error}")))?;
        let wanted = self.key.as_deref().map(public_key).transpose()?;
        let verified = verify_proof(&document).map_err(|error| {
            let failure = Failure::failed(format!("{path} proves nothing: {error}"));
            match error {
                ProofError::Missing { field: "signature" } => {
                    failure.fix("a proof is signed if asked: semel receipt … --signed")
                }
                _ => failure,
            }
        })?;
        if let Some(wanted) = wanted.filter(|wanted| *wanted != verified.key) {
            let key = &verified.key;
            let message = format!("{path} is signed, but with another key: {key}, not {wanted}");
            return Err(Failure::failed(message).into());
        }
        let proof = verified.proof.to_json();
        if json {
            let proof: &RawValue = serde_json::from_str(&proof)?;
            let known = self.key.is_some();
            Context::print_json(
                &json!({"valid": true, "key": verified.key, "key_known": known, "proof": proof}),
            )?;
            return Ok(0);
        }
        let shown: Proof = serde_json::from_str(&proof).context("the proof is of another kind")?;
        shown.print("");
        print_line(&format!("signature right, key {}", verified.key));
        if self.key.is_none() {
            say!(
                "semel: whose key that is you must know by other means: compare it with what semel receipt key prints"
            );
        }
        Ok(0)
    }
}

/// The digits of a key, given as such or in a file.
fn public_key(text: &str) -> anyhow::Result<String> {
    let digits = |text: &str| {
        let text = text.trim().to_ascii_lowercase();
        let fits = text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        fits.then_some(text)
    };
    let read = || {
        std::fs::read_to_string(text)
            .ok()
            .and_then(|it| digits(&it))
    };
    digits(text).or_else(read).ok_or_else(|| {
        Failure::usage(format!(
            "--key {text:?} is neither 64 hexadecimal digits nor a file that holds them"
        ))
        .fix("semel receipt key prints the key of a server")
        .into()
    })
}
