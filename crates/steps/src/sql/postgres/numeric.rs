//! Decimals of PostgreSQL, with every digit they have.

use std::fmt::Write as _;

/// The text of a `numeric` in its binary form; `None` if that is not one.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let (head, digits) = bytes.split_at_checked(8)?;
    let part = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let weight = i32::from(part(2).cast_signed());
    let scale = usize::from(part(6));
    let sign = match part(4) {
        0x0000 => "",
        0x4000 => "-",
        0xC000 => return Some("NaN".to_owned()),
        0xD000 => return Some("Infinity".to_owned()),
        0xF000 => return Some("-Infinity".to_owned()),
        _ => return None,
    };
    let digits: Vec<u16> = digits
        .chunks_exact(2)
        .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
        .collect();
    // Four decimal digits each; those that are left out are zero.
    let group = |at: i32| {
        let at = usize::try_from(at).ok();
        at.and_then(|at| digits.get(at)).copied().unwrap_or(0)
    };
    let mut text = sign.to_owned();
    if weight < 0 {
        text.push('0');
    } else {
        let _ = write!(text, "{}", group(0));
        for at in 1..=weight {
            let _ = write!(text, "{:04}", group(at));
        }
    }
    if scale > 0 {
        let mut fraction = String::with_capacity(scale + 4);
        let mut at = weight + 1;
        while fraction.len() < scale {
            let _ = write!(fraction, "{:04}", group(at));
            at += 1;
        }
        text.push('.');
        text.push_str(&fraction[..scale]);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::text;

    fn numeric(weight: i16, sign: u16, scale: u16, digits: &[u16]) -> Vec<u8> {
        let count = u16::try_from(digits.len()).unwrap();
        let head = [count, weight.cast_unsigned(), sign, scale];
        let all = head.iter().chain(digits);
        all.flat_map(|part| part.to_be_bytes()).collect()
    }

    #[test]
    fn every_digit_is_kept() {
        for (bytes, expected) in [
            (numeric(0, 0, 2, &[10]), "10.00"),
            (numeric(-1, 0x4000, 4, &[5]), "-0.0005"),
            (numeric(-2, 0, 8, &[5]), "0.00000005"),
            (numeric(1, 0, 0, &[1]), "10000"),
            (numeric(1, 0, 3, &[12, 3456, 7890]), "123456.789"),
            (numeric(0, 0, 0, &[]), "0"),
            (numeric(0, 0xC000, 0, &[]), "NaN"),
        ] {
            assert_eq!(text(&bytes).as_deref(), Some(expected));
        }
        assert_eq!(text(&[1, 2]), None);
    }
}
