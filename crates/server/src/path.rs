//! Percent-encoding of path segments and query values.

use std::fmt::Write as _;

use semel_ledger::EffectId;

/// The text behind percent-escapes; `None` if that is not UTF-8. A `%` that starts no escape
/// stands for itself, as in browsers.
pub(crate) fn decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).filter(|_| byte == b'%');
        if let Some(value) = digits.and_then(hex_byte) {
            out.push(value);
            at += 3;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    String::from_utf8(out).ok()
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    let plain = digits.iter().all(u8::is_ascii_hexdigit);
    plain.then(|| u8::from_str_radix(text, 16).ok()).flatten()
}

fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// The path of an effect: `/v1/{front}/{scope}/{key}{back}?part=…`.
pub(crate) fn of(front: &str, effect: &EffectId, back: &str) -> String {
    let mut path = format!("/v1/{front}/{}", encode(effect.scope.as_str()));
    for (index, part) in effect.key.parts().enumerate() {
        let lead = match index {
            0 => "/",
            1 => "?part=",
            _ => "&part=",
        };
        if index == 1 {
            path.push_str(back);
        }
        path.push_str(lead);
        path.push_str(&encode(&part));
    }
    if !path.contains('?') {
        path.push_str(back);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use semel_ledger::{Key, Scope};

    #[test]
    fn escapes_are_read_back() {
        assert_eq!(decode("a%2Fb%20%E2%82%AC").as_deref(), Some("a/b €"));
        assert_eq!(decode("100%").as_deref(), Some("100%"));
        assert_eq!(decode("%+1").as_deref(), Some("%+1"));
        assert_eq!(decode("%FF"), None);
        assert_eq!(decode(&encode("ä/%.. +")).as_deref(), Some("ä/%.. +"));
    }

    #[test]
    fn effects_have_one_path() {
        let effect = |parts: &[&str]| {
            EffectId::new(Scope::new("a/b").unwrap(), Key::from_parts(parts).unwrap())
        };
        for (parts, path) in [
            (&["k"][..], "/v1/ledger/a%2Fb/k/decide"),
            (
                &["x/y", "?", "z"],
                "/v1/ledger/a%2Fb/x%2Fy/decide?part=%3F&part=z",
            ),
        ] {
            assert_eq!(of("ledger", &effect(parts), "/decide"), path);
        }
    }
}
