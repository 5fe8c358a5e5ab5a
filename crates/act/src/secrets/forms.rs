//! How a secret may be spelled by whoever repeats it.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use semel_flow::Value;

/// Of longer secrets, such as private keys, only the commonest spellings are looked for.
const LONG: usize = 256;

/// The secret as it is, escaped as in URLs, forms and JSON, and in base64 wherever it began
/// within what was encoded.
pub(super) fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    let (urls, json) = if secret.len() > LONG {
        (2, 1)
    } else {
        (usize::MAX, usize::MAX)
    };
    forms.extend(of_urls(secret).into_iter().take(urls));
    forms.extend(of_json(secret).into_iter().take(json));
    for shift in 0..3 {
        forms.push(encoded(&STANDARD_NO_PAD, secret, shift));
        forms.push(encoded(&URL_SAFE_NO_PAD, secret, shift));
    }
    forms
}

/// Writers of URLs differ in what they escape, in the case of the digits, and in the space.
fn of_urls(secret: &str) -> Vec<String> {
    // All that may be escaped; only what must be in a query; what browsers and forms leave alone.
    let kept: [&[u8]; 3] = [b"-._~", b"-._~!$'()*,;:@/?", b"-._*"];
    let mut forms = Vec::new();
    for kept in kept {
        for hex in [upper as fn(&mut String, u8), lower] {
            let mut text = String::new();
            for byte in secret.bytes() {
                if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
                    text.push(byte.into());
                } else {
                    hex(&mut text, byte);
                }
            }
            forms.push(text);
        }
    }
    let spaced: Vec<String> = forms.iter().map(|form| form.replace("%20", "+")).collect();
    forms.extend(spaced);
    forms
}

fn upper(text: &mut String, byte: u8) {
    let _ = write!(text, "%{byte:02X}");
}

fn lower(text: &mut String, byte: u8) {
    let _ = write!(text, "%{byte:02x}");
}

/// Writers of JSON differ in what they escape beyond what they must.
fn of_json(secret: &str) -> Vec<String> {
    let json = Value::text(secret).to_json();
    let plain = json[1..json.len() - 1].to_owned();
    let units = |wanted: fn(char) -> bool, upper: bool| {
        let mut text = String::new();
        for c in plain.chars() {
            if !wanted(c) {
                text.push(c);
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = if upper {
                    write!(text, "\\u{unit:04X}")
                } else {
                    write!(text, "\\u{unit:04x}")
                };
            }
        }
        text
    };
    let mut forms = vec![plain.clone(), plain.replace('/', "\\/")];
    for upper in [false, true] {
        forms.push(units(|c| !c.is_ascii(), upper));
        forms.push(units(|c| !c.is_ascii(), upper).replace('/', "\\/"));
        forms.push(units(|c| "<>&".contains(c), upper));
        forms.push(units(|c| !c.is_ascii() || "<>&".contains(c), upper));
    }
    forms
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
