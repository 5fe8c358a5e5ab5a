//! A draft, written as the bytes that go over the wire.
//!
//! Owns the message itself: its headers, its Message-ID, its parts and their encodings, for which
//! it leans on lettre. The invariant, checked on the finished bytes: every line ends with CRLF
//! and has at most 998 bytes, no CR or LF stands alone, so nothing in a mail can end it early.

use std::time::SystemTime;

use lettre::message::header::{
    Cc, Date, From, HeaderValue, Headers, MIME_VERSION_1_0, MessageId, ReplyTo, Subject, To,
};
use lettre::message::{Attachment, Mailbox, Mailboxes, MultiPart, MultiPartKind, SinglePart};
use semel_ledger::{EffectId, Key, Scope};

use super::fields::Draft;

/// The longest line that servers must take, without its end.
const MOST_LINE: usize = 998;

/// Why there is no message.
#[derive(Debug, thiserror::Error)]
pub(super) enum MessageError {
    #[error("email needs the key of its step for the Message-ID, and this step has none")]
    NoKey,
    #[error("the message has {bytes} bytes; the limit of the mail server `{via}` is {limit}")]
    TooLarge {
        bytes: usize,
        limit: usize,
        via: String,
    },
    #[error("a header of the message has a word of over {MOST_LINE} bytes; shorten it")]
    LongLine,
    #[error("the message has a NUL or a line end that is none; remove it")]
    Bare,
}

/// What goes over the wire.
#[derive(Debug)]
pub(super) struct Finished {
    /// With its angle brackets.
    pub(super) message_id: String,
    pub(super) sender: String,
    pub(super) recipients: Vec<String>,
    pub(super) bytes: Vec<u8>,
    /// Whether an address has letters that only some servers understand.
    pub(super) needs_utf8: bool,
}

/// Names an effect's mail: the same for every attempt, so that who has it knows it again.
pub(super) fn message_id(
    scope: Option<&Scope>,
    key: Option<&Key>,
    sender: &Mailbox,
) -> Result<String, MessageError> {
    let (Some(scope), Some(key)) = (scope, key) else {
        return Err(MessageError::NoKey);
    };
    let name = EffectId::new(scope.clone(), key.clone()).hash();
    let name = u128::from_be_bytes(name);
    Ok(format!("<{name:032x}@{}>", sender.email.domain()))
}

/// Writes a draft.
pub(super) fn written(
    draft: Draft,
    sender: &Mailbox,
    message_id: String,
) -> Result<Finished, MessageError> {
    let recipients = recipients(&draft);
    let mut bytes = head(&draft, sender, &message_id).to_string().into_bytes();
    bytes.extend(body(draft));
    check_lines(&bytes)?;
    // Everything but addresses is written in ASCII, whatever its letters are.
    let needs_utf8 = !bytes.is_ascii() || recipients.iter().any(|it| !it.is_ascii());
    Ok(Finished {
        message_id,
        sender: sender.email.to_string(),
        recipients,
        bytes,
        needs_utf8,
    })
}

/// Everybody who gets it, each once.
fn recipients(draft: &Draft) -> Vec<String> {
    let mut all = Vec::new();
    for mailbox in draft.to.iter().chain(&draft.cc).chain(&draft.bcc) {
        let address = mailbox.email.to_string();
        if !all.contains(&address) {
            all.push(address);
        }
    }
    all
}

/// The headers; who is in `bcc` stands in none of them.
fn head(draft: &Draft, sender: &Mailbox, message_id: &str) -> Headers {
    let several = |mailboxes: &[Mailbox]| mailboxes.iter().cloned().collect::<Mailboxes>();
    let mut headers = Headers::new();
    headers.set(Date::new(SystemTime::now()));
    headers.set(MessageId::from(message_id.to_owned()));
    headers.set(From::from(Mailboxes::from(sender.clone())));
    if !draft.reply_to.is_empty() {
        headers.set(ReplyTo::from(several(&draft.reply_to)));
    }
    headers.set(To::from(several(&draft.to)));
    if !draft.cc.is_empty() {
        headers.set(Cc::from(several(&draft.cc)));
    }
    headers.set(Subject::from(draft.subject.clone()));
    for (name, text) in &draft.headers {
        headers.insert_raw(HeaderValue::new(name.clone(), text.clone()));
    }
    headers.set(MIME_VERSION_1_0);
    headers
}

/// The content with the headers that say what it is.
fn body(draft: Draft) -> Vec<u8> {
    let mark = mark(&draft);
    let parts = |kind, name: &str| {
        let builder = MultiPart::builder().kind(kind);
        builder.boundary(format!("{name}-{mark}")).build()
    };
    let alone = draft.files.is_empty() && draft.text.is_some() != draft.html.is_some();
    let content = |text: String| {
        let mut text = crlf(&text);
        // What stands alone ends with a line end of its own.
        if alone && text.ends_with("\r\n") {
            text.truncate(text.len() - 2);
        }
        text
    };
    let text = draft.text.map(|text| SinglePart::plain(content(text)));
    let html = draft.html.map(|html| SinglePart::html(content(html)));
    let both = match (text, html) {
        (Some(text), Some(html)) => {
            let both = parts(MultiPartKind::Alternative, "either");
            Ok(both.singlepart(text).singlepart(html))
        }
        (Some(one), None) | (None, Some(one)) => Err(one),
        (None, None) => Err(SinglePart::plain(String::new())),
    };
    if draft.files.is_empty() {
        return match both {
            Ok(both) => both.formatted(),
            Err(one) => one.formatted(),
        };
    }
    let mut all = parts(MultiPartKind::Mixed, "part");
    all = match both {
        Ok(both) => all.multipart(both),
        Err(one) => all.singlepart(one),
    };
    for file in draft.files {
        // Bytes always go as base64, so a file arrives as it was to the last byte.
        let part = Attachment::new(file.name).body(file.content, file.content_type);
        all = all.singlepart(part);
    }
    all.formatted()
}

/// What parts are told apart by: the same content gives the same one, and no content can hold a
/// hash of itself.
fn mark(draft: &Draft) -> String {
    let mut hasher = blake3::Hasher::new();
    for text in draft.text.iter().chain(&draft.html) {
        hasher.update(text.as_bytes());
    }
    for file in &draft.files {
        hasher.update(&file.content);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The text with one kind of line end.
fn crlf(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    lines.replace('\n', "\r\n")
}

fn check_lines(bytes: &[u8]) -> Result<(), MessageError> {
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r\n").ok_or(MessageError::Bare)?;
        if line.iter().any(|byte| matches!(byte, b'\r' | b'\0')) {
            return Err(MessageError::Bare);
        }
        if line.len() > MOST_LINE {
            return Err(MessageError::LongLine);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
