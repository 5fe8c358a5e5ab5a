//! The fields of an `email` step, read into a draft.
//!
//! Owns what may stand in each field and the error that names it. Whatever could end a header and
//! begin another is refused here, before there is a message.

use lettre::message::Mailbox;
use lettre::message::header::HeaderName;
use semel_flow::Value;

use super::address::{self, AddressError};
use super::files::File;
use crate::amiss::Amiss;
pub(super) use crate::amiss::{missing, no_secret, not_base64, wrong_kind};
use crate::secrets::Filler;

/// The most recipients in all: what every server must take.
const MOST_RECIPIENTS: usize = 100;
const MOST_HEADERS: usize = 20;

const FIELDS: [&str; 11] = [
    "to",
    "cc",
    "bcc",
    "from",
    "reply_to",
    "subject",
    "text",
    "html",
    "attachments",
    "headers",
    "via",
];

/// Headers that the step writes itself, or that belong to the servers on the way.
const OWN: [&str; 14] = [
    "from",
    "sender",
    "to",
    "cc",
    "bcc",
    "reply-to",
    "subject",
    "date",
    "message-id",
    "mime-version",
    "received",
    "return-path",
    "delivered-to",
    "dkim-signature",
];
/// Beginnings of more of them.
const OWN_BEGINNINGS: [&str; 2] = ["content-", "resent-"];

/// What is wrong with a task's fields. Values are not repeated: they may hold secrets.
#[derive(Debug, thiserror::Error)]
pub(super) enum FieldError {
    #[error("email has no field `{field}`")]
    Unknown { field: String },
    #[error(transparent)]
    Amiss(#[from] Amiss),
    #[error("email has neither `text` nor `html`; write at least one")]
    NoBody,
    #[error("`{field}` {source}")]
    Address { field: String, source: AddressError },
    #[error("`{field}` has a line break or another control character at byte {at}; remove it")]
    Control { field: String, at: usize },
    #[error("`{field}` has {count} entries; the limit is {most}")]
    TooMany {
        field: &'static str,
        count: usize,
        most: usize,
    },
    #[error("`{field}` is not the name of a header; write letters, digits and -")]
    HeaderName { field: String },
    #[error("`{field}` is written by the step itself; leave it out")]
    OwnHeader { field: String },
    #[error("`{field}` is not a content type; write one such as text/csv")]
    ContentType { field: String },
    #[error("`{field}` has both `content` and `base64`; keep one")]
    Both { field: String },
}

pub(super) type Read<T> = Result<T, FieldError>;

/// A mail as the fields have it.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) via: Option<String>,
    pub(super) from: Option<Mailbox>,
    pub(super) to: Vec<Mailbox>,
    pub(super) cc: Vec<Mailbox>,
    pub(super) bcc: Vec<Mailbox>,
    pub(super) reply_to: Vec<Mailbox>,
    pub(super) subject: String,
    pub(super) text: Option<String>,
    pub(super) html: Option<String>,
    pub(super) files: Vec<File>,
    pub(super) headers: Vec<(HeaderName, String)>,
}

/// Reads the fields and puts secrets in.
pub(super) fn read(input: &Value, filler: &Filler) -> Read<Draft> {
    known("email", input, &FIELDS)?;
    let reader = Reader { filler };
    let mut draft = Draft {
        via: reader.line("via", input.get("via"))?,
        from: reader.address("from", input.get("from"))?,
        to: reader.addresses("to", input.get("to"))?,
        cc: reader.addresses("cc", input.get("cc"))?,
        bcc: reader.addresses("bcc", input.get("bcc"))?,
        reply_to: reader.addresses("reply_to", input.get("reply_to"))?,
        subject: reader
            .line("subject", input.get("subject"))?
            .ok_or_else(|| missing::<FieldError>("subject"))?,
        text: reader.text("text", input.get("text"))?,
        html: reader.text("html", input.get("html"))?,
        files: Vec::new(),
        headers: Vec::new(),
    };
    if draft.to.is_empty() {
        return Err(missing("to"));
    }
    if draft.text.is_none() && draft.html.is_none() {
        return Err(FieldError::NoBody);
    }
    let recipients = draft.to.len() + draft.cc.len() + draft.bcc.len();
    few("to, cc and bcc", recipients, MOST_RECIPIENTS)?;
    few("reply_to", draft.reply_to.len(), MOST_RECIPIENTS)?;
    draft.files = reader.files(input.get("attachments"))?;
    draft.headers = reader.headers(input.get("headers"))?;
    Ok(draft)
}

pub(super) fn few(field: &'static str, count: usize, most: usize) -> Read<()> {
    if count > most {
        return Err(FieldError::TooMany { field, count, most });
    }
    Ok(())
}

/// Refuses what has no meaning rather than leave it out in silence.
pub(super) fn known(field: &str, value: &Value, fields: &[&str]) -> Read<()> {
    let Value::Map(members) = value else {
        return Err(wrong_kind(field, value, "names with values"));
    };
    match members.keys().find(|name| !fields.contains(&&***name)) {
        Some(name) if field == "email" => Err(FieldError::Unknown {
            field: name.as_ref().to_owned(),
        }),
        Some(name) => Err(FieldError::Unknown {
            field: format!("{field}.{name}"),
        }),
        None => Ok(()),
    }
}

/// Reads values and puts secrets in.
pub(super) struct Reader<'r> {
    pub(super) filler: &'r Filler,
}

impl Reader<'_> {
    /// Text with its secrets; `None` if it is null or not there.
    pub(super) fn text(&self, field: &str, value: Option<&Value>) -> Read<Option<String>> {
        match value {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Sealed(pieces)) => {
                let filled = self.filler.text(pieces);
                filled.map(Some).map_err(no_secret(field))
            }
            Some(value @ (Value::List(_) | Value::Map(_))) => Err(wrong_kind(field, value, "text")),
            Some(plain) => Ok(Some(plain.shown())),
        }
    }

    /// Text that becomes a part of a header.
    pub(super) fn line(&self, field: &str, value: Option<&Value>) -> Read<Option<String>> {
        let text = self.text(field, value)?;
        let break_at = |text: &String| text.find(|c: char| c.is_control() && c != '\t');
        match text.as_ref().and_then(break_at) {
            Some(at) => Err(FieldError::Control {
                field: field.to_owned(),
                at,
            }),
            None => Ok(text),
        }
    }

    fn address(&self, field: &str, value: Option<&Value>) -> Read<Option<Mailbox>> {
        let text = self.text(field, value)?;
        let read = text.map(|text| address::read(&text)).transpose();
        read.map_err(|source| FieldError::Address {
            field: field.to_owned(),
            source,
        })
    }

    /// One address or several, also where one of several is a list itself; null is left out.
    fn addresses(&self, field: &str, value: Option<&Value>) -> Read<Vec<Mailbox>> {
        let Some(Value::List(items)) = value else {
            return Ok(self.address(field, value)?.into_iter().collect());
        };
        let mut several = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            several.extend(self.addresses(&format!("{field}[{index}]"), Some(item))?);
        }
        Ok(several)
    }

    fn headers(&self, value: Option<&Value>) -> Read<Vec<(HeaderName, String)>> {
        let members = match value {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Map(members)) => members,
            Some(other) => return Err(wrong_kind("headers", other, "names with text")),
        };
        few("headers", members.len(), MOST_HEADERS)?;
        let mut headers = Vec::with_capacity(members.len());
        for (name, value) in members.iter() {
            let field = format!("headers.{name}");
            let name = header_name(&field, name)?;
            headers.extend(self.line(&field, Some(value))?.map(|text| (name, text)));
        }
        Ok(headers)
    }
}

fn header_name(field: &str, name: &str) -> Read<HeaderName> {
    let lower = name.to_ascii_lowercase();
    let own = OWN.contains(&lower.as_str());
    if own || OWN_BEGINNINGS.iter().any(|it| lower.starts_with(it)) {
        return Err(FieldError::OwnHeader {
            field: field.to_owned(),
        });
    }
    let plain = name.bytes().all(|b| b.is_ascii_graphic() && b != b':');
    let made = HeaderName::new_from_ascii(name.to_owned()).ok();
    made.filter(|_| plain)
        .ok_or_else(|| FieldError::HeaderName {
            field: field.to_owned(),
        })
}

#[cfg(test)]
mod tests;
