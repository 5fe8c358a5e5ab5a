//! How a secret may be spelled by whoever repeats it.

use std::fmt::Write as _;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use semel_flow::Value;

/// Of longer secrets, such as private keys, only the commonest spellings are looked for.
const LONG: usize = 256;

/// A secret may have been sent as it is, escaped in a URL or form, or escaped in JSON (twice, if that
/// was a text within JSON); whoever repeats what was sent may spell each of these in any way once more.
pub(super) fn forms(secret: &str) -> Vec<String> {
    if secret.len() > LONG {
        let mut forms = vec![secret.to_owned(), in_url(secret, b"-._~", upper)];
        forms.extend([in_url(secret, b"-._~", lower), in_json(secret)]);
        forms.extend(of_base64(secret));
        return forms;
    }
    let sent = [
        secret.to_owned(),
        in_url(secret, b"-._~", upper),
        in_json(secret),
        in_json(&in_json(secret)),
    ];
    sent.iter().flat_map(|sent| spelled(sent)).collect()
}

fn spelled(text: &str) -> Vec<String> {
    let mut forms = vec![text.to_owned()];
    forms.extend(of_urls(text));
    forms.extend(of_json(text));
    for packed in of_base64(text) {
        forms.push(in_url(&packed, b"-_", lower));
        forms.push(in_url(&packed, b"-_", upper));
        forms.push(packed.replace('/', "\\/"));
        forms.push(packed);
    }
    forms
}

/// In base64, wherever it began within what was encoded.
fn of_base64(text: &str) -> Vec<String> {
    let both = |shift| {
        [
            encoded(&STANDARD_NO_PAD, text, shift),
            encoded(&URL_SAFE_NO_PAD, text, shift),
        ]
    };
    (0..3).flat_map(both).collect()
}

/// Writers of URLs differ in what they escape, in the case of the digits, and in the space.
fn of_urls(text: &str) -> Vec<String> {
    // All that should be escaped; only what must be in a query; what forms leave alone; everything.
    let kept: [&[u8]; 4] = [b"-._~", b"-._~!$'()*,;:@/?", b"-._*", b""];
    let mut forms = Vec::new();
    for kept in kept {
        for hex in [upper as fn(&mut String, u8), lower] {
            let form = in_url(text, kept, hex);
            forms.push(form.replace("%20", "+"));
            forms.push(form);
        }
    }
    forms
}

fn in_url(text: &str, kept: &[u8], hex: fn(&mut String, u8)) -> String {
    let mut url = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            url.push(byte.into());
        } else {
            hex(&mut url, byte);
        }
    }
    url
}

fn upper(text: &mut String, byte: u8) {
    let _ = write!(text, "%{byte:02X}");
}

fn lower(text: &mut String, byte: u8) {
    let _ = write!(text, "%{byte:02x}");
}

/// Writers of JSON differ in what they escape beyond what they must.
fn of_json(text: &str) -> Vec<String> {
    let plain = in_json(text);
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
    let mut forms = vec![plain.replace('/', "\\/")];
    for upper in [false, true] {
        forms.push(units(|c| !c.is_ascii(), upper));
        forms.push(units(|c| !c.is_ascii(), upper).replace('/', "\\/"));
        forms.push(units(|c| "<>&".contains(c), upper));
        forms.push(units(|c| !c.is_ascii() || "<>&".contains(c), upper));
    }
    forms.push(plain);
    forms
}

fn in_json(text: &str) -> String {
    let json = Value::text(text).to_json();
    json[1..json.len() - 1].to_owned()
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
