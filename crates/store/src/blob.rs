//! Large values, kept once under the hash of their content; rows hold a reference.

use semel_ledger::Millis;

/// Values longer than this many bytes are kept as blobs.
pub const INLINE_BYTES: usize = 32 * 1024;
/// The longest blob.
pub const MAX_BLOB_BYTES: usize = 16 * 1024 * 1024;
/// How long a blob is kept for whoever wrote it to refer to it.
pub const BLOB_GRACE: Millis = Millis::days(1);

/// The name of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlobRef {
    /// BLAKE3 of the content.
    pub hash: [u8; 32],
    /// How long it is.
    pub bytes: u64,
}

impl BlobRef {
    /// The name that these bytes have.
    #[must_use]
    pub fn of(content: &[u8]) -> BlobRef {
        BlobRef {
            hash: *blake3::hash(content).as_bytes(),
            bytes: content.len() as u64,
        }
    }
}

/// A text of an effect: in its row, or by reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// In the row.
    Inline(Box<str>),
    /// In the blob store.
    Blob(BlobRef),
}

impl Stored {
    /// Keeps `text` inline if it is short; otherwise gives its blob to be written beside the row.
    #[must_use]
    pub fn new(text: Box<str>) -> (Stored, Option<Vec<u8>>) {
        if text.len() <= INLINE_BYTES {
            return (Stored::Inline(text), None);
        }
        let bytes = text.into_string().into_bytes();
        (Stored::Blob(BlobRef::of(&bytes)), Some(bytes))
    }
}

/// Bytes as lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS[usize::from(digit)]));
        }
    }
    text
}

/// The bytes that [`hex`] wrote, if the text is that of exactly `N` bytes.
#[must_use]
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_back_and_nothing_else_is() {
        let bytes: [u8; 4] = [0x00, 0x9f, 0xa0, 0xff];
        assert_eq!(hex(&bytes), "009fa0ff");
        assert_eq!(unhex("009fa0ff"), Some(bytes));
        for wrong in [
            "",
            "009fa0f",
            "009fa0fff",
            "009FA0FF",
            "009fa0fg",
            "+09fa0ff",
        ] {
            assert_eq!(unhex::<4>(wrong), None, "{wrong}");
        }
    }
}
