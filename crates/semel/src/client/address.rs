//! How things are called in the API's paths.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use semel_ledger::EffectId;
use serde::Deserialize;

/// One path segment, escaped.
pub(crate) fn segment(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    // A segment of dots alone means "here" or "up" to whatever stands in between.
    let dots = name.bytes().all(|byte| byte == b'.');
    for byte in name.bytes() {
        let plain = byte.is_ascii_alphanumeric() || b"-_~".contains(&byte);
        if plain || (byte == b'.' && !dots) {
            text.push(byte.into());
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// A query, written as it grows.
#[derive(Debug, Default)]
pub(crate) struct Query(String);

impl Query {
    pub(crate) fn with(mut self, name: &str, value: &str) -> Query {
        self.0.push(if self.0.is_empty() { '?' } else { '&' });
        let _ = write!(self.0, "{name}={}", segment(value));
        self
    }

    pub(crate) fn with_some(self, name: &str, value: Option<&str>) -> Query {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn after(&self, path: &str) -> String {
        format!("{path}{}", self.0)
    }
}

/// `/v1/{book}/{scope}/{first part}{verb}?part=…`
fn effect_path(book: &str, effect: &EffectId, verb: &str) -> String {
    let mut parts = effect.key.parts();
    let first = segment(&parts.next().unwrap_or_default());
    let scope = segment(effect.scope.as_str());
    let query = parts.fold(Query::default(), |query, part| query.with("part", &part));
    query.after(&format!("/v1/{book}/{scope}/{first}{verb}"))
}

/// The guard's path of an effect; `verb` is empty or starts with `/`.
pub(crate) fn guard(effect: &EffectId, verb: &str) -> String {
    effect_path("guard", effect, verb)
}

/// The ledger's path of an effect; `verb` is empty or starts with `/`.
pub(crate) fn ledger(effect: &EffectId, verb: &str) -> String {
    effect_path("ledger", effect, verb)
}

#[derive(Deserialize)]
struct Notice {
    listen: Option<SocketAddr>,
    /// The file of its certificate, if it speaks TLS.
    certificate: Option<PathBuf>,
}

/// Where the server listens that left this notice in the lock file, and its certificate if it has one.
pub(super) fn of_notice(notice: &str) -> Option<(String, Option<PathBuf>)> {
    let notice = serde_json::from_str::<Notice>(notice).ok()?;
    let url = served_url(notice.listen?, notice.certificate.is_some());
    Some((url, notice.certificate))
}

/// Where to reach, from this machine, a server that listens there.
pub(crate) fn base_url(listen: SocketAddr) -> String {
    served_url(listen, false)
}

/// The same, where it may speak TLS.
pub(crate) fn served_url(mut listen: SocketAddr, tls: bool) -> String {
    if listen.ip().is_unspecified() {
        listen.set_ip(match listen {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    let scheme = if tls { "https" } else { "http" };
    format!("{scheme}://{listen}")
}

#[cfg(test)]
mod tests {
    use semel_ledger::{Key, Scope};

    use super::*;

    #[test]
    fn names_survive_the_path() {
        let effect = |scope: &str, parts: &[&str]| {
            EffectId::new(Scope::new(scope).unwrap(), Key::from_parts(parts).unwrap())
        };
        assert_eq!(
            guard(&effect("a/b", &["x y", "1/2", "é"]), "/heartbeat"),
            "/v1/guard/a%2Fb/x%20y/heartbeat?part=1%2F2&part=%C3%A9"
        );
        assert_eq!(ledger(&effect("..", &["."]), ""), "/v1/ledger/%2E%2E/%2E");
        assert_eq!(ledger(&effect("s", &["100%"]), ""), "/v1/ledger/s/100%25");
    }

    #[test]
    fn a_notice_tells_where_to_go() {
        let url = |notice| of_notice(notice).map(|(url, _)| url);
        assert_eq!(
            url(r#"{"pid":1,"listen":"0.0.0.0:80"}"#).as_deref(),
            Some("http://127.0.0.1:80")
        );
        assert_eq!(
            url(r#"{"pid":1,"listen":"[::]:80"}"#).as_deref(),
            Some("http://[::1]:80")
        );
        assert_eq!(
            of_notice(r#"{"pid":1,"listen":"127.0.0.1:80","certificate":"/c"}"#),
            Some(("https://127.0.0.1:80".to_owned(), Some("/c".into())))
        );
        assert_eq!(url(r#"{"pid":1,"listen":null}"#), None);
        assert_eq!(url(r#"{"pid":1,"#), None);
    }
}
