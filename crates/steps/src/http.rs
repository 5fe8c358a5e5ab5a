//! `http`: one request, and what its answer says about the effect.
//!
//! Owns the fields of the step ([`plan`]), redirects, pages, and the judgement over what came back
//! ([`judge`]). The bytes go through [`crate::outgoing`]; a turn at the destination is waited for
//! in [`crate::limits`].

mod answer;
mod body;
mod fields;
mod headers;
mod judge;
mod paging;
mod plan;
mod redirect;
mod retry_after;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use semel_act::{FailureClass, Outcome, Secrets, Task, Trace};
use semel_flow::model::Class;
use tokio::time::Instant;

use crate::Settings;
use crate::limits::{DestinationState, Ended, Limits};
use crate::outcome::{failed, held, is_healthy};
use crate::outgoing::{Call, Client, Connector, Reply, Route, Service, Trouble};
use plan::{Message, Terms};
use redirect::Redirect;

pub(crate) use answer::{MAX_DEPTH, depth, shortened};

/// Performs `http` tasks.
pub(crate) struct Http {
    client: Client,
    limits: Limits,
    secrets: Arc<dyn Secrets>,
}

/// What all requests of one task share.
struct Journey<'t> {
    terms: Terms,
    class: Class,
    deadline: Instant,
    trace: &'t dyn Trace,
    read: AtomicUsize,
}

/// What came of one request of a task.
enum Leg {
    /// It goes on elsewhere.
    On(Redirect),
    End(Outcome),
}

impl Http {
    pub(crate) fn new(settings: Settings) -> Http {
        let secrets = Arc::clone(&settings.secrets);
        let route = settings.proxy.map(|proxy| Route { proxy, secrets });
        let connector = Connector::new(settings.rules, settings.roots, Service::Web);
        Http {
            client: Client::new(connector.through(route)),
            limits: Limits::new(settings.limits),
            secrets: settings.secrets,
        }
    }

    pub(crate) fn destinations(&self) -> Vec<DestinationState> {
        self.limits.states()
    }

    /// Performs a task once.
    pub(crate) async fn perform(&self, task: &Task, trace: &dyn Trace) -> Outcome {
        let (mut message, terms) = match plan::read(task, &*self.secrets) {
            Ok(read) => read,
            Err(error) => return failed(FailureClass::Permanent, error.to_string()),
        };
        let journey = Journey {
            deadline: Instant::now() + terms.total,
            terms,
            class: task.class,
            trace,
            read: AtomicUsize::new(0),
        };
        if let Some(paging) = &journey.terms.paging {
            return Box::pin(paging::all(
                self,
                &journey,
                paging,
                &task.act.exprs,
                message,
            ))
            .await;
        }
        self.follow(&journey, &mut message).await
    }

    /// Sends a message, and after it wherever the answers point.
    async fn follow(&self, journey: &Journey<'_>, message: &mut Message) -> Outcome {
        let mut left = journey.terms.redirects;
        let mut may_have_acted = false;
        let outcome = loop {
            let redirect = match self.leg(journey, message, left).await {
                Leg::On(redirect) => redirect,
                Leg::End(outcome) => break outcome,
            };
            left -= 1;
            may_have_acted |= redirect.may_follow_effect(message);
            if let Err(error) = redirect.turn(message) {
                break failed(FailureClass::Refused, error.to_string());
            }
        };
        if may_have_acted {
            judge::after_an_effect(outcome)
        } else {
            outcome
        }
    }

    /// Waits for a turn at the message's destination and sends it there.
    async fn leg(&self, journey: &Journey<'_>, message: &Message, left: u32) -> Leg {
        let origin = &message.target.origin;
        let pass = match self.limits.enter(origin, journey.deadline).await {
            Ok(pass) => pass,
            Err(why) => return Leg::End(held(&why)),
        };
        let leg = match self.ask(journey, message).await {
            Err(trouble) => Leg::End(judge::unanswered(&trouble)),
            Ok(reply) => match journey.redirect(&reply, message, left) {
                Some(Ok(redirect)) => Leg::On(redirect),
                Some(Err(error)) => Leg::End(failed(FailureClass::Refused, error.to_string())),
                None => {
                    let Journey { terms, class, .. } = journey;
                    Leg::End(judge::answered(&reply, message, terms, *class))
                }
            },
        };
        pass.count(match &leg {
            Leg::On(_) => Ended::Done,
            Leg::End(outcome) => Ended::of(outcome),
        });
        pass.report(match &leg {
            Leg::On(_) => Some(true),
            Leg::End(outcome) => is_healthy(outcome),
        });
        leg
    }

    async fn ask(&self, journey: &Journey<'_>, message: &Message) -> Result<Reply, Trouble> {
        let terms = &journey.terms;
        let call = Call {
            method: &message.method,
            target: &message.target,
            headers: &message.headers,
            body: &message.body,
            connect: terms.connect,
            first_byte: terms.first_byte,
            deadline: journey.deadline,
            limit: terms.limit,
            repeat_is_free: judge::only_looks(journey.class),
        };
        let reply = self.client.send(&call, journey.trace).await?;
        let bytes = reply.body.as_ref().map_or(0, Bytes::len);
        journey.read.fetch_add(bytes, Ordering::Relaxed);
        Ok(reply)
    }
}

impl Journey<'_> {
    /// How much was read in all answers so far.
    fn bytes_read(&self) -> usize {
        self.read.load(Ordering::Relaxed)
    }

    /// The redirect to follow, if the answer is one and the file wants it followed.
    fn redirect(
        &self,
        reply: &Reply,
        message: &Message,
        left: u32,
    ) -> Option<Result<Redirect, redirect::RedirectError>> {
        let expected = self.terms.expect.as_ref();
        if left == 0 || expected.is_some_and(|it| it.contains(&reply.status.as_u16())) {
            return None;
        }
        Redirect::of(reply, message)
    }
}
