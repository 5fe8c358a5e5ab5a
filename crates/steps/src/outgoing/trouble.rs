//! Why a request got no answer, told apart by whether a byte of it may have left.

use std::io;
use std::net::{IpAddr, SocketAddr};

use hyper::StatusCode;
use semel_ledger::Millis;

use crate::secrets::MissingSecret;

/// Nothing of the request left this machine.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unsent {
    #[error("{host} is {address}, which is {reason}; to allow it add it to SEMEL_OUTGOING_ALLOW")]
    Denied {
        host: String,
        address: IpAddr,
        reason: &'static str,
    },
    #[error("the path and query of the URL cannot be sent: {0}")]
    Url(#[source] hyper::http::uri::InvalidUri),
    #[error("the name {host} cannot be resolved: {source}")]
    Resolve { host: String, source: io::Error },
    #[error("the name {host} has no address")]
    NoAddress { host: String },
    #[error("cannot connect to {address}: {source}")]
    Connect {
        address: SocketAddr,
        source: io::Error,
    },
    #[error("no connection to {host} within {within}")]
    ConnectTimeout { host: String, within: Millis },
    #[error("`{host}` cannot be the name of a TLS server")]
    ServerName { host: String },
    #[error("no TLS connection to {host}: {source}")]
    Handshake { host: String, source: io::Error },
    #[error("{host} closed the connection before the request was sent")]
    Closed { host: String },
    #[error("{host} took no byte of the request within {within}")]
    Stuck { host: String, within: Millis },
    #[error("`{host}` ends as an address does but is none; write a name or an address")]
    NotAHost { host: String },
    #[error("the proxy {proxy} cannot be reached: {source}")]
    Proxy { proxy: String, source: Box<Unsent> },
    #[error("the proxy {proxy} gave no connection to {to}: it answered {status}")]
    ProxyRefused {
        proxy: String,
        to: String,
        status: StatusCode,
    },
    #[error("the proxy {proxy} ended the connection before it answered: {source}")]
    ProxyCut { proxy: String, source: io::Error },
    #[error("the proxy {proxy} did not answer as proxies do")]
    ProxyUnreadable { proxy: String },
    #[error("the login of the proxy: {source}")]
    ProxyLogin { source: MissingSecret },
}

impl Unsent {
    /// Whether it would be the same the next time, whatever the destination does.
    pub(crate) fn is_permanent(&self) -> bool {
        matches!(
            self,
            Unsent::Denied { .. }
                | Unsent::Url(_)
                | Unsent::ServerName { .. }
                | Unsent::NotAHost { .. }
                | Unsent::ProxyLogin { .. }
        )
    }
}

/// The request, or a part of it, left; what came back tells nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Lost {
    #[error("{host} did not answer within {within}")]
    Timeout { host: String, within: Millis },
    #[error("the connection to {host} ended before an answer: {source}")]
    Broken { host: String, source: hyper::Error },
}

/// No answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(transparent)]
    Unsent(#[from] Unsent),
    #[error(transparent)]
    Lost(#[from] Lost),
}
