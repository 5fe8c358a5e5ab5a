//! What clients were told about each key, and the check that a later server stands by all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use crate::client::{Answer, Client, result_of};

/// Where a key stands for the clients, by answers they saw and requests they sent.
#[derive(Clone, Debug, Default)]
enum Standing {
    /// Nobody was granted it, or who was told that it had failed.
    #[default]
    Free,
    /// Granted to this token, and no settlement was sent.
    Held(String),
    /// A settlement was sent and no answer came: either is true.
    Unsure(String, &'static str),
    /// Acknowledged as done by this token.
    Done(String),
}

#[derive(Clone, Debug, Default)]
struct Record {
    standing: Standing,
    /// Everybody who ever got a 201.
    granted: BTreeSet<String>,
    /// How often a client said that it had failed, acknowledged or not.
    freed: usize,
}

/// The clients' own books.
#[derive(Default)]
pub(crate) struct Told {
    records: Mutex<BTreeMap<String, Record>>,
}

impl Told {
    /// The same books, for a copy of the ledger that goes its own way.
    pub(crate) fn copy(&self) -> Told {
        Told {
            records: Mutex::new(self.records.lock().unwrap().clone()),
        }
    }

    fn note<T>(&self, key: &str, write: impl FnOnce(&mut Record) -> T) -> T {
        let mut records = self.records.lock().unwrap();
        write(records.entry(key.to_owned()).or_default())
    }

    /// Claims and keeps the answer. Fails if somebody else has the key.
    pub(crate) fn claim(&self, client: &mut Client, key: &str, token: &str) -> Option<Answer> {
        let answer = client.claim(key, token);
        if answer.as_ref().is_some_and(|answer| answer.status == 201) {
            let record = self.note(key, |record| {
                record.granted.insert(token.to_owned());
                record.standing = Standing::Held(token.to_owned());
                record.clone()
            });
            let most = 1 + record.freed;
            assert!(
                record.granted.len() <= most,
                "{key} granted twice: {record:?}"
            );
        } else {
            self.note(key, |_| ());
        }
        answer
    }

    /// Settles what was granted to this token and keeps the answer.
    pub(crate) fn settle(
        &self,
        client: &mut Client,
        key: &str,
        token: &str,
        outcome: &'static str,
    ) -> Option<Answer> {
        self.note(key, |record| {
            record.freed += usize::from(outcome == "failed");
            record.standing = Standing::Unsure(token.to_owned(), outcome);
        });
        let answer = client.settle(key, token, outcome);
        if answer.as_ref().is_some_and(Answer::is_success) {
            self.note(key, |record| {
                record.standing = match outcome {
                    "done" => Standing::Done(token.to_owned()),
                    _ => Standing::Free,
                }
            });
        }
        answer
    }

    /// Asks about every key and compares; what was open is settled and asked about again.
    /// Gives how many were held and how many done.
    pub(crate) fn holds(&self, client: &mut Client) -> (usize, usize) {
        let records = self.records.lock().unwrap().clone();
        let (mut held, mut done) = (0, 0);
        for (key, record) in records {
            match record.standing {
                Standing::Free => {}
                Standing::Held(token) => {
                    held += 1;
                    let other = client.claim(&key, &stranger()).unwrap();
                    assert_eq!(other.status, 409, "{key} was held: {other:?}");
                    assert_eq!(other.body["verdict"], "busy", "{other:?}");
                    self.settles(client, &key, &token, "done");
                    is_done(client, &key, &token);
                }
                Standing::Unsure(token, outcome) => self.settles(client, &key, &token, outcome),
                Standing::Done(token) => {
                    done += 1;
                    is_done(client, &key, &token);
                }
            }
        }
        (held, done)
    }

    fn settles(&self, client: &mut Client, key: &str, token: &str, outcome: &'static str) {
        let answer = self.settle(client, key, token, outcome).unwrap();
        assert_eq!(answer.status, 200, "{key} was {token}'s: {answer:?}");
    }
}

fn is_done(client: &mut Client, key: &str, token: &str) {
    let answer = client.claim(key, &stranger()).unwrap();
    assert_eq!(answer.status, 200, "{key} was done: {answer:?}");
    assert_eq!(answer.body["verdict"], "done", "{answer:?}");
    assert_eq!(answer.body["result"], result_of(token), "{key}");
}

/// A token that nobody else has.
pub(crate) fn stranger() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("{:032x}", NEXT.fetch_add(1, Ordering::Relaxed))
}
