//! `ssh`: one command on another machine, and what its end says about the effect.
//!
//! Owns the talk with the remote side; the protocol is the system's own `ssh`. Addresses are judged
//! by the outgoing rules and handed to it, unless a configuration of the operator's leads to the host.
//!
//! The invariant: nothing is run before we say so. What is sent first only greets us and waits
//! ([`script`]); [`Trace::sent`] comes before our word to go on. So a connection that fails before
//! it had no effect, and one that is lost after it may have.

mod client;
mod configured;
mod judge;
mod plan;
mod script;

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use semel_act::{FailureClass, Outcome, Secrets, Task, Trace};
use tokio::time::{Instant, timeout_at};

use crate::command;
use crate::outgoing::{OutgoingRules, permitted};
use crate::process::Output;
use client::Client;
use judge::Session;
use plan::Plan;
use script::Greeting;

/// How other machines are reached.
#[derive(Clone, Debug)]
pub struct SshSettings {
    /// The system's `ssh`.
    pub program: PathBuf,
    /// The host keys that are known, for steps that pin none.
    pub known_hosts: Option<PathBuf>,
    /// The socket of an agent, for steps without an identity.
    pub agent: Option<PathBuf>,
    /// A configuration for `ssh`, such as for jump hosts. For the hosts that it leads to, it says
    /// where they are, and the outgoing rules are not asked.
    pub config: Option<PathBuf>,
}

impl Default for SshSettings {
    /// No host is known.
    fn default() -> SshSettings {
        SshSettings {
            program: "/usr/bin/ssh".into(),
            known_hosts: None,
            agent: None,
            config: None,
        }
    }
}

/// Performs `ssh` tasks.
pub(crate) struct Ssh {
    settings: SshSettings,
    rules: OutgoingRules,
    secrets: Arc<dyn Secrets>,
}

impl Ssh {
    pub(crate) fn new(
        settings: SshSettings,
        rules: OutgoingRules,
        secrets: Arc<dyn Secrets>,
    ) -> Ssh {
        Ssh {
            settings,
            rules,
            secrets,
        }
    }

    /// Performs a task once.
    pub(crate) async fn perform(&self, task: &Task, trace: &dyn Trace) -> Outcome {
        let by = Instant::now() + Duration::from_millis(task.timeout.0);
        let plan = match plan::read(task, &*self.secrets) {
            Ok(plan) => plan,
            Err(error) => return command::failed(FailureClass::Permanent, error.to_string()),
        };
        let addresses = match self.addresses(&plan, by).await {
            Ok(addresses) => addresses,
            Err(outcome) => return outcome,
        };
        let mut outcome = judge::nowhere(&plan.host);
        for address in addresses {
            outcome = self.call(&plan, address, task, trace, by).await;
            // Another address is tried only while nothing was sent to any.
            let unsent = |class| class == FailureClass::NeverSent;
            if !matches!(&outcome, Outcome::Failed(failure) if unsent(failure.class)) {
                break;
            }
        }
        outcome
    }

    /// Where the host is; `None` leaves it to the operator's configuration.
    async fn addresses(&self, plan: &Plan, by: Instant) -> Result<Vec<Option<IpAddr>>, Outcome> {
        if let Some(config) = &self.settings.config {
            match configured::leads(&self.settings, config, plan, by).await {
                Some(true) => return Ok(vec![None]),
                Some(false) => {}
                None => {
                    let message = "the configuration of `ssh` cannot be read; see ssh.config";
                    let message = message.to_owned();
                    return Err(command::failed(FailureClass::NeverSent, message));
                }
            }
        }
        let found = timeout_at(by, permitted(&self.rules, &plan.host, plan.port)).await;
        match found {
            Ok(Ok(found)) => Ok(found.iter().map(|address| Some(address.ip())).collect()),
            Ok(Err(unsent)) if unsent.is_permanent() => {
                let message = unsent.to_string();
                Err(command::failed(FailureClass::Permanent, message))
            }
            Ok(Err(unsent)) => {
                let message = unsent.to_string();
                Err(command::failed(FailureClass::NeverSent, message))
            }
            Err(_) => Err(judge::nowhere(&plan.host)),
        }
    }

    /// Calls the host at one of its addresses.
    async fn call(
        &self,
        plan: &Plan,
        address: Option<IpAddr>,
        task: &Task,
        trace: &dyn Trace,
        by: Instant,
    ) -> Outcome {
        let greeting = Greeting::new();
        let script = script::of(&plan.work, &greeting, task, plan.limit);
        let client = match Client::new(&self.settings, plan, address) {
            Ok(client) => client,
            Err(error) => return command::failed(FailureClass::NeverSent, error.to_string()),
        };
        let session = |output| Session {
            plan,
            class: task.class,
            within: task.timeout,
            log: client.log(),
            output,
        };
        let mut running = match client
            .program(script, plan.work.read_up_to(plan.limit))
            .start()
        {
            Ok(running) => running,
            Err(unseen) => return session(&Output::default()).before(Err(unseen)),
        };
        match running.says(greeting.line(), by).await {
            Ok(true) => {}
            silent => {
                // Its input ends without our word, so it does nothing.
                let ended = match silent {
                    Err(unseen) => Err(unseen),
                    Ok(_) => running.finish(&[], by).await,
                };
                return session(&running.output()).before(ended);
            }
        }
        trace.sent();
        let ended = running.finish(&plan.work.input(), by).await;
        session(&running.output()).after(ended)
    }
}
