//! When each step of a run was at what: the bars of its picture, from its journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_engine::journal::{Done, Happening, How, WaitsFor};
use semel_ledger::Time;

use crate::out::Object;
use crate::runs::story::Story;

/// Some time that a step spent in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: Time,
    /// `None`: it still does.
    pub(crate) to: Option<Time>,
    /// `attempt`, `wait`, `retry` or `approval`; stable.
    pub(crate) what: &'static str,
    /// How it ended; stable.
    pub(crate) outcome: Option<&'static str>,
}

impl Span {
    /// Writes it, all members always there.
    pub(crate) fn write(&self, out: &mut Object) {
        out.time("from", self.from)
            .time_or_null("to", self.to)
            .text("what", self.what)
            .text_or_null("outcome", self.outcome);
    }
}

/// The spans of each step, in order.
pub(crate) type Spans = BTreeMap<Arc<str>, Vec<Span>>;

/// Everything that a run's steps spent time with.
pub(crate) fn of(story: &Story) -> Spans {
    let mut drawing = Drawing::default();
    for (at, happening) in &story.happenings {
        drawing.add(*at, happening);
    }
    drawing.spans
}

#[derive(Default)]
struct Drawing {
    spans: Spans,
}

impl Drawing {
    fn begin(&mut self, step: &Arc<str>, from: Time, what: &'static str) {
        self.end(step, from, None);
        let spans = self.spans.entry(Arc::clone(step)).or_default();
        spans.push(Span {
            from,
            to: None,
            what,
            outcome: None,
        });
    }

    /// Ends what a step is at; gives whether it was at something.
    fn end(&mut self, step: &Arc<str>, at: Time, outcome: Option<&'static str>) -> bool {
        let last = self.spans.get_mut(step).and_then(|spans| spans.last_mut());
        let Some(open) = last.filter(|span| span.to.is_none()) else {
            return false;
        };
        open.to = Some(at.max(open.from));
        open.outcome = outcome;
        true
    }

    /// An attempt that was not told of when it began.
    fn attempt(&mut self, step: &Arc<str>, from: Time, to: Time, outcome: &'static str) {
        let attempts = |span: &Span| span.to.is_none() && span.what == "attempt";
        let last = self.spans.get(step).and_then(|spans| spans.last());
        if !last.is_some_and(attempts) {
            self.begin(step, from, "attempt");
        }
        self.end(step, to, Some(outcome));
    }

    fn add(&mut self, at: Time, happening: &Happening) {
        match happening {
            Happening::Asked { step, .. } | Happening::Begun { step } => {
                self.begin(step, at, "attempt");
            }
            Happening::Done(done) => self.done(at, done),
            Happening::Failed(failed) => {
                self.attempt(&failed.step, failed.at, at, "failed");
                if failed.again_at.is_some() {
                    self.begin(&failed.step, at, "retry");
                }
            }
            Happening::Lost { step, at: from, .. } => self.attempt(step, *from, at, "unknown"),
            Happening::Busy { step, .. } | Happening::Parked { step, .. } => {
                self.begin(step, at, "wait");
            }
            Happening::Spawned(spawned) if spawned.waits => self.begin(&spawned.step, at, "wait"),
            Happening::Waits(waits) => {
                let what = match waits.what {
                    WaitsFor::Approval => "approval",
                    WaitsFor::Time | WaitsFor::Callback | WaitsFor::Event => "wait",
                };
                self.begin(&waits.step, at, what);
            }
            Happening::Requested(asked) => self.begin(&asked.step, at, "approval"),
            Happening::Returned { step } | Happening::Resumed { step, .. } => {
                self.end(step, at, Some("came"));
            }
            Happening::GaveUp { step, .. } => {
                self.end(step, at, Some("failed"));
            }
            Happening::NotDone { step } => {
                self.end(step, at, Some("not_done"));
            }
            Happening::Ended { .. } => {
                let steps: Vec<Arc<str>> = self.spans.keys().cloned().collect();
                for step in steps {
                    self.end(&step, at, Some("ended"));
                }
            }
            _ => {}
        }
    }

    fn done(&mut self, at: Time, done: &Done) {
        let outcome = match &done.how {
            How::Act | How::LookedUp | How::Decided | How::Unchanged => "done",
            How::Reused(_) | How::TakenOver(_) => "reused",
            How::TakenAsDone => "taken_as_done",
            How::Arrived => "came",
            How::Answered(_) => "answered",
            How::TimedOut => "timed_out",
        };
        match (done.took, done.attempt) {
            (Some(took), _) => {
                let took = i64::try_from(took).unwrap_or(0);
                self.attempt(&done.step, Time(at.0 - took), at, outcome);
            }
            (None, Some(_)) => self.attempt(&done.step, at, at, outcome),
            (None, None) => {
                self.end(&done.step, at, Some(outcome));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use semel_engine::journal::{Ending, Failed, Kept, Waits};
    use semel_flow::Value;
    use semel_ledger::Fence;

    use super::*;

    fn asked(attempt: u32) -> Happening {
        Happening::Asked {
            step: "a".into(),
            attempt,
            fence: Fence([0; 16]),
            scope: "s".into(),
            key: "k".into(),
        }
    }

    fn done(step: &str, took: Option<u64>, how: How) -> Happening {
        Happening::Done(Box::new(Done {
            took,
            attempt: took.map(|_| 1),
            how,
            ..Done::plain(step.into(), Kept::Is(Value::Null))
        }))
    }

    fn drawn(happenings: &[(i64, Happening)]) -> Vec<String> {
        let mut drawing = Drawing::default();
        for (at, happening) in happenings {
            drawing.add(Time(*at), happening);
        }
        let line = |(step, span): (&Arc<str>, &Span)| {
            let to = span.to.map_or("-".to_owned(), |to| to.0.to_string());
            let outcome = span.outcome.unwrap_or("-");
            format!("{step} {}..{to} {} {outcome}", span.from.0, span.what)
        };
        let all = drawing.spans.iter();
        all.flat_map(|(step, spans)| spans.iter().map(move |span| (step, span)))
            .map(line)
            .collect()
    }

    #[test]
    fn attempts_retries_and_waits_stand_where_they_were() {
        let failed = Happening::Failed(Box::new(Failed {
            step: "a".into(),
            attempt: 1,
            class: semel_act::FailureClass::Transient,
            message: "busy".into(),
            at: Time(10),
            again_at: Some(Time(50)),
            maybe: false,
            usage: None,
        }));
        let waits = Happening::Waits(Box::new(Waits {
            step: "w".into(),
            until: Time(500),
            what: WaitsFor::Callback,
        }));
        let lines = drawn(&[
            (10, asked(1)),
            (20, failed),
            (50, asked(2)),
            (80, done("a", Some(25), How::Act)),
            (90, done("r", Some(5), How::Act)),
            (100, waits),
        ]);
        let expected = [
            "a 10..20 attempt failed",
            "a 20..50 retry -",
            "a 50..80 attempt done",
            "r 85..90 attempt done",
            "w 100..- wait -",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn what_is_lost_or_cut_off_says_so() {
        let lost = Happening::Lost {
            step: "a".into(),
            attempt: 1,
            message: "no answer".into(),
            at: Time(12),
            noticed: None,
        };
        let parked = Happening::Parked {
            step: "a".into(),
            why: "nobody knows".into(),
            effect: None,
        };
        let ended = Happening::Ended {
            how: Ending::Cancelled,
            why: "ada".into(),
        };
        let lines = drawn(&[(10, asked(1)), (20, lost), (21, parked), (30, ended)]);
        let expected = ["a 10..20 attempt unknown", "a 21..30 wait ended"];
        assert_eq!(lines, expected);
        let reused = drawn(&[
            (10, asked(1)),
            (11, done("a", None, How::Reused("b".into()))),
        ]);
        assert_eq!(reused, ["a 10..11 attempt reused"]);
    }
}
