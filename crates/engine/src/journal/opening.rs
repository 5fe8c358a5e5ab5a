//! What started a run, and with what.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_ledger::{Fence, Time};
use semel_store::blob::{BlobRef, INLINE_BYTES};
use serde::{Deserialize, Serialize};

use super::{Kept, text};

/// The headers of a request that a flow uses, by their names in lower case.
pub type Headers = BTreeMap<Box<str>, Box<str>>;

/// What started a run, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// What kind of trigger.
    pub by: Origin,
    /// The event as the flow sees it.
    pub event: Kept,
    /// Planned time of a tick, or when the event was received.
    #[serde(with = "text::millis")]
    pub at: Time,
    /// The sender's name for the delivery or event, or who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Box<str>>,
    /// What was received, byte for byte, if that is not the event's own text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
    /// The headers that the flow uses, of the request that it came with.
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    /// An item of a `for_each` or a called flow: what belongs to the run that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// A run that is done again: which, and what of it is taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
}

/// What was received, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Raw {
    /// In the row.
    Text(Box<str>),
    /// In the blob store: it is long, or no text.
    Blob(#[serde(with = "text::blob")] BlobRef),
}

impl Raw {
    /// Keeps what was received, giving what does not fit into the row to `contents`.
    #[must_use]
    pub fn new(bytes: Vec<u8>, contents: &mut Vec<Vec<u8>>) -> Raw {
        let kept = if bytes.len() <= INLINE_BYTES {
            String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
        } else {
            Err(bytes)
        };
        match kept {
            Ok(text) => Raw::Text(text.into()),
            Err(bytes) => {
                let blob = BlobRef::of(&bytes);
                contents.push(bytes);
                Raw::Blob(blob)
            }
        }
    }
}

/// What kind of trigger started a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A request from outside.
    Webhook,
    /// The clock.
    Schedule,
    /// A tick whose items are to be fetched.
    Fetch,
    /// One item of a fetched list.
    Sync,
    /// A person or program through the API.
    Manual,
    /// Another flow's `emit`.
    Emit,
    /// Another flow's `call`.
    Call,
    /// One item of a `for_each`.
    Item,
    /// A person who wants it done again.
    Rerun,
}

impl Opening {
    /// Who started it by hand, be it through a flow that calls this one.
    #[must_use]
    pub fn maker(&self) -> Option<&str> {
        match self.by {
            Origin::Manual | Origin::Rerun => self.from.as_deref(),
            Origin::Call => self.within.as_ref()?.maker.as_deref(),
            _ => None,
        }
    }
}

impl Origin {
    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Origin::Webhook => "webhook",
            Origin::Schedule => "schedule",
            Origin::Fetch => "fetch",
            Origin::Sync => "sync",
            Origin::Manual => "manual",
            Origin::Emit => "emit",
            Origin::Call => "call",
            Origin::Item => "item",
            Origin::Rerun => "rerun",
        }
    }
}

/// What a child run has of the run that waits for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Within {
    /// The step that waits.
    pub step: Arc<str>,
    /// The grant of the effect that stands for this child.
    #[serde(
        default,
        with = "text::fence_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub fence: Option<Fence>,
    /// A `for_each` item: its position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
    /// A called flow: who started the run that calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maker: Option<Box<str>>,
}

/// What a repeated run takes over from the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Again {
    /// The run before.
    pub of: Box<str>,
    /// Steps whose recorded result stands.
    pub reuse: Vec<(Arc<str>, Kept)>,
    /// Which of those the runs before did themselves, in the order in which they became done: they
    /// are this run's to take back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<Arc<str>>,
    /// The runs that the run before did again, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Box<str>>,
}
