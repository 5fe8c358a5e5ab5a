//! How each kind of step acts on the world.
//!
//! Owns the protocols ([`Kind`]) and what leaves this machine on their behalf: every
//! connection (`outgoing`), every secret that is put into a request, and how hard a destination
//! is pressed (`limits`). Knows nothing of runs, flows' control steps, stores or when to repeat:
//! it performs one task once and says what is known about its effect.
//!
//! The invariant: an outcome is judged by bytes, not by guesses. Whatever failed before a byte of
//! the request could leave was never sent; whatever failed after is unknown, unless the
//! destination said otherwise.

mod ai;
mod amiss;
mod command;
mod email;
mod exec;
mod http;
mod limits;
mod notify;
mod outcome;
mod outgoing;
mod post;
mod process;
mod secrets;
mod sql;
mod ssh;

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use semel_act::{
    Destination, Failure, FailureClass, Outcome, Perform, Performing, Secrets, Task, Trace,
};
use semel_flow::Value;
use semel_flow::model::{Act, Kind};

pub use ai::{Api, Model, ModelError, Models, Price, PriceError};
pub use email::{AddressError, SmtpError, SmtpLogin, SmtpServer, SmtpServers, SmtpTls};
pub use exec::ExecSettings;
pub use limits::{
    BreakerSettings, BreakerState, CallStats, DestinationLimits, DestinationState, LimitSettings,
    Rate,
};
pub use notify::NotifySettings;
pub use outgoing::{OutgoingRules, Proxy, ProxyError, ProxyUrlError, RulesError};
pub use post::{PostError, Poster, PosterError};
pub use secrets::{EnvSecrets, SecretsError};
pub use sql::{Connection, ConnectionError, Connections, Database, receipts_sql};
pub use ssh::SshSettings;

/// What steps are given.
pub struct Settings {
    /// Which addresses may be reached.
    pub rules: OutgoingRules,
    /// What requests of `http` and `notify` steps go through.
    pub proxy: Option<Proxy>,
    /// How hard destinations may be pressed.
    pub limits: LimitSettings,
    /// Where secrets come from.
    pub secrets: Arc<dyn Secrets>,
    /// Certificates that are trusted beside the system's.
    pub roots: Vec<CertificateDer<'static>>,
    /// The mail servers that flows may name.
    pub smtp: SmtpServers,
    /// Where messages to people go.
    pub notify: NotifySettings,
    /// Which programs may be run.
    pub exec: ExecSettings,
    /// How other machines are reached.
    pub ssh: SshSettings,
    /// The databases that `sql` steps may use; no others.
    pub connections: Connections,
    /// The models that `ai` steps may name; no others.
    pub models: Models,
}

impl Settings {
    /// Only public addresses, the default limits, no certificates but the system's; no mail
    /// servers, no databases, no programs, no models.
    #[must_use]
    pub fn new(secrets: Arc<dyn Secrets>) -> Settings {
        Settings {
            rules: OutgoingRules::default(),
            proxy: None,
            limits: LimitSettings::default(),
            secrets,
            roots: Vec::new(),
            smtp: SmtpServers::default(),
            notify: NotifySettings::default(),
            exec: ExecSettings::default(),
            ssh: SshSettings::default(),
            connections: Connections::new(),
            models: Models::default(),
        }
    }
}

/// Performs tasks on the real world.
pub struct Steps {
    email: email::Email,
    http: http::Http,
    notify: notify::Notify,
    exec: exec::Exec,
    ssh: ssh::Ssh,
    sql: sql::Sql,
    ai: ai::Ai,
    secrets: Arc<dyn Secrets>,
}

impl Steps {
    /// Ready to perform; connects to nothing yet.
    #[must_use]
    pub fn new(mut settings: Settings) -> Steps {
        let connections = std::mem::take(&mut settings.connections);
        let secrets = Arc::clone(&settings.secrets);
        Steps {
            sql: sql::Sql::new(connections, secrets, &settings.roots),
            email: email::Email::new(&settings),
            notify: notify::Notify::new(std::mem::take(&mut settings.notify)),
            exec: exec::Exec::new(
                std::mem::take(&mut settings.exec),
                Arc::clone(&settings.secrets),
            ),
            ssh: ssh::Ssh::new(
                std::mem::take(&mut settings.ssh),
                settings.rules.clone(),
                Arc::clone(&settings.secrets),
            ),
            ai: ai::Ai::new(
                std::mem::take(&mut settings.models),
                Arc::clone(&settings.secrets),
            ),
            secrets: Arc::clone(&settings.secrets),
            http: http::Http::new(settings),
        }
    }
}

impl Perform for Steps {
    fn perform<'a>(&'a self, task: &'a Task, trace: &'a dyn Trace) -> Performing<'a> {
        let performing: Performing<'a> = match task.act.kind {
            // Whoever lets shadows run tells what they would have done; here nothing of theirs may arrive.
            _ if task.act.shadow.is_some() => Box::pin(std::future::ready(unknown_kind("shadow"))),
            Kind::Http => Box::pin(self.http.perform(task, trace)),
            Kind::Email => Box::pin(self.email.perform(task, trace)),
            Kind::Notify => Box::pin(self.notify.perform(&self.http, task, trace)),
            Kind::Exec => Box::pin(self.exec.perform(task, trace)),
            Kind::Ssh => Box::pin(self.ssh.perform(task, trace)),
            Kind::Sql => Box::pin(self.sql.perform(task, trace)),
            Kind::Ai => Box::pin(self.ai.perform(&self.http, task, trace)),
            // The engine does it in the store.
            Kind::Kv => Box::pin(std::future::ready(unknown_kind("kv"))),
            Kind::Other(name) => Box::pin(std::future::ready(unknown_kind(name))),
        };
        // Here all outcomes pass, whatever their kind.
        secrets::taken_out(&*self.secrets, performing)
    }

    fn identity(&self, act: &Act, input: &Value) -> Result<Option<Value>, String> {
        match act.kind {
            Kind::Ai => self.ai.identity(input).map(Some),
            _ => Ok(None),
        }
    }

    fn destinations(&self) -> Vec<Destination> {
        let mut states = self.http.destinations();
        states.extend(self.email.destinations());
        states.into_iter().map(Destination::from).collect()
    }
}

/// A kind that only others can perform.
fn unknown_kind(name: &str) -> Outcome {
    Outcome::Failed(Failure {
        class: FailureClass::Permanent,
        message: format!("there are no steps of the kind `{name}` here"),
        retry_after: None,
        answer: None,
    })
}
