//! How the journal spells what serde does not know. The signatures are those that serde asks for.

#![expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives a reference to the field, whatever it is"
)]

use semel_flow::Value;

/// Whether the value's JSON is certainly not longer than that; cheap to ask.
pub(super) fn at_most(value: &Value, bytes: usize) -> bool {
    fn spend(value: &Value, left: &mut usize) -> bool {
        // The longest escape of one byte has six.
        let cost = match value {
            Value::Text(text) => 2 + 6 * text.len(),
            Value::Decimal(number) => number.as_str().len(),
            Value::List(items) => {
                return take(left, 2 + items.len()) && items.iter().all(|item| spend(item, left));
            }
            Value::Map(members) => {
                return take(left, 2)
                    && members
                        .iter()
                        .all(|(name, value)| take(left, 4 + 6 * name.len()) && spend(value, left));
            }
            Value::Sealed(pieces) => pieces.iter().map(|piece| 6 * piece.shown().len()).sum(),
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Time(_) | Value::Span(_) => 32,
        };
        take(left, cost)
    }
    fn take(left: &mut usize, cost: usize) -> bool {
        let enough = *left >= cost;
        *left = left.saturating_sub(cost);
        enough
    }
    let mut left = bytes;
    spend(value, &mut left) || value.to_json().len() <= bytes
}

pub(super) mod value {
    use semel_flow::Value;
    use semel_ledger::json::Canonical;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::value::RawValue;

    /// A value that is written piece by piece: an event is written for every run, and a text of its
    /// own in between would be made and read once more.
    struct Written<'v>(&'v Value);

    impl Serialize for Written<'_> {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            match self.0 {
                Value::Null => s.serialize_unit(),
                Value::Bool(bool) => s.serialize_bool(*bool),
                Value::Int(int) => s.serialize_i64(*int),
                Value::Text(text) => s.serialize_str(text),
                Value::List(items) => s.collect_seq(items.iter().map(Written)),
                Value::Map(members) => {
                    s.collect_map(members.iter().map(|(name, it)| (&**name, Written(it))))
                }
                // To the last digit, as it is spelt.
                Value::Decimal(number) => {
                    let raw = RawValue::from_string(number.as_str().to_owned());
                    raw.map_err(serde::ser::Error::custom)?.serialize(s)
                }
                Value::Time(_) | Value::Span(_) | Value::Sealed(_) => {
                    s.serialize_str(&self.0.shown())
                }
            }
        }
    }

    pub(in super::super) fn serialize<S: Serializer>(
        value: &Value,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        Written(value).serialize(s)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Value, D::Error> {
        let raw = Box::<RawValue>::deserialize(d)?;
        Ok(Value::of(&Canonical::trusted(raw.into())))
    }
}

/// Only the name of the blob.
pub(super) fn blob_of<S: serde::Serializer>(
    long: &(semel_store::blob::BlobRef, Value),
    s: S,
) -> Result<S::Ok, S::Error> {
    blob::serialize(&long.0, s)
}

pub(super) mod blob {
    use semel_store::blob::{BlobRef, hex, unhex};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(
        blob: &BlobRef,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        (hex(&blob.hash), blob.bytes).serialize(s)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<BlobRef, D::Error> {
        let (hash, bytes) = <(String, u64)>::deserialize(d)?;
        let hash = unhex(&hash).ok_or_else(|| serde::de::Error::custom("no hash"))?;
        Ok(BlobRef { hash, bytes })
    }
}

pub(super) mod fence {
    use semel_ledger::Fence;
    use semel_store::blob::{hex, unhex};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(
        fence: &Fence,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        s.serialize_str(&hex(&fence.0))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Fence, D::Error> {
        let text = String::deserialize(d)?;
        let bytes = unhex(&text).ok_or_else(|| serde::de::Error::custom("no fence"))?;
        Ok(Fence(bytes))
    }
}

pub(super) mod fence_option {
    use semel_ledger::Fence;
    use semel_store::blob::{hex, unhex};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(
        fence: &Option<Fence>,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        fence.map(|fence| hex(&fence.0)).serialize(s)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Option<Fence>, D::Error> {
        let text = Option::<String>::deserialize(d)?;
        Ok(text.and_then(|text| unhex(&text)).map(Fence))
    }
}

pub(super) mod class {
    use semel_act::FailureClass;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(
        class: &FailureClass,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        s.serialize_str(class.name())
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<FailureClass, D::Error> {
        let name = String::deserialize(d)?;
        FailureClass::named(&name).ok_or_else(|| serde::de::Error::custom("no class"))
    }
}

pub(super) mod millis {
    use semel_ledger::Time;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(time: &Time, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_i64(time.0)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Time, D::Error> {
        i64::deserialize(d).map(Time)
    }
}

pub(super) mod millis_option {
    use semel_ledger::Time;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(in super::super) fn serialize<S: Serializer>(
        time: &Option<Time>,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(|time| time.0).serialize(s)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        d: D,
    ) -> Result<Option<Time>, D::Error> {
        Option::<i64>::deserialize(d).map(|millis| millis.map(Time))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use semel_flow::Value;

    use crate::journal::Kept;

    fn values() -> impl Strategy<Value = Value> {
        let number = "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{0,5}[1-9])?";
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            number.prop_map(|text| Value::read(text.as_bytes()).expect("a number")),
            any::<String>().prop_map(|text| Value::text(&text.replace('\0', ""))),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            let members =
                proptest::collection::btree_map("[a-z\"\\\\\n\u{8}]{0,4}", inner.clone(), 0..5);
            prop_oneof![
                proptest::collection::vec(inner, 0..5).prop_map(Value::list),
                members.prop_map(Value::map),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in values()) {
            let kept = Kept::Is(value.clone());
            let text = serde_json::to_string(&kept).expect("JSON");
            prop_assert_eq!(&text, &format!("{{\"is\":{}}}", value_text(&value)));
            let read: Kept = serde_json::from_str(&text).expect("own text");
            prop_assert_eq!(read, kept);
        }
    }

    /// The same by way of a text of its own.
    fn value_text(value: &Value) -> String {
        let json: serde_json::Value = match value {
            Value::Decimal(_) => return value.to_json(),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(value_text).collect();
                return format!("[{}]", items.join(","));
            }
            Value::Map(members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, it)| format!("{}:{}", serde_json::json!(**name), value_text(it)))
                    .collect();
                return format!("{{{}}}", members.join(","));
            }
            other => serde_json::from_str(&other.to_json()).expect("JSON"),
        };
        json.to_string()
    }
}
