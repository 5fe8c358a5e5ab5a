//! What can be amiss with a field, whatever the kind of step: one wording for all.
//!
//! Each kind has an error of its own for what only it can find, and takes these in.

use semel_flow::Value;
use semel_flow::size::{LARGEST, bytes};

use crate::secrets::MissingSecret;

/// Something is wrong with a field. Values are not repeated: they may hold secrets.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Amiss {
    #[error("`{field}` is {kind}; write {wanted}")]
    Kind {
        field: String,
        kind: &'static str,
        wanted: &'static str,
    },
    #[error("`{field}` is missing")]
    Missing { field: String },
    #[error("`{field}`: {source}")]
    Secret {
        field: String,
        source: MissingSecret,
    },
    #[error("`{field}` is not a size up to 16MiB; write a number with B, KiB or MiB, such as 4MiB")]
    Size { field: String },
    #[error("`{field}` is not base64")]
    Base64 { field: String },
}

/// A kind that the field cannot have.
pub(crate) fn wrong_kind<E: From<Amiss>>(
    field: impl Into<String>,
    value: &Value,
    wanted: &'static str,
) -> E {
    E::from(Amiss::Kind {
        field: field.into(),
        kind: value.kind(),
        wanted,
    })
}

/// A field that must be there.
pub(crate) fn missing<E: From<Amiss>>(field: impl Into<String>) -> E {
    E::from(Amiss::Missing {
        field: field.into(),
    })
}

/// A secret that is not there, in that field.
pub(crate) fn no_secret<E: From<Amiss>>(
    field: impl Into<String>,
) -> impl FnOnce(MissingSecret) -> E {
    let field = field.into();
    move |source| E::from(Amiss::Secret { field, source })
}

/// Text that is no base64.
pub(crate) fn not_base64<E: From<Amiss>>(field: impl Into<String>) -> E {
    E::from(Amiss::Base64 {
        field: field.into(),
    })
}

/// A size: bytes, or text such as `10MiB`.
pub(crate) fn size<E: From<Amiss>>(field: &str, value: &Value) -> Result<usize, E> {
    let size = match value {
        Value::Int(bytes) => u64::try_from(*bytes).ok(),
        Value::Text(text) => bytes(text),
        _ => None,
    };
    let size = size.filter(|size| (1..=LARGEST).contains(size));
    size.and_then(|size| size.try_into().ok()).ok_or_else(|| {
        E::from(Amiss::Size {
            field: field.to_owned(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let size = |value: &Value| size::<Amiss>("limit", value);
        for (text, bytes) in [
            ("10MiB", 10 << 20),
            ("4KiB", 4096),
            ("7B", 7),
            ("16MiB", 16 << 20),
        ] {
            assert_eq!(size(&Value::text(text)).unwrap(), bytes, "{text}");
        }
        assert_eq!(size(&Value::Int(5)).unwrap(), 5);
        for wrong in ["", "7", "MiB", "-1B", "1.5MiB", "17MiB"] {
            assert!(size(&Value::text(wrong)).is_err(), "{wrong}");
        }
        for wrong in [0, -1, (16 << 20) + 1] {
            assert!(size(&Value::Int(wrong)).is_err(), "{wrong}");
        }
        assert!(size(&Value::Bool(true)).is_err());
    }
}
