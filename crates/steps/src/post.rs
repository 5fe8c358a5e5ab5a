//! Posting to one address that the operator has set: what this process tells about itself.
//!
//! It is no step: the rules about which addresses flows may reach do not count, and nothing is waited
//! for that others could notice.

use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use rustls::pki_types::CertificateDer;
use semel_act::Untraced;
use tokio::time::Instant;

use crate::outgoing::{Call, Client, Connector, OutgoingRules, Service, Target, Trouble, UrlError};

/// How long a connection may take, and all of it.
const CONNECT: Duration = Duration::from_secs(5);
const WITHIN: Duration = Duration::from_secs(10);
/// How much of an answer is read.
const LIMIT: usize = 64 * 1024;

/// Why nothing can be posted there.
#[derive(Debug, thiserror::Error)]
pub enum PosterError {
    /// It is no address.
    #[error("it is not an address: {message}")]
    Url {
        /// Why.
        message: String,
    },
    /// A header cannot be sent.
    #[error("the header {name:?} cannot be sent")]
    Header {
        /// Which.
        name: String,
    },
}

/// Why nothing came of a post.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PostError(String);

/// Posts to one address.
pub struct Poster {
    client: Client,
    target: Target,
    headers: HeaderMap,
}

impl Poster {
    /// For that address, with those headers.
    ///
    /// # Errors
    /// [`PosterError`] if nothing can be posted there.
    pub fn new(
        url: &str,
        headers: &[(String, String)],
        roots: Vec<CertificateDer<'static>>,
    ) -> Result<Poster, PosterError> {
        let target = Target::parse(url).map_err(|error: UrlError| PosterError::Url {
            message: error.to_string(),
        })?;
        let mut sent = HeaderMap::new();
        for (name, value) in headers {
            let wrong = || PosterError::Header { name: name.clone() };
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            let value = HeaderValue::from_str(value).map_err(|_| wrong())?;
            sent.insert(name, value);
        }
        let connector = Connector::new(anywhere(), roots, Service::Web);
        Ok(Poster {
            client: Client::new(connector),
            target,
            headers: sent,
        })
    }

    /// Posts; gives the status that was answered.
    ///
    /// # Errors
    /// [`PostError`] if no answer came.
    pub async fn post(&self, body: Vec<u8>) -> Result<u16, PostError> {
        let call = Call {
            method: &Method::POST,
            target: &self.target,
            headers: &self.headers,
            body: &Bytes::from(body),
            connect: CONNECT,
            first_byte: None,
            deadline: Instant::now() + WITHIN,
            limit: LIMIT,
            repeat_is_free: true,
        };
        let answer = self.client.send(&call, &Untraced).await;
        let answer = answer.map_err(|trouble: Trouble| PostError(trouble.to_string()))?;
        Ok(answer.status.as_u16())
    }
}

/// What the operator has set is allowed.
fn anywhere() -> OutgoingRules {
    OutgoingRules::parse("0.0.0.0/0,::/0").unwrap_or_default()
}
