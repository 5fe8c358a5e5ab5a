//! Simulated destinations: they behave as the flow says the real ones do, and they count.
//!
//! Owns what happened in the world and what it answers. A destination that dedupes on our key does so for its
//! window; one that can be asked knows what it did; all others only obey. The invariant: what is counted is what a
//! customer would have seen, whatever the ledger says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semel_act::{Answer, Failure, FailureClass, Outcome, Perform, Performing, Task, Trace};
use semel_flow::Value;
use semel_flow::model::{Class, Kind};
use semel_ledger::{Millis, Time};
use semel_store::Clock;

use crate::conductor::{Conductor, Point};
use crate::schedule::What;
use crate::stage::{Place, Role, Stage};

/// Something that happened in the world.
#[derive(Clone, Debug)]
pub(crate) struct Happened {
    pub(crate) place: usize,
    key: Option<Box<str>>,
    at: Time,
    answer: Answer,
}

/// A line of what went on, for a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When, in milliseconds from the beginning.
    pub at: i64,
    /// What.
    pub what: String,
}

/// The world of one simulation.
#[derive(Debug)]
pub(crate) struct World {
    stage: Arc<Stage>,
    pub(crate) conductor: Arc<Conductor>,
    clock: Arc<dyn Clock>,
    began: Time,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    happened: Vec<Happened>,
    lines: Vec<Line>,
}

impl World {
    pub(crate) fn new(
        stage: Arc<Stage>,
        conductor: Arc<Conductor>,
        clock: Arc<dyn Clock>,
    ) -> World {
        World {
            stage,
            conductor,
            began: clock.now(),
            clock,
            seen: Mutex::default(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells a line of the story.
    pub(crate) fn tell(&self, what: impl Into<String>) {
        let at = self.clock.now().0 - self.began.0;
        let what = what.into();
        self.seen().lines.push(Line { at, what });
    }

    pub(crate) fn lines(&self) -> Vec<Line> {
        self.seen().lines.clone()
    }

    /// How often each place was seen to do something.
    pub(crate) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.stage.places.len()];
        for happened in &self.seen().happened {
            counts[happened.place] += 1;
        }
        counts
    }

    async fn act(&self, life: u32, task: &Task, trace: &dyn Trace) -> Outcome {
        let Some(at) = self.stage.place(&task.act) else {
            return failed(FailureClass::Permanent, "the flow has no such call");
        };
        let place = &self.stage.places[at];
        let trouble = self.conductor.pass(life, Point::Act(at)).await;
        let step = &place.step;
        if let Some(What::Crash { power }) = trouble {
            self.tell(format!("{step}: {} before anything was sent", died(power)));
            return self.conductor.die(life, power).await;
        }
        trace.sent();
        if trouble == Some(What::Refused) {
            self.tell(format!("{step}: the destination says no"));
            return failed(FailureClass::Refused, "the destination says no");
        }
        if place.class == Class::Read {
            return self.asked(place, task, trouble, life).await;
        }
        match trouble {
            Some(What::CrashSent { power }) => {
                self.tell(format!("{step}: sent, {}; nothing came of it", died(power)));
                self.conductor.die(life, power).await
            }
            Some(What::LostRequest) => {
                self.tell(format!("{step}: sent, and lost on the way"));
                lost("no answer came", None)
            }
            trouble => self.done(at, task, trouble, life).await,
        }
    }

    /// It happens; who hears of it is another matter.
    async fn done(&self, at: usize, task: &Task, trouble: Option<What>, life: u32) -> Outcome {
        let place = &self.stage.places[at];
        let (answer, again) = self.happens(at, task);
        let verb = match (again, place.role) {
            (true, _) => "sent again with the same key, which the destination knows",
            (false, Role::Undo) => "taken back",
            (false, _) => "happens",
        };
        let key = task.key.as_ref().map(|key| format!(" ({})", key.as_str()));
        self.tell(format!("{}: {verb}{}", place.step, key.unwrap_or_default()));
        match trouble {
            Some(What::CrashDone { power }) => {
                self.tell(format!("{}: {}, nobody heard", place.step, died(power)));
                self.conductor.die(life, power).await
            }
            Some(What::LostAnswer) => {
                self.tell(format!("{}: the answer is lost", place.step));
                lost("no answer came", None)
            }
            Some(What::Wrong) => {
                self.tell(format!("{}: the answer is 500", place.step));
                lost("the answer was 500", Some(answer))
            }
            Some(What::Late) => {
                self.tell(format!("{}: the node is taken for dead", place.step));
                self.conductor.overtaken().await;
                self.tell(format!("{}: the node wakes up with the answer", place.step));
                Outcome::Done(answer)
            }
            _ => Outcome::Done(answer),
        }
    }

    /// Somebody asks whether something is there, or only reads.
    async fn asked(&self, place: &Place, task: &Task, trouble: Option<What>, life: u32) -> Outcome {
        match trouble {
            Some(What::CrashSent { power } | What::CrashDone { power }) => {
                self.tell(format!("{}: asked, {}", place.step, died(power)));
                return self.conductor.die(life, power).await;
            }
            Some(What::LostAnswer | What::LostRequest | What::Wrong) => {
                self.tell(format!("{}: asked, and no answer came", place.step));
                return lost("no answer came", None);
            }
            Some(What::Late) => self.conductor.overtaken().await,
            _ => {}
        }
        if place.role != Role::Question {
            return Outcome::Done(answer(place, place.answer.value("", 1)));
        }
        let key = task.key.as_ref().map(semel_ledger::Key::as_str);
        let there = self.seen().happened.iter().any(|it| {
            let main = &self.stage.places[it.place];
            main.step == place.step && main.role == Role::Main && it.key.as_deref() == key
        });
        let says = if there {
            "it is there"
        } else {
            "it is not there"
        };
        self.tell(format!("{}: asked; {says}", place.step));
        if there {
            return Outcome::Done(answer(place, place.answer.value("", 1)));
        }
        let names = place.answer.emptied("");
        if place.kind != Kind::Http || place.answer.has_list() {
            return Outcome::Done(answer(place, names));
        }
        let mut gone = answer(place, names);
        gone.names = with(&gone.names, "status", Value::Int(404));
        Outcome::Failed(Failure {
            class: FailureClass::Refused,
            message: "404".to_owned(),
            retry_after: None,
            answer: Some(gone),
        })
    }

    /// Does it, unless the destination knows the key; gives the answer and whether it knew.
    fn happens(&self, at: usize, task: &Task) -> (Answer, bool) {
        let (place, now) = (&self.stage.places[at], self.clock.now());
        let key: Option<Box<str>> = task.key.as_ref().map(|key| key.as_str().into());
        let mut seen = self.seen();
        if place.class == Class::Keyed {
            let window = window(task);
            let knows = |it: &&Happened| {
                it.place == at
                    && it.key == key
                    && window.is_none_or(|window| now.since(it.at) < window)
            };
            if let Some(first) = seen.happened.iter().find(knows) {
                return (first.answer.clone(), true);
            }
        }
        let number = seen.happened.iter().filter(|it| it.place == at).count() + 1;
        let answer = answer(place, place.answer.value("", number));
        seen.happened.push(Happened {
            place: at,
            key,
            at: now,
            answer: answer.clone(),
        });
        (answer, false)
    }
}

fn died(power: bool) -> &'static str {
    if power {
        "the power fails"
    } else {
        "the process dies"
    }
}

/// How long the destination remembers our key; `None`: for as long as anybody asks.
fn window(task: &Task) -> Option<Millis> {
    let window = task.input.get("idempotency")?.get("window")?;
    window.as_text()?.parse().ok()
}

/// An answer with these names, and with what every answer of its kind has.
pub(crate) fn answer(place: &Place, made: Value) -> Answer {
    let usual: &[(&str, Value)] = &match place.kind {
        Kind::Http | Kind::Notify => [
            ("status", Value::Int(200)),
            ("body", Value::map::<&str>([])),
        ],
        Kind::Sql => [("count", Value::Int(1)), ("rows", Value::list(Vec::new()))],
        Kind::Email => [
            ("message_id", Value::text("<1@example.com>")),
            ("accepted", Value::list(Vec::new())),
        ],
        _ => [("status", Value::Int(0)), ("stdout", Value::text(""))],
    };
    let mut names = made;
    for (name, value) in usual {
        if names.get(name).is_none() {
            names = with(&names, name, value.clone());
        }
    }
    let result = ["body", "rows", "stdout", "message_id"]
        .into_iter()
        .find_map(|name| names.get(name));
    let result = result.cloned().unwrap_or(Value::Null);
    Answer { names, result }
}

fn with(names: &Value, name: &str, value: Value) -> Value {
    let mut members: Vec<(Arc<str>, Value)> = match names {
        Value::Map(members) => members
            .iter()
            .map(|(k, v)| (Arc::clone(k), v.clone()))
            .collect(),
        _ => Vec::new(),
    };
    members.retain(|(given, _)| **given != *name);
    members.push((name.into(), value));
    Value::map(members)
}

fn failed(class: FailureClass, message: &str) -> Outcome {
    Outcome::Failed(Failure {
        class,
        message: message.to_owned(),
        retry_after: None,
        answer: None,
    })
}

fn lost(message: &str, evidence: Option<Answer>) -> Outcome {
    Outcome::Unknown {
        message: message.to_owned(),
        evidence,
    }
}

/// The world as one life of a node reaches it.
#[derive(Debug)]
pub(crate) struct Reach {
    pub(crate) world: Arc<World>,
    pub(crate) life: u32,
}

impl Perform for Reach {
    fn perform<'a>(&'a self, task: &'a Task, trace: &'a dyn Trace) -> Performing<'a> {
        Box::pin(self.world.act(self.life, task, trace))
    }
}
