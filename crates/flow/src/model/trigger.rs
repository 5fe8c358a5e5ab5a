//! What starts a run.

use std::sync::Arc;

use semel_ledger::Millis;

use super::step::Act;
use crate::diagnostic::Spanned;
use crate::expr::{Expr, Template};

/// What starts a run.
#[derive(Clone, Debug)]
pub enum Trigger {
    /// A request from outside.
    Webhook(Box<Webhook>),
    /// The clock.
    Schedule(Schedule),
    /// The clock, and then a list to be fetched: one run for each item.
    Sync(Box<Sync>),
    /// Another flow's `emit`.
    Event {
        /// The event's name.
        name: Spanned<String>,
        /// Only if this is true.
        filter: Option<Expr>,
    },
}

/// A request from outside.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// `/hooks/…`, unique on the server.
    pub path: Spanned<String>,
    /// How its sender is recognised.
    pub verify: Verify,
    /// Only if this is true.
    pub filter: Option<Expr>,
    /// Only if nothing newer about the same thing was applied.
    pub latest: Option<Latest>,
}

/// Senders whose ways are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// `Stripe-Signature: t=…,v1=…`
    Stripe,
    /// `X-Hub-Signature-256`
    Github,
    /// `X-Shopify-Hmac-Sha256`
    Shopify,
    /// `X-Slack-Signature` with `X-Slack-Request-Timestamp`
    Slack,
    /// `webhook-id`, `webhook-timestamp`, `webhook-signature`
    StandardWebhooks,
    /// `Typeform-Signature`
    Typeform,
    /// HMAC of the body in a header of one's choice.
    GenericHmac,
    /// `Authorization: Bearer …`
    Bearer,
    /// Nobody is checked.
    None,
}

/// How a sender is recognised.
#[derive(Clone, Debug)]
pub struct Verify {
    /// By whose rules.
    pub preset: Spanned<Preset>,
    /// The secrets that are accepted, several during rotation.
    pub secrets: Secrets,
    /// Generic HMAC: which header.
    pub header: Option<String>,
    /// Generic HMAC: `hex` or `base64`.
    pub encoding: Option<String>,
    /// Generic HMAC: what stands before the digits, such as `sha256=`.
    pub prefix: Option<String>,
    /// How old a signed time may be; left out, the preset's.
    pub tolerance: Option<Millis>,
}

/// Names of secrets.
pub type Secrets = Vec<Spanned<String>>;

/// Only if nothing newer about the same thing was applied.
#[derive(Clone, Debug)]
pub struct Latest {
    /// Which thing.
    pub of: Template,
    /// Its version: a whole number or a time.
    pub version: Expr,
}

/// The clock.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// When.
    pub timing: Timing,
    /// What of ticks that passed while nobody was there.
    pub missed: Missed,
}

/// When.
#[derive(Clone, Debug)]
pub enum Timing {
    /// Five fields, in a time zone. A time that a clock change skips fires at the change; one that
    /// it repeats fires once, the first time.
    Cron {
        /// The fields.
        cron: Spanned<String>,
        /// The zone; `UTC` if left out.
        zone: Spanned<String>,
    },
    /// Every so often, counted from 1970.
    Every(Spanned<Millis>),
}

/// What of ticks that passed while nobody was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missed {
    /// They are gone.
    Skip,
    /// The latest of them, once.
    #[default]
    Once,
    /// All of them, in order, up to a thousand.
    All,
}

/// A list to be fetched on a schedule, one run for each item.
#[derive(Clone, Debug)]
pub struct Sync {
    /// When.
    pub schedule: Schedule,
    /// From where.
    pub fetch: Fetch,
    /// Over an answer: the items.
    pub items: Expr,
    /// The identity of an item (`item` is its name).
    pub key: Template,
    /// Over an answer: where the next page or the next fetch goes on (`cursor` is its name).
    pub cursor: Option<Expr>,
    /// Over an answer: whether there is another page right now; left out, when the cursor moved and
    /// there were items.
    pub more: Option<Expr>,
}

/// From where a list is fetched.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// The call; of class read.
    pub act: Arc<Act>,
}

impl Preset {
    /// All presets, in the order of the documentation.
    pub const ALL: [Preset; 9] = [
        Preset::Stripe,
        Preset::Github,
        Preset::Shopify,
        Preset::Slack,
        Preset::StandardWebhooks,
        Preset::Typeform,
        Preset::GenericHmac,
        Preset::Bearer,
        Preset::None,
    ];

    /// The word for it in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Preset::Stripe => "stripe",
            Preset::Github => "github",
            Preset::Shopify => "shopify",
            Preset::Slack => "slack",
            Preset::StandardWebhooks => "standard-webhooks",
            Preset::Typeform => "typeform",
            Preset::GenericHmac => "generic-hmac",
            Preset::Bearer => "bearer",
            Preset::None => "none",
        }
    }

    /// How long the sender goes on to resend what was not answered. Where a sender's documentation
    /// is vague the longer reading is taken: a key that is remembered too long costs a row, one
    /// that is forgotten too early a duplicate.
    #[must_use]
    pub fn retry_horizon(self) -> Option<Millis> {
        const HOUR: u64 = 3_600;
        match self {
            // Live mode: "up to three days with an exponential back off". By hand any event of the
            // last 30 days can be sent again, which is a person's decision. GitHub resends only by
            // hand or by script, from its list of the last three days.
            Preset::Stripe | Preset::Github => Some(Millis::days(3)),
            // 8 times over 4 hours since 10 September 2024; before that 19 times over 48 hours.
            Preset::Shopify => Some(Millis::seconds(4 * HOUR)),
            // At once, after one and after five minutes; apps that turned on delayed events get
            // them once an hour for another day.
            Preset::Slack => Some(Millis::seconds(24 * HOUR + 360)),
            // The specification asks for "multiple days"; its example ends after 75 h 35 min, to
            // which jitter comes. Five days leave room for senders that take their time.
            Preset::StandardWebhooks => Some(Millis::days(5)),
            // About ten hours, by status; a day leaves room.
            Preset::Typeform => Some(Millis::days(1)),
            Preset::GenericHmac | Preset::Bearer | Preset::None => None,
        }
    }
}
