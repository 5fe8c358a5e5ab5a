//! The operator's proxy, and who is reached without it.
//!
//! Owns the reading of both settings and the choice for each origin. How a proxy is spoken to is in
//! [`super::tunnel`]. The invariant: what an origin is reached through depends on the settings alone,
//! so a connection that was kept for an origin was made the way a new one would be.

use std::net::IpAddr;

use super::rules::{Cidr, RulesError};
use super::spelled::{self, Spelled};
use super::target::{Origin, Target, UrlError};

/// Why the settings of a proxy cannot be used. Never repeats the address: it may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The address cannot be read.
    #[error("its address {source}; write http://HOST:PORT")]
    Url {
        /// Why not.
        #[source]
        source: ProxyUrlError,
    },
    /// The way to the proxy itself is never encrypted.
    #[error("its address begins with https://; write http://HOST:PORT")]
    Tls,
    /// More than a host and a port.
    #[error("its address has a path; write http://HOST:PORT")]
    Path,
    /// A user or password stands in the address.
    #[error(
        "its address has a user or password in it; keep `user:password` in a secret and name that with outgoing.proxy_login"
    )]
    Login,
    /// An exception that is a range but cannot be read.
    #[error(transparent)]
    Range(#[from] RulesError),
    /// An exception that is no host.
    #[error(
        "`{text}` is neither a host, nor .example.com for all below it, nor a range of addresses"
    )]
    Exception {
        /// What stands there.
        text: String,
    },
}

/// Why an address of a proxy is not a URL.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ProxyUrlError(UrlError);

/// Who is reached without the proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Exception {
    /// A host of exactly that name.
    Host(String),
    /// That name after its dot, and all below it.
    Below(String),
    /// Addresses, as far as a URL is written with one.
    Range(Cidr),
}

/// A proxy that speaks `CONNECT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    pub(super) origin: Origin,
    /// The name of the secret that holds `user:password`.
    pub(super) login: Option<String>,
    exceptions: Vec<Exception>,
}

impl Proxy {
    /// Reads the proxy's address, `http://HOST:PORT`.
    ///
    /// # Errors
    /// [`ProxyError`] that says what is wrong with it, without repeating it.
    pub fn parse(url: &str) -> Result<Proxy, ProxyError> {
        let target = Target::parse(url.trim()).map_err(|source| match source {
            UrlError::Userinfo => ProxyError::Login,
            source => ProxyError::Url {
                source: ProxyUrlError(source),
            },
        })?;
        if target.origin.tls {
            return Err(ProxyError::Tls);
        }
        if target.path != "/" {
            return Err(ProxyError::Path);
        }
        Ok(Proxy {
            origin: target.origin,
            login: None,
            exceptions: Vec::new(),
        })
    }

    /// Named to the proxy by what that secret holds: `user:password`.
    #[must_use]
    pub fn with_login(mut self, secret: &str) -> Proxy {
        self.login = Some(secret.to_owned());
        self
    }

    /// Reads who is reached without it: hosts, `.example.com` for all below a name, ranges of
    /// addresses; separated by commas or spaces.
    ///
    /// # Errors
    /// [`ProxyError`] for the first that cannot be read.
    pub fn without(mut self, text: &str) -> Result<Proxy, ProxyError> {
        let words = text.split([',', ' ', '\n', '\t']);
        self.exceptions = words
            .filter(|word| !word.is_empty())
            .map(exception)
            .collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// Whether an origin is reached through it.
    pub(super) fn serves(&self, origin: &Origin) -> bool {
        let host = origin.host.strip_suffix('.').unwrap_or(&origin.host);
        let address = match spelled::spelled(host) {
            Spelled::Address(address) => Some(address),
            _ => None,
        };
        !self.exceptions.iter().any(|exception| match exception {
            Exception::Host(name) => host == name,
            Exception::Below(dotted) => spelled::is_below(host, dotted),
            Exception::Range(range) => address.is_some_and(|address| range.contains(address)),
        })
    }
}

fn exception(word: &str) -> Result<Exception, ProxyError> {
    if word.contains('/') || word.parse::<IpAddr>().is_ok() {
        return Ok(Exception::Range(word.parse()?));
    }
    let name = word.to_ascii_lowercase();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let bare = name.strip_prefix('.').unwrap_or(&name);
    if bare.is_empty() || bare.starts_with('.') || !name.chars().all(fits) {
        return Err(ProxyError::Exception {
            text: word.to_owned(),
        });
    }
    Ok(if bare.len() < name.len() {
        Exception::Below(name)
    } else {
        Exception::Host(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serves(without: &str, url: &str) -> bool {
        let proxy = Proxy::parse("http://proxy.example:3128").unwrap();
        let origin = Target::parse(url).expect(url).origin;
        proxy.without(without).expect(without).serves(&origin)
    }

    #[test]
    fn exceptions_are_reached_without_it() {
        let without = "Intern.example, .corp.example 10.0.0.0/8,::1";
        for (url, through) in [
            ("http://intern.example/", false),
            ("https://INTERN.example.:8443/", false),
            ("http://a.intern.example/", true),
            ("http://corp.example/", false),
            ("http://a.b.corp.example/", false),
            ("http://notcorp.example/", true),
            ("http://10.1.2.3/", false),
            ("http://10.66051/", false),
            ("http://[::ffff:10.1.2.3]/", false),
            ("http://[::1]/", false),
            ("http://11.1.2.3/", true),
            ("https://api.example/", true),
        ] {
            assert_eq!(serves(without, url), through, "{url}");
        }
        assert!(serves("", "http://intern.example/"));
    }

    #[test]
    fn mistakes_are_told_without_what_was_written() {
        let mut told = Vec::new();
        for url in [
            "proxy.example:3128",
            "https://proxy.example",
            "socks5://proxy.example",
            "http://proxy.example/hunter22",
            "http://ann:hunter22@proxy.example",
            "http://proxy.example:0",
        ] {
            let error = Proxy::parse(url).expect_err(url).to_string();
            assert!(!error.contains("hunter22"), "{error}");
            told.push(error);
        }
        let proxy = Proxy::parse("http://proxy.example").unwrap();
        for without in ["*.example", ".", "10.0.0.0/40", "a b:80", "10.0.0.1/8"] {
            let error = proxy.clone().without(without).expect_err(without);
            told.push(error.to_string());
        }
        insta::assert_snapshot!(told.join("\n"), @r"
        its address does not begin with http:// or https://; write http://HOST:PORT
        its address begins with https://; write http://HOST:PORT
        its address does not begin with http:// or https://; write http://HOST:PORT
        its address has a path; write http://HOST:PORT
        its address has a user or password in it; keep `user:password` in a secret and name that with outgoing.proxy_login
        its address has a port that is not a number from 1 to 65535; write http://HOST:PORT
        `*.example` is neither a host, nor .example.com for all below it, nor a range of addresses
        `.` is neither a host, nor .example.com for all below it, nor a range of addresses
        `10.0.0.0/40` has a prefix over 32 bits
        `b:80` is neither a host, nor .example.com for all below it, nor a range of addresses
        `10.0.0.1/8` has bits set after its prefix; write 10.0.0.0/8
        ");
    }
}
