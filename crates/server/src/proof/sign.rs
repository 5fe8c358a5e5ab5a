//! Signed proofs: Ed25519 over the canonical text of what is said.
//!
//! Owns the key (`receipt.key` in the data directory, made on first use, readable by its owner
//! alone) and the verification. A signature shows that a server which had this key said so at the
//! time; whose key it is, the reader must know by other means.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use semel_flow::Value;
use semel_ledger::json::{Canonical, JsonError};
use semel_store::blob::{hex, unhex};

use crate::app::App;
use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;

/// The file in the data directory.
const FILE: &str = "receipt.key";
/// What the signature is made with.
const ALGORITHM: &str = "ed25519";
/// Stands before the signed text, so that a signature is good for nothing else.
const LEAD: &[u8] = b"semel proof 1\n";
/// A key file is far shorter.
const MAX_KEY_BYTES: u64 = 4096;

/// Why nothing can be signed.
#[derive(Debug, thiserror::Error)]
enum KeyFileError {
    #[error("there is no data directory")]
    NoDirectory,
    #[error("{FILE} can be read by others: chmod 600")]
    Readable,
    #[error("{FILE} is not a key")]
    NotAKey,
    #[error("a key could not be made")]
    NotMade,
    #[error("{FILE} cannot be read or written: {source}")]
    Io {
        #[from]
        source: std::io::Error,
    },
}

/// A signature, with the key to check it.
#[derive(Debug)]
pub(crate) struct Signature {
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Signature {
    pub(crate) fn write(&self, out: &mut Object) {
        out.text("algorithm", ALGORITHM)
            .hex("key", &self.key)
            .hex("value", &self.value);
    }
}

/// Signs a proof.
pub(crate) fn signature(app: &App, proof: &Canonical) -> Result<Signature, Problem> {
    let pair = pair(app)?;
    Ok(Signature {
        key: pair.public_key().as_ref().to_vec(),
        value: pair.sign(&signed(proof)).as_ref().to_vec(),
    })
}

/// Writes the public key.
pub(crate) fn write_key(app: &App, out: &mut Object) -> Result<(), Problem> {
    let pair = pair(app)?;
    out.text("algorithm", ALGORITHM)
        .hex("key", pair.public_key().as_ref());
    Ok(())
}

fn signed(proof: &Canonical) -> Vec<u8> {
    [LEAD, proof.as_str().as_bytes()].concat()
}

fn pair(app: &App) -> Result<Ed25519KeyPair, Problem> {
    let directory = app.settings.data.as_deref();
    let pair = directory
        .ok_or(KeyFileError::NoDirectory)
        .and_then(|directory| load_or_make(&directory.join(FILE)));
    pair.map_err(|error| {
        tracing::error!(%error, "proofs cannot be signed");
        let detail = "the key that proofs are signed with cannot be used";
        Problem::new(Code::SigningUnavailable, detail).retry_after(30)
    })
}

fn load_or_make(path: &Path) -> Result<Ed25519KeyPair, KeyFileError> {
    match File::open(path) {
        Ok(file) => load(file),
        Err(error) if error.kind() == ErrorKind::NotFound => make(path),
        Err(error) => Err(error.into()),
    }
}

fn load(file: File) -> Result<Ed25519KeyPair, KeyFileError> {
    if file.metadata()?.mode() & 0o077 != 0 {
        return Err(KeyFileError::Readable);
    }
    let mut bytes = Vec::new();
    file.take(MAX_KEY_BYTES).read_to_end(&mut bytes)?;
    Ed25519KeyPair::from_pkcs8(&bytes).map_err(|_| KeyFileError::NotAKey)
}

/// Written whole under another name first: a crash or a second server never leaves half a key.
fn make(path: &Path) -> Result<Ed25519KeyPair, KeyFileError> {
    let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new());
    let made = made.map_err(|_| KeyFileError::NotMade)?;
    let draft = path.with_extension(format!("key.{}", std::process::id()));
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(made.as_ref())?;
    file.sync_all()?;
    // Whoever comes second takes the key that is there.
    let linked = std::fs::hard_link(&draft, path);
    std::fs::remove_file(&draft)?;
    match linked {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error.into()),
    }
    load(File::open(path)?)
}

/// Why a signed proof is not believed.
#[derive(Debug, thiserror::Error)]
pub enum ProofError {
    /// It is not JSON.
    #[error("the document is not JSON")]
    Json {
        /// Why.
        #[from]
        source: JsonError,
    },
    /// Something is missing in it.
    #[error("the document has no {field}")]
    Missing {
        /// What.
        field: &'static str,
    },
    /// It is not of this kind.
    #[error("the signature is made with {algorithm:?}; only {ALGORITHM} is known")]
    Algorithm {
        /// With what.
        algorithm: String,
    },
    /// What is said is not what was signed.
    #[error("the signature does not fit the proof: one of them was changed")]
    Mismatch,
}

/// A proof whose signature is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The public key that it was signed with, in hexadecimal digits: compare it with the server's.
    pub key: String,
    /// What is said.
    pub proof: Value,
}

/// Checks a signed proof, as `GET /v1/proof?signed=true` gave it; its spelling may have changed.
///
/// # Errors
/// [`ProofError`].
pub fn verify_proof(document: &[u8]) -> Result<Verified, ProofError> {
    let document = Value::read(document)?;
    let missing = |field| move || ProofError::Missing { field };
    let proof = document.get("proof").ok_or_else(missing("proof"))?;
    let signature = document.get("signature");
    let signature = signature.ok_or_else(missing("signature"))?;
    let text = |name, field| {
        let text = signature.get(name).and_then(Value::as_text);
        text.ok_or_else(missing(field))
    };
    let algorithm = text("algorithm", "signature.algorithm")?;
    if algorithm != ALGORITHM {
        let algorithm = algorithm.to_owned();
        return Err(ProofError::Algorithm { algorithm });
    }
    let key = text("key", "signature.key")?;
    let key: [u8; 32] = unhex(key).ok_or_else(missing("usable signature.key"))?;
    let value = text("value", "signature.value")?;
    let value: [u8; 64] = unhex(value).ok_or_else(missing("usable signature.value"))?;
    let public = UnparsedPublicKey::new(&ED25519, key);
    let checked = public.verify(&signed(&proof.to_canonical()?), &value);
    checked.map_err(|_| ProofError::Mismatch)?;
    Ok(Verified {
        key: hex(&key),
        proof: proof.clone(),
    })
}
