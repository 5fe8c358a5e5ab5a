//! The known senders: where each puts the identity and the time of an event, what it asks before
//! it trusts a hook, and how it wraps what it sends.
//!
//! Owns these facts, taken from the senders' own documentation. Leaves signatures to `verify`,
//! bytes to `intake`, and how long a sender goes on resending to `Preset::retry_horizon`.
//!
//! The invariant: an event's identity is what its sender repeats when it delivers the same event
//! again. Where that is in the body or signed it is as good as the signature; GitHub, Shopify and
//! generic senders put it into a header that nobody signs, so whoever can replay a delivery can
//! give it another identity. A flow that must not care writes its own `key` from the body.

use std::borrow::Cow;
use std::fmt;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use semel_flow::Value;
use semel_flow::model::Preset;
use semel_ledger::{Key, KeyError, Time};

use crate::body::Kind;
use crate::code::Code;
use crate::out::Object;
use crate::problem::Problem;
use crate::timestamp;

#[cfg(test)]
mod tests;

/// Where a sender puts something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a header.
    Header(&'static str),
    /// In the event, under these names.
    Body(&'static [&'static str]),
}

impl Place {
    /// The text that stands there.
    fn text<'v>(
        self,
        headers: &'v HeaderMap,
        event: &'v Value,
    ) -> Result<Option<Cow<'v, str>>, Problem> {
        match self {
            Place::Header(name) => header(headers, name),
            Place::Body(path) => match at(event, path) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::Text(text)) => Ok(Some(Cow::Borrowed(text))),
                Some(Value::Int(number)) => Ok(Some(Cow::Owned(number.to_string()))),
                Some(other) => {
                    let detail = format!("{self} is {}; an identity is text", other.kind());
                    Err(Problem::new(Code::KeyInvalid, detail).field(&self.to_string()))
                }
            },
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Header(name) => f.write_str(name),
            Place::Body(path) => write!(f, "event.{}", path.join(".")),
        }
    }
}

/// A sender's ways.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender {
    preset: Preset,
    /// The event's identity: the first place where there is something.
    pub(crate) ids: &'static [Place],
    /// Stands before the identity, where one identity covers several events.
    pub(crate) within: Option<&'static str>,
    /// When the event happened, which is not when it was sent.
    pub(crate) time: Option<Place>,
}

/// Something a sender asks that is no event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// Prove that you are there by saying this back.
    Challenge(String),
    /// Just see whether somebody answers.
    Ping,
}

impl Handshake {
    /// The answer that the sender waits for.
    pub(crate) fn answer(&self) -> Response {
        let mut out = Object::new();
        match self {
            Handshake::Challenge(challenge) => out.text("challenge", challenge),
            Handshake::Ping => out.text("status", "ignored"),
        };
        out.respond(StatusCode::OK)
    }
}

impl Sender {
    /// The ways of a preset's sender.
    pub(crate) fn of(preset: Preset) -> Sender {
        use Place::{Body, Header};
        let (ids, within, time): (&'static [Place], _, _) = match preset {
            Preset::Stripe => (&[Body(&["id"])], None, Some(Body(&["created"]))),
            Preset::Github => (&[Header("X-GitHub-Delivery")], None, None),
            // One act of a merchant has one event id, under whichever topics it is told.
            Preset::Shopify => (
                &[Header("X-Shopify-Event-Id"), Header("X-Shopify-Webhook-Id")],
                Some("X-Shopify-Topic"),
                Some(Header("X-Shopify-Triggered-At")),
            ),
            // Slash commands and interactions have no event id, but a trigger each.
            Preset::Slack => (
                &[Body(&["event_id"]), Body(&["trigger_id"])],
                None,
                Some(Body(&["event_time"])),
            ),
            Preset::StandardWebhooks => (&[Header("webhook-id")], None, Some(Body(&["timestamp"]))),
            Preset::Typeform => (
                &[Body(&["event_id"])],
                None,
                Some(Body(&["form_response", "submitted_at"])),
            ),
            // Not `id` of the body: with many senders that is the thing, not the event, and the
            // second change of a thing would pass for a resend of the first.
            Preset::GenericHmac | Preset::Bearer | Preset::None => (
                &[Header("Idempotency-Key"), Header("X-Event-Id")],
                None,
                None,
            ),
        };
        Sender {
            preset,
            ids,
            within,
            time,
        }
    }

    /// Whether a form whose only field is `payload` carries the event there, as JSON.
    pub(crate) fn wraps_json_in_form(&self) -> bool {
        matches!(self.preset, Preset::Slack | Preset::Github)
    }

    /// Whether the body of an answer is shown to a person: Slack says in the channel, or as an error,
    /// whatever it is answered to a command or a click, and takes only 200 for received. These come
    /// as forms; its events come as JSON.
    pub(crate) fn shows_answer(&self, headers: &HeaderMap) -> bool {
        self.preset == Preset::Slack && Kind::of(headers) == Kind::Form
    }

    /// The event's identity, if it has one. It is the same at every delivery of the event.
    pub(crate) fn event_id(
        &self,
        headers: &HeaderMap,
        event: &Value,
    ) -> Result<Option<Key>, Problem> {
        for place in self.ids {
            let Some(id) = place.text(headers, event)? else {
                continue;
            };
            let within = match self.within {
                Some(name) => Place::Header(name).text(headers, event)?,
                None => None,
            };
            let parts: Vec<_> = within.into_iter().chain([id]).collect();
            let key = Key::from_parts(&parts).map_err(|error| unfit(*place, &error))?;
            return Ok(Some(key));
        }
        Ok(None)
    }

    /// When the event happened, if its sender says so in a way that can be read.
    pub(crate) fn event_time(&self, headers: &HeaderMap, event: &Value) -> Option<Time> {
        match self.time? {
            Place::Header(name) => timestamp::parse(headers.get(name)?.to_str().ok()?),
            Place::Body(path) => match at(event, path)? {
                Value::Int(seconds) => seconds.checked_mul(1_000).map(Time),
                Value::Text(text) => timestamp::parse(text),
                _ => None,
            },
        }
    }

    /// What the sender asks, if this is no event. To be answered only once the request was
    /// verified: a challenge said back to anybody would let them claim the hook as theirs.
    pub(crate) fn handshake(&self, headers: &HeaderMap, event: &Value) -> Option<Handshake> {
        let text = |name| event.get(name).and_then(Value::as_text);
        match self.preset {
            Preset::Slack if text("type") == Some("url_verification") => {
                Some(Handshake::Challenge(text("challenge")?.to_owned()))
            }
            // Slack looks at the certificate of a slash command's address now and then.
            Preset::Slack if text("ssl_check") == Some("1") => Some(Handshake::Ping),
            Preset::Github if headers.get("x-github-event")? == "ping" => Some(Handshake::Ping),
            _ => None,
        }
    }
}

fn at<'v>(event: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(event, |value, name| value.get(name))
}

/// The one value of a header, bare or in quotes.
pub(crate) fn header<'h>(
    headers: &'h HeaderMap,
    name: &'static str,
) -> Result<Option<Cow<'h, str>>, Problem> {
    let invalid = |what: &str| {
        let detail = format!("the header {name} {what}");
        Problem::new(Code::KeyInvalid, detail).field(name)
    };
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(invalid("was sent more than once"));
    }
    let text = str::from_utf8(value.as_bytes()).map_err(|_| invalid("is not valid UTF-8"))?;
    let Some(quoted) = text.strip_prefix('"') else {
        return Ok(Some(Cow::Borrowed(text)));
    };
    match quoted.strip_suffix('"') {
        Some(bare) if !bare.contains(['"', '\\']) => Ok(Some(Cow::Borrowed(bare))),
        _ => Err(invalid("begins with a quote but is not a quoted text")),
    }
}

fn unfit(place: Place, error: &KeyError) -> Problem {
    let code = match error {
        KeyError::Blank { .. } => Code::KeyMissing,
        _ => Code::KeyInvalid,
    };
    let problem = Problem::new(code, format!("the event's identity in {place}: {error}"));
    let problem = problem.field(&place.to_string());
    match error {
        KeyError::TooLong { .. } => problem.limit(semel_ledger::key::MAX_NAME_BYTES),
        _ => problem,
    }
}
