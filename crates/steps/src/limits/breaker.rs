//! Leaves a destination alone that fails and fails.
//!
//! ```text
//! closed ──failures in a row──▶ open ──pause over, one tries──▶ trying ──success──▶ closed
//!                                 ▲───────────────failure──────────┘
//! ```

use std::time::Duration;

use semel_ledger::Millis;
use tokio::time::Instant;

/// When to leave a destination alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerSettings {
    /// After so many failures in a row.
    pub failures: u32,
    /// For so long; then one request tries.
    pub pause: Millis,
}

impl Default for BreakerSettings {
    fn default() -> BreakerSettings {
        BreakerSettings {
            failures: 20,
            pause: Millis::seconds(10),
        }
    }
}

/// Whether a destination is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerState {
    /// It is not.
    Closed,
    /// It is, for so long still.
    Open(Millis),
    /// One request may try it, or does.
    HalfOpen,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed,
    Open { until: Instant },
    Trying,
}

#[derive(Debug)]
pub(super) struct Breaker {
    settings: Option<BreakerSettings>,
    failures: u32,
    state: State,
}

impl Breaker {
    pub(super) fn new(settings: Option<BreakerSettings>) -> Breaker {
        Breaker {
            settings,
            failures: 0,
            state: State::Closed,
        }
    }

    fn pause(&self) -> Duration {
        Duration::from_millis(self.settings.unwrap_or_default().pause.0)
    }

    pub(super) fn failures(&self) -> u32 {
        self.failures
    }

    pub(super) fn state(&self, now: Instant) -> BreakerState {
        match self.state {
            State::Closed => BreakerState::Closed,
            State::Open { until } if now < until => {
                BreakerState::Open(crate::outgoing::millis(until - now))
            }
            State::Open { .. } | State::Trying => BreakerState::HalfOpen,
        }
    }

    /// Whether a request may pass; if not, when to come back.
    pub(super) fn may_pass(&self, now: Instant) -> Result<(), Duration> {
        match self.state {
            State::Open { until } if now < until => Err(until - now),
            // Another one tries; its answer will be in by then, or it counts as failed.
            State::Trying => Err(self.pause()),
            State::Open { .. } | State::Closed => Ok(()),
        }
    }

    /// Counts a request in; tells whether it is the one that tries.
    pub(super) fn begin(&mut self, now: Instant) -> Result<bool, Duration> {
        self.may_pass(now)?;
        let probe = matches!(self.state, State::Open { .. });
        if probe {
            self.state = State::Trying;
        }
        Ok(probe)
    }

    /// A request came to an end.
    pub(super) fn report(&mut self, healthy: bool, probe: bool, now: Instant) {
        let Some(settings) = self.settings else {
            return;
        };
        if healthy {
            self.failures = 0;
            self.state = State::Closed;
            return;
        }
        self.failures = self.failures.saturating_add(1);
        let tripped = matches!(self.state, State::Closed) && self.failures >= settings.failures;
        if tripped || probe {
            self.state = State::Open {
                until: now + self.pause(),
            };
        }
    }

    /// The one that tried went away without an answer: the next may try.
    pub(super) fn probe_lost(&mut self) {
        if matches!(self.state, State::Trying) {
            self.state = State::Open {
                until: Instant::now(),
            };
        }
    }
}
