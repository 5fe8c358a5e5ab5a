//! `exec`: one program on this machine, and what its end says about the effect.
//!
//! Owns which programs may be run ([`allow`]) and what they are given. Off unless the operator
//! allows programs. The program runs in a process group of its own ([`crate::process`]).

mod allow;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use semel_act::{FailureClass, Outcome, Secrets, Task, Trace};
use tokio::time::Instant;

use crate::command::{self, FieldError, Read, Reader, Told};
use crate::process::{Output, Program};
use crate::secrets::Redactor;

const FIELDS: [&str; 6] = ["command", "env", "dir", "stdin", "output", "expect"];
/// The highest exit code that a process can have.
const MOST_CODE: i32 = 255;

/// What `exec` may do. Nothing, if nothing is said.
#[derive(Clone, Debug, Default)]
pub struct ExecSettings {
    /// The programs that may be run, and directories whose programs may be run: whole paths.
    pub allow: Vec<PathBuf>,
}

/// Performs `exec` tasks.
pub(crate) struct Exec {
    settings: ExecSettings,
    secrets: Arc<dyn Secrets>,
}

/// A task, ready to be run.
struct Plan {
    program: Program,
    /// As the file names it.
    name: String,
    stdin: Vec<u8>,
    expect: Vec<i32>,
    redactor: Redactor,
}

impl Exec {
    pub(crate) fn new(settings: ExecSettings, secrets: Arc<dyn Secrets>) -> Exec {
        Exec { settings, secrets }
    }

    /// Performs a task once.
    pub(crate) async fn perform(&self, task: &Task, trace: &dyn Trace) -> Outcome {
        let by = Instant::now() + Duration::from_millis(task.timeout.0);
        let mut plan = match self.plan(task) {
            Ok(plan) => plan,
            Err(error) => return command::failed(FailureClass::Permanent, error.to_string()),
        };
        plan.program.path = match allow::resolve(&plan.name, &self.settings.allow) {
            Ok(path) => path,
            Err(refusal) => return command::failed(refusal.class(), refusal.to_string()),
        };
        trace.sent();
        let nothing = Output::default();
        let told = |output| Told {
            who: &plan.name,
            output,
            redactor: &plan.redactor,
        };
        let mut running = match plan.program.start() {
            Ok(running) => running,
            Err(unseen) => return command::unseen(&unseen, &told(&nothing), task.timeout),
        };
        let ended = running.finish(&plan.stdin, by).await;
        let output = running.output();
        match ended {
            Ok(end) => command::ended(end, &told(&output), task.class, &plan.expect),
            Err(unseen) => command::unseen(&unseen, &told(&output), task.timeout),
        }
    }

    fn plan(&self, task: &Task) -> Read<Plan> {
        let mut reader = Reader::new("exec", &task.input, &FIELDS, &*self.secrets)?;
        let mut words = reader.command()?.into_iter();
        let name = words.next().unwrap_or_default();
        let mut env = reader.env()?;
        if let Some(key) = &task.key {
            env.push(("SEMEL_KEY".to_owned(), key.as_str().to_owned()));
        }
        env.push(("SEMEL_ATTEMPT".to_owned(), task.attempt.to_string()));
        let dir = PathBuf::from(reader.text("dir")?.unwrap_or_else(|| "/".to_owned()));
        if !dir.is_absolute() {
            return Err(FieldError::Wrong {
                field: "dir".to_owned(),
                wrong: "is not a whole path; begin it with /".to_owned(),
            });
        }
        Ok(Plan {
            program: Program {
                path: PathBuf::new(),
                arguments: words.map(Into::into).collect(),
                env,
                dir,
                limit: reader.output()?,
            },
            name,
            stdin: reader.stdin()?,
            expect: reader.expect(MOST_CODE)?,
            redactor: reader.redactor(),
        })
    }
}
