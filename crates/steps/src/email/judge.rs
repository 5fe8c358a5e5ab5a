//! What the end of a conversation says about the mail.
//!
//! | how it ended | what is known |
//! |---|---|
//! | 2xx to the end of the message | it happened: the server answers for it from now on |
//! | no connection, or cut before the end of the message was said | it did not happen: never sent |
//! | 4xx to anything | it did not happen: transient |
//! | 5xx to anything, a recipient that is refused, an ability that is missing | it did not happen: refused |
//! | a forbidden address | it did not happen: permanent |
//! | no reply to the end of the message, or one that is none, or 421 | it may have happened |

use std::io;

use semel_act::{Answer, Failure, FailureClass, Outcome};
use semel_flow::Value;

use super::line::Reply;
use super::message::Finished;
use super::talk::End;
use crate::secrets::Redactor;

/// What a mail's outcome is told with.
pub(super) struct Case<'c> {
    /// Host and port.
    pub(super) host: &'c str,
    pub(super) message: &'c Finished,
    pub(super) redactor: &'c Redactor,
}

impl Case<'_> {
    /// What is known.
    pub(super) fn judged(&self, ended: Result<Reply, End>) -> Outcome {
        match ended {
            Ok(reply) => Outcome::Done(self.answer(Some(&reply), &[])),
            Err(End::Lost { source }) => self.unknown(None, &lost(&source)),
            Err(End::Unclear { reply }) => {
                let said = format!("answered {} to it", reply.told(self.redactor));
                self.unknown(Some(&reply), &said)
            }
            Err(End::Recipients(refused)) => self.recipients(&refused),
            Err(End::No { to, reply }) => self.said_no(to, &reply),
            Err(End::Interrupted { reply }) => self.said_no("a part of the message", &reply),
            Err(End::Lacks(what)) => {
                let message = format!("{} {what}", self.host);
                Self::failed(FailureClass::Refused, message, None)
            }
            Err(End::Cut { at, source }) => {
                let message = format!("{} {} at {at}; no mail was sent", self.host, lost(&source));
                Self::failed(FailureClass::NeverSent, message, None)
            }
            Err(End::Unreached(unsent)) => {
                let class = if unsent.is_permanent() {
                    FailureClass::Permanent
                } else {
                    FailureClass::NeverSent
                };
                Self::failed(class, unsent.to_string(), None)
            }
        }
    }

    fn said_no(&self, to: &str, reply: &Reply) -> Outcome {
        let message = format!(
            "{} answered {} to {to}",
            self.host,
            reply.told(self.redactor)
        );
        let class = if reply.is_transient() {
            FailureClass::Transient
        } else {
            FailureClass::Refused
        };
        Self::failed(class, message, Some(self.answer(Some(reply), &[])))
    }

    /// One that will never be taken makes the whole mail one that will never be.
    fn recipients(&self, refused: &[(String, Reply)]) -> Outcome {
        let told: Vec<_> = refused
            .iter()
            .map(|(address, reply)| format!("{address} ({})", reply.told(self.redactor)))
            .collect();
        let message = format!(
            "{} refused {} of {} recipients: {}; nothing was sent to anybody",
            self.host,
            refused.len(),
            self.message.recipients.len(),
            told.join(", ")
        );
        let lasting = refused.iter().find(|(_, reply)| !reply.is_transient());
        let class = match lasting {
            Some(_) => FailureClass::Refused,
            None => FailureClass::Transient,
        };
        let said = lasting.or(refused.first()).map(|(_, reply)| reply);
        let answer = self.answer(said, refused);
        Self::failed(class, message, Some(answer))
    }

    fn unknown(&self, reply: Option<&Reply>, said: &str) -> Outcome {
        let Case { host, message, .. } = self;
        let id = &message.message_id;
        let message = format!("the end of the message {id} was sent to {host}, which {said}");
        Outcome::Unknown {
            message,
            evidence: Some(self.answer(reply, &[])),
        }
    }

    fn failed(class: FailureClass, message: String, answer: Option<Answer>) -> Outcome {
        Outcome::Failed(Failure {
            class,
            message,
            retry_after: None,
            answer,
        })
    }

    /// What expressions see.
    fn answer(&self, reply: Option<&Reply>, refused: &[(String, Reply)]) -> Answer {
        let done = reply.is_some_and(Reply::is_good);
        let recipients = if done {
            &self.message.recipients[..]
        } else {
            &[]
        };
        let accepted = recipients.iter().map(|it| Value::text(it)).collect();
        let refused = refused
            .iter()
            .map(|(address, reply)| {
                let told = Value::text(&reply.told(self.redactor));
                Value::map([("address", Value::text(address)), ("reply", told)])
            })
            .collect();
        let told = reply.map_or(Value::Null, |reply| Value::text(&reply.told(self.redactor)));
        let message_id = Value::text(&self.message.message_id);
        let result = [
            ("accepted", Value::list(accepted)),
            ("message_id", message_id),
            ("reply", told),
        ];
        let code = reply.map_or(Value::Null, |reply| Value::Int(reply.code.into()));
        let more = [("code", code), ("refused", Value::list(refused))];
        let names = Value::map(result.clone().into_iter().chain(more));
        Answer {
            names,
            result: Value::map(result),
        }
    }
}

fn lost(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::TimedOut => "did not answer in time".to_owned(),
        io::ErrorKind::UnexpectedEof => "hung up".to_owned(),
        _ => format!("was lost ({source})"),
    }
}
