//! The JSON Schema that an answer must fit.
//!
//! Owns whether a schema can be asked for at all, and whether an answer fits it. Messages say where it
//! does not, never what stands there.

use jsonschema::Validator;
use semel_flow::Value;

/// A schema that was read.
pub(super) struct Schema<'a> {
    pub(super) value: &'a Value,
    validator: Validator,
}

impl<'a> Schema<'a> {
    /// Reads a schema; the error is for people.
    pub(super) fn read(value: &'a Value) -> Result<Schema<'a>, String> {
        if value.get("type").and_then(Value::as_text) != Some("object") {
            return Err("it must describe an object: write type: object".to_owned());
        }
        if refers_elsewhere(value) {
            return Err("a $ref begins with #: put what it refers to under $defs".to_owned());
        }
        let validator = jsonschema::validator_for(&json(value));
        let validator = validator.map_err(|error| {
            let at = error.instance_path().as_str().to_owned();
            format!("it is no JSON Schema{}: {}", place(&at), error.masked())
        })?;
        Ok(Schema { value, validator })
    }

    /// Where and how an answer does not fit.
    pub(super) fn misfit(&self, answer: &Value) -> Option<String> {
        let answer = json(answer);
        let error = self.validator.validate(&answer).err()?;
        let at = error.instance_path().as_str().to_owned();
        Some(format!("{}{}", error.masked(), place(&at)))
    }

    /// Whether every object in it says exactly which members it has: only then some APIs can hold a
    /// model to it.
    pub(super) fn is_strict(&self) -> bool {
        is_strict(self.value)
    }
}

fn place(at: &str) -> String {
    match at {
        "" => String::new(),
        at => format!(" at {at}"),
    }
}

/// Whether it needs what is not in it; nothing is fetched.
fn refers_elsewhere(schema: &Value) -> bool {
    match schema {
        Value::Map(members) => {
            let of = members.get("$ref").and_then(Value::as_text);
            of.is_some_and(|of| !of.starts_with('#')) || members.values().any(refers_elsewhere)
        }
        Value::List(items) => items.iter().any(refers_elsewhere),
        _ => false,
    }
}

fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Map(members) => {
            let object = match members.get("properties") {
                Some(Value::Map(properties)) => {
                    let closed = members.get("additionalProperties") == Some(&Value::Bool(false));
                    let required = match members.get("required") {
                        Some(Value::List(required)) => required.len(),
                        _ => 0,
                    };
                    closed && required == properties.len()
                }
                _ => true,
            };
            object && members.values().all(is_strict)
        }
        Value::List(items) => items.iter().all(is_strict),
        _ => true,
    }
}

/// The value as the validator takes it.
fn json(value: &Value) -> serde_json::Value {
    // What is written here is JSON.
    serde_json::from_str(&value.to_json()).unwrap_or_default()
}
