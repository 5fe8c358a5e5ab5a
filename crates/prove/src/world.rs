//! Simulated destinations: they behave as the flow says the real ones do, and they count.
//!
//! Owns what happened in the world and what it answers. A destination that dedupes on our key does so for its
//! window; one that can be asked knows what it did, after a while, by what it was told; all others only obey. The
//! invariant: what is counted is what a customer would have seen, whatever the ledger says.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semel_act::{Answer, FailureClass, Outcome, Perform, Performing, Task, Trace};
use semel_flow::Value;
use semel_flow::model::{Act, Class, Kind};
use semel_ledger::{Millis, Time};

use crate::answers::{answer, empty_page, failed, lost, nothing};
use crate::clock::Stopwatch;
use crate::conductor::{Conductor, Point};
use crate::fault::What;
use crate::stage::{Place, Role, Stage};
use crate::told::{asked_by, never_told, told};

/// Something that happened in the world.
#[derive(Clone, Debug)]
struct Happened {
    place: usize,
    key: Option<Box<str>>,
    at: Time,
    number: usize,
    answer: Answer,
    task: Task,
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
    pub(crate) clock: Arc<Stopwatch>,
    began: Time,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    happened: Vec<Happened>,
    /// What stands where repeats are harmless, by what it is put to.
    stands: BTreeMap<String, (usize, String)>,
    down: HashSet<usize>,
    /// What the first page is asked for with.
    first_page: Option<Value>,
    lines: Vec<Line>,
}

impl World {
    pub(crate) fn new(
        stage: Arc<Stage>,
        conductor: Arc<Conductor>,
        clock: Arc<Stopwatch>,
    ) -> World {
        World {
            stage,
            conductor,
            began: clock.in_the_world(),
            clock,
            seen: Mutex::default(),
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells a line of the story.
    pub(crate) fn tell(&self, what: impl Into<String>) {
        let at = self.clock.in_the_world().0 - self.began.0;
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

    /// How often each place did, word for word, what another one had done before.
    pub(crate) fn echoes(&self) -> Vec<usize> {
        let mut echoes = vec![0; self.stage.places.len()];
        let seen = self.seen();
        for (at, one) in seen.happened.iter().enumerate() {
            let same = |other: &&Happened| {
                let (mine, its) = (
                    &self.stage.places[one.place],
                    &self.stage.places[other.place],
                );
                let done = |place: &Place| place.role == Role::Main && place.class.has_effect();
                one.place != other.place
                    && mine.kind == its.kind
                    && done(mine)
                    && done(its)
                    && one.task.input == other.task.input
            };
            echoes[one.place] += usize::from(seen.happened[..at].iter().any(|it| same(&it)));
        }
        echoes
    }

    /// What stands in the end where repeats are harmless.
    pub(crate) fn stands(&self) -> BTreeMap<String, (usize, String)> {
        self.seen().stands.clone()
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
        if trouble == Some(What::Down) {
            self.seen().down.insert(at);
        }
        if trouble == Some(What::Refused) || self.seen().down.contains(&at) {
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
                self.clock.pass(task.timeout);
                lost("no answer came", None)
            }
            trouble => self.done(at, task, trouble, life).await,
        }
    }

    /// It happens; who hears of it is another matter.
    async fn done(&self, at: usize, task: &Task, trouble: Option<What>, life: u32) -> Outcome {
        let place = &self.stage.places[at];
        if trouble == Some(What::LostAnswer) {
            // At the last moment: whoever asks next is as early as can be.
            self.clock.pass(task.timeout);
        }
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
                self.clock.pass(task.timeout);
                return lost("no answer came", None);
            }
            Some(What::Late) => self.conductor.overtaken().await,
            _ => {}
        }
        match place.role {
            Role::Question => self.found(place, task),
            Role::Fetch => self.fetched(place, task),
            _ => Outcome::Done(answer(place, 1)),
        }
    }

    /// A list is one page long; what is asked for after it is empty.
    fn fetched(&self, place: &Place, task: &Task) -> Outcome {
        let mut seen = self.seen();
        let first = seen.first_page.get_or_insert_with(|| task.input.clone());
        let is_first = *first == task.input;
        drop(seen);
        if is_first {
            self.tell("the list is fetched");
            return Outcome::Done(answer(place, 1));
        }
        self.tell("there is nothing new in the list");
        Outcome::Done(empty_page(place))
    }

    /// A thing is found by what its destination was told of it, when it shows.
    fn found(&self, place: &Place, task: &Task) -> Outcome {
        let (asked, now) = (asked_by(task), self.clock.in_the_world());
        let key = task.key.as_ref().map(semel_ledger::Key::as_str);
        let mut why = None;
        let seen = self.seen();
        let there = seen.happened.iter().find(|it| {
            let main = &self.stage.places[it.place];
            if main.step != place.step || main.role != Role::Main {
                return false;
            }
            let mine = it.key.as_deref() == key;
            let unknown = never_told(&asked, &told(&it.task)).map(str::to_owned);
            let matches = if asked.is_empty() {
                mine
            } else {
                unknown.is_none()
            };
            let shows = now.since(it.at) >= place.delay;
            if mine && why.is_none() {
                why = match unknown {
                    Some(value) if !asked.is_empty() => Some(format!("it was never told {value}")),
                    _ if !shows => Some(format!("it shows what it did after {}", place.delay)),
                    _ => None,
                };
            }
            matches && shows
        });
        let number = there.map(|it| it.number);
        drop(seen);
        let Some(number) = number else {
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            self.tell(format!("{}: asked; it is not there{why}", place.step));
            return nothing(place);
        };
        self.tell(format!("{}: asked; it is there", place.step));
        Outcome::Done(answer(place, number))
    }

    /// Does it, unless the destination knows the key; gives the answer and whether it knew.
    fn happens(&self, at: usize, task: &Task) -> (Answer, bool) {
        let (place, now) = (&self.stage.places[at], self.clock.in_the_world());
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
        if place.class == Class::Set {
            let (thing, value) = put(at, task);
            seen.stands.insert(thing, (at, value));
        }
        let number = seen.happened.iter().filter(|it| it.place == at).count() + 1;
        let answer = answer(place, number);
        seen.happened.push(Happened {
            place: at,
            key,
            at: now,
            number,
            answer: answer.clone(),
            task: task.clone(),
        });
        (answer, false)
    }
}

/// What a call puts, and to what.
fn put(place: usize, task: &Task) -> (String, String) {
    let fields: &[&str] = match task.act.kind {
        Kind::Http => &["method", "url", "query"],
        Kind::Notify => &["update"],
        _ => &[],
    };
    let named = fields.iter().filter_map(|field| task.input.get(field));
    let rows = [("upsert", "on"), ("insert", "on"), ("update", "where")];
    let rows = rows
        .iter()
        .filter_map(|(form, by)| task.input.get(form)?.get(by));
    let thing: Vec<String> = named.chain(rows).map(Value::to_json).collect();
    let thing = if thing.is_empty() {
        place.to_string()
    } else {
        thing.join(" ")
    };
    (thing, task.input.to_json())
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

    /// A model is asked exactly what is written.
    fn identity(&self, act: &Act, input: &Value) -> Result<Option<Value>, String> {
        Ok((act.kind == Kind::Ai).then(|| input.clone()))
    }
}
