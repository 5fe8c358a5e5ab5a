//! What a request claims about itself: signatures, the time of signing, and what was signed
//! ahead of the body.
//!
//! Owns how each sender writes these into headers. Strict: a header twice, digits in another
//! spelling or a time that is not plain digits is refused, because two readers could see two
//! things. Nothing here is believed; `verify` compares it.

use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use semel_ledger::Time;

use super::Refused;

const STRIPE: HeaderName = HeaderName::from_static("stripe-signature");
const SLACK: HeaderName = HeaderName::from_static("x-slack-signature");
const SLACK_TIME: HeaderName = HeaderName::from_static("x-slack-request-timestamp");
const STANDARD_ID: HeaderName = HeaderName::from_static("webhook-id");
const STANDARD_TIME: HeaderName = HeaderName::from_static("webhook-timestamp");
const STANDARD_SIGNATURES: HeaderName = HeaderName::from_static("webhook-signature");

/// HMAC-SHA256.
pub(super) type Signature = [u8; 32];

/// How a sender writes its signature.
#[derive(Clone, Debug)]
pub(super) enum Scheme {
    /// Of the body alone, in one header.
    Plain {
        header: HeaderName,
        /// What stands before the digits.
        prefix: Box<str>,
        encoding: Encoding,
    },
    /// `t=TIME,v1=HEX,…` of `TIME.BODY`. Several `v1` while a secret is replaced.
    Stripe,
    /// `v0=HEX` of `v0:TIME:BODY`.
    Slack,
    /// `v1,BASE64 …` of `ID.TIME.BODY`. Several `v1` while a secret is replaced.
    Standard,
}

/// How bytes are written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Encoding {
    /// Lower-case digits.
    Hex,
    /// Digits as programs of any house write them.
    HexAnyCase,
    /// With padding.
    Base64,
}

/// What a request claims about itself.
#[derive(Debug)]
pub(super) struct Claim<'h> {
    /// What was signed ahead of the body, in pieces.
    pub(super) lead: [&'h str; 4],
    /// Any one of them will do.
    pub(super) signatures: Vec<Signature>,
    /// When it was signed, where that is signed too.
    pub(super) signed: Option<Time>,
}

impl Scheme {
    /// Reads the headers.
    pub(super) fn read<'h>(&self, headers: &'h HeaderMap) -> Result<Claim<'h>, Refused> {
        match self {
            Scheme::Plain {
                header,
                prefix,
                encoding,
            } => {
                let given = single(headers, header)?.strip_prefix(&**prefix);
                let signature = given.and_then(|digits| encoding.decode(digits));
                Ok(Claim {
                    lead: [""; 4],
                    signatures: vec![signature.ok_or_else(|| malformed(header))?],
                    signed: None,
                })
            }
            Scheme::Stripe => stripe(headers),
            Scheme::Slack => slack(headers),
            Scheme::Standard => standard(headers),
        }
    }
}

fn stripe(headers: &HeaderMap) -> Result<Claim<'_>, Refused> {
    let wrong = || malformed(&STRIPE);
    let mut times = Vec::new();
    let mut signatures = Vec::new();
    for item in single(headers, &STRIPE)?.split(',') {
        match item.trim().split_once('=') {
            Some(("t", time)) => times.push(time),
            Some(("v1", digits)) => signatures.extend(Encoding::Hex.decode(digits)),
            // Other versions, such as the v0 of test events, are Stripe's own business.
            Some(_) => {}
            None => return Err(wrong()),
        }
    }
    let [time] = times[..] else {
        return Err(wrong());
    };
    if signatures.is_empty() {
        return Err(wrong());
    }
    Ok(Claim {
        lead: [time, ".", "", ""],
        signatures,
        signed: Some(seconds(time).ok_or_else(wrong)?),
    })
}

fn slack(headers: &HeaderMap) -> Result<Claim<'_>, Refused> {
    let given = single(headers, &SLACK)?.strip_prefix("v0=");
    let signature = given.and_then(|digits| Encoding::Hex.decode(digits));
    let time = single(headers, &SLACK_TIME)?;
    Ok(Claim {
        lead: ["v0:", time, ":", ""],
        signatures: vec![signature.ok_or_else(|| malformed(&SLACK))?],
        signed: Some(seconds(time).ok_or_else(|| malformed(&SLACK_TIME))?),
    })
}

fn standard(headers: &HeaderMap) -> Result<Claim<'_>, Refused> {
    let id = single(headers, &STANDARD_ID)?;
    // A dot would let the same signature stand for another id and another time.
    if id.is_empty() || id.contains('.') {
        return Err(malformed(&STANDARD_ID));
    }
    let time = single(headers, &STANDARD_TIME)?;
    let given = single(headers, &STANDARD_SIGNATURES)?.split_ascii_whitespace();
    // `v1a`, which has two keys, is not among the secrets of this preset.
    let digits = given.filter_map(|one| one.strip_prefix("v1,"));
    let signatures: Vec<_> = digits.filter_map(|d| Encoding::Base64.decode(d)).collect();
    if signatures.is_empty() {
        return Err(malformed(&STANDARD_SIGNATURES));
    }
    Ok(Claim {
        lead: [id, ".", time, "."],
        signatures,
        signed: Some(seconds(time).ok_or_else(|| malformed(&STANDARD_TIME))?),
    })
}

impl Encoding {
    fn decode(self, text: &str) -> Option<Signature> {
        match self {
            Encoding::Hex => semel_store::blob::unhex(text),
            Encoding::HexAnyCase => semel_store::blob::unhex(&text.to_ascii_lowercase()),
            Encoding::Base64 => {
                let mut bytes = [0; 33];
                let length = STANDARD.decode_slice(text, &mut bytes).ok()?;
                bytes[..length].try_into().ok()
            }
        }
    }
}

/// The one value of a header.
pub(super) fn single<'h>(headers: &'h HeaderMap, header: &HeaderName) -> Result<&'h str, Refused> {
    let mut values = headers.get_all(header).iter();
    let header = || header.clone();
    let value = values
        .next()
        .ok_or_else(|| Refused::Missing { header: header() })?;
    if values.next().is_some() {
        return Err(Refused::Doubled { header: header() });
    }
    value
        .to_str()
        .map_err(|_| Refused::Malformed { header: header() })
}

fn malformed(header: &HeaderName) -> Refused {
    let header = header.clone();
    Refused::Malformed { header }
}

/// Seconds since 1970 in plain digits: no sign, no space, no fraction.
fn seconds(text: &str) -> Option<Time> {
    let plain = (1..=12).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds: i64 = plain.then(|| text.parse().ok())??;
    Some(Time(seconds * 1_000))
}
