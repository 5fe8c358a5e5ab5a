//! What a browser holds while somebody is logged in.

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};
use semel_store::blob::{hex, unhex};
use semel_store::store::random_bytes;

use crate::app::Settings;

/// The secret of a session. It is in the browser's cookie and nowhere else.
#[derive(Clone)]
pub(crate) struct Secret([u8; 32]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    pub(crate) fn new() -> Secret {
        Secret(random_bytes())
    }

    /// What is kept of it.
    pub(crate) fn hash(&self) -> [u8; 32] {
        blake3::derive_key("semel session", &self.0)
    }

    /// What requests that change something must carry besides the cookie: only pages of this server can read it.
    pub(crate) fn csrf(&self) -> String {
        let derived = blake3::derive_key("semel session csrf", &self.0);
        hex(&derived[..16])
    }

    /// Compared in a time that tells nothing.
    pub(crate) fn is_csrf(&self, given: &str) -> bool {
        let hash = |text: &str| blake3::hash(text.as_bytes());
        hash(&self.csrf()) == hash(given)
    }

    /// The one in the request, if there is exactly one.
    pub(crate) fn of(headers: &HeaderMap, settings: &Settings) -> Option<Secret> {
        let name = name(settings);
        let all = headers.get_all(COOKIE).iter();
        let pairs = all.filter_map(|value| value.to_str().ok());
        let mut own = pairs
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(other, _)| *other == name);
        let (_, value) = own.next()?;
        let one = own.next().is_none();
        one.then(|| unhex(value).map(Secret))?
    }

    /// `Set-Cookie`. A link from a mail must find the session, so it is sent with what the person opens themselves
    /// (`Lax`), but never with what another site sends.
    pub(crate) fn set(&self, settings: &Settings) -> HeaderValue {
        written(&hex(&self.0), settings, "")
    }

    /// `Set-Cookie` that takes it away.
    pub(crate) fn unset(settings: &Settings) -> HeaderValue {
        written("", settings, "; Max-Age=0")
    }
}

/// Whether the world reaches this server over TLS, here or at a proxy.
fn is_secure(settings: &Settings) -> bool {
    settings.public_url.starts_with("https://")
}

/// `__Host-` makes browsers refuse it from another host and without TLS; without TLS they would refuse it altogether.
fn name(settings: &Settings) -> &'static str {
    if is_secure(settings) {
        "__Host-semel"
    } else {
        "semel"
    }
}

fn written(value: &str, settings: &Settings, more: &str) -> HeaderValue {
    let name = name(settings);
    let secure = if is_secure(settings) { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{more}");
    let mut value = HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""));
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_read_back() {
        let secret = Secret::new();
        for (url, begins, secure) in [
            ("http://127.0.0.1:7351", "semel=", false),
            ("https://semel.example", "__Host-semel=", true),
        ] {
            let settings = Settings {
                public_url: url.to_owned(),
                ..Settings::default()
            };
            let set = secret.set(&settings);
            let set = set.to_str().unwrap();
            assert!(set.starts_with(begins), "{set}");
            assert!(set.contains("; Path=/; HttpOnly; SameSite=Lax"), "{set}");
            assert_eq!(set.ends_with("; Secure"), secure, "{set}");
            let (pair, _) = set.split_once(';').unwrap();
            let read = |cookies: &[&str]| {
                let mut headers = HeaderMap::new();
                for cookie in cookies {
                    headers.append(COOKIE, cookie.parse().unwrap());
                }
                Secret::of(&headers, &settings).map(|secret| secret.hash())
            };
            let whole = format!("a=b; {pair}; c");
            assert_eq!(read(&[&whole]), Some(secret.hash()));
            assert_eq!(read(&["a=b", pair]), Some(secret.hash()));
            assert_eq!(read(&[pair, pair]), None, "which one counts?");
            assert_eq!(read(&["semel=00", "x"]), None);
        }
        assert!(secret.is_csrf(&secret.csrf()));
        assert!(!secret.is_csrf(""));
        assert!(!secret.is_csrf(&Secret::new().csrf()));
    }
}
