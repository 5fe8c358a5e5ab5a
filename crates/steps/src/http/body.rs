//! The body of a request: JSON, a form, parts, or as it is.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use semel_flow::Value;

use super::fields::{FieldError, Read, Reader, no_secret, not_base64, wrong_kind};
use crate::outgoing::escape_part;
use crate::secrets::is_sealed;

/// A body and what it is.
pub(super) struct Body {
    pub(super) bytes: Bytes,
    pub(super) content_type: Option<String>,
    /// There is a secret in it.
    pub(super) private: bool,
}

const KINDS: [&str; 4] = ["json", "form", "multipart", "body"];

/// The one body that the fields give, if they give one.
pub(super) fn read(reader: &Reader, input: &Value) -> Read<Body> {
    let mut given = KINDS
        .into_iter()
        .filter_map(|kind| Some((kind, input.get(kind)?)));
    let Some((kind, value)) = given.next() else {
        return Ok(Body {
            bytes: Bytes::new(),
            content_type: None,
            private: false,
        });
    };
    if let Some((other, _)) = given.next() {
        return Err(FieldError::Both { one: kind, other });
    }
    let (bytes, content_type) = match kind {
        "json" => (json(reader, value)?, "application/json".to_owned()),
        "form" => (
            form(reader, value)?,
            "application/x-www-form-urlencoded".to_owned(),
        ),
        "multipart" => multipart(reader, value)?,
        _ => raw(reader, value, input.get("content_type"))?,
    };
    Ok(Body {
        bytes: bytes.into(),
        content_type: Some(content_type),
        private: is_sealed(value),
    })
}

fn json(reader: &Reader, value: &Value) -> Read<Vec<u8>> {
    if !is_sealed(value) {
        return Ok(value.to_json().into_bytes());
    }
    let filled = reader.filler.value(value);
    let filled = filled.map_err(no_secret::<FieldError>("json"))?;
    Ok(filled.to_json().into_bytes())
}

fn form(reader: &Reader, value: &Value) -> Read<Vec<u8>> {
    let mut text = String::new();
    for (name, value) in reader.pairs("form", value)? {
        if !text.is_empty() {
            text.push('&');
        }
        escape_part(&mut text, &name);
        text.push('=');
        escape_part(&mut text, &value);
    }
    Ok(text.into_bytes())
}

/// Text goes as it is, anything else as JSON.
fn raw(reader: &Reader, value: &Value, content_type: Option<&Value>) -> Read<(Vec<u8>, String)> {
    let bytes = match value {
        Value::List(_) | Value::Map(_) => json(reader, value)?,
        plain => reader.text("body", plain)?.unwrap_or_default().into_bytes(),
    };
    let content_type = match content_type {
        Some(value) => reader.text("content_type", value)?,
        None => None,
    };
    let content_type = content_type.unwrap_or_else(|| "text/plain; charset=utf-8".to_owned());
    Ok((bytes, content_type))
}

/// One part of a body in parts.
struct Part {
    name: String,
    filename: Option<String>,
    content_type: Option<String>,
    content: Vec<u8>,
}

fn multipart(reader: &Reader, value: &Value) -> Read<(Vec<u8>, String)> {
    let Value::List(items) = value else {
        return Err(wrong_kind("multipart", value, "a list of parts"));
    };
    let parts = items
        .iter()
        .enumerate()
        .map(|(index, item)| part(reader, &format!("multipart[{index}]"), item))
        .collect::<Read<Vec<Part>>>()?;
    let boundary = boundary(&parts);
    let mut bytes = Vec::new();
    for part in &parts {
        let head = format!(
            "--{boundary}\r\ncontent-disposition: form-data; name=\"{}\"",
            in_quotes(&part.name)
        );
        bytes.extend_from_slice(head.as_bytes());
        if let Some(filename) = &part.filename {
            let filename = format!("; filename=\"{}\"", in_quotes(filename));
            bytes.extend_from_slice(filename.as_bytes());
        }
        if let Some(content_type) = &part.content_type {
            bytes.extend_from_slice(format!("\r\ncontent-type: {content_type}").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n\r\n");
        bytes.extend_from_slice(&part.content);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((bytes, format!("multipart/form-data; boundary={boundary}")))
}

fn part(reader: &Reader, field: &str, value: &Value) -> Read<Part> {
    let Value::Map(members) = value else {
        return Err(wrong_kind(field, value, "a part with name and value"));
    };
    let text = |name: &str| match members.get(name) {
        Some(value) => reader.text(&format!("{field}.{name}"), value),
        None => Ok(None),
    };
    let unnamed = || wrong_kind::<FieldError>(format!("{field}.name"), &Value::Null, "a name");
    let name = text("name")?.ok_or_else(unnamed)?;
    let filename = text("filename")?;
    let content_type = text("type")?;
    let content = match (text("value")?, text("content")?, text("base64")?) {
        (Some(text), _, _) | (None, Some(text), _) => text.into_bytes(),
        (None, None, Some(text)) => STANDARD
            .decode(text)
            .map_err(|_| not_base64::<FieldError>(format!("{field}.base64")))?,
        (None, None, None) => Vec::new(),
    };
    if let Some(content_type) = &content_type {
        super::fields::header_value(&format!("{field}.type"), content_type)?;
    }
    Ok(Part {
        name,
        filename,
        content_type,
        content,
    })
}

/// A line that stands in no part. The same parts give the same one, so that a repeat under the
/// same key is the same request to the byte.
fn boundary(parts: &[Part]) -> String {
    let taken = |text: &str| {
        parts.iter().any(|part| {
            let mut windows = part.content.windows(text.len());
            windows.any(|window| window == text.as_bytes())
        })
    };
    let mut names = (0_u64..).map(|n| format!("semel-part-{n}"));
    names.find(|name| !taken(name)).unwrap_or_default()
}

/// As browsers write names into a `content-disposition`.
fn in_quotes(text: &str) -> String {
    text.replace('"', "%22")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::{EnvSecrets, Filler};

    fn made(input: &str) -> Read<(String, String)> {
        let secrets = EnvSecrets::default();
        let reader = Reader {
            filler: Filler::new(&secrets),
        };
        let body = read(&reader, &Value::read(input.as_bytes()).expect(input))?;
        let text = String::from_utf8(body.bytes.into()).expect("text");
        Ok((body.content_type.unwrap_or_default(), text))
    }

    #[test]
    fn bodies_are_made_as_they_are_named() {
        for (input, content_type, text) in [
            (r"{}", "", ""),
            (
                r#"{"json":{"a":12345678901234567890,"b":[0.1]}}"#,
                "application/json",
                r#"{"a":12345678901234567890,"b":[0.1]}"#,
            ),
            (
                r#"{"form":{"a b":"c&d","e":[1,2],"gone":null}}"#,
                "application/x-www-form-urlencoded",
                "a%20b=c%26d&e=1&e=2",
            ),
            (r#"{"body":"x"}"#, "text/plain; charset=utf-8", "x"),
            (
                r#"{"body":"<a/>","content_type":"application/xml"}"#,
                "application/xml",
                "<a/>",
            ),
        ] {
            assert_eq!(
                made(input).unwrap(),
                (content_type.to_owned(), text.to_owned())
            );
        }
        let error = made(r#"{"json":1,"form":{}}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "http has both `json` and `form`; keep one"
        );
    }

    #[test]
    fn parts_cannot_be_broken_out_of() {
        let input = r#"{"multipart":[
            {"name":"a\"\r\nx: y","value":"semel-part-0"},
            {"name":"f","filename":"x\".txt","type":"text/csv","content":"1,2"},
            {"name":"b","base64":"aGk="}]}"#;
        let (content_type, text) = made(input).unwrap();
        assert_eq!(content_type, "multipart/form-data; boundary=semel-part-1");
        insta::assert_snapshot!(text.replace("\r\n", "\n"), @r#"
        --semel-part-1
        content-disposition: form-data; name="a%22%0D%0Ax: y"

        semel-part-0
        --semel-part-1
        content-disposition: form-data; name="f"; filename="x%22.txt"
        content-type: text/csv

        1,2
        --semel-part-1
        content-disposition: form-data; name="b"

        hi
        --semel-part-1--
        "#);
        let wrong = made(r#"{"multipart":[{"name":"a","value":"x","type":"a\r\nb: c"}]}"#);
        assert!(wrong.unwrap_err().to_string().contains("multipart[0].type"));
    }
}
