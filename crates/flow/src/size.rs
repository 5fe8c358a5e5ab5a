//! Sizes in bytes, as they are written: `512B`, `64KiB`, `10MiB`.

/// The largest size that can be written: 16 MiB.
pub const LARGEST: u64 = 16 << 20;

const UNITS: [(&str, u64); 3] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("B", 1)];

/// How many bytes a text stands for, from one to [`LARGEST`].
#[must_use]
pub fn bytes(text: &str) -> Option<u64> {
    let (digits, scale) = UNITS
        .iter()
        .find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)))?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    let bytes = number.checked_mul(scale)?;
    (1..=LARGEST).contains(&bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, expected) in [
            ("1B", Some(1)),
            ("64KiB", Some(65_536)),
            ("10MiB", Some(10_485_760)),
            ("16MiB", Some(LARGEST)),
            ("17MiB", None),
            ("0B", None),
            ("10", None),
            ("10MB", None),
            ("-1B", None),
            ("+1B", None),
            ("KiB", None),
            ("99999999999999999999MiB", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }
}
