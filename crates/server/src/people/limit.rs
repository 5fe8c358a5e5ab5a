//! How often somebody may try to log in: by name and by address, in a bounded space.
//!
//! A try counts before it is compared, so that many at once do not pass together, and is taken back if it was right.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use semel_ledger::{Millis, Time};

use crate::code::Code;
use crate::problem::Problem;

/// Within this time so many wrong tries are allowed.
const WINDOW: Millis = Millis::seconds(5 * 60);
const OF_A_NAME: u32 = 10;
/// Many may come from one address: an office, or a proxy.
const OF_AN_ADDRESS: u32 = 100;
/// How many names and addresses are remembered.
const MOST: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Name(Box<str>),
    Address(IpAddr),
}

#[derive(Clone, Copy, Debug)]
struct Tries {
    since: Time,
    count: u32,
}

/// The tries that were wrong of late.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<Key, Tries>>);

/// A try that has been counted.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    attempts: &'a Attempts,
    keys: Vec<Key>,
}

impl Attempts {
    /// Counts a try, or says when to come back.
    pub(crate) fn begin(
        &self,
        name: &str,
        address: Option<IpAddr>,
        now: Time,
    ) -> Result<Attempt<'_>, Problem> {
        let name = (Key::Name(name.into()), OF_A_NAME);
        let address = address.map(|it| (Key::Address(network(it)), OF_AN_ADDRESS));
        let keys: Vec<(Key, u32)> = std::iter::once(name).chain(address).collect();
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, most) in &keys {
            let of = tries.get(key).filter(|tries| tries.is_recent(now));
            if let Some(of) = of.filter(|tries| tries.count >= *most) {
                return Err(too_many(of.since.after(WINDOW).since(now)));
            }
        }
        let keys: Vec<Key> = keys.into_iter().map(|(key, _)| key).collect();
        for key in &keys {
            make_room(&mut tries, now);
            let of = tries.entry(key.clone()).or_insert(Tries {
                since: now,
                count: 0,
            });
            if !of.is_recent(now) {
                *of = Tries {
                    since: now,
                    count: 0,
                };
            }
            of.count += 1;
        }
        drop(tries);
        Ok(Attempt {
            attempts: self,
            keys,
        })
    }
}

impl Attempt<'_> {
    /// It was right: it does not count, nor do those of this name before it.
    pub(crate) fn succeeded(self) {
        let mut tries = self
            .attempts
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for key in &self.keys {
            match key {
                Key::Name(_) => {
                    tries.remove(key);
                }
                Key::Address(_) => {
                    if let Some(of) = tries.get_mut(key) {
                        of.count = of.count.saturating_sub(1);
                    }
                }
            }
        }
    }
}

impl Tries {
    fn is_recent(&self, now: Time) -> bool {
        now.since(self.since) < WINDOW
    }
}

/// What one subscriber has of the newer addresses counts as one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(it) => {
            let [a, b, c, d, ..] = it.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        it @ IpAddr::V4(_) => it,
    }
}

/// Forgets what no longer counts, or else what is oldest.
fn make_room(tries: &mut HashMap<Key, Tries>, now: Time) {
    if tries.len() < MOST {
        return;
    }
    tries.retain(|_, tries| tries.is_recent(now));
    if tries.len() >= MOST {
        let oldest = tries.iter().min_by_key(|(_, tries)| tries.since);
        if let Some(key) = oldest.map(|(key, _)| key.clone()) {
            tries.remove(&key);
        }
    }
}

fn too_many(left: Millis) -> Problem {
    let seconds = left.0.div_ceil(1000).max(1);
    let detail = format!("there were too many wrong tries; come back in {seconds} s");
    Problem::new(Code::TooManyAttempts, detail).retry_after(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST));

    fn tries(attempts: &Attempts, name: &str, address: Option<IpAddr>, now: Time) -> bool {
        attempts.begin(name, address, now).is_ok()
    }

    #[test]
    fn a_name_and_an_address_have_so_many_tries() {
        let attempts = Attempts::default();
        let now = Time(1_000_000);
        for _ in 0..OF_A_NAME {
            assert!(tries(&attempts, "ada", HERE, now));
        }
        assert!(!tries(&attempts, "ada", HERE, now));
        assert!(!tries(&attempts, "ada", None, now), "from wherever");
        assert!(tries(&attempts, "eve", HERE, now));
        let over = now.after(WINDOW);
        assert!(tries(&attempts, "ada", HERE, over));
        for n in 0..OF_AN_ADDRESS - 1 {
            assert!(tries(&attempts, &format!("n{n}"), HERE, over));
        }
        assert!(!tries(&attempts, "new", HERE, over));
        assert!(tries(&attempts, "new", None, over));
        let problem = attempts.begin("new", HERE, over).unwrap_err();
        assert_eq!(problem.code, Code::TooManyAttempts);
    }

    #[test]
    fn a_right_try_does_not_count() {
        let attempts = Attempts::default();
        let now = Time(0);
        for _ in 0..OF_A_NAME * 3 {
            attempts.begin("ada", HERE, now).unwrap().succeeded();
        }
        let six = |last: u16| Some(IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]));
        for n in 0..100u16 {
            assert!(tries(&attempts, &format!("n{n}"), six(n), now));
        }
        assert!(!tries(&attempts, "last", six(999), now), "one network");
    }

    #[test]
    fn the_space_is_bounded() {
        let attempts = Attempts::default();
        for n in 0..=MOST {
            let now = Time(i64::try_from(n).unwrap());
            assert!(tries(&attempts, &format!("n{n}"), None, now));
        }
        assert_eq!(attempts.0.lock().unwrap().len(), MOST);
    }
}
