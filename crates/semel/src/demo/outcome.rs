//! What came of a demo, for people and for programs.

use serde::Serialize;

use super::world::{Tally, Traffic};
use crate::term::{Paint, Tone};

/// What came of it.
#[derive(Debug, Serialize)]
pub(crate) struct Outcome {
    pub(crate) verdict: &'static str,
    pub(super) url: String,
    pub(super) page: String,
    pub(super) seconds: u64,
    pub(super) traffic: Traffic,
    pub(super) contacts: Tally,
    pub(super) mails: Tally,
    pub(super) charges: Tally,
    pub(super) parcels: Tally,
    pub(super) waiting_for_a_person: u64,
}

impl Outcome {
    /// Tells it to whoever watched.
    pub(crate) fn tell(&self) {
        let paint = Paint::stderr();
        let Traffic {
            events,
            deliveries,
            blocked,
            kills,
            answers_lost,
            ..
        } = self.traffic;
        let (tone, words) = match self.verdict {
            "once" => (Tone::Good, "Every effect was seen once."),
            "twice" => (
                Tone::Bad,
                "Something was seen twice. That is a defect of Semel: please report it.",
            ),
            _ => (
                Tone::Doubt,
                "Not everything came to its end in time; nothing was seen twice.",
            ),
        };
        say!("\n{}", paint.on(tone, words));
        say!(
            "{events} events came in {deliveries} deliveries; {blocked} duplicates were turned away. The server was killed {kills} times, and {answers_lost} answers were lost."
        );
        if self.waiting_for_a_person > 0 {
            say!(
                "{} wait for a person: nobody can know whether those mails arrived, or somebody must agree first.",
                self.waiting_for_a_person
            );
        }
    }
}
