//! Where a request goes: a URL that was read strictly.
//!
//! Owns the reading of `http` and `https` URLs, relative ones included, and their origin. What
//! two readers could take for two different hosts (userinfo, backslashes, escapes in the host) is
//! refused; which address the host is, and whether it may be reached, is decided by the connector.
//! Errors never repeat the text: it may hold a secret.

use std::fmt::{self, Write as _};
use std::sync::Arc;

/// The longest URL, in bytes.
pub(crate) const MAX_URL_BYTES: usize = 8192;

/// Why text is not a URL that requests can be sent to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UrlError {
    #[error("has {bytes} bytes; the limit is {MAX_URL_BYTES}")]
    TooLong { bytes: usize },
    #[error("has a control character at byte {at}; remove it")]
    Control { at: usize },
    #[error("does not begin with http:// or https://")]
    Scheme,
    #[error("has a user or password before the host; use `basic`, `bearer` or `headers`")]
    Userinfo,
    #[error("has no host")]
    NoHost,
    #[error("has `{found}` in its host; write a name, an address or [an IPv6 address]")]
    Host { found: char },
    #[error("has a letter outside ASCII in its host; write the name in its xn-- form")]
    International,
    #[error("has a port that is not a number from 1 to 65535")]
    Port,
}

/// What is spoken there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    Web,
    Mail,
}

/// Who is spoken to: credentials never leave it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub(crate) service: Service,
    pub(crate) tls: bool,
    /// In lower case; an IPv6 address without its brackets.
    pub(crate) host: Arc<str>,
    pub(crate) port: u16,
}

impl Origin {
    /// Host and, unless it is the scheme's own, port: as the `Host` field has them.
    pub(crate) fn authority(&self) -> String {
        let own = match (self.service, self.tls) {
            (Service::Web, false) => 80,
            (Service::Web, true) => 443,
            (Service::Mail, false) => 25,
            (Service::Mail, true) => 465,
        };
        let v6 = self.host.contains(':');
        match (v6, self.port == own) {
            (true, true) => format!("[{}]", self.host),
            (true, false) => format!("[{}]:{}", self.host, self.port),
            (false, true) => self.host.as_ref().to_owned(),
            (false, false) => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match (self.service, self.tls) {
            (Service::Web, false) => "http",
            (Service::Web, true) => "https",
            (Service::Mail, false) => "smtp",
            (Service::Mail, true) => "smtps",
        };
        write!(f, "{scheme}://{}", self.authority())
    }
}

/// A URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) origin: Origin,
    /// Path and query, with all escaped that must be; begins with `/`.
    pub(crate) path: String,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

impl Target {
    /// Reads an absolute URL.
    pub(crate) fn parse(text: &str) -> Result<Target, UrlError> {
        check(text)?;
        let (tls, rest) = scheme(text).ok_or(UrlError::Scheme)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let origin = origin(tls, authority)?;
        Ok(Target {
            origin,
            path: escaped(path),
        })
    }

    /// Reads a URL that may be relative to this one.
    pub(crate) fn join(&self, text: &str) -> Result<Target, UrlError> {
        check(text)?;
        if scheme(text).is_some() {
            return Target::parse(text);
        }
        if text.starts_with("//") {
            let scheme = if self.origin.tls { "https:" } else { "http:" };
            return Target::parse(&format!("{scheme}{text}"));
        }
        let path_end = text.find(['/', '?', '#']).unwrap_or(text.len());
        if text[..path_end].contains(':') {
            return Err(UrlError::Scheme);
        }
        let here = self.path.split('?').next().unwrap_or("/");
        let path = match text.as_bytes().first() {
            None | Some(b'#') => self.path.clone(),
            Some(b'?') => format!("{here}{text}"),
            Some(b'/') => without_dots(text),
            Some(_) => {
                let folder = here.rfind('/').map_or("/", |at| &here[..=at]);
                without_dots(&format!("{folder}{text}"))
            }
        };
        Ok(Target {
            origin: self.origin.clone(),
            path: escaped(&path),
        })
    }

    /// Adds a parameter to the query.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        self.path
            .push(if self.path.contains('?') { '&' } else { '?' });
        escape_part(&mut self.path, name);
        self.path.push('=');
        escape_part(&mut self.path, value);
    }

    /// Takes every parameter of that name out of the query.
    pub(crate) fn remove(&mut self, name: &str) {
        let Some((path, query)) = self.path.split_once('?') else {
            return;
        };
        let mut wanted = String::new();
        escape_part(&mut wanted, name);
        let kept: Vec<&str> = query
            .split('&')
            .filter(|pair| pair.split('=').next() != Some(wanted.as_str()))
            .collect();
        self.path = if kept.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{}", kept.join("&"))
        };
    }
}

fn check(text: &str) -> Result<(), UrlError> {
    if text.len() > MAX_URL_BYTES {
        return Err(UrlError::TooLong { bytes: text.len() });
    }
    match text.char_indices().find(|(_, c)| c.is_control()) {
        Some((at, _)) => Err(UrlError::Control { at }),
        None => Ok(()),
    }
}

fn scheme(text: &str) -> Option<(bool, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    if scheme.eq_ignore_ascii_case("http") {
        Some((false, rest))
    } else if scheme.eq_ignore_ascii_case("https") {
        Some((true, rest))
    } else {
        None
    }
}

fn origin(tls: bool, authority: &str) -> Result<Origin, UrlError> {
    if authority.contains('@') {
        return Err(UrlError::Userinfo);
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or(UrlError::Host { found: '[' })?;
            host.parse::<std::net::Ipv6Addr>()
                .map_err(|_| UrlError::Host { found: '[' })?;
            (host, after)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    if host.is_empty() {
        return Err(UrlError::NoHost);
    }
    if !host.is_ascii() {
        return Err(UrlError::International);
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    if let Some(found) = host.chars().find(|c| !plain(*c)) {
        return Err(UrlError::Host { found });
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => {
            let port = digits.parse::<u16>().ok().filter(|port| *port > 0);
            Some(port.ok_or(UrlError::Port)?)
        }
        None | Some(_) => return Err(UrlError::Port),
    };
    Ok(Origin {
        service: Service::Web,
        tls,
        host: host.to_ascii_lowercase().into(),
        port: port.unwrap_or(if tls { 443 } else { 80 }),
    })
}

/// Path and query as they go over the wire: what is not ASCII or has no place there is escaped,
/// what is escaped already stays, a fragment is left out.
fn escaped(path: &str) -> String {
    let path = path.split('#').next().unwrap_or("");
    let mut text = String::with_capacity(path.len() + 1);
    if !path.starts_with('/') {
        text.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' => {
                push_hex(&mut text, byte);
            }
            b'!'..=b'~' => text.push(byte.into()),
            _ => push_hex(&mut text, byte),
        }
    }
    text
}

/// A name or value as one part of a query or form.
pub(crate) fn escape_part(text: &mut String, part: &str) {
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(byte.into());
        } else {
            push_hex(text, byte);
        }
    }
}

fn push_hex(text: &mut String, byte: u8) {
    let _ = write!(text, "%{byte:02X}");
}

/// RFC 3986, section 5.2.4.
fn without_dots(text: &str) -> String {
    let end = text.find(['?', '#']).unwrap_or(text.len());
    let (path, rest) = text.split_at(end);
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (index, segment) in segments.iter().enumerate() {
        let last = index + 1 == segments.len();
        match *segment {
            "." if last => kept.push(""),
            "." => {}
            ".." => {
                kept.pop();
                if last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}{rest}", kept.join("/"))
}

#[cfg(test)]
mod tests;
