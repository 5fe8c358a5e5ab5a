//! New connections: resolve, judge, connect, shake hands.
//!
//! The only place in the crate that opens a socket. The invariant: a socket is connected only to
//! an address that the rules were asked about, so neither a name that changes its address nor a
//! spelling of one gets past them; or to the operator's proxy, whose address is their own word.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use super::resolve::Resolver;
use super::rules::OutgoingRules;
use super::target::{Origin, Service};
use super::trouble::Unsent;
use super::tunnel::{self, Route};
use super::wire::{Stream, Wire};

/// Opens connections.
pub(crate) struct Connector {
    service: Service,
    rules: OutgoingRules,
    roots: Vec<CertificateDer<'static>>,
    route: Option<Route>,
    pub(super) resolver: Resolver,
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
            route: None,
            resolver: Resolver::default(),
            tls: OnceLock::new(),
        }
    }

    /// The same, through a proxy where that serves.
    pub(crate) fn through(mut self, route: Option<Route>) -> Connector {
        self.route = route;
        self
    }

    /// A connection that no byte of a request was written to.
    pub(crate) async fn connect(&self, origin: &Origin, by: Instant) -> Result<Stream, Unsent> {
        let route = self.route.as_ref();
        let wire = if let Some(route) = route.filter(|route| route.proxy.serves(origin)) {
            self.tunnelled(route, origin, by).await?
        } else {
            let (host, port) = (&origin.host, origin.port);
            let addresses = self.resolver.permitted(&self.rules, host, port).await?;
            first_connected(origin, &addresses, by).await?
        };
        if origin.tls {
            self.secured(origin, wire).await
        } else {
            Ok(Stream::Plain(wire))
        }
    }

    /// A connection that a proxy passes on.
    async fn tunnelled(&self, route: &Route, origin: &Origin, by: Instant) -> Result<Wire, Unsent> {
        let to = tunnel::asked(&self.rules, origin)?;
        let proxy = &route.proxy.origin;
        let at_proxy = |unsent| Unsent::Proxy {
            proxy: proxy.authority(),
            source: Box::new(unsent),
        };
        let addresses = self.resolver.addresses(&proxy.host, proxy.port).await;
        let addresses = addresses.map_err(at_proxy)?;
        let connected = first_connected(proxy, &addresses, by).await;
        let mut wire = connected.map_err(at_proxy)?;
        route.open(&mut wire, &to).await?;
        Ok(wire)
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
) -> Result<Wire, Unsent> {
    let mut failure = Unsent::NoAddress {
        host: origin.host.as_ref().to_owned(),
    };
    for (&address, left) in addresses.iter().zip((1..=addresses.len()).rev()) {
        let rest = by.saturating_duration_since(Instant::now());
        let share = rest / u32::try_from(left).unwrap_or(u32::MAX);
        let connected = tokio::time::timeout(share, TcpStream::connect(address)).await;
        match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(socket) => {
                // Requests are written whole; waiting to fill a packet would only delay them.
                let _ = socket.set_nodelay(true);
                return Ok(Wire::new(socket));
            }
            Err(source) => failure = Unsent::Connect { address, source },
        }
    }
    Err(failure)
}
