//! What an answer, or the lack of one, says about the effect.
//!
//! | what came back | what is known |
//! |---|---|
//! | a status that is expected (2xx if nothing is said) | it happened |
//! | nothing, and no byte had left | it did not happen: never sent |
//! | 429, 408, 425, and 503 with `Retry-After` | it did not happen: transient |
//! | other 4xx, 3xx | it did not happen: refused |
//! | 302 and 303 to what is not GET or HEAD | it may have happened |
//! | other 5xx, a 2xx that is not expected, an answer that is cut or too long | it may have happened |
//! | nothing, and a byte had left | it may have happened |

use std::time::SystemTime;

use hyper::{Method, StatusCode};
use semel_act::{Answer, Failure, FailureClass, Outcome};
use semel_flow::model::Class;
use semel_ledger::Millis;

use super::answer;
use super::plan::{Message, Terms};
use super::retry_after;
use crate::outcome::failed;
use crate::outgoing::{BodyLost, Reply, Trouble};

/// Whether a repeat of that class changes nothing at the destination.
pub(super) fn only_looks(class: Class) -> bool {
    matches!(class, Class::Pure | Class::Read)
}

/// Of a request that got no answer.
pub(super) fn unanswered(trouble: &Trouble) -> Outcome {
    let message = trouble.to_string();
    match trouble {
        Trouble::Unsent(unsent) if unsent.is_permanent() => {
            failed(FailureClass::Permanent, message)
        }
        Trouble::Unsent(_) => failed(FailureClass::NeverSent, message),
        Trouble::Lost(_) => Outcome::Unknown {
            message,
            evidence: None,
        },
    }
}

/// What a status says.
enum Word {
    Happened,
    Refused,
    Transient(Option<Millis>),
    MayHaveHappened,
}

fn word(reply: &Reply, method: &Method, class: Class, expect: Option<&[u16]>) -> Word {
    let status = reply.status.as_u16();
    if expect.is_some_and(|expected| expected.contains(&status)) {
        return Word::Happened;
    }
    let looks = matches!(*method, Method::GET | Method::HEAD) || only_looks(class);
    let after = || retry_after::read(&reply.headers, SystemTime::now());
    match status {
        200..=299 if expect.is_none() => Word::Happened,
        // Done, but not as the file wants it; or "see the result over there", which is what many
        // say after they did it.
        200..=299 | 302 | 303 if !looks => Word::MayHaveHappened,
        408 | 425 | 429 => Word::Transient(after()),
        503 => after().map_or(Word::MayHaveHappened, |after| Word::Transient(Some(after))),
        200..=499 => Word::Refused,
        _ => Word::MayHaveHappened,
    }
}

/// Of a request that was answered.
pub(super) fn answered(reply: &Reply, message: &Message, terms: &Terms, class: Class) -> Outcome {
    let answer = answer::made(reply, message);
    let word = word(reply, &message.method, class, terms.expect.as_deref());
    if let (Word::Happened, Err(lost)) = (&word, &reply.body) {
        return unreadable(lost, reply.status, answer, class);
    }
    let told = || {
        let Message { method, target, .. } = message;
        let excerpt = answer::excerpt(&answer, &terms.redactor);
        format!(
            "{method} {} answered {}{excerpt}",
            target.origin, reply.status
        )
    };
    let (class, retry_after) = match word {
        Word::Happened => return Outcome::Done(answer),
        Word::MayHaveHappened => {
            return Outcome::Unknown {
                message: told(),
                evidence: Some(answer),
            };
        }
        Word::Refused => (FailureClass::Refused, None),
        Word::Transient(after) => (FailureClass::Transient, after),
    };
    Outcome::Failed(Failure {
        class,
        message: told(),
        retry_after,
        answer: Some(answer),
    })
}

/// It happened, but what was said about it is lost: done without a result would be a guess.
fn unreadable(lost: &BodyLost, status: StatusCode, answer: Answer, class: Class) -> Outcome {
    let message = format!("answered {status}, but {lost}");
    if only_looks(class) && matches!(lost, BodyLost::TooLong { .. }) {
        // It would be as long the next time.
        return Outcome::Failed(Failure {
            class: FailureClass::Permanent,
            message,
            retry_after: None,
            answer: Some(answer),
        });
    }
    Outcome::Unknown {
        message,
        evidence: Some(answer),
    }
}

/// What is known once an earlier request of the same task may have had the effect.
pub(super) fn after_an_effect(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Failed(failure) => Outcome::Unknown {
            message: format!(
                "after a redirect that may follow the effect: {}",
                failure.message
            ),
            evidence: failure.answer,
        },
        other => other,
    }
}
