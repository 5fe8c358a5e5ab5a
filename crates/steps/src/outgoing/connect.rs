//! New connections: resolve, judge, connect, shake hands.
//!
//! The only place in the crate that opens a socket. The invariant: a socket is connected only to
//! an address that the rules were asked about, so neither a name that changes its address nor a
//! spelling of one gets past them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use super::rules::OutgoingRules;
use super::target::{Origin, Service};
use super::trouble::Unsent;
use super::wire::{Stream, Wire};

/// Opens connections.
pub(crate) struct Connector {
    service: Service,
    rules: OutgoingRules,
    roots: Vec<CertificateDer<'static>>,
    /// Made when first needed: reading the system's certificates takes a while.
    tls: OnceLock<TlsConnector>,
}

impl Connector {
    pub(crate) fn new(
        rules: OutgoingRules,
        roots: Vec<CertificateDer<'static>>,
        service: Service,
    ) -> Connector {
        Connector {
            service,
            rules,
            roots,
            tls: OnceLock::new(),
        }
    }

    /// A connection that no byte of a request was written to.
    pub(crate) async fn connect(&self, origin: &Origin, by: Instant) -> Result<Stream, Unsent> {
        let addresses = permitted(&self.rules, &origin.host, origin.port).await?;
        let socket = first_connected(origin, &addresses, by).await?;
        // Requests are written whole; waiting to fill a packet would only delay them.
        let _ = socket.set_nodelay(true);
        let wire = Wire::new(socket);
        if origin.tls {
            self.secured(origin, wire).await
        } else {
            Ok(Stream::Plain(wire))
        }
    }

    /// The same connection under TLS.
    pub(crate) async fn secured(&self, origin: &Origin, wire: Wire) -> Result<Stream, Unsent> {
        let host = origin.host.trim_end_matches('.').to_owned();
        let name = ServerName::try_from(host).map_err(|_| Unsent::ServerName {
            host: origin.host.as_ref().to_owned(),
        })?;
        match self.tls().connect(name, wire).await {
            Ok(stream) => Ok(Stream::Tls(Box::new(stream))),
            Err(source) => Err(Unsent::Handshake {
                host: origin.authority(),
                source,
            }),
        }
    }

    fn tls(&self) -> &TlsConnector {
        self.tls.get_or_init(|| {
            let mut config = encryption(&self.roots);
            if self.service == Service::Web {
                config.alpn_protocols = vec![b"http/1.1".to_vec()];
            }
            TlsConnector::from(Arc::new(config))
        })
    }
}

/// The addresses of a host that may be reached, in the resolver's order.
pub(crate) async fn permitted(
    rules: &OutgoingRules,
    host: &str,
    port: u16,
) -> Result<Vec<SocketAddr>, Unsent> {
    let named = || host.to_owned();
    let found: Vec<SocketAddr> = match host.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => tokio::net::lookup_host((host, port))
            .await
            .map_err(|source| Unsent::Resolve {
                host: named(),
                source,
            })?
            .collect(),
    };
    let mut denied = None;
    let mut allowed = Vec::with_capacity(found.len());
    for address in found {
        match rules.denies(address.ip()) {
            None => allowed.push(address),
            Some(reason) => denied = denied.or(Some((address.ip(), reason))),
        }
    }
    match (allowed.is_empty(), denied) {
        (false, _) => Ok(allowed),
        (true, None) => Err(Unsent::NoAddress { host: named() }),
        (true, Some((address, reason))) => Err(Unsent::Denied {
            host: named(),
            address,
            reason,
        }),
    }
}

/// How to encrypt towards servers that the system, or one of these certificates, vouches for.
pub(crate) fn encryption(roots: &[CertificateDer<'static>]) -> ClientConfig {
    let mut trusted = RootCertStore::empty();
    trusted.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    trusted.add_parsable_certificates(roots.iter().cloned());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has the cipher suites of the default versions")
        .with_root_certificates(trusted)
        .with_no_client_auth()
}

/// Tries the addresses one after the other, each for its share of the time that is left, so that
/// one that never answers does not take it all. The last failure is the one that is told.
async fn first_connected(
    origin: &Origin,
    addresses: &[SocketAddr],
    by: Instant,
) -> Result<TcpStream, Unsent> {
    let mut failure = Unsent::NoAddress {
        host: origin.host.as_ref().to_owned(),
    };
    for (&address, left) in addresses.iter().zip((1..=addresses.len()).rev()) {
        let rest = by.saturating_duration_since(Instant::now());
        let share = rest / u32::try_from(left).unwrap_or(u32::MAX);
        let connected = tokio::time::timeout(share, TcpStream::connect(address)).await;
        match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(socket) => return Ok(socket),
            Err(source) => failure = Unsent::Connect { address, source },
        }
    }
    Err(failure)
}
