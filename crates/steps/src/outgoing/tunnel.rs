//! A connection through a proxy: asked for with `CONNECT`, whatever is then spoken over it.
//!
//! Plain HTTP goes this way too. The proxy then has no word in the answer: what it says comes before
//! a byte of the request can leave, and what comes after is the destination's own, so neither is
//! taken for the other.
//!
//! The invariant: a literal address, and a name that stands for one, is judged before the proxy hears
//! of it, and the proxy is asked for the very address that was judged.

use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use semel_act::Secrets;
use semel_flow::value::Piece;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::proxy::Proxy;
use super::rules::OutgoingRules;
use super::spelled::{Spelled, spelled};
use super::target::Origin;
use super::trouble::Unsent;
use super::wire::Wire;
use crate::secrets::Filler;

/// The most bytes of a proxy's answer.
const MAX_HEAD_BYTES: usize = 16 * 1024;

/// A proxy, and where its password comes from.
pub(crate) struct Route {
    pub(crate) proxy: Proxy,
    pub(crate) secrets: Arc<dyn Secrets>,
}

/// What the proxy is asked for: host and port, as far as the rules permit it.
pub(super) fn asked(rules: &OutgoingRules, origin: &Origin) -> Result<String, Unsent> {
    let host = || origin.host.as_ref().to_owned();
    let judged = |address: IpAddr| match rules.denies(address) {
        None => Ok(()),
        Some(reason) => Err(Unsent::Denied {
            host: host(),
            address,
            reason,
        }),
    };
    let port = origin.port;
    match spelled(&origin.host) {
        Spelled::Address(address) => {
            judged(address)?;
            Ok(match address {
                IpAddr::V4(v4) => format!("{v4}:{port}"),
                IpAddr::V6(v6) => format!("[{v6}]:{port}"),
            })
        }
        Spelled::Known(address) => {
            judged(address)?;
            Ok(format!("{}:{port}", origin.host))
        }
        Spelled::Name => Ok(format!("{}:{port}", origin.host)),
        Spelled::Neither => Err(Unsent::NotAHost { host: host() }),
    }
}

impl Route {
    /// Asks over a fresh connection to the proxy; what is written to it afterwards goes to the
    /// destination.
    pub(super) async fn open(&self, wire: &mut Wire, to: &str) -> Result<(), Unsent> {
        let proxy = || self.proxy.origin.authority();
        let cut = |source| Unsent::ProxyCut {
            proxy: proxy(),
            source,
        };
        let request = self.request(to)?;
        wire.write_all(request.as_bytes()).await.map_err(cut)?;
        let mut head = Vec::new();
        let end = loop {
            if let Some(at) = head.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if head.len() > MAX_HEAD_BYTES {
                return Err(Unsent::ProxyUnreadable { proxy: proxy() });
            }
            if wire.read_buf(&mut head).await.map_err(cut)? == 0 {
                return Err(cut(std::io::ErrorKind::UnexpectedEof.into()));
            }
        };
        match status(&head) {
            Some(status) if !status.is_success() => Err(Unsent::ProxyRefused {
                proxy: proxy(),
                to: to.to_owned(),
                status,
            }),
            // Nobody beyond it speaks before we do.
            Some(_) if end == head.len() => Ok(()),
            _ => Err(Unsent::ProxyUnreadable { proxy: proxy() }),
        }
    }

    fn request(&self, to: &str) -> Result<String, Unsent> {
        let login = match &self.proxy.login {
            None => String::new(),
            Some(name) => {
                let filler = Filler::new(&*self.secrets);
                let login = filler.text(&[Piece::Secret(name.as_str().into())]);
                let login = login.map_err(|source| Unsent::ProxyLogin { source })?;
                let login = STANDARD.encode(login);
                format!("Proxy-Authorization: Basic {login}\r\n")
            }
        };
        Ok(format!(
            "CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{login}\r\n"
        ))
    }
}

/// `HTTP/1.1 200 Connection established`
fn status(head: &[u8]) -> Option<StatusCode> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let rest = line.strip_prefix(b"HTTP/1.")?;
    let code = rest.get(2..5)?;
    let bounded = matches!(rest.get(5), None | Some(b' '));
    (rest.get(1) == Some(&b' ') && bounded)
        .then(|| StatusCode::from_bytes(code).ok())
        .flatten()
}
