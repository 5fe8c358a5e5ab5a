//! Whether a request comes from whom it says: a signature over the raw body, or a token.
//!
//! Owns the secrets once they are ready for use, the comparison and the tolerance for signed
//! times; `verify/claim.rs` reads what a request claims about itself. Leaves to the caller which
//! secrets there are, and to `intake` what the body means.
//!
//! The invariants: what is signed is the body exactly as it was received, before any content
//! encoding is undone, and it is never copied. Every secret is tried, so that the time taken does
//! not tell which one is in use. Only who proved to know a secret is told that the time was wrong.

mod claim;

#[cfg(test)]
mod official;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::digest::CtOutput;
use hmac::{Hmac, KeyInit as _, Mac as _};
use semel_flow::model::{Preset, Verify};
use semel_ledger::{Millis, Time};
use sha2::Sha256;

use self::claim::{Claim, Encoding, Scheme, single};
use crate::auth;
use crate::code::Code;
use crate::problem::Problem;
use crate::timestamp;

/// How far a signed time may lie from the server's, to either side: what Stripe, Slack and Standard
/// Webhooks advise.
const TOLERANCE: Millis = Millis::seconds(300);

/// How Standard Webhooks secrets are written; their own libraries do not insist on padding.
const SECRET: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

type Key = Hmac<Sha256>;

/// A hook's way of recognising its sender, with its secrets ready for use. Made once per flow.
pub(crate) struct Verifier(Check);

enum Check {
    /// Nobody is checked.
    Open,
    /// One of these tokens, each kept as its hash.
    Token(Vec<blake3::Hash>),
    /// A signature with one of these keys.
    Signed {
        scheme: Scheme,
        keys: Vec<Key>,
        tolerance: Millis,
    },
}

impl std::fmt::Debug for Verifier {
    /// Says nothing about the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Check::Open => "Verifier(open)",
            Check::Token(_) => "Verifier(token)",
            Check::Signed { .. } => "Verifier(signed)",
        })
    }
}

/// Why a request was not believed. The caller is not told which; the log may be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// The header is not there.
    #[error("the header {header} is missing")]
    Missing { header: HeaderName },
    /// The header is there twice, and which one counts would be a guess.
    #[error("the header {header} was sent more than once")]
    Doubled { header: HeaderName },
    /// The header is not of the form that the sender uses.
    #[error("the header {header} is not of the expected form")]
    Malformed { header: HeaderName },
    /// No secret gives this signature for this body.
    #[error("no secret gives this signature for this body")]
    Mismatch,
    /// Rightly signed, but too long ago.
    #[error("signed too long ago")]
    Stale { signed: Time, now: Time },
    /// Rightly signed, but at a time that is yet to come.
    #[error("signed at a time that is yet to come")]
    Future { signed: Time, now: Time },
}

impl From<Refused> for Problem {
    /// One text for every reason, so that nothing can be learnt from it; but who knows the secret
    /// and has another time is told the server's.
    fn from(refused: Refused) -> Problem {
        let (Refused::Stale { signed, now } | Refused::Future { signed, now }) = refused else {
            return Problem::new(
                Code::SignatureRefused,
                "the request does not prove that it comes from this hook's sender",
            );
        };
        let [signed, now] = [signed, now].map(|at| timestamp::text(at).unwrap_or_default());
        let detail = format!("signed at {signed}, which is too far from this server's time {now}");
        let mut problem = Problem::new(Code::SignatureStale, detail)
            .fix("set both clocks by NTP; sign each delivery anew");
        problem.more.text("server_time", &now);
        problem
    }
}

/// Why a hook's settings cannot be used. Until they are mended, nothing may come in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unusable {
    /// A preset that needs a secret has none.
    #[error("verify: {preset} needs a secret, and none is set")]
    NoSecret { preset: &'static str },
    /// A secret without content, which anybody could guess.
    #[error("secret {nth} of verify: {preset} is empty")]
    EmptySecret { preset: &'static str, nth: usize },
    /// Standard Webhooks secrets are bytes, written in base64.
    #[error("secret {nth} of verify: standard-webhooks is not `whsec_` and base64")]
    NotBase64 { nth: usize },
    /// The name of a header that cannot be one.
    #[error("verify: generic-hmac names the header {header:?}, which cannot be a header's name")]
    Header { header: String },
    /// A way to write bytes that is not known.
    #[error("verify: generic-hmac has the encoding {encoding:?}; hex and base64 are known")]
    Encoding { encoding: String },
}

impl Verifier {
    /// Makes the secrets ready for use. Several are accepted at once, as a rotation needs.
    pub(crate) fn new(verify: &Verify, secrets: &[Arc<str>]) -> Result<Verifier, Unusable> {
        let preset = verify.preset.it;
        if preset == Preset::None {
            return Ok(Verifier(Check::Open));
        }
        if secrets.is_empty() {
            let preset = preset.name();
            return Err(Unusable::NoSecret { preset });
        }
        let numbered = secrets.iter().zip(1..);
        if preset == Preset::Bearer {
            let hashes = numbered.map(|(secret, nth)| {
                let secret = not_empty(secret.as_bytes(), preset, nth)?;
                Ok(blake3::hash(secret))
            });
            return Ok(Verifier(Check::Token(hashes.collect::<Result<_, _>>()?)));
        }
        let keys = numbered.map(|(secret, nth)| key(secret, preset, nth));
        Ok(Verifier(Check::Signed {
            keys: keys.collect::<Result<_, _>>()?,
            scheme: scheme(verify)?,
            tolerance: verify.tolerance.unwrap_or(TOLERANCE),
        }))
    }

    /// Whether the request is its sender's. `body` is what was received, byte for byte.
    pub(crate) fn check(&self, headers: &HeaderMap, body: &[u8], now: Time) -> Result<(), Refused> {
        match &self.0 {
            Check::Open => Ok(()),
            Check::Token(hashes) => check_token(hashes, headers),
            Check::Signed {
                scheme,
                keys,
                tolerance,
            } => {
                let claim = scheme.read(headers)?;
                if !is_signed(keys, &claim, body) {
                    return Err(Refused::Mismatch);
                }
                claim
                    .signed
                    .map_or(Ok(()), |signed| check_time(signed, now, *tolerance))
            }
        }
    }
}

fn scheme(verify: &Verify) -> Result<Scheme, Unusable> {
    let plain = |header, prefix: &str, encoding| Scheme::Plain {
        header: HeaderName::from_static(header),
        prefix: prefix.into(),
        encoding,
    };
    Ok(match verify.preset.it {
        Preset::Stripe => Scheme::Stripe,
        Preset::Slack => Scheme::Slack,
        Preset::StandardWebhooks => Scheme::Standard,
        Preset::Github => plain("x-hub-signature-256", "sha256=", Encoding::Hex),
        Preset::Shopify => plain("x-shopify-hmac-sha256", "", Encoding::Base64),
        Preset::Typeform => plain("typeform-signature", "sha256=", Encoding::Base64),
        // The last two sign nothing and do not come here.
        Preset::GenericHmac | Preset::Bearer | Preset::None => generic(verify)?,
    })
}

fn generic(verify: &Verify) -> Result<Scheme, Unusable> {
    let header = verify.header.as_deref().unwrap_or_default();
    let encoding = match verify.encoding.as_deref().unwrap_or("hex") {
        "hex" => Encoding::HexAnyCase,
        "base64" => Encoding::Base64,
        encoding => {
            let encoding = encoding.to_owned();
            return Err(Unusable::Encoding { encoding });
        }
    };
    Ok(Scheme::Plain {
        header: header.parse().map_err(|_| Unusable::Header {
            header: header.to_owned(),
        })?,
        prefix: verify.prefix.as_deref().unwrap_or_default().into(),
        encoding,
    })
}

fn key(secret: &str, preset: Preset, nth: usize) -> Result<Key, Unusable> {
    let decoded;
    let bytes = if preset == Preset::StandardWebhooks {
        let text = secret.strip_prefix("whsec_").unwrap_or(secret);
        decoded = SECRET
            .decode(text)
            .map_err(|_| Unusable::NotBase64 { nth })?;
        &decoded
    } else {
        secret.as_bytes()
    };
    let bytes = not_empty(bytes, preset, nth)?;
    // An HMAC key may have any length, so the only error there is never comes.
    Key::new_from_slice(bytes).map_err(|_| Unusable::NotBase64 { nth })
}

fn not_empty(secret: &[u8], preset: Preset, nth: usize) -> Result<&[u8], Unusable> {
    let preset = preset.name();
    match secret {
        [] => Err(Unusable::EmptySecret { preset, nth }),
        secret => Ok(secret),
    }
}

/// Tries every key with every signature, whichever fits first.
fn is_signed(keys: &[Key], claim: &Claim<'_>, body: &[u8]) -> bool {
    let mut found = false;
    for key in keys {
        let mut mac = key.clone();
        for part in claim.lead {
            mac.update(part.as_bytes());
        }
        mac.update(body);
        let expected = mac.finalize();
        for given in &claim.signatures {
            found |= expected == CtOutput::new((*given).into());
        }
    }
    found
}

/// Tokens are compared by hash: the comparison takes the same time whatever was sent, its length
/// included.
fn check_token(hashes: &[blake3::Hash], headers: &HeaderMap) -> Result<(), Refused> {
    let given = single(headers, &AUTHORIZATION)?;
    let Some(token) = auth::bearer(given) else {
        let header = AUTHORIZATION;
        return Err(Refused::Malformed { header });
    };
    let given = blake3::hash(token.as_bytes());
    let mut found = false;
    for hash in hashes {
        found |= *hash == given;
    }
    if found {
        Ok(())
    } else {
        Err(Refused::Mismatch)
    }
}

fn check_time(signed: Time, now: Time, tolerance: Millis) -> Result<(), Refused> {
    if now > signed.after(tolerance) {
        return Err(Refused::Stale { signed, now });
    }
    if signed > now.after(tolerance) {
        return Err(Refused::Future { signed, now });
    }
    Ok(())
}
