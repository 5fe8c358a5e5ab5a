//! The files that go along with a mail.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lettre::message::header::ContentType;
use semel_flow::Value;

use super::fields::{
    FieldError, Read, Reader, few, known, missing, no_secret, not_base64, wrong_kind,
};

const MOST_FILES: usize = 50;
const FIELDS: [&str; 4] = ["name", "type", "content", "base64"];

/// A file that goes along.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) content_type: ContentType,
    pub(super) content: Vec<u8>,
}

impl Reader<'_> {
    pub(super) fn files(&self, value: Option<&Value>) -> Read<Vec<File>> {
        let items = match value {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::List(items)) => items,
            Some(other) => return Err(wrong_kind("attachments", other, "a list of files")),
        };
        few("attachments", items.len(), MOST_FILES)?;
        let items = items.iter().enumerate();
        items
            .map(|(index, item)| self.file(&format!("attachments[{index}]"), item))
            .collect()
    }

    fn file(&self, field: &str, value: &Value) -> Read<File> {
        known(field, value, &FIELDS)?;
        let inner = |name: &str| format!("{field}.{name}");
        let name = self.line(&inner("name"), value.get("name"))?;
        let name = name.ok_or_else(|| missing::<FieldError>(inner("name")))?;
        let given = self.line(&inner("type"), value.get("type"))?;
        let content = self.content(&inner("content"), value.get("content"))?;
        let base64 = self.text(&inner("base64"), value.get("base64"))?;
        let (content, usual) = match (content, base64) {
            (Some(text), None) => (text.into_bytes(), "text/plain"),
            (None, Some(text)) => {
                let bytes = STANDARD.decode(text);
                let bytes = bytes.map_err(|_| not_base64::<FieldError>(inner("base64")))?;
                (bytes, "application/octet-stream")
            }
            (Some(_), Some(_)) => {
                return Err(FieldError::Both {
                    field: field.to_owned(),
                });
            }
            (None, None) => return Err(missing(inner("content"))),
        };
        let is_text = usual == "text/plain";
        let content_type = content_type(given.as_deref().unwrap_or(usual), is_text);
        let content_type = content_type.ok_or_else(|| FieldError::ContentType {
            field: inner("type"),
        })?;
        Ok(File {
            name,
            content_type,
            content,
        })
    }

    /// Text as it is, anything else as JSON.
    fn content(&self, field: &str, value: Option<&Value>) -> Read<Option<String>> {
        let Some(tree @ (Value::List(_) | Value::Map(_))) = value else {
            return self.text(field, value);
        };
        let filled = self.filler.value(tree);
        let filled = filled.map_err(no_secret::<FieldError>(field))?;
        Ok(Some(filled.to_json()))
    }
}

/// What a file is; text that does not say its letters is in ours.
fn content_type(given: &str, is_text: bool) -> Option<ContentType> {
    let lower = given.to_ascii_lowercase();
    // A file in parts would be read as a part of the mail itself.
    if lower.starts_with("multipart/") || lower.starts_with("message/") {
        return None;
    }
    let bare = is_text && lower.starts_with("text/") && !lower.contains("charset");
    let whole = if bare {
        format!("{given}; charset=utf-8")
    } else {
        given.to_owned()
    };
    ContentType::parse(&whole).ok()
}
