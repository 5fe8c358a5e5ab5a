//! When to try again. Whether a repeat is safe is not asked here: that follows from the effect's class.

use semel_flow::model::Retry;
use semel_ledger::{Millis, Time};

/// The longest pause that a destination may ask for.
const LONGEST_ASKED: Millis = Millis::days(1);

/// How far a step has come.
#[derive(Clone, Copy, Debug)]
pub struct Tried {
    /// Attempts so far, the last one included.
    pub attempts: u32,
    /// When the first one began.
    pub first_at: Time,
    /// The destination asked for at least this pause.
    pub asked: Option<Millis>,
}

/// When the next attempt may begin; `None` if the policy gives up. `random` is any number.
#[must_use]
pub fn next(policy: &Retry, tried: Tried, now: Time, random: u64) -> Option<Time> {
    if tried.attempts >= policy.max {
        return None;
    }
    let doublings = tried.attempts.saturating_sub(1).min(40);
    let longest = policy.first.0.saturating_mul(1 << doublings);
    let longest = longest.min(policy.cap.0);
    // Full jitter: anything up to the longest, so that a crowd does not come back as a crowd.
    let pause = random.checked_rem(longest + 1).unwrap_or(0);
    let asked = tried.asked.unwrap_or_default().min(LONGEST_ASKED);
    let at = now.after(Millis(pause.max(asked.0)));
    let last = policy.within.map(|within| tried.first_at.after(within));
    (last.is_none_or(|last| at <= last)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn policy() -> Retry {
        Retry {
            max: 4,
            first: Millis(1_000),
            cap: Millis(3_000),
            within: Some(Millis(60_000)),
            ..Retry::default()
        }
    }

    fn tried(attempts: u32, asked: Option<Millis>) -> Tried {
        Tried {
            attempts,
            first_at: Time(0),
            asked,
        }
    }

    #[test]
    fn the_cap_on_attempts_and_on_time_ends_it() {
        assert!(next(&policy(), tried(3, None), Time(10), 0).is_some());
        assert_eq!(next(&policy(), tried(4, None), Time(10), 0), None);
        assert_eq!(next(&policy(), tried(1, None), Time(60_001), 0), None);
        let asked = Some(Millis(61_000));
        assert_eq!(next(&policy(), tried(1, asked), Time(10), 0), None);
    }

    proptest! {
        #[test]
        fn a_pause_is_never_longer_than_agreed_nor_shorter_than_asked(
            attempts in 1..4_u32, random: u64, asked in 0..5_000_u64
        ) {
            let at = next(&policy(), tried(attempts, Some(Millis(asked))), Time(100), random);
            let pause = at.expect("within limits").since(Time(100)).0;
            let longest = (1_000_u64 << (attempts - 1)).min(3_000);
            prop_assert!(pause >= asked && pause <= longest.max(asked));
        }
    }
}
