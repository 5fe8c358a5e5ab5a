//! What values are made of in the end, and the ways they took.

use crate::diagnostic::Span;

/// What a value is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::check) enum Source {
    /// The present time.
    Clock,
    /// Fresh randomness.
    Random,
    /// The run, the attempt or the delivery, by the name that was used.
    Moment(String),
    /// Something of the event that is called like a delivery's.
    Delivery(String),
    /// What a model said in that step.
    Ai(String),
    /// A secret.
    Secret(String),
    /// A place in a list whose order is the destination's.
    Position(String),
    /// A fixed value for when there is none.
    Fallback {
        /// Whether it is empty, too.
        empty: bool,
    },
    /// An item of a list in the event that may be shorter.
    Element(String),
    /// A step that may be skipped.
    Skipped(String),
    /// All of the event, or nearly.
    Whole(String),
    /// A member of the event.
    Event(Vec<String>),
    /// A member of an item of that `for_each`, or of the fetched list.
    Item {
        /// The `for_each` step; none: the trigger's list.
        of: Option<String>,
        /// Which member.
        path: Vec<String>,
    },
    /// A header that the sender repeats when it sends the event again.
    Header {
        /// Which, if many events have the same.
        name: Option<String>,
    },
    /// The planned time.
    Planned,
    /// The run's own key.
    RunKey,
    /// What a destination answered in that step.
    Answer {
        /// Which step.
        step: String,
        /// Whether it may answer otherwise next time.
        changes: bool,
    },
    /// Nothing is known of it.
    Unknown,
    /// It leans on more names than are followed.
    TooDeep,
}

/// A source and the way it took.
#[derive(Clone, Debug)]
pub(in crate::check) struct Trace {
    pub(in crate::check) source: Source,
    /// Where it enters the expression that was asked about.
    pub(in crate::check) at: Span,
    /// Where it is written.
    pub(in crate::check) from: Span,
    /// The places between, from the expression outwards.
    pub(in crate::check) hops: Vec<(Span, String)>,
}

impl Source {
    /// Whether it differs from moment to moment, so that a repeat does not find it again.
    pub(in crate::check) fn is_unstable(&self) -> bool {
        matches!(
            self,
            Source::Clock
                | Source::Random
                | Source::Moment(_)
                | Source::Ai(_)
                | Source::Secret(_)
                | Source::Position(_)
        )
    }

    /// Whether it tells one thing from another.
    pub(in crate::check) fn varies(&self) -> bool {
        !matches!(
            self,
            Source::Secret(_) | Source::Fallback { .. } | Source::Skipped(_) | Source::Whole(_)
        )
    }

    /// The step whose list this may be a part of.
    pub(super) fn listed(&self) -> Option<String> {
        match self {
            Source::Answer {
                step,
                changes: true,
            } => Some(step.clone()),
            _ => None,
        }
    }

    /// An event with hardly anything left out.
    pub(super) fn whole(&self) -> Option<String> {
        let (root, path) = match self {
            Source::Event(path) => ("event", path),
            Source::Item { path, .. } if path.is_empty() => ("item", path),
            _ => return None,
        };
        let wrapper =
            |name: &String| ["body", "data", "object", "payload"].contains(&name.as_str());
        path.iter().all(wrapper).then(|| {
            let names = path.iter().map(String::as_str);
            std::iter::once(root)
                .chain(names)
                .collect::<Vec<_>>()
                .join(".")
        })
    }
}
