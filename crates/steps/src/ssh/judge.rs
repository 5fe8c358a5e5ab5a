//! What the end of a session says about the effect.
//!
//! | when and how it ended | what is known |
//! |---|---|
//! | nobody there, no connection | it did not happen: never sent |
//! | a host key that is not the one, a key that is not taken | it did not happen: permanent |
//! | let in, but not greeted | somebody else's command may have run: it may have happened |
//! | after our word, with an exit code | as the code says |
//! | after our word, with 255, by a signal or by its timeout | it may have happened |

use semel_act::{Answer, FailureClass, Outcome};
use semel_flow::Value;
use semel_flow::model::Class;
use semel_ledger::{EffectId, Millis};

use super::plan::{Plan, Work};
use super::script;
use crate::command::{self, Told};
use crate::process::{End, Output, Unseen};

/// What `ssh` says of a host that it has no key of.
const NEW_HOST: &str = "host key is known for";
/// What `ssh` says when the host is not the one that was meant.
const WRONG_HOST: [&str; 3] = [
    "Host key verification failed",
    "REMOTE HOST IDENTIFICATION HAS CHANGED",
    "no matching host key type found",
];
/// What `ssh` says when we are not let in, now or later.
const NOT_LET_IN: [&str; 3] = [
    "Permission denied",
    "Too many authentication failures",
    "No more authentication methods",
];
const LET_IN: &str = "Authenticated to ";
/// What `ssh` says also when nothing is wrong.
const ROUTINE: [&str; 3] = [LET_IN, "Transferred: ", "Bytes per second: "];
/// `ssh`'s own exit code, when there is none of the command.
const OWN: i32 = 255;

/// A session that is over.
pub(super) struct Session<'s> {
    pub(super) plan: &'s Plan,
    pub(super) class: Class,
    pub(super) within: Millis,
    /// What `ssh` itself had to say.
    pub(super) log: String,
    pub(super) output: &'s Output,
}

/// No address was found.
pub(super) fn nowhere(host: &str) -> Outcome {
    let message = format!("the name {host} has no address that could be found in time");
    command::failed(FailureClass::NeverSent, message)
}

impl Session<'_> {
    fn told<T>(&self, tell: impl FnOnce(&Told<'_>) -> T) -> T {
        tell(&Told {
            who: &format!("the command on {}", self.plan.host),
            output: self.output,
            redactor: &self.plan.redactor,
        })
    }

    /// The last that `ssh` had to say about trouble.
    fn trouble(&self) -> String {
        let lines = self.log.lines().map(str::trim);
        let mut lines = lines.filter(|line| !ROUTINE.iter().any(|it| line.starts_with(it)));
        let line = lines.rfind(|line| !line.is_empty());
        let line = line.unwrap_or("ssh said nothing about it");
        self.plan.redactor.text(line).into_owned()
    }

    fn says(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.log.contains(word))
    }

    /// It ended before our word to go on.
    pub(super) fn before(&self, ended: Result<End, Unseen>) -> Outcome {
        let host = &self.plan.host;
        if self.says(&[LET_IN]) {
            return Outcome::Unknown {
                message: format!(
                    "{host} let us in, but did not run what it was sent; \
                     a command that it forces may have run: {}",
                    self.trouble()
                ),
                evidence: Some(self.told(|told| told.answer(ended.ok(), []))),
            };
        }
        let (class, message) = match ended {
            _ if self.says(&[NEW_HOST]) => {
                let why = "no host key is known for it; pin `host_key`, or add it to known_hosts";
                (
                    FailureClass::Permanent,
                    format!("{host} is not trusted: {why}"),
                )
            }
            _ if self.says(&WRONG_HOST) => {
                let why = "its host key is not the one that is known for it";
                (
                    FailureClass::Permanent,
                    format!("{host} is not trusted: {why}"),
                )
            }
            _ if self.says(&NOT_LET_IN) => {
                let user = &self.plan.user;
                let why = self.trouble();
                (
                    FailureClass::Permanent,
                    format!("{host} does not let {user} in: {why}"),
                )
            }
            Err(Unseen::NeverStarted(error)) => (
                FailureClass::NeverSent,
                format!("ssh cannot be started: {error}"),
            ),
            Err(Unseen::TimedOut) => {
                let why = format!("no session within {}", self.within);
                (
                    FailureClass::NeverSent,
                    format!("cannot reach {host}: {why}"),
                )
            }
            Ok(_) | Err(Unseen::Lost(_)) => (
                FailureClass::NeverSent,
                format!("cannot reach {host}: {}", self.trouble()),
            ),
        };
        command::failed(class, message)
    }

    /// It ended after our word to go on.
    pub(super) fn after(&self, ended: Result<End, Unseen>) -> Outcome {
        match (ended, &self.plan.work) {
            (Err(unseen), _) => self.told(|told| command::unseen(&unseen, told, self.within)),
            (Ok(end @ (End::Code(OWN) | End::Signal(_))), _) => Outcome::Unknown {
                message: format!(
                    "the connection to {} was lost, or the command ended by a signal or with 255: {}",
                    self.plan.host,
                    self.trouble()
                ),
                evidence: Some(self.told(|told| told.answer(Some(end), []))),
            },
            (Ok(end), Work::Run { expect, .. }) => {
                self.told(|told| command::ended(end, told, self.class, expect))
            }
            (Ok(End::Code(code)), Work::Start { effect, .. }) => self.started(code, effect),
            (Ok(End::Code(code)), Work::Status { .. }) => self.status(code),
        }
    }

    /// What the script says that starts work once.
    fn started(&self, code: i32, effect: &EffectId) -> Outcome {
        let host = &self.plan.host;
        let said = String::from_utf8_lossy(&self.output.stdout.bytes);
        let state = said.trim();
        let refused = |message: String| command::failed(FailureClass::Refused, message);
        match (code, state) {
            (0, "started" | "already") => Outcome::Done(named([
                ("state", Value::text(state)),
                ("key", Value::text(effect.key.as_str())),
                ("scope", Value::text(effect.scope.as_str())),
            ])),
            (0, "other") => refused(format!(
                "other work was started on {host} under the key {}; give this its own `key`",
                effect.key
            )),
            (script::NO_DIRECTORY, _) => {
                refused(self.told(|told| told.message("cannot be noted in ~/.semel")))
            }
            (script::NO_INPUT, _) => {
                refused(self.told(|told| told.message("cannot be given its input in ~/.semel")))
            }
            (script::NO_START, _) => {
                refused(self.told(|told| told.message("cannot be started there")))
            }
            _ => Outcome::Unknown {
                message: format!(
                    "~/.semel/{} on {host} is there, but whether its work began is not known",
                    script::marker(effect)
                ),
                evidence: None,
            },
        }
    }

    /// What the script says that asks how work is doing. It changes nothing.
    fn status(&self, code: i32) -> Outcome {
        let stdout = &self.output.stdout.bytes;
        let end = stdout.iter().position(|byte| *byte == b'\n');
        let line = String::from_utf8_lossy(&stdout[..end.unwrap_or(0)]);
        let mut words = line.split(' ');
        let (state, ended) = (words.next().unwrap_or_default(), words.next());
        if code != 0 || state.is_empty() {
            let message = self.told(|told| told.message("did not say how the work is doing"));
            return command::failed(FailureClass::Refused, message);
        }
        let limit = self.plan.limit;
        let output = Output {
            stdout: self.output.stdout.after(end.map_or(0, |at| at + 1), limit),
            stderr: self.output.stderr.after(0, limit),
        };
        let told = Told {
            who: "the work",
            output: &output,
            redactor: &self.plan.redactor,
        };
        let ended = ended.and_then(|code| code.parse().ok()).map(End::Code);
        Outcome::Done(told.answer(ended, [("state", Value::text(state))]))
    }
}

fn named<const N: usize>(names: [(&'static str, Value); N]) -> Answer {
    let names = Value::map(names);
    Answer {
        result: names.clone(),
        names,
    }
}
