//! Replaying any prefix of any history gives the same state, and the same state decides the same.
//!
//! Histories are made by the engine's own decisions with outcomes drawn at random.

mod back;
#[path = "replay/people.rs"]
mod people;
mod rows;

use std::collections::HashSet;
use std::sync::Arc;

use proptest::prelude::*;
use semel_act::{Answer, FailureClass, Outcome, Perform, Performing, Task, Trace};
use semel_engine::decide::{Decision, Move, Scene, decide};
use semel_engine::journal::{
    self, Done, Emitted, Ending, Happening, Kept, Spawned, Waits, WaitsFor,
};
use semel_engine::names::Identity;
use semel_engine::observe::{self, Attempt};
use semel_engine::places;
use semel_engine::resolve::Call;
use semel_engine::state::State;
use semel_engine::token::Links;
use semel_flow::model::{Class, Flow};
use semel_flow::{Value, read};
use semel_ledger::{Fence, Millis, Time};

use rows::{failed, folded, opening};

const FLOW: &str = "
name: all
on: manual
key: k/${{ event.id }}
retry: {max: 3, backoff: 1s..5s}
steps:
  - {id: start, set: {n: '${{ event.n + 1 }}'}}
  - id: maybe
    if: steps.start.result.n > 3
    http: {post: 'http://w/maybe'}
    undo: {http: {post: 'http://w/maybe/undo'}}
  - id: found
    ensure:
      find: {http: {get: 'http://w/find'}, found: body.yes, result: body.id}
      create: {http: {post: 'http://w/create'}}
      settle: 2s
    undo: {http: {delete: 'http://w/create'}}
  - id: which
    switch:
      - if: event.n > 2
        steps:
          - id: keyed
            http: {post: 'http://w/keyed', idempotency: {header: Idempotency-Key, window: 1h}}
            undo: {http: {post: 'http://w/keyed/undo', idempotency: {header: Idempotency-Key, window: 1h}}}
      - else:
          - id: inside
            lock:
              name: l/${{ event.id }}
              steps:
                - id: locked
                  http: {post: 'http://w/locked'}
                  on_unknown: retry
  - id: both
    parallel:
      left:
        - id: left
          http: {post: 'http://w/left'}
          lookup: {http: {get: 'http://w/left'}, found: body.yes, settle: 1s}
          undo: {http: {post: 'http://w/left/undo'}}
      right:
        - {id: right, http: {get: 'http://w/right'}}
        - {id: put, http: {put: 'http://w/put'}, undo: {http: {delete: 'http://w/put'}}}
        - {id: shown, set: {x: '${{ steps.right.result }}'}}
  - id: each
    for_each: '[1, 2, 3]'
    as: item
    key: i/${{ item }}
    steps: [{id: one, http: {post: 'http://w/one'}}]
  - {id: tell, emit: {event: told, data: {n: 1}}}
  - {id: rest, wait: {for: 5s}}
  - {id: posted, wait: {callback: {timeout: 10s, on_timeout: go_on}}}
  - {id: early, wait: {callback: {timeout: 10s}}}
  - {id: came, wait: {for_event: {event: told, match: incoming.n == event.n, timeout: 10s}}}
  - id: may
    approve: {by: [ann], ask: 'May it?', timeout: 10s, on_timeout: escalate, escalate: {by: [bob], timeout: 5s}}
on_failure:
  - {id: sorry, http: {post: 'http://w/sorry'}}
";

fn flow() -> Flow {
    let reading = read(FLOW);
    reading
        .flow
        .unwrap_or_else(|| panic!("{:#?}", reading.diagnostics))
}

/// Nobody is asked to perform anything here.
struct Nobody;

impl Perform for Nobody {
    fn perform<'a>(&'a self, _: &'a Task, _: &'a dyn Trace) -> Performing<'a> {
        unreachable!("deciding touches nothing")
    }
}

/// A run without a store: its rows as text, and what was drawn so far.
struct Life<'a> {
    flow: &'a Flow,
    identity: Identity,
    state: State,
    rows: Vec<Box<str>>,
    now: Time,
    draws: std::slice::Iter<'a, u8>,
    links: Links,
}

impl Life<'_> {
    fn draw(&mut self, choices: u8) -> u8 {
        self.draws.next().copied().unwrap_or(0) % choices
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            flow: self.flow,
            identity: &self.identity,
            outer: None,
            now: self.now,
            seed: [3; 16],
            last_row_at: self.now,
            links: &self.links,
        }
    }

    fn decide(&self, state: &mut State) -> Decision {
        decide(&self.scene(), &Nobody, state, &HashSet::new())
    }

    fn commit(&mut self, happenings: &[Happening]) {
        for happening in happenings {
            self.state.apply(happening);
        }
        self.rows.push(journal::write(happenings));
    }

    /// One look, everything it asks for, and the row that tells of it; false when it is over.
    fn live(&mut self) -> bool {
        let mut state = self.state.clone();
        let decision = self.decide(&mut state);
        if !decision.happenings.is_empty() {
            self.rows.push(journal::write(&decision.happenings));
            self.state = state;
        }
        if decision.moves.is_empty() {
            let wake = decision
                .rest
                .wake
                .unwrap_or_else(|| self.now.after(Millis(1)));
            self.now = Time(wake.0.max(self.now.0 + 1));
            self.told();
            return true;
        }
        for next in decision.moves {
            if let Move::End { how, why, .. } = next {
                self.commit(&[Happening::Ended {
                    how,
                    why: why.into(),
                }]);
                return false;
            }
            self.now = self.now.after(Millis(u64::from(self.draw(200)) * 100));
            self.carry_out(next);
        }
        true
    }

    fn carry_out(&mut self, next: Move) {
        if let Move::Perform(call) | Move::Claim(call) = &next {
            self.assert_backwards(&call.step);
        }
        match next {
            Move::Perform(call) => {
                assert_ne!(call.task.class, Class::Guarded, "performed without a claim");
                if self.undoable(&call.step) {
                    let step = Arc::clone(&call.step);
                    self.commit(&[Happening::Begun { step }]);
                    // Its node dies.
                    if self.draw(8) == 1 {
                        return;
                    }
                }
                self.act(&call);
            }
            Move::Update(call) => self.act(&call),
            Move::Claim(call) => self.claim(&call),
            Move::Ask(call) => self.probe(&call.step),
            Move::Inspect { step, .. } => self.commit(&[Happening::Resumed {
                step,
                by: "semel".into(),
                note: None,
            }]),
            Move::Conclude {
                step,
                happened,
                result,
                ..
            } if happened => self.done(step, result),
            Move::Conclude { step, .. } => self.commit(&[Happening::Resumed {
                step,
                by: "lookup".into(),
                note: None,
            }]),
            Move::Forgotten { step, since, .. } => self.commit(&[Happening::Lost {
                step,
                attempt: 1,
                message: "forgotten".into(),
                at: since,
                noticed: None,
            }]),
            Move::Lock {
                step,
                effect,
                fence,
            } => {
                let asked = Happening::Asked {
                    step: Arc::clone(&step),
                    attempt: 1,
                    fence,
                    scope: effect.scope.as_str().into(),
                    key: effect.key.as_str().into(),
                };
                let then = if self.draw(2) == 0 {
                    Happening::Entered { step, case: None }
                } else {
                    let (since, until) = (self.now, self.now.after(Millis(1000)));
                    Happening::Busy { step, until, since }
                };
                self.commit(&[asked, then]);
            }
            Move::Unlock { step, .. }
            | Move::Collect { step }
            | Move::Expire { step }
            | Move::Announce { step } => self.done(step, Value::Null),
            Move::Spawn { step } => self.spawn(step),
            Move::Settle { step, .. } => self.find_out(step),
            Move::Kv { call, .. } => self.done(Arc::clone(&call.step), Value::Null),
            Move::End { .. } => unreachable!("ended before"),
            Move::Listen { step, until } => {
                let what = WaitsFor::Event;
                self.commit(&[Happening::Waits(Box::new(Waits { step, until, what }))]);
            }
            Move::Request(rounds) => self.request(&rounds),
            Move::Answer { step } => self.answer(step),
        }
    }

    fn spawn(&mut self, step: Arc<str>) {
        if &*step == "tell" {
            let emitted = Emitted {
                step,
                event: "told".into(),
                data: Kept::Is(Value::map([("n", Value::Int(1))])),
                receivers: 0,
            };
            let (step, result) = ("early".into(), Kept::Is(Value::Int(2)));
            let early = Happening::CameEarly { step, result };
            self.commit(&[Happening::Emitted(Box::new(emitted)), early]);
            return;
        }
        let spawned = Spawned {
            step: Arc::clone(&step),
            total: 3,
            begun: 3,
            reused: 0,
            pieces: Vec::new(),
            run: None,
            waits: true,
        };
        self.commit(&[Happening::Spawned(Box::new(spawned))]);
        self.commit(&[Happening::Returned { step }]);
    }

    fn done(&mut self, step: Arc<str>, result: Value) {
        self.commit(&[Happening::Done(Box::new(Done::plain(
            step,
            Kept::Is(result),
        )))]);
    }

    fn claim(&mut self, call: &Call) {
        let effect = call.effect.as_ref().expect("an effect");
        self.commit(&[Happening::Asked {
            step: Arc::clone(&call.step),
            attempt: call.task.attempt,
            fence: Fence([1; 16]),
            scope: effect.id.scope.as_str().into(),
            key: effect.id.key.as_str().into(),
        }]);
        match self.draw(6) {
            0 => self.done(Arc::clone(&call.step), Value::Null),
            1 => {
                let (since, until) = (self.now, self.now.after(Millis(1000)));
                let step = Arc::clone(&call.step);
                self.commit(&[Happening::Busy { step, until, since }]);
            }
            _ => self.act(call),
        }
    }

    fn act(&mut self, call: &Call) {
        let body = Value::map([("yes", Value::Bool(true)), ("id", Value::Int(1))]);
        let outcome = match self.draw(5) {
            0 | 1 => Outcome::Done(Answer {
                names: Value::map([("status", Value::Int(200)), ("body", body.clone())]),
                result: body,
            }),
            2 => failed(FailureClass::Transient),
            3 => failed(FailureClass::Refused),
            _ => Outcome::Unknown {
                message: "lost".to_owned(),
                evidence: None,
            },
        };
        let step = places::find(self.flow, &call.step).expect("a step");
        let attempt = Attempt {
            step,
            began: self.now,
            random: 77,
        };
        let seen = observe::outcome(&self.scene(), &self.state, &attempt, call, &outcome);
        self.commit(&seen.happenings);
    }

    fn probe(&mut self, step: &Arc<str>) {
        let found = [Some(true), Some(false), None][usize::from(self.draw(3))];
        let body = Value::map([("yes", Value::Bool(true)), ("id", Value::Int(1))]);
        self.commit(&[Happening::Probed {
            step: Arc::clone(step),
            found,
            evidence: Kept::Is(Value::map([("body", body)])),
            again_at: None,
        }]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_prefix_of_any_history_gives_the_same_state(n in 0..5_i64, draws in prop::collection::vec(any::<u8>(), 0..400)) {
        let flow = flow();
        let opening = opening(n);
        let identity = Identity { id: "run_1".into(), key: "k/1".into() };
        let mut life = Life {
            links: Links::default(),
            flow: &flow,
            identity,
            state: State::opened(opening.clone()),
            rows: vec![journal::write(&[Happening::Opened(Box::new(opening))])],
            now: Time(1_000),
            draws: draws.iter(),
        };
        let mut looks = 0;
        while life.live() {
            let mut replayed = folded(&life.rows);
            prop_assert_eq!(&replayed, &life.state);
            let mut present = life.state.clone();
            let (a, b) = (life.decide(&mut replayed), life.decide(&mut present));
            prop_assert_eq!(a.happenings, b.happenings);
            prop_assert_eq!(format!("{:?}", a.moves), format!("{:?}", b.moves));
            looks += 1;
            prop_assert!(looks < 2_000, "it never ends");
        }
        let (how, _) = folded(&life.rows).ended.expect("over");
        // Whoever is cancelled says so; nobody ends as done over a failure.
        prop_assert!(how != Ending::Done || life.state.failure.is_none());
        life.assert_all_back(how);
    }
}
