//! What the end of a command says about the effect.
//!
//! | how it ended | what is known |
//! |---|---|
//! | with an exit code that is expected | it happened |
//! | with another exit code | it did not happen: refused |
//! | it could not be started | it did not happen: never sent |
//! | by a signal, by its timeout, or nobody knows how | it may have happened |
//!
//! Output over the limit is cut and told (`cut`). For a command that only looks the output is all
//! there is to it: there it is a failure, because nothing can have happened.

use semel_act::{Answer, Failure, FailureClass, Outcome};
use semel_flow::Value;
use semel_flow::model::Class;
use semel_ledger::Millis;

use crate::process::{End, Output, Unseen};
use crate::secrets::Redactor;

/// What is told with an outcome.
pub(crate) struct Told<'t> {
    /// Who ended, such as the name of the program.
    pub(crate) who: &'t str,
    pub(crate) output: &'t Output,
    pub(crate) redactor: &'t Redactor,
}

impl Told<'_> {
    /// What expressions see, with more names.
    pub(crate) fn answer<const N: usize>(
        &self,
        end: Option<End>,
        more: [(&'static str, Value); N],
    ) -> Answer {
        let Output { stdout, stderr } = self.output;
        let (status, signal) = match end {
            Some(End::Code(code)) => (Value::Int(code.into()), Value::Null),
            Some(End::Signal(signal)) => (Value::Null, Value::Int(signal.into())),
            None => (Value::Null, Value::Null),
        };
        let own = [
            ("status", status),
            ("signal", signal),
            ("stdout", stdout.value(self.redactor)),
            ("stderr", stderr.value(self.redactor)),
            ("cut", Value::Bool(stdout.is_cut() || stderr.is_cut())),
        ];
        let names = Value::map(own.into_iter().chain(more));
        Answer {
            result: names.clone(),
            names,
        }
    }

    /// A sentence about it, with the last that it wrote about trouble.
    pub(crate) fn message(&self, what: &str) -> String {
        let line = self.output.stderr.last_line(self.redactor);
        let text = if line.is_empty() {
            format!("{} {what}", self.who)
        } else {
            format!("{} {what}: {line}", self.who)
        };
        self.redactor.text(&text).into_owned()
    }
}

/// It did not happen, and nothing was said about it.
pub(crate) fn failed(class: FailureClass, message: String) -> Outcome {
    Outcome::Failed(Failure {
        class,
        message,
        retry_after: None,
        answer: None,
    })
}

/// Of a command whose end was seen.
pub(crate) fn ended(end: End, told: &Told<'_>, class: Class, expect: &[i32]) -> Outcome {
    let answer = told.answer(Some(end), []);
    let code = match end {
        End::Code(code) => code,
        End::Signal(signal) => {
            return Outcome::Unknown {
                message: told.message(&format!("was ended by signal {signal}")),
                evidence: Some(answer),
            };
        }
    };
    let cut = told.output.stdout.is_cut() || told.output.stderr.is_cut();
    let failure = |class, message| {
        Outcome::Failed(Failure {
            class,
            message,
            retry_after: None,
            answer: Some(answer.clone()),
        })
    };
    if !expect.contains(&code) {
        let message = told.message(&format!("ended with exit code {code}"));
        return failure(FailureClass::Refused, message);
    }
    if cut && matches!(class, Class::Pure | Class::Read) {
        let message = format!("{} wrote more than `output` lets it; raise it", told.who);
        return failure(FailureClass::Permanent, message);
    }
    Outcome::Done(answer)
}

/// Of a command that may have begun, and whose end was not seen.
pub(crate) fn unseen(unseen: &Unseen, told: &Told<'_>, within: Millis) -> Outcome {
    match unseen {
        Unseen::NeverStarted(error) => failed(
            FailureClass::NeverSent,
            told.message(&format!("cannot be started ({error})")),
        ),
        Unseen::Lost(error) => Outcome::Unknown {
            message: told.message(&format!("was lost sight of ({error})")),
            evidence: Some(told.answer(None, [])),
        },
        Unseen::TimedOut => Outcome::Unknown {
            message: told.message(&format!("did not end within {within}, and was ended")),
            evidence: Some(told.answer(None, [])),
        },
    }
}
