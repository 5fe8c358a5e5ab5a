//! Where an answer points, and what may go there.
//!
//! Credentials stay with the origin they were written for. What is not GET or HEAD is sent again
//! only where the destination says that it was not carried out (307, 308).

use hyper::Method;
use hyper::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, COOKIE, HeaderName, LOCATION,
    PROXY_AUTHORIZATION,
};

use super::plan::Message;
use crate::outgoing::{Reply, Target, UrlError};

/// Headers that never leave their origin.
const CREDENTIALS: [HeaderName; 3] = [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION];

/// Why a redirect is not followed although redirects are.
#[derive(Debug, thiserror::Error)]
pub(super) enum RedirectError {
    #[error("the redirect's URL {0}")]
    Url(#[from] UrlError),
    #[error("the redirect's URL is not text")]
    NotText,
    #[error("the redirect would carry a secret in the body from {from} to {to}")]
    SecretBody { from: String, to: String },
}

/// A redirect that can be followed.
pub(super) struct Redirect {
    target: Target,
    method: Method,
}

impl Redirect {
    /// Where the answer points, if it does and may be followed.
    pub(super) fn of(reply: &Reply, message: &Message) -> Option<Result<Redirect, RedirectError>> {
        let looks = matches!(message.method, Method::GET | Method::HEAD);
        let method = match reply.status.as_u16() {
            307 | 308 => message.method.clone(),
            301..=303 if looks => message.method.clone(),
            303 => Method::GET,
            _ => return None,
        };
        let location = reply.headers.get(LOCATION)?;
        let target = std::str::from_utf8(location.as_bytes())
            .map_err(|_| RedirectError::NotText)
            .and_then(|text| Ok(message.target.join(text)?));
        Some(target.map(|target| Redirect { target, method }))
    }

    /// Whether what was asked for may have been done already.
    pub(super) fn may_follow_effect(&self, message: &Message) -> bool {
        self.method != message.method
    }

    /// Turns the message to its new destination.
    pub(super) fn turn(self, message: &mut Message) -> Result<(), RedirectError> {
        turn_to(self.target, message, self.method)
    }
}

/// Turns a message to another URL; what belongs to the old origin stays behind.
pub(super) fn turn_to(
    target: Target,
    message: &mut Message,
    method: Method,
) -> Result<(), RedirectError> {
    if method != message.method {
        message.method = method;
        message.body = bytes::Bytes::new();
        message.private_body = false;
        message.headers.remove(CONTENT_TYPE);
        message.headers.remove(CONTENT_ENCODING);
    }
    if target.origin != message.target.origin {
        if message.private_body {
            return Err(RedirectError::SecretBody {
                from: message.target.origin.to_string(),
                to: target.origin.to_string(),
            });
        }
        for name in CREDENTIALS.iter().chain(&message.private) {
            message.headers.remove(name);
        }
    }
    message.target = target;
    message.private_url = false;
    Ok(())
}
