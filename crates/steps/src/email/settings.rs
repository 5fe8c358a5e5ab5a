//! Which mail servers there are, and how each is spoken to.
//!
//! Owns what an operator may say about a server and refuses what cannot be right before anything
//! is sent: a flow names a server and never sees more of it than its name.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::address::{self, AddressError};

/// The largest message if nothing is said: what most servers take.
const LIMIT: usize = 25 << 20;

/// How the connection to a server is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpTls {
    /// TLS from the first byte, as on port 465.
    Implicit,
    /// Plain, then `STARTTLS` before anything else; a server that does not offer it gets nothing.
    StartTls,
    /// Not at all: whoever is in between reads the mail and the password.
    None,
}

impl SmtpTls {
    /// The port if nothing is said.
    #[must_use]
    pub fn port(self) -> u16 {
        match self {
            SmtpTls::Implicit => 465,
            SmtpTls::StartTls => 587,
            SmtpTls::None => 25,
        }
    }
}

/// Who we are to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpLogin {
    /// The user.
    pub user: String,
    /// The name of the secret that is the password.
    pub password: String,
}

/// One mail server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpServer {
    /// A name or an address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is protected.
    pub tls: SmtpTls,
    /// Who we are, if it asks.
    pub login: Option<SmtpLogin>,
    /// The sender of mails that name none: `a@b.example` or `Name <a@b.example>`.
    pub from: Option<String>,
    /// What we call ourselves; left out, the address of our end of the connection.
    pub helo: Option<String>,
    /// The largest message, in bytes, as it is sent.
    pub limit: usize,
}

impl SmtpServer {
    /// A server over `STARTTLS` on its usual port, without a login.
    #[must_use]
    pub fn new(host: &str) -> SmtpServer {
        SmtpServer {
            host: host.to_owned(),
            port: SmtpTls::StartTls.port(),
            tls: SmtpTls::StartTls,
            login: None,
            from: None,
            helo: None,
            limit: LIMIT,
        }
    }
}

/// Why a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SmtpError {
    /// Not a host.
    #[error(
        "`host` of the mail server `{server}` is not a name or an address, such as mail.example.com"
    )]
    Host {
        /// Which server.
        server: String,
    },
    /// Nothing listens there.
    #[error("`port` of the mail server `{server}` is 0; write a number from 1 to 65535")]
    Port {
        /// Which server.
        server: String,
    },
    /// Not a user or secret.
    #[error("`{field}` of the mail server `{server}` is empty or has a control character")]
    Login {
        /// Which server.
        server: String,
        /// `user` or `password`.
        field: &'static str,
    },
    /// Not an address.
    #[error("`from` of the mail server `{server}` {source}")]
    From {
        /// Which server.
        server: String,
        /// Why.
        source: AddressError,
    },
    /// Not a name for ourselves.
    #[error("`helo` of the mail server `{server}` is not a host name, such as semel.example.com")]
    Helo {
        /// Which server.
        server: String,
    },
    /// Nothing fits.
    #[error("`limit` of the mail server `{server}` is 0; leave it out for 25MiB")]
    Limit {
        /// Which server.
        server: String,
    },
}

/// The mail servers, by name; the one called `default` is used if a step names none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SmtpServers {
    named: BTreeMap<String, SmtpServer>,
}

impl SmtpServers {
    /// Adds a server, or takes the place of one of the same name.
    ///
    /// # Errors
    /// [`SmtpError`] for the first thing that cannot be right.
    pub fn add(&mut self, name: &str, server: SmtpServer) -> Result<(), SmtpError> {
        check(name, &server)?;
        self.named.insert(name.to_owned(), server);
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&SmtpServer> {
        self.named.get(name)
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.named.keys().map(String::as_str).collect()
    }
}

fn check(name: &str, server: &SmtpServer) -> Result<(), SmtpError> {
    let called = || name.to_owned();
    if !is_host(&server.host) && server.host.parse::<IpAddr>().is_err() {
        return Err(SmtpError::Host { server: called() });
    }
    if server.port == 0 {
        return Err(SmtpError::Port { server: called() });
    }
    if server.limit == 0 {
        return Err(SmtpError::Limit { server: called() });
    }
    if let Some(SmtpLogin { user, password }) = &server.login {
        for (field, text) in [("user", user), ("password", password)] {
            if text.is_empty() || text.chars().any(char::is_control) {
                let server = called();
                return Err(SmtpError::Login { server, field });
            }
        }
    }
    if let Some(from) = &server.from {
        address::read(from).map_err(|source| SmtpError::From {
            server: called(),
            source,
        })?;
    }
    match &server.helo {
        Some(helo) if !is_host(helo) => Err(SmtpError::Helo { server: called() }),
        _ => Ok(()),
    }
}

fn is_host(text: &str) -> bool {
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-' | b'_');
    !text.is_empty() && text.len() <= 253 && text.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_right_is_refused_before_anything_is_sent() {
        let good = || SmtpServer::new("mail.example.com");
        let login = |user: &str, password: &str| {
            Some(SmtpLogin {
                user: user.to_owned(),
                password: password.to_owned(),
            })
        };
        let wrong = |change: fn(&mut SmtpServer)| {
            let mut server = good();
            change(&mut server);
            let error = SmtpServers::default().add("shop", server);
            error.unwrap_err().to_string()
        };
        for (error, said) in [
            (
                wrong(|it| it.host = "a b".to_owned()),
                "`host` of the mail server `shop`",
            ),
            (
                wrong(|it| it.host.clear()),
                "`host` of the mail server `shop`",
            ),
            (wrong(|it| it.port = 0), "`port` of the mail server `shop`"),
            (
                wrong(|it| it.limit = 0),
                "`limit` of the mail server `shop`",
            ),
            (
                wrong(|it| it.helo = Some("a\r\nb".to_owned())),
                "`helo` of the mail server `shop`",
            ),
            (
                wrong(|it| it.from = Some("nobody".to_owned())),
                "`from` of the mail server `shop` has no @",
            ),
        ] {
            assert!(error.starts_with(said), "{error}");
        }
        for (login, field) in [(login("", "P"), "user"), (login("u", "a\nb"), "password")] {
            let server = SmtpServer { login, ..good() };
            let error = SmtpServers::default().add("shop", server).unwrap_err();
            assert!(error.to_string().starts_with(&format!("`{field}`")));
        }
        let full = SmtpServer {
            login: login("u", "PASSWORD"),
            from: Some("Shop <shop@example.com>".to_owned()),
            helo: Some("semel.example.com".to_owned()),
            ..good()
        };
        assert_eq!(SmtpServers::default().add("shop", full), Ok(()));
        let v6 = SmtpServer::new("::1");
        assert_eq!(SmtpServers::default().add("default", v6), Ok(()));
    }
}
