//! Kinds of trouble, as the report has them side by side.

/// What kind of trouble a schedule brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// The same event comes again: in the middle, or when all is done.
    Twice,
    /// The process is killed.
    Crash,
    /// The machine loses its power.
    Power,
    /// An answer is lost, or says that something went wrong although it happened.
    Lost,
    /// A node is taken for dead, is not, and wakes up later.
    Late,
    /// A destination says no.
    Refused,
    /// The same event comes twice at the same time.
    Concurrent,
    /// Two events come in the wrong order.
    Order,
    /// The clock jumps.
    Clock,
    /// A person clicks at the worst time, or answers twice.
    Person,
    /// A callback comes too early, twice or too late.
    Callback,
    /// A tick is missed, comes to two nodes, or lists what was listed before.
    Tick,
}

impl Family {
    /// All, in the order of the report.
    pub const ALL: [Family; 12] = [
        Family::Twice,
        Family::Concurrent,
        Family::Order,
        Family::Crash,
        Family::Power,
        Family::Lost,
        Family::Late,
        Family::Refused,
        Family::Clock,
        Family::Person,
        Family::Callback,
        Family::Tick,
    ];

    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Family::Twice => "twice",
            Family::Crash => "crash",
            Family::Power => "power",
            Family::Lost => "lost",
            Family::Late => "late",
            Family::Refused => "refused",
            Family::Concurrent => "concurrent",
            Family::Order => "order",
            Family::Clock => "clock",
            Family::Person => "person",
            Family::Callback => "callback",
            Family::Tick => "tick",
        }
    }

    /// What happens in it, in a line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Family::Twice => "the same event comes again: in the middle, and when all is done",
            Family::Crash => "the process is killed",
            Family::Power => "the machine loses its power",
            Family::Lost => "answers are lost, or say 500 although it happened",
            Family::Late => "a node is taken for dead, is not, and wakes up later",
            Family::Refused => "a destination says no",
            Family::Concurrent => "the same event comes twice at the same time",
            Family::Order => "two events come in the wrong order",
            Family::Clock => "the clock jumps a day ahead, or an hour back",
            Family::Person => "a person clicks retry or re-run, or answers twice",
            Family::Callback => "a callback comes too early, twice or too late",
            Family::Tick => "ticks are missed, come to two nodes, or list the same again",
        }
    }
}
