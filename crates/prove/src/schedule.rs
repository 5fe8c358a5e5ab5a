//! What goes wrong when: one schedule is one try.
//!
//! Owns the families of faults, which of them fit which point, and the name by which a schedule can be tried again.

use std::fmt;
use std::str::FromStr;

use crate::conductor::Point;

/// What kind of trouble a schedule brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// The same event comes again: at once, in the middle, or when all is done.
    Twice,
    /// The process is killed.
    Crash,
    /// The machine loses its power.
    Power,
    /// An answer is lost, or says that something went wrong although it happened.
    Lost,
    /// A node is taken for dead, is not, and wakes up later.
    Late,
}

impl Family {
    /// All, in the order of the report.
    pub const ALL: [Family; 5] = [
        Family::Twice,
        Family::Crash,
        Family::Power,
        Family::Lost,
        Family::Late,
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
        }
    }
}

/// What goes wrong at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The event is delivered again.
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
}

impl What {
    const ALL: [(What, &'static str); 11] = [
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
        }
    }

    /// What can go wrong at a point.
    pub(crate) fn at(point: Point) -> impl Iterator<Item = What> {
        let fits = move |what: &What| match point {
            Point::BeforeCommit | Point::AfterCommit => {
                matches!(what, What::Resend | What::Crash { .. })
            }
            Point::Act(_) => true,
        };
        What::ALL.into_iter().map(|(what, _)| what).filter(fits)
    }
}

/// Something goes wrong at the point of that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which point, from 0.
    pub at: usize,
    /// What goes wrong.
    pub what: What,
}

/// How the event comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Once.
    Once,
    /// Again when all is done.
    Again,
    /// Twice at the same time.
    Together,
}

impl Delivery {
    const ALL: [(Delivery, &'static str); 3] = [
        (Delivery::Once, "once"),
        (Delivery::Again, "again"),
        (Delivery::Together, "together"),
    ];
}

/// One try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// How the event comes.
    pub delivery: Delivery,
    /// What goes wrong, in the order of points.
    pub faults: Vec<Fault>,
}

impl Schedule {
    /// Nothing goes wrong.
    pub(crate) const PLAIN: Schedule = Schedule {
        delivery: Delivery::Once,
        faults: Vec::new(),
    };

    /// The family of its last trouble; `None` if it has none.
    #[must_use]
    pub fn family(&self) -> Option<Family> {
        let last = self.faults.last().map(|fault| fault.what.family());
        last.or((self.delivery != Delivery::Once).then_some(Family::Twice))
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
}

/// `once`, `again`, `once,crash@4,power-done@9`
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, name) = Delivery::ALL[Delivery::ALL
            .iter()
            .position(|(it, _)| *it == self.delivery)
            .unwrap_or(0)];
        f.write_str(name)?;
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
        let first = words.next().unwrap_or_default();
        let delivery = Delivery::ALL.iter().find(|(_, name)| *name == first);
        let (delivery, _) = delivery.ok_or(NotASchedule)?;
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
        Ok(Schedule {
            delivery: *delivery,
            faults,
        })
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
        for (delivery, name) in Delivery::ALL {
            let schedule = Schedule {
                delivery,
                faults: Vec::new(),
            };
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
        ] {
            assert_eq!(other.parse::<Schedule>(), Err(NotASchedule), "{other}");
        }
    }
}
