//! What can go wrong at a point.

use crate::conductor::Point;
use crate::family::Family;

/// What goes wrong at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The event is delivered again, and acknowledged before anything goes on.
    Resend,
    /// The process dies here; at a call, before a byte has left.
    Crash {
        /// With the machine.
        power: bool,
    },
    /// At a call: it dies when bytes have left, but nothing came of them.
    CrashSent {
        /// With the machine.
        power: bool,
    },
    /// At a call: it dies when it has happened, but nobody has heard.
    CrashDone {
        /// With the machine.
        power: bool,
    },
    /// At a call: the answer is lost.
    LostAnswer,
    /// At a call: the request is lost, and with it the answer.
    LostRequest,
    /// At a call: it happens, and the answer says that it went wrong.
    Wrong,
    /// At a call: it happens, and the node is overtaken before it hears.
    Late,
    /// At a call: the destination says no, and does nothing.
    Refused,
    /// At a call: the destination says no, now and whenever it is asked again.
    Down,
    /// The event is delivered again at the same time, on whatever way it takes.
    Meanwhile,
    /// A person clicks retry.
    Retry,
    /// The clock jumps a day ahead.
    Ahead,
    /// The clock jumps an hour back.
    Back,
    /// Whoever is to call back does so now.
    CallBack,
    /// Whoever is to say yes does so now, twice.
    Yes,
}

impl What {
    pub(crate) const ALL: [(What, &'static str); 19] = [
        (What::Resend, "resend"),
        (What::Crash { power: false }, "crash"),
        (What::Crash { power: true }, "power"),
        (What::CrashSent { power: false }, "crash-sent"),
        (What::CrashSent { power: true }, "power-sent"),
        (What::CrashDone { power: false }, "crash-done"),
        (What::CrashDone { power: true }, "power-done"),
        (What::LostAnswer, "lost-answer"),
        (What::LostRequest, "lost-request"),
        (What::Wrong, "wrong"),
        (What::Late, "late"),
        (What::Refused, "refused"),
        (What::Down, "down"),
        (What::Meanwhile, "meanwhile"),
        (What::Retry, "retry"),
        (What::Ahead, "ahead"),
        (What::Back, "back"),
        (What::CallBack, "call-back"),
        (What::Yes, "yes"),
    ];

    /// The family it belongs to.
    #[must_use]
    pub fn family(self) -> Family {
        match self {
            What::Resend => Family::Twice,
            What::Crash { power } | What::CrashSent { power } | What::CrashDone { power } => {
                if power {
                    Family::Power
                } else {
                    Family::Crash
                }
            }
            What::LostAnswer | What::LostRequest | What::Wrong => Family::Lost,
            What::Late => Family::Late,
            What::Refused | What::Down => Family::Refused,
            What::Meanwhile => Family::Concurrent,
            What::Retry | What::Yes => Family::Person,
            What::Ahead | What::Back => Family::Clock,
            What::CallBack => Family::Callback,
        }
    }

    /// Whether it ends a process.
    #[must_use]
    pub fn kills(self) -> bool {
        matches!(self.family(), Family::Crash | Family::Power)
    }

    /// Whether it can go wrong at such a point. What comes from outside is tried where something has just become
    /// durable: before the next commit is the same moment.
    pub(crate) fn fits(self, point: Point) -> bool {
        match self {
            What::Crash { .. } | What::Resend => true,
            What::Meanwhile
            | What::Retry
            | What::Ahead
            | What::Back
            | What::CallBack
            | What::Yes => point != Point::BeforeCommit,
            What::CrashSent { .. }
            | What::CrashDone { .. }
            | What::LostAnswer
            | What::LostRequest
            | What::Wrong
            | What::Late
            | What::Refused
            | What::Down => matches!(point, Point::Act(_)),
        }
    }
}
