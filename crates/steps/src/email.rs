//! `email`: one mail over SMTP, and what the conversation says about it.
//!
//! Owns the servers that a flow may name ([`settings`]), the fields of the step ([`fields`]), the
//! message ([`message`]), the conversation ([`open`], [`talk`]) and the judgement over it ([`judge`]). Sockets
//! come from [`crate::outgoing`]; a turn at the server is waited for in [`crate::limits`].
//!
//! The invariant: one task is one conversation, and whatever ended it before the end of the message
//! was said left no mail behind.

mod abilities;
mod address;
mod fields;
mod files;
mod judge;
mod line;
mod message;
mod open;
mod settings;
mod talk;

use std::sync::Arc;
use std::time::Duration;

use lettre::message::Mailbox;
use semel_act::{FailureClass, Outcome, Secrets, Task, Trace};
use semel_flow::value::Piece;
use tokio::time::Instant;

use crate::Settings;
use crate::limits::{DestinationState, Ended, Limits};
use crate::outcome::{failed, held, is_healthy};
use crate::outgoing::{Connector, Origin, OutgoingRules, Service};
use crate::secrets::{Filler, MissingSecret, Redactor};
use fields::{Draft, FieldError};
use judge::Case;
use message::{Finished, MessageError};
use open::Party;
use talk::End;

pub use address::AddressError;
pub use settings::{SmtpError, SmtpLogin, SmtpServer, SmtpServers, SmtpTls};

/// The server that is used if a step names none.
const DEFAULT: &str = "default";

/// Performs `email` tasks.
pub(crate) struct Email {
    servers: SmtpServers,
    connector: Connector,
    limits: Limits,
    secrets: Arc<dyn Secrets>,
}

/// Why there is nothing that could be sent.
#[derive(Debug, thiserror::Error)]
enum Unready {
    #[error(transparent)]
    Field(#[from] FieldError),
    #[error(transparent)]
    Message(#[from] MessageError),
    #[error("there is no mail server `{via}`; configured are: {there}")]
    NoServer { via: String, there: String },
    #[error("email has no `from`, and the mail server `{via}` has none either")]
    NoSender { via: String },
    #[error("the password of the mail server `{via}`: {source}")]
    Password { via: String, source: MissingSecret },
}

/// A mail that is ready to go.
struct Ready<'s> {
    server: &'s SmtpServer,
    password: Option<String>,
    message: Finished,
    redactor: Redactor,
}

impl Email {
    pub(crate) fn new(settings: &Settings) -> Email {
        // Flows choose among the configured servers; where these are is the operator's word.
        let rules = OutgoingRules::anywhere();
        let roots = settings.roots.clone();
        Email {
            servers: settings.smtp.clone(),
            connector: Connector::new(rules, roots, Service::Mail),
            limits: Limits::new(settings.limits.clone()),
            secrets: Arc::clone(&settings.secrets),
        }
    }

    pub(crate) fn destinations(&self) -> Vec<DestinationState> {
        self.limits.states()
    }

    /// Performs a task once.
    pub(crate) async fn perform(&self, task: &Task, trace: &dyn Trace) -> Outcome {
        let deadline = Instant::now() + Duration::from_millis(task.timeout.0);
        let ready = match self.ready(task) {
            Ok(ready) => ready,
            Err(unready) => return failed(FailureClass::Permanent, unready.to_string()),
        };
        let origin = Origin {
            service: Service::Mail,
            tls: ready.server.tls == SmtpTls::Implicit,
            host: ready.server.host.to_ascii_lowercase().into(),
            port: ready.server.port,
        };
        let pass = match self.limits.enter(&origin, deadline).await {
            Ok(pass) => pass,
            Err(why) => return held(&why),
        };
        let party = Party {
            connector: &self.connector,
            origin: &origin,
            server: ready.server,
            password: ready.password.as_deref(),
        };
        let ended = talk::deliver(&party, &ready.message, trace, deadline).await;
        let case = Case {
            host: &origin.authority(),
            message: &ready.message,
            redactor: &ready.redactor,
        };
        // An unwilling recipient says nothing against the server.
        let of_recipients = matches!(ended, Err(End::Recipients(_)));
        let outcome = case.judged(ended);
        pass.count(Ended::of(&outcome));
        pass.report(if of_recipients {
            Some(true)
        } else {
            is_healthy(&outcome)
        });
        outcome
    }

    fn ready(&self, task: &Task) -> Result<Ready<'_>, Unready> {
        let filler = Filler::new(&*self.secrets);
        let draft = fields::read(&task.input, &filler)?;
        let via = draft.via.clone().unwrap_or_else(|| DEFAULT.to_owned());
        let server = self.servers.get(&via).ok_or_else(|| Unready::NoServer {
            via: via.clone(),
            there: self.servers.names().join(", "),
        })?;
        let sender =
            sender(&draft, server).ok_or_else(|| Unready::NoSender { via: via.clone() })?;
        let password = match &server.login {
            Some(login) => {
                let named = [Piece::Secret(login.password.as_str().into())];
                let password = filler.text(&named);
                Some(password.map_err(|source| Unready::Password {
                    via: via.clone(),
                    source,
                })?)
            }
            None => None,
        };
        let id = message::message_id(task.scope.as_ref(), task.key.as_ref(), &sender)?;
        let message = message::written(draft, &sender, id)?;
        if message.bytes.len() > server.limit {
            return Err(Unready::Message(MessageError::TooLarge {
                bytes: message.bytes.len(),
                limit: server.limit,
                via,
            }));
        }
        Ok(Ready {
            server,
            password,
            message,
            redactor: filler.redactor(),
        })
    }
}

/// Whom it is from: the step says, or the server's configuration.
fn sender(draft: &Draft, server: &SmtpServer) -> Option<Mailbox> {
    let configured = || address::read(server.from.as_deref()?).ok();
    draft.from.clone().or_else(configured)
}
