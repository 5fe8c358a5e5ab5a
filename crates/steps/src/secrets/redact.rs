//! Takes secrets out of what came back.
//!
//! A destination may repeat what it was sent, in an answer or an error. Every secret of a request
//! is looked for as it is, in base64 (wherever it began within what was encoded), and escaped as in
//! URLs, forms and JSON. Secrets of under six characters are too common to be looked for.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use semel_flow::Value;
use semel_flow::value::Map;

use crate::outgoing::escape_part;

/// The least characters of a secret that is looked for.
const LEAST_CHARS: usize = 6;
/// What stands in its place.
const MARK: &str = "***";

/// Knows what must not come back.
#[derive(Default)]
pub(crate) struct Redactor {
    /// The longest first, so that no part of one stays behind.
    forms: Vec<String>,
}

impl Redactor {
    pub(super) fn new(secrets: &[Arc<str>]) -> Redactor {
        let long = secrets
            .iter()
            .filter(|it| it.chars().count() >= LEAST_CHARS);
        let mut forms: Vec<String> = long.flat_map(|secret| forms(secret)).collect();
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Redactor { forms }
    }

    /// The text without secrets.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for form in &self.forms {
            if clean.contains(form.as_str()) {
                clean = Cow::Owned(clean.replace(form.as_str(), MARK));
            }
        }
        clean
    }

    fn shared(&self, text: &Arc<str>) -> Arc<str> {
        match self.text(text) {
            Cow::Borrowed(_) => Arc::clone(text),
            Cow::Owned(clean) => clean.into(),
        }
    }

    /// The value without secrets, in names of members too.
    pub(crate) fn value(&self, value: Value) -> Value {
        if self.forms.is_empty() {
            return value;
        }
        match value {
            Value::Text(text) => Value::Text(self.shared(&text)),
            Value::List(items) => {
                Value::list(items.iter().map(|item| self.value(item.clone())).collect())
            }
            Value::Map(members) => {
                let clean = members
                    .iter()
                    .map(|(name, value)| (self.shared(name), self.value(value.clone())));
                Value::Map(Arc::new(clean.collect::<Map>()))
            }
            Value::Int(_) | Value::Decimal(_) => match self.text(&value.to_json()) {
                Cow::Borrowed(_) => value,
                Cow::Owned(clean) => Value::Text(clean.into()),
            },
            other => other,
        }
    }
}

fn forms(secret: &str) -> Vec<String> {
    let mut escaped = String::new();
    escape_part(&mut escaped, secret);
    let json = Value::text(secret).to_json();
    let mut forms = vec![
        secret.to_owned(),
        escaped.replace("%20", "+"),
        lower_escapes(&escaped),
        escaped,
        json[1..json.len() - 1].to_owned(),
    ];
    for shift in 0..3 {
        forms.push(encoded(&STANDARD_NO_PAD, secret, shift));
        forms.push(encoded(&URL_SAFE_NO_PAD, secret, shift));
    }
    forms
}

/// `%2F` as `%2f`.
fn lower_escapes(escaped: &str) -> String {
    let mut text = String::with_capacity(escaped.len());
    let mut parts = escaped.split('%');
    text.extend(parts.next());
    for part in parts {
        let (digits, rest) = part.split_at(2);
        text.push('%');
        text.push_str(&digits.to_ascii_lowercase());
        text.push_str(rest);
    }
    text
}

/// The letters of base64 that depend on the secret alone when `shift` bytes stand before it.
fn encoded(engine: &impl Engine, secret: &str, shift: usize) -> String {
    let mut bytes = vec![0; shift];
    bytes.extend_from_slice(secret.as_bytes());
    // Three bytes are four letters; a letter that shares bits with a neighbour is left out.
    let first = (shift * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    engine.encode(bytes)[first..last].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    fn redactor(secret: &str) -> Redactor {
        Redactor::new(&[secret.into()])
    }

    #[test]
    fn a_secret_is_found_in_every_form() {
        let secret = "p/w+ ö\"42";
        let mut escaped = String::new();
        escape_part(&mut escaped, secret);
        let redactor = redactor(secret);
        for text in [
            format!("<{secret}>"),
            format!("?q={escaped}&"),
            format!("?q={}&", escaped.to_ascii_lowercase()),
            format!("q={}", escaped.replace("%20", "+")),
            format!("{{\"a\":{}}}", Value::text(secret).to_json()),
            STANDARD.encode(secret),
            format!("Basic {}", STANDARD.encode(format!("user:{secret}"))),
            STANDARD.encode(format!("u:{secret} and more")),
            URL_SAFE_NO_PAD.encode(format!("us:{secret}")),
        ] {
            let clean = redactor.text(&text);
            assert!(clean.contains(MARK), "{text} -> {clean}");
        }
        assert_eq!(redactor.text("nothing here"), "nothing here");
    }

    #[test]
    fn values_are_searched_everywhere() {
        let value =
            Value::read(br#"{"k12345678":["k12345678",{"a":1},912345678],"n":12}"#).unwrap();
        let clean = Redactor::new(&["k12345678".into(), "912345678".into()]).value(value);
        assert_eq!(clean.to_json(), r#"{"***":["***",{"a":1},"***"],"n":12}"#);
    }

    #[test]
    fn short_secrets_are_not_looked_for() {
        assert_eq!(redactor("abcde").text("abcde"), "abcde");
        assert_eq!(redactor("abcdef").text("xabcdefx"), "x***x");
    }

    #[test]
    fn a_longer_secret_goes_first() {
        let redactor = Redactor::new(&["secret".into(), "secret-and-more".into()]);
        assert_eq!(redactor.text("secret-and-more"), "***");
    }

    proptest! {
        #[test]
        fn base64_hides_nothing(before in "[ -~]{0,7}", secret in "[ -~]{6,20}", after in "[ -~]{0,7}") {
            let text = STANDARD.encode(format!("{before}{secret}{after}"));
            let clean = redactor(&secret).text(&text).into_owned();
            prop_assert!(clean.contains(MARK), "{} -> {}", text, clean);
        }
    }
}
