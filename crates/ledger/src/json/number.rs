//! Numbers, exactly: decimal digits and a power of ten, never a binary fraction.
//!
//! The spelling is that of RFC 8785 (ECMAScript): plain up to 21 digits, then with an exponent;
//! but the digits are all the digits there were.

/// The largest power of ten that common readers can hold.
const MAX_EXPONENT: i64 = 308;

/// A JSON number taken apart: `0.` + `digits` times ten to the `point`.
pub(super) struct Spelled {
    negative: bool,
    /// Significant digits without leading or trailing zeros; empty for zero.
    digits: Vec<u8>,
    /// Where the decimal point stands, counted from before the first digit.
    point: Option<i64>,
}

impl Spelled {
    /// A whole number times ten to the `lowest`; its digits with the last one first.
    pub(super) fn whole(negative: bool, digits: &[u8], lowest: i64) -> Spelled {
        let digits: Vec<u8> = digits.iter().rev().map(|digit| b'0' + digit).collect();
        normalise(negative, &digits, digits.len(), Some(lowest))
    }

    pub(super) fn is_negative(&self) -> bool {
        self.negative
    }

    /// The power of ten that its last digit counts.
    pub(super) fn lowest(&self) -> Option<i64> {
        Some(self.point? - i64::try_from(self.digits.len()).ok()?)
    }

    /// Its digits as a whole number of ten to the `lowest`, the last one first.
    pub(super) fn digits_from(&self, lowest: i64) -> Option<Vec<u8>> {
        let zeros = usize::try_from(self.lowest()? - lowest).ok()?;
        let mut digits = vec![0; zeros];
        digits.extend(self.digits.iter().rev().map(|digit| digit - b'0'));
        Some(digits)
    }
}

/// Scans one number. Gives how many bytes were fine, and the number unless it is malformed there.
pub(super) fn scan(bytes: &[u8]) -> (usize, Option<Spelled>) {
    let digits_at = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let negative = bytes.first() == Some(&b'-');
    let mut at = usize::from(negative);
    let whole = digits_at(at);
    if whole == 0 {
        return (at, None);
    }
    if whole > 1 && bytes[at] == b'0' {
        return (at + 1, None);
    }
    let mut digits = bytes[at..at + whole].to_vec();
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits_at(at + 1);
        if fraction == 0 {
            return (at + 1, None);
        }
        digits.extend_from_slice(&bytes[at + 1..=at + fraction]);
        at += 1 + fraction;
    }
    let mut exponent = Some(0);
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let start = at + 1 + sign;
        let length = if start <= bytes.len() {
            digits_at(start)
        } else {
            0
        };
        if length == 0 {
            return (start.min(bytes.len()), None);
        }
        exponent = std::str::from_utf8(&bytes[start..start + length])
            .ok()
            .and_then(|t| t.parse::<i64>().ok());
        if bytes.get(at + 1) == Some(&b'-') {
            exponent = exponent.map(|e| -e);
        }
        at = start + length;
    }
    (at, Some(normalise(negative, &digits, whole, exponent)))
}

fn normalise(negative: bool, digits: &[u8], whole: usize, exponent: Option<i64>) -> Spelled {
    let leading = digits.iter().take_while(|b| **b == b'0').count();
    let trailing = digits.iter().rev().take_while(|b| **b == b'0').count();
    if leading == digits.len() {
        return Spelled {
            negative: false,
            digits: Vec::new(),
            point: Some(0),
        };
    }
    let point = exponent
        .zip(i64::try_from(whole).ok().zip(i64::try_from(leading).ok()))
        .and_then(|(e, (whole, leading))| e.checked_add(whole - leading));
    Spelled {
        negative,
        digits: digits[leading..digits.len() - trailing].to_vec(),
        point,
    }
}

/// Writes the canonical spelling; `None` if the number is out of range.
pub(super) fn write(number: &Spelled, out: &mut String) -> Option<()> {
    let point = number
        .point
        .filter(|p| p.saturating_sub(1).saturating_abs() <= MAX_EXPONENT)?;
    let digits = std::str::from_utf8(&number.digits).ok()?;
    if digits.is_empty() {
        out.push('0');
        return Some(());
    }
    if number.negative {
        out.push('-');
    }
    let count = i64::try_from(digits.len()).ok()?;
    let zeros = |n: i64| "0".repeat(usize::try_from(n).unwrap_or(0));
    if count <= point && point <= 21 {
        out.push_str(digits);
        out.push_str(&zeros(point - count));
    } else if 0 < point && point <= 21 {
        let (whole, fraction) = digits.split_at(usize::try_from(point).ok()?);
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    } else if -6 < point && point <= 0 {
        out.push_str("0.");
        out.push_str(&zeros(-point));
        out.push_str(digits);
    } else {
        let (first, rest) = digits.split_at(1);
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        out.push_str(if point > 0 { "e+" } else { "e-" });
        out.push_str(&(point - 1).abs().to_string());
    }
    Some(())
}
