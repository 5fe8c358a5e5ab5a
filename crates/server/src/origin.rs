//! Which site a request comes from, as the browser says.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

/// Whether the browser says that it was sent by a page of this server.
pub(crate) fn is_own(headers: &HeaderMap, public_url: &str) -> bool {
    let told = match headers.get(ORIGIN) {
        Some(origin) => origin != "null" || headers.contains_key(SITE),
        None => headers.contains_key(SITE),
    };
    told && may_be_own(headers, public_url)
}

/// Whether the browser does not say that it was sent by another site. A page that sends no referrer sends
/// `Origin: null`, and over plain HTTP nothing else: then something in the request must itself be a secret.
pub(crate) fn may_be_own(headers: &HeaderMap, public_url: &str) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let own = |origin: &str| {
        let host = text(HOST.as_str()).unwrap_or_default();
        let public = public_url
            .strip_prefix(origin)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let (_, of) = origin.split_once("://").unwrap_or_default();
        public || (!host.is_empty() && of == host)
    };
    match (headers.get(SITE), text(ORIGIN.as_str())) {
        (Some(site), None | Some("null")) => site == "same-origin",
        (Some(site), Some(origin)) => site == "same-origin" && own(origin),
        (None, Some(origin)) => origin == "null" || own(origin),
        (None, None) => !headers.contains_key(ORIGIN),
    }
}

const SITE: &str = "sec-fetch-site";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_other_sites_are_told_apart() {
        let public = "https://semel.example/under";
        let host = ("host", "10.1.2.3:7351");
        for (given, same) in [
            (&[][..], true),
            (&[("sec-fetch-site", "same-origin")], true),
            (
                &[("sec-fetch-site", "same-origin"), ("origin", "null")],
                true,
            ),
            (
                &[("sec-fetch-site", "cross-site"), ("origin", "null")],
                false,
            ),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "none")], false),
            (
                &[
                    ("sec-fetch-site", "same-origin"),
                    ("origin", "https://evil.example"),
                ],
                false,
            ),
            (&[("origin", "https://semel.example")], true),
            (&[("origin", "http://semel.example")], false),
            (&[("origin", "https://semel.example.evil")], false),
            (&[("origin", "http://10.1.2.3:7351")], true),
            (&[("origin", "http://10.1.2.3")], false),
            (&[("origin", "null")], true),
            (&[("origin", "https://")], false),
            (&[("origin", "")], false),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in given.iter().chain([&host]) {
                headers.insert(*name, value.parse().unwrap());
            }
            assert_eq!(may_be_own(&headers, public), same, "{given:?}");
            // Whoever is known by a cookie must say where the request comes from.
            let says = given.iter().any(|(_, value)| !["null", ""].contains(value));
            assert_eq!(is_own(&headers, public), same && says, "{given:?}");
        }
    }
}
