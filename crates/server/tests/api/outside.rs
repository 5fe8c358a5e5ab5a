//! The world outside: a destination that counts what reaches it, and secrets.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use semel_act::{
    Answer, Breaker, Destination, Failure, FailureClass, LATENCIES, Outcome, Perform, Performing,
    SecretSet, Secrets, Task, Trace,
};
use semel_flow::Value;
use semel_ledger::Millis;
use tokio::sync::watch;

/// What the destination does with what reaches it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mood {
    /// It is done.
    #[default]
    Does,
    /// It says no.
    Refuses,
    /// The answer is lost.
    Mute,
}

/// A destination.
#[derive(Debug)]
pub(crate) struct Sink {
    seen: Mutex<Vec<String>>,
    arrived: watch::Sender<usize>,
    /// While true, nothing is answered.
    pub(crate) holds: watch::Sender<bool>,
    mood: Mutex<Mood>,
    /// How the next calls go, before its mood counts.
    next: Mutex<VecDeque<Mood>>,
}

impl Default for Sink {
    fn default() -> Sink {
        Sink {
            seen: Mutex::default(),
            arrived: watch::Sender::new(0),
            holds: watch::Sender::new(false),
            mood: Mutex::default(),
            next: Mutex::default(),
        }
    }
}

impl Sink {
    /// The addresses that were called, in order.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until so many calls have come.
    pub(crate) async fn reached(&self, calls: usize) {
        let mut arrived = self.arrived.subscribe();
        arrived.wait_for(|count| *count >= calls).await.unwrap();
    }

    pub(crate) fn feels(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// The next calls go like this, one by one.
    pub(crate) fn then(&self, moods: &[Mood]) {
        self.next.lock().unwrap().extend(moods);
    }
}

impl Perform for Sink {
    /// Always the same one, as if much had happened.
    fn destinations(&self) -> Vec<Destination> {
        let mut took = [0; LATENCIES.len() + 1];
        took[2] = 7;
        vec![Destination {
            name: "sink.example:443".to_owned(),
            calls: 7,
            failed: 2,
            unknown: 1,
            took,
            took_in_all: Millis(100),
            open: 1,
            waiting: 0,
            rate: Some("10/1s".to_owned()),
            concurrency: Some(64),
            breaker: Breaker::Open(Millis::seconds(9)),
        }]
    }

    fn perform<'a>(&'a self, task: &'a Task, trace: &'a dyn Trace) -> Performing<'a> {
        Box::pin(async move {
            trace.sent();
            let url = task.input.get("url").and_then(Value::as_text);
            let url = url.unwrap_or_default().to_owned();
            self.seen.lock().unwrap().push(url);
            self.arrived.send_modify(|count| *count += 1);
            let mut holds = self.holds.subscribe();
            let _ = holds.wait_for(|holds| !holds).await;
            let next = self.next.lock().unwrap().pop_front();
            let mood = next.unwrap_or(*self.mood.lock().unwrap());
            match mood {
                Mood::Does => Outcome::Done(Answer {
                    names: Value::map([("status", Value::Int(200))]),
                    result: Value::text("made"),
                }),
                Mood::Refuses => Outcome::Failed(Failure {
                    class: FailureClass::Refused,
                    message: "the destination said 422".to_owned(),
                    retry_after: None,
                    answer: None,
                }),
                Mood::Mute => Outcome::Unknown {
                    message: "the connection ended before the answer".to_owned(),
                    evidence: None,
                },
            }
        })
    }
}

/// Secrets by name.
#[derive(Debug, Default)]
pub(crate) struct Environment(Mutex<SecretSet>);

impl Environment {
    pub(crate) fn put(&self, name: &str, value: &str) {
        let mut set = self.0.lock().unwrap();
        *set = SecretSet::from_iter([(name, value)]).over(&set);
    }

    pub(crate) fn remove(&self, name: &str) {
        let mut set = self.0.lock().unwrap();
        let rest = set.iter().filter(|(other, _)| &***other != name);
        let rest = rest.map(|(name, value)| (Arc::clone(name), Arc::clone(value)));
        *set = rest.collect();
    }
}

impl Secrets for Environment {
    fn now(&self) -> SecretSet {
        self.0.lock().unwrap().clone()
    }
}
