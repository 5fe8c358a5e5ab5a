//! Names to addresses, and which of them may be reached.
//!
//! The invariant: a name is asked for once for a connection, and what was answered is both judged
//! and connected to. A name that means something else a moment later changes nothing.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::rules::OutgoingRules;
use super::trouble::Unsent;

/// Who is asked.
#[derive(Default)]
pub(super) enum Resolver {
    #[default]
    System,
    /// One answer after the other, whatever the name.
    #[cfg(test)]
    Scripted(std::sync::Mutex<std::collections::VecDeque<Vec<SocketAddr>>>),
}

impl Resolver {
    /// The addresses of a host, in the order of the answer.
    pub(super) async fn addresses(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, Unsent> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        self.lookup(host, port).await.map_err(|source| {
            let host = host.to_owned();
            Unsent::Resolve { host, source }
        })
    }

    async fn lookup(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        match self {
            Resolver::System => Ok(tokio::net::lookup_host((host, port)).await?.collect()),
            #[cfg(test)]
            Resolver::Scripted(answers) => {
                let next = answers.lock().expect("the script").pop_front();
                Ok(next.expect("another answer"))
            }
        }
    }

    /// The addresses of a host that may be reached.
    pub(super) async fn permitted(
        &self,
        rules: &OutgoingRules,
        host: &str,
        port: u16,
    ) -> Result<Vec<SocketAddr>, Unsent> {
        let found = self.addresses(host, port).await?;
        let mut denied = None;
        let mut allowed = Vec::with_capacity(found.len());
        for address in found {
            match rules.denies(address.ip()) {
                None => allowed.push(address),
                Some(reason) => denied = denied.or(Some((address.ip(), reason))),
            }
        }
        let host = || host.to_owned();
        match (allowed.is_empty(), denied) {
            (false, _) => Ok(allowed),
            (true, None) => Err(Unsent::NoAddress { host: host() }),
            (true, Some((address, reason))) => Err(Unsent::Denied {
                host: host(),
                address,
                reason,
            }),
        }
    }
}

/// The addresses of a host that may be reached, for those who connect by themselves.
pub(crate) async fn permitted(
    rules: &OutgoingRules,
    host: &str,
    port: u16,
) -> Result<Vec<SocketAddr>, Unsent> {
    Resolver::System.permitted(rules, host, port).await
}
