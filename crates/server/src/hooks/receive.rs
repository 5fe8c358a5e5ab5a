//! `POST /hooks/{path}`: a request from outside becomes a run, once.
//!
//! Owns the order of things (recognise, read, filter, identify, start) and the answers. Whatever a
//! flow's own expressions cannot decide is filed for a person and acknowledged: an error would only
//! make the sender repeat it. The invariant: what was acknowledged is durable, and nothing that was
//! rightly signed is dropped without a trace, except by a filter that says so.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use semel_engine::intake::{newest, passes};
use semel_engine::journal::{Headers, Origin};
use semel_engine::start::Incoming;
use semel_flow::Value;
use semel_ledger::json::Canonical;
use semel_ledger::{Fence, Key, Time};
use semel_store::Store;
use semel_store::run::{Lane, Latest};
use semel_store::store::random_bytes;

use super::door::{Door, Hook};
use super::intake::{Event, kept};
use super::senders::Sender;
use crate::accept::{self, Accepted, Arrival, First};
use crate::app::App;
use crate::body;
use crate::code::Code;
use crate::metrics::EventStatus;
use crate::out::Object;
use crate::problem::Problem;
use crate::timestamp;

/// `POST /hooks/{path}`
pub(crate) async fn receive(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, Problem> {
    let live = app.engine.flows().live();
    let hook = Hook::at(&live, request.uri().path()).ok_or_else(nowhere)?;
    let door = app.doors.of(&hook, &app)?;
    let (parts, content) = request.into_parts();
    let (headers, limit) = (&parts.headers, app.settings.max_body);
    let (received, _room) = body::read(content, headers, &app, limit).await?;
    let verified = door
        .verifier
        .check(headers, &received, wall_time(&app.store));
    verified.inspect_err(|refused| {
        tracing::debug!(path = %hook.webhook.path.it, %refused, "a delivery was not believed");
    })?;
    let sender = Sender::of(hook.webhook.verify.preset.it);
    let Event { canonical, value } = Event::read(sender, headers, received.clone(), limit)?;
    if let Some(handshake) = sender.handshake(headers, &value) {
        return Ok(handshake.answer());
    }
    // Kept beside the event only if it cannot be told from it.
    let raw = (*received != *canonical.as_str().as_bytes()).then_some(received);
    let event = Event { canonical, value };
    let shadow = hook
        .beside(&live)
        .map(|shadow| (shadow, event.clone(), raw.clone()));
    let delivery = Delivery::new(&app, hook, &door, headers, &event.value, raw)?;
    let answer = delivery.accept(event).await?;
    if let Some((shadow, event, raw)) = shadow {
        // Whatever becomes of it, what is live has been answered for.
        let cast = Box::pin(cast(&app, shadow, headers, event, raw)).await;
        if let Err(problem) = cast {
            tracing::warn!(flow = %shadow.compiled.flow.name.it, ?problem, "a shadow did not take an event");
        }
    }
    Ok(answer)
}

/// Lets a shadow take an event that was taken beside it.
async fn cast(
    app: &Arc<App>,
    shadow: Hook<'_>,
    headers: &HeaderMap,
    event: Event,
    raw: Option<Bytes>,
) -> Result<(), Problem> {
    let door = app.doors.of(&shadow, app)?;
    let delivery = Delivery::new(app, shadow, &door, headers, &event.value, raw)?;
    delivery.accept(event).await.map(drop)
}

fn nowhere() -> Problem {
    Problem::new(Code::NotFound, "no flow has a hook at this path")
        .fix("check the path in the flow file, and that the flow is live")
}

/// Senders sign by the time on the wall; the ledger's may have been left behind by somebody who
/// set the clock.
fn wall_time(store: &Store) -> Time {
    let clock = store.clock();
    Time(clock.now().0.saturating_add(clock.wall_drift()))
}

/// The sender's name for the event. It may be unfit where the flow has a key of its own.
fn identity(
    hook: &Hook<'_>,
    sender: Sender,
    headers: &HeaderMap,
    event: &Value,
) -> Result<Option<Key>, Problem> {
    match sender.event_id(headers, event) {
        Err(_) if hook.compiled.flow.key.is_some() => Ok(None),
        id => id,
    }
}

/// The event's identity, if its flow has no key.
fn own_key(hook: &Hook<'_>, id: &Key) -> Result<Option<Key>, Problem> {
    if hook.compiled.flow.key.is_some() {
        return Ok(None);
    }
    let preset = hook.webhook.verify.preset.it.name().to_owned();
    let parts: Vec<String> = std::iter::once(preset).chain(id.parts()).collect();
    Ok(Some(Key::from_parts(&parts)?))
}

/// The delivery in words: by whose rules, which event, when it happened.
fn from(
    hook: &Hook<'_>,
    sender: Sender,
    headers: &HeaderMap,
    event: &Value,
    id: Option<&Key>,
) -> Box<str> {
    let mut text = hook.webhook.verify.preset.it.name().to_owned();
    if let Some(id) = id {
        let _ = write!(text, " {}", id.as_str());
    }
    let time = sender.event_time(headers, event);
    if let Some(time) = time.and_then(timestamp::text) {
        let _ = write!(text, " of {time}");
    }
    text.into()
}

/// A verified event.
struct Delivery<'a> {
    app: &'a Arc<App>,
    hook: Hook<'a>,
    door: &'a Door,
    event: Value,
    /// Those headers that the flow uses.
    headers: Headers,
    raw: Option<Bytes>,
    from: Box<str>,
    own_key: Option<Key>,
    /// Whatever is answered is shown to a person, who did not ask for it.
    quiet: bool,
    now: Time,
}

/// What the flow's expressions say about an event that it wants.
struct Wanted {
    key: Key,
    lane: Option<Lane>,
    latest: Option<Latest>,
}

impl<'a> Delivery<'a> {
    fn new(
        app: &'a Arc<App>,
        hook: Hook<'a>,
        door: &'a Door,
        headers: &HeaderMap,
        event: &Value,
        raw: Option<Bytes>,
    ) -> Result<Delivery<'a>, Problem> {
        let sender = Sender::of(hook.webhook.verify.preset.it);
        let id = identity(&hook, sender, headers, event)?;
        Ok(Delivery {
            app,
            hook,
            door,
            from: from(&hook, sender, headers, event, id.as_ref()),
            raw,
            own_key: id.map(|id| own_key(&hook, &id)).transpose()?.flatten(),
            event: event.clone(),
            headers: kept(&hook.compiled.headers, headers),
            quiet: sender.shows_answer(headers),
            now: app.store.now(),
        })
    }

    fn incoming(&self, canonical: Option<Canonical>) -> Incoming<'a> {
        Incoming {
            compiled: self.hook.compiled,
            id: self.app.store.new_run_id(),
            by: Origin::Webhook,
            event: self.event.clone(),
            canonical,
            raw: self.raw.as_ref().map(|raw| raw.to_vec()),
            headers: self.headers.clone(),
            at: self.now,
            from: Some(self.from.clone()),
            key: None,
            own_key: self.own_key.clone(),
            begin: false,
            remember: self.app.settings.remember,
            now: self.now,
            fence: Fence(random_bytes()),
        }
    }

    async fn accept(self, event: Event) -> Result<Response, Problem> {
        let incoming = self.incoming(Some(event.canonical));
        let (accepted, key) = match self.judge(&incoming) {
            Ok(None) => return Ok(self.answer(EventStatus::Ignored, &Object::new())),
            Ok(Some(Wanted { key, lane, latest })) => {
                let arrival = Arrival {
                    compiled: self.hook.compiled,
                    incoming,
                    key: key.clone(),
                    lane,
                    latest,
                };
                (accept::start(self.app, arrival).await?, key)
            }
            Err(why) => {
                let key = incoming.key().or_else(|_| accept::unkeyed(&incoming))?;
                let parked = Box::pin(accept::park(self.app, incoming, key.clone(), &why)).await?;
                (parked, key)
            }
        };
        let mut out = Object::new();
        let status = match accepted {
            Accepted::Started(run) => {
                out.text("run", &run.text())
                    .text("event", &run.event_text());
                EventStatus::Accepted
            }
            Accepted::Duplicate(first) => {
                first.write(&mut out);
                EventStatus::Duplicate
            }
            Accepted::Conflict(first) => {
                // Rare and large, so that it does not weigh on every event.
                Box::pin(self.file_conflict(&key, &first)).await?;
                first.write(&mut out);
                EventStatus::Conflict
            }
            Accepted::Stale => EventStatus::Stale,
            Accepted::Skipped => EventStatus::Skipped,
        };
        Ok(self.answer(status, &out))
    }

    /// What the flow's expressions say: `None` if it does not want the event, an error if they
    /// cannot tell.
    fn judge(&self, incoming: &Incoming<'_>) -> Result<Option<Wanted>, String> {
        let (webhook, names) = (self.hook.webhook, incoming.names());
        let passes = passes(webhook.filter.as_ref(), &names);
        if !passes.map_err(|error| format!("filter: {error}"))? {
            return Ok(None);
        }
        let key = incoming.key().map_err(|error| error.to_string())?;
        let lane = incoming.lane();
        let lane = lane.map_err(|error| format!("overlap: {error}"))?;
        let latest = webhook.latest.as_ref();
        let latest = latest.map(|latest| newest(latest, &names)).transpose()?;
        Ok(Some(Wanted { key, lane, latest }))
    }

    /// A payload that differs from the first under the same key is kept, once, for a person.
    async fn file_conflict(&self, key: &Key, first: &First) -> Result<(), Problem> {
        let incoming = self.incoming(None);
        let why = accept::why_conflict(&self.app.store, first, &incoming).await;
        let own = accept::conflict_key(key, &incoming)?;
        accept::park(self.app, incoming, own, &why).await.map(drop)
    }

    fn answer(&self, status: EventStatus, more: &Object) -> Response {
        self.door.counts.count(status);
        if self.quiet {
            return Response::default();
        }
        let mut out = Object::new();
        out.text("status", status.name()).append(more);
        out.respond(match status {
            EventStatus::Accepted => StatusCode::ACCEPTED,
            _ => StatusCode::OK,
        })
    }
}
