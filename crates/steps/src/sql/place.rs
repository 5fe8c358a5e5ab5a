//! Connections that steps may use, as an operator configures them.
//!
//! Owns what an address may say. A password never stands in it: it comes from a secret, so the
//! address can be shown. Beyond this machine a connection is encrypted and the server's
//! certificate is checked, unless `sslmode=disable` says otherwise.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use mysql_async::{Opts, OptsBuilder};
use tokio_postgres::config::{Host, SslMode};

/// How many sessions a connection may have at once, if nothing is said.
const SESSIONS: usize = 8;

/// Why a connection is refused.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// Not an address of a database.
    #[error("it begins with none of postgres://, mysql://, mariadb:// and sqlite:/")]
    Scheme,
    /// The address cannot be read.
    #[error("it cannot be read as the address of a {database} database")]
    Address {
        /// Which database.
        database: &'static str,
    },
    /// A password stands in the address.
    #[error("it has a password in it; keep it in a secret and name that with `password`")]
    Password,
    /// An unknown way to encrypt.
    #[error("sslmode={mode:?} is neither `disable` nor `require`")]
    Sslmode {
        /// What it says.
        mode: String,
    },
    /// The file is not named from the root.
    #[error("the path of a SQLite file begins with /")]
    Relative,
    /// SQLite has no passwords.
    #[error("a SQLite file has no password")]
    SqlitePassword,
}

/// A database that steps may use.
#[derive(Clone, Debug)]
pub struct Connection {
    pub(super) place: Place,
    /// The name of the secret with the password.
    pub(super) password: Option<String>,
    pub(super) sessions: usize,
}

/// Where a database is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Postgres(Box<tokio_postgres::Config>),
    Mysql { opts: Box<Opts>, encrypt: bool },
    Sqlite(PathBuf),
}

/// The databases that steps may use, by name.
pub type Connections = BTreeMap<String, Connection>;

impl Connection {
    /// Reads an address, such as `postgres://app@db.example/shop`, `mysql://app@db.example/shop` or
    /// `sqlite:/srv/shop.db`; `password` names the secret that holds the password.
    ///
    /// # Errors
    /// [`ConnectionError`] that says what is wrong with the address, without repeating it.
    pub fn parse(url: &str, password: Option<&str>) -> Result<Connection, ConnectionError> {
        let place = match url.split_once(':') {
            Some(("postgres" | "postgresql", _)) => postgres(url)?,
            Some(("mysql" | "mariadb", rest)) => mysql(&format!("mysql:{rest}"))?,
            Some(("sqlite", rest)) => {
                if password.is_some() {
                    return Err(ConnectionError::SqlitePassword);
                }
                sqlite(rest)?
            }
            _ => return Err(ConnectionError::Scheme),
        };
        Ok(Connection {
            place,
            password: password.map(str::to_owned),
            sessions: SESSIONS,
        })
    }

    /// With at most that many sessions at once.
    #[must_use]
    pub fn with_sessions(mut self, sessions: usize) -> Connection {
        self.sessions = sessions.max(1);
        self
    }
}

/// Whether to encrypt, as far as the address says, and the address without that.
fn sslmode(url: &str) -> Result<(Option<bool>, String), ConnectionError> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let mut mode = None;
    let mut rest = Vec::new();
    for parameter in query.split('&').filter(|it| !it.is_empty()) {
        match parameter.split_once('=') {
            Some(("sslmode", "disable")) => mode = Some(false),
            Some(("sslmode", "require" | "verify-full")) => mode = Some(true),
            Some(("sslmode", other)) => {
                return Err(ConnectionError::Sslmode {
                    mode: other.to_owned(),
                });
            }
            _ => rest.push(parameter),
        }
    }
    let query = if rest.is_empty() { "" } else { "?" };
    Ok((mode, format!("{base}{query}{}", rest.join("&"))))
}

fn is_here(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse().is_ok_and(|it: IpAddr| it.is_loopback())
}

fn postgres(url: &str) -> Result<Place, ConnectionError> {
    let unreadable = ConnectionError::Address {
        database: "PostgreSQL",
    };
    let (mode, url) = sslmode(url)?;
    let mut config: tokio_postgres::Config = url.parse().map_err(|_| unreadable)?;
    if config.get_password().is_some() {
        return Err(ConnectionError::Password);
    }
    let here = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => is_here(name),
        Host::Unix(_) => true,
    });
    config.ssl_mode(if mode.unwrap_or(!here) {
        SslMode::Require
    } else {
        SslMode::Disable
    });
    if config.get_application_name().is_none() {
        config.application_name("semel");
    }
    Ok(Place::Postgres(Box::new(config)))
}

fn mysql(url: &str) -> Result<Place, ConnectionError> {
    let unreadable = |_| ConnectionError::Address {
        database: "MySQL or MariaDB",
    };
    let (mode, url) = sslmode(url)?;
    let opts = Opts::from_url(&url).map_err(unreadable)?;
    if opts.pass().is_some() {
        return Err(ConnectionError::Password);
    }
    let here = opts.socket().is_some() || is_here(opts.ip_or_hostname());
    // Counting the rows that were found, not those that happened to differ, is what the others do.
    let opts = OptsBuilder::from_opts(opts)
        .client_found_rows(true)
        .prefer_socket(false);
    Ok(Place::Mysql {
        opts: Box::new(opts.into()),
        encrypt: mode.unwrap_or(!here),
    })
}

fn sqlite(rest: &str) -> Result<Place, ConnectionError> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err(ConnectionError::Relative);
    }
    Ok(Place::Sqlite(path.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let at = |url: &str| Connection::parse(url, None).expect(url).place;
        let Place::Postgres(config) = at("postgres://app@db.example/shop") else {
            panic!("not PostgreSQL");
        };
        assert_eq!(config.get_ssl_mode(), SslMode::Require);
        let Place::Postgres(config) = at("postgres://app@127.0.0.1:99/shop") else {
            panic!("not PostgreSQL");
        };
        assert_eq!(config.get_ssl_mode(), SslMode::Disable);
        let encrypts = |url| matches!(at(url), Place::Mysql { encrypt: true, .. });
        assert!(encrypts("mysql://app@db.example/shop"));
        assert!(encrypts("mariadb://app@localhost/shop?sslmode=require"));
        assert!(!encrypts("mysql://app@db.example/shop?sslmode=disable"));
        for url in ["sqlite:/srv/a.db", "sqlite:///srv/a.db"] {
            assert!(matches!(at(url), Place::Sqlite(path) if path.ends_with("srv/a.db")));
        }
    }

    #[test]
    fn what_is_wrong_is_told_without_the_address() {
        for url in [
            "postgres://app:hunter22@db.example/shop",
            "mysql://app:hunter22@db.example/shop",
            "postgres://app@db.example:hunter22/shop",
            "mysql://app@db.example:hunter22/shop",
            "http://db.example/hunter22",
            "sqlite:hunter22.db",
            "hunter22",
        ] {
            let error = Connection::parse(url, None).expect_err(url).to_string();
            assert!(!error.contains("hunter22"), "{url}: {error}");
        }
        assert!(Connection::parse("postgres://a@b/c?sslmode=prefer", None).is_err());
        assert!(Connection::parse("sqlite:/a", Some("X")).is_err());
    }
}
