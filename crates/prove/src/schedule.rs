//! What goes wrong when: one schedule is one try.
//!
//! Owns how things come from outside, and the name by which a schedule can be tried again.

use std::fmt;
use std::str::FromStr;

pub use crate::family::Family;
pub use crate::fault::What;

/// Something goes wrong at the point of that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which point, from 0.
    pub at: usize,
    /// What goes wrong.
    pub what: What,
}

/// How things come from outside: events, ticks, people, callbacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Once, as they should.
    Once,
    /// The event comes again when all is done.
    Again,
    /// The event comes twice at the same time.
    Together,
    /// The event comes again as late as its sender may send it.
    Later,
    /// There are two nodes, and each is told at the same time.
    Nodes,
    /// Events about the same thing, one after the other.
    InOrder,
    /// The same, but these two (from 1) have changed places.
    Swapped(u8, u8),
    /// When all is done a person clicks re-run, twice.
    Rerun,
    /// When all rests a person clicks retry.
    Retried,
    /// Every callback comes twice, and once more with another body.
    CalledTwice,
    /// Callbacks come when nobody waits for them any more.
    CalledLate,
    /// Every yes comes twice, by two links.
    YesTwice,
    /// After the yes comes a no.
    YesNo,
    /// People say no.
    No,
    /// The yes comes when nobody waits for it any more.
    YesLate,
    /// Nobody is there when the tick is due.
    Missed,
    /// The next tick lists the same.
    NextTick,
}

impl Delivery {
    const NAMED: [(Delivery, &'static str); 16] = [
        (Delivery::Once, "once"),
        (Delivery::Again, "again"),
        (Delivery::Together, "together"),
        (Delivery::Later, "later"),
        (Delivery::Nodes, "two-nodes"),
        (Delivery::InOrder, "in-order"),
        (Delivery::Rerun, "rerun"),
        (Delivery::Retried, "retried"),
        (Delivery::CalledTwice, "called-twice"),
        (Delivery::CalledLate, "called-late"),
        (Delivery::YesTwice, "yes-twice"),
        (Delivery::YesNo, "yes-no"),
        (Delivery::No, "no"),
        (Delivery::YesLate, "yes-late"),
        (Delivery::Missed, "missed"),
        (Delivery::NextTick, "next-tick"),
    ];

    /// The family of what is wrong with it; `None`: nothing is.
    #[must_use]
    pub fn family(self) -> Option<Family> {
        match self {
            Delivery::Once | Delivery::InOrder => None,
            Delivery::Again | Delivery::Later => Some(Family::Twice),
            Delivery::Together | Delivery::Nodes => Some(Family::Concurrent),
            Delivery::Swapped(..) => Some(Family::Order),
            Delivery::Rerun
            | Delivery::Retried
            | Delivery::YesTwice
            | Delivery::YesNo
            | Delivery::No
            | Delivery::YesLate => Some(Family::Person),
            Delivery::CalledTwice | Delivery::CalledLate => Some(Family::Callback),
            Delivery::Missed | Delivery::NextTick => Some(Family::Tick),
        }
    }

    /// Whether events about one thing come, one after the other.
    pub(crate) fn is_ordered(self) -> bool {
        matches!(self, Delivery::InOrder | Delivery::Swapped(..))
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Delivery::Swapped(one, other) = self {
            return write!(f, "swapped-{one}-{other}");
        }
        let named = Delivery::NAMED.iter().find(|(it, _)| it == self);
        f.write_str(named.map_or("", |(_, name)| name))
    }
}

impl FromStr for Delivery {
    type Err = NotASchedule;

    fn from_str(text: &str) -> Result<Delivery, NotASchedule> {
        if let Some(pair) = text.strip_prefix("swapped-") {
            let (one, other) = pair.split_once('-').ok_or(NotASchedule)?;
            let number = |text: &str| text.parse().map_err(|_| NotASchedule);
            return Ok(Delivery::Swapped(number(one)?, number(other)?));
        }
        let named = Delivery::NAMED.iter().find(|(_, name)| *name == text);
        named.map(|(it, _)| *it).ok_or(NotASchedule)
    }
}

/// One try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// How things come from outside.
    pub delivery: Delivery,
    /// What goes wrong, in the order of points.
    pub faults: Vec<Fault>,
}

impl Schedule {
    /// Nothing goes wrong.
    pub(crate) const PLAIN: Schedule = Schedule::of(Delivery::Once);

    /// Nothing goes wrong inside.
    pub(crate) const fn of(delivery: Delivery) -> Schedule {
        Schedule {
            delivery,
            faults: Vec::new(),
        }
    }

    /// The family of its trouble; `None` if it has none. What people do counts before what led to it.
    #[must_use]
    pub fn family(&self) -> Option<Family> {
        let outside = self.delivery.family();
        if outside == Some(Family::Person) {
            return outside;
        }
        let last = self.faults.last().map(|fault| fault.what.family());
        last.or(outside)
    }

    /// The same with one more fault.
    pub(crate) fn with(&self, at: usize, what: What) -> Schedule {
        let mut faults = self.faults.clone();
        faults.push(Fault { at, what });
        Schedule {
            delivery: self.delivery,
            faults,
        }
    }

    /// The same without one of its faults.
    pub(crate) fn without(&self, index: usize) -> Schedule {
        let mut faults = self.faults.clone();
        faults.remove(index);
        Schedule {
            delivery: self.delivery,
            faults,
        }
    }

    /// How much is needed for it to go wrong: the simplest is told.
    pub(crate) fn weight(&self) -> usize {
        self.faults.len() * 2 + usize::from(self.delivery.family().is_some())
    }
}

/// `once`, `again`, `once,crash@4,power-done@9`
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.delivery)?;
        for fault in &self.faults {
            let named = What::ALL.iter().find(|(what, _)| *what == fault.what);
            write!(f, ",{}@{}", named.map_or("", |(_, name)| name), fault.at)?;
        }
        Ok(())
    }
}

/// The name of a schedule says something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not the name of a schedule, such as once,crash@4")]
pub struct NotASchedule;

impl FromStr for Schedule {
    type Err = NotASchedule;

    fn from_str(text: &str) -> Result<Schedule, NotASchedule> {
        let mut words = text.split(',');
        let delivery = words.next().unwrap_or_default().parse()?;
        let fault = |word: &str| {
            let (name, at) = word.split_once('@')?;
            let (what, _) = What::ALL.iter().find(|(_, given)| *given == name)?;
            Some(Fault {
                at: at.parse().ok()?,
                what: *what,
            })
        };
        let faults: Option<Vec<Fault>> = words.map(fault).collect();
        let faults = faults.ok_or(NotASchedule)?;
        let rising = faults.windows(2).all(|pair| pair[0].at < pair[1].at);
        if !rising {
            return Err(NotASchedule);
        }
        Ok(Schedule { delivery, faults })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_read_back() {
        for (what, _) in What::ALL {
            let schedule = Schedule::PLAIN.with(3, What::LostAnswer).with(17, what);
            assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
        let swapped = (Delivery::Swapped(1, 12), "swapped-1-12");
        for (delivery, name) in Delivery::NAMED.into_iter().chain([swapped]) {
            let schedule = Schedule::of(delivery);
            assert_eq!(schedule.to_string(), name);
            assert_eq!(name.parse(), Ok(schedule));
        }
        for other in [
            "",
            "never",
            "once,",
            "once,crash",
            "once,crash@x",
            "once,crash@4,crash@4",
            "swapped-1",
        ] {
            assert_eq!(other.parse::<Schedule>(), Err(NotASchedule), "{other}");
        }
    }
}
