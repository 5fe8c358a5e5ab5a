//! The JSON Schema of a flow file, for editors that complete and check while one writes.
//!
//! Made from the tables in [`crate::fields`] and nothing else, as draft-07, which is what editors read.
//! The schema is less strict than the reading: names, ranges of durations and expressions are only
//! told apart as far as patterns can.

use serde_json::{Map, Value, json};

use crate::fields::{self, Field, Is, Need, Object};

const PERSON: &str = "^(group:)?[A-Za-z0-9][A-Za-z0-9_.@+-]{0,63}$";
const DURATION: &str = "([0-9]+(ms|s|m|h|d))+";

/// The schema of a flow file.
#[must_use]
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for object in fields::all() {
        definitions.insert(slug(object), of_object(object));
    }
    definitions.insert("scalar".to_owned(), scalar());
    definitions.insert("expression".to_owned(), expression());
    definitions.insert("duration".to_owned(), text(&format!("^{DURATION}$")));
    definitions.insert("secret".to_owned(), secret());
    definitions.insert("step".to_owned(), step());
    definitions.insert("steps".to_owned(), steps());
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A flow of Semel",
        "allOf": [reference("the-flow")],
        "definitions": definitions,
    })
}

/// What the object is called among the definitions.
fn slug(object: &Object) -> String {
    let plain = object.name.replace('`', "");
    plain.replace(' ', "-")
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{name}") })
}

fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

/// Where text is due, whatever YAML takes the scalar for is read as it is written.
fn scalar() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn expression() -> Value {
    json!({ "type": ["string", "number", "boolean"], "pattern": r"^(?![\s\S]*\$\{\{)" })
}

fn secret() -> Value {
    text(r"^\s*\$\{\{\s*secrets\.[A-Za-z0-9_]+\s*\}\}\s*$")
}

fn steps() -> Value {
    json!({ "type": "array", "items": reference("step"), "minItems": 1 })
}

/// A step does one thing; what stands beside `for_each` is told apart by it.
fn step() -> Value {
    let mut plain = properties(&fields::STEP);
    let mut looping = plain.clone();
    for field in fields::KINDS.fields {
        let place = if field.name == "for_each" {
            &mut looping
        } else {
            &mut plain
        };
        place.insert(field.name.to_owned(), of_field(field));
    }
    looping.extend(properties(&fields::FOR_EACH));
    let kinds = fields::KINDS.fields.iter().map(|field| field.name);
    let one: Vec<_> = kinds
        .filter(|kind| *kind != "for_each")
        .map(|kind| json!({ "required": [kind] }))
        .collect();
    let mut needed = required(&fields::FOR_EACH);
    needed.push("id");
    json!({
        "type": "object",
        "if": { "required": ["for_each"] },
        "then": { "properties": looping, "required": needed, "additionalProperties": false },
        "else": {
            "properties": plain,
            "required": required(&fields::STEP),
            "additionalProperties": false,
            "oneOf": one,
        },
    })
}

fn properties(object: &Object) -> Map<String, Value> {
    let fields = object.fields.iter();
    fields
        .map(|field| (field.name.to_owned(), of_field(field)))
        .collect()
}

fn required(object: &Object) -> Vec<&'static str> {
    let fields = object.fields.iter();
    fields
        .filter(|field| field.need == Need::Required)
        .map(|field| field.name)
        .collect()
}

fn of_object(object: &Object) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": properties(object),
        "required": required(object),
        "additionalProperties": false,
    });
    if !object.exactly_one.is_empty() {
        let one = object.exactly_one.iter();
        schema["oneOf"] = one.map(|name| json!({ "required": [name] })).collect();
    }
    if !object.at_least_one.is_empty() {
        let some = object.at_least_one.iter();
        schema["anyOf"] = some.map(|name| json!({ "required": [name] })).collect();
    }
    let pairs = object.at_most_one.iter().flat_map(|group| pairs(group));
    let both: Vec<_> = pairs.map(|pair| json!({ "required": pair })).collect();
    if !both.is_empty() {
        schema["not"] = json!({ "anyOf": both });
    }
    for (name, _) in object.needs {
        let needed = object.needs.iter().filter(|(needs, _)| needs == name);
        let needed: Vec<_> = needed.map(|(_, other)| *other).collect();
        schema["dependencies"][name] = json!(needed);
    }
    schema
}

/// Every two of a group.
fn pairs(group: &'static [&'static str]) -> impl Iterator<Item = [&'static str; 2]> {
    let firsts = group.iter().enumerate();
    firsts.flat_map(|(at, first)| group[at + 1..].iter().map(move |second| [*first, *second]))
}

fn of_field(field: &Field) -> Value {
    let mut schema = of_type(field.is);
    // Beside `$ref` nothing counts in draft-07, so the reference is put a level deeper.
    if schema.get("$ref").is_some() {
        schema = json!({ "allOf": [schema] });
    }
    schema["description"] = json!(field.doc);
    schema
}

fn of_type(is: Is) -> Value {
    match is {
        Is::Text | Is::Template | Is::Raw | Is::Zone => reference("scalar"),
        Is::Name => name("[A-Za-z0-9_-]"),
        Is::DottedName => name("[A-Za-z0-9_.-]"),
        Is::Url => text(r"^(https?://|\$\{\{)"),
        Is::Expr => reference("expression"),
        Is::Bool => json!({ "type": "boolean" }),
        Is::Whole { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Is::Decimal { max } => json!({ "type": "number", "minimum": 0, "maximum": max }),
        Is::Duration { .. } => reference("duration"),
        Is::Backoff => text(&format!(r"^{DURATION}(\s*\.\.\s*{DURATION})?$")),
        Is::Size => text("^[0-9]+(B|KiB|MiB)$"),
        Is::Word(words) => json!({ "enum": words }),
        Is::Secret => reference("secret"),
        Is::Secrets => json!({ "type": "array", "items": reference("secret"), "minItems": 1 }),
        Is::HookPath => text(r"^/hooks/[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$"),
        Is::Cron => text(r"^\s*\S+(\s+\S+){4}\s*$"),
        Is::Number => json!({ "type": ["number", "string"] }),
        Is::Tree | Is::Plain => json!({}),
        Is::Trees | Is::Plains => json!({ "type": "object" }),
        Is::Exprs => json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
            "additionalProperties": reference("expression"),
        }),
        Is::Texts => members(&reference("scalar")),
        Is::Pairs => members(&json!({
            "anyOf": [reference("scalar"), { "type": "array" }]
        })),
        Is::Object(object) => reference(&slug(object)),
        Is::Objects(object) => {
            let item = json!({ "anyOf": [reference(&slug(object)), text(r"\$\{\{")] });
            json!({ "anyOf": [text(r"\$\{\{"), { "type": "array", "items": item }] })
        }
        Is::Items(object) => json!({ "type": "array", "items": reference(&slug(object)) }),
        Is::Steps => reference("steps"),
        Is::Branches => members(&reference("steps")),
        Is::Nothing => json!({ "type": ["null", "object"], "maxProperties": 0 }),
        Is::Command => json!({ "type": "array", "items": reference("scalar"), "minItems": 1 }),
        Is::Codes { max } => codes(0, max),
        Is::People => json!({ "type": "array", "items": text(PERSON), "minItems": 1 }),
        Is::Statuses | Is::Parts | Is::Templates | Is::Short { .. } | Is::Triggers | Is::Cases => {
            several(is)
        }
    }
}

fn name(sign: &str) -> Value {
    let pattern = format!("^[A-Za-z0-9]{sign}{{0,63}}$");
    json!({ "type": ["string", "number", "boolean"], "pattern": pattern })
}

fn members(value: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

/// Numbers between these: a list of them, or one.
fn codes(min: u64, max: u64) -> Value {
    let code = json!({ "type": "integer", "minimum": min, "maximum": max });
    json!({ "anyOf": [code, { "type": "array", "items": code, "minItems": 1 }] })
}

/// What can be written in several ways.
fn several(is: Is) -> Value {
    match is {
        Is::Short { long, main } => {
            let main = long.field(main);
            let mut ways = vec![reference(&slug(long))];
            ways.extend(main.map(|main| of_type(main.is)));
            if main.is_some_and(|main| main.need == Need::Optional) {
                ways.push(json!({ "type": "null" }));
            }
            json!({ "anyOf": ways })
        }
        Is::Statuses => codes(200, 599),
        Is::Templates => {
            let listed = json!({ "type": "array", "items": reference("scalar"), "minItems": 1 });
            json!({ "anyOf": [reference("scalar"), listed] })
        }
        Is::Parts => {
            let mut named = of_object(&fields::PART);
            named["required"] = json!([]);
            let named = json!({ "anyOf": [reference("scalar"), named] });
            let listed = json!({ "type": "array", "items": reference(&slug(&fields::PART)) });
            json!({ "anyOf": [listed, members(&named)] })
        }
        Is::Triggers => {
            let one = json!({ "anyOf": [reference("on"), { "const": "manual" }] });
            json!({ "anyOf": [reference("on"), { "const": "manual" }, { "type": "array", "items": one }] })
        }
        _ => {
            let otherwise = json!({
                "type": "object",
                "properties": { "else": reference("steps") },
                "required": ["else"],
                "additionalProperties": false,
            });
            let case = json!({
                "if": { "required": ["else"] },
                "then": otherwise,
                "else": reference(&slug(&fields::CASE)),
            });
            json!({ "type": "array", "items": case, "minItems": 1 })
        }
    }
}
