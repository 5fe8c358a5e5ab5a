//! People, sessions, invitations and the audit log in memory.

use std::collections::BTreeMap;

use semel_ledger::Time;

use super::Memory;
use crate::access::Role;
use crate::audit::{AuditChange, AuditEntry, AuditFilter};
use crate::error::StoreError;
use crate::person::{Invitation, Person, PersonChange, Session};
use crate::query::Page;

impl Memory {
    pub(crate) async fn people(&self) -> Result<Vec<Person>, StoreError> {
        Ok(self.world().people.all.values().cloned().collect())
    }

    pub(crate) async fn person(&self, name: &str) -> Result<Option<Person>, StoreError> {
        Ok(self.world().people.all.get(name).cloned())
    }

    pub(crate) async fn session(
        &self,
        hash: [u8; 32],
    ) -> Result<Option<(Session, Person)>, StoreError> {
        let world = self.world();
        let session = world.people.sessions.get(&hash).cloned();
        Ok(session.and_then(|session| {
            let person = world.people.all.get(&session.person)?;
            Some((session, person.clone()))
        }))
    }

    pub(crate) async fn invitation(
        &self,
        hash: [u8; 32],
    ) -> Result<Option<Invitation>, StoreError> {
        Ok(self.world().people.invitations.get(&hash).cloned())
    }

    pub(crate) async fn audit(&self, filter: AuditFilter) -> Result<Page<AuditEntry>, StoreError> {
        let found = self.world().audit.list(&filter);
        Ok(Page::new(found, filter.limit, |entry| entry.seq))
    }
}

/// Everybody, and who is logged in.
#[derive(Debug, Default)]
pub(super) struct People {
    pub(super) all: BTreeMap<Box<str>, Person>,
    pub(super) sessions: BTreeMap<[u8; 32], Session>,
    pub(super) invitations: BTreeMap<[u8; 32], Invitation>,
}

impl People {
    pub(super) fn change(&mut self, change: PersonChange, now: Time) -> bool {
        match change {
            PersonChange::Add {
                name,
                role,
                password,
            } => self.add(name, role, password, now),
            PersonChange::Role { name, role } => {
                let found = self.all.get_mut(&name);
                let changed = found.map(|person| (person.role, person.changed_at) = (role, now));
                changed.is_some()
            }
            PersonChange::Password { name, password } => self.set(&name, password, now),
            PersonChange::Remove { name } => {
                self.end_all(&name);
                self.all.remove(&name).is_some()
            }
            PersonChange::Invite(invitation) => {
                let fits = match &invitation.person {
                    Some(name) => self.all.contains_key(name),
                    None => self.all.is_empty(),
                };
                if fits {
                    self.invitations.insert(invitation.hash, invitation);
                }
                fits
            }
            PersonChange::Accept {
                hash,
                name,
                password,
            } => self.accept(hash, name, password, now),
            PersonChange::LogIn { session, password } => {
                let person = self.all.get(&session.person);
                let same = person.is_some_and(|it| it.password.as_ref() == Some(&password));
                same && self.sessions.insert(session.hash, session).is_none()
            }
            PersonChange::Extend { hash, until } => {
                let found = self.sessions.get_mut(&hash);
                found.map(|session| session.until = until).is_some()
            }
            PersonChange::LogOut { hash } => self.sessions.remove(&hash).is_some(),
            PersonChange::Sweep => {
                let before = self.sessions.len() + self.invitations.len();
                self.sessions.retain(|_, session| session.until > now);
                self.invitations
                    .retain(|_, invitation| invitation.until > now);
                before > self.sessions.len() + self.invitations.len()
            }
        }
    }

    fn add(&mut self, name: Box<str>, role: Role, password: Option<Box<str>>, now: Time) -> bool {
        if self.all.contains_key(&name) {
            return false;
        }
        let person = Person {
            name: name.clone(),
            role,
            password,
            created_at: now,
            changed_at: now,
        };
        self.all.insert(name, person);
        true
    }

    fn set(&mut self, name: &str, password: Box<str>, now: Time) -> bool {
        let Some(person) = self.all.get_mut(name) else {
            return false;
        };
        (person.password, person.changed_at) = (Some(password), now);
        self.end_all(name);
        true
    }

    fn accept(&mut self, hash: [u8; 32], name: Box<str>, password: Box<str>, now: Time) -> bool {
        let found = self.invitations.get(&hash).filter(|it| it.until > now);
        match found.map(|invitation| &invitation.person) {
            Some(None) if self.all.is_empty() => {
                self.invitations.clear();
                self.add(name, Role::Admin, Some(password), now)
            }
            Some(Some(person)) if *person == name => self.set(&name, password, now),
            _ => false,
        }
    }

    fn end_all(&mut self, name: &str) {
        self.sessions.retain(|_, session| *session.person != *name);
        self.invitations
            .retain(|_, invitation| invitation.person.as_deref() != Some(name));
    }
}

/// The audit log.
#[derive(Debug, Default)]
pub(super) struct Audit {
    all: BTreeMap<i64, AuditEntry>,
    last: i64,
}

impl Audit {
    /// Gives the place of what was added, or how many changed.
    pub(super) fn change(&mut self, change: AuditChange, now: Time) -> i64 {
        match change {
            AuditChange::Add(deed) => {
                self.last += 1;
                let seq = self.last;
                self.all.insert(seq, AuditEntry { seq, at: now, deed });
                seq
            }
            AuditChange::End {
                seq,
                status,
                target,
                note,
            } => {
                let found = self.all.get_mut(&seq);
                let Some(entry) = found.filter(|entry| entry.deed.status.is_none()) else {
                    return 0;
                };
                entry.deed.status = Some(status);
                if let Some(target) = target {
                    entry.deed.target = target;
                }
                if note.is_some() {
                    entry.deed.note = note;
                }
                1
            }
            AuditChange::Sweep { until, limit } => {
                let old = self.all.values().filter(|entry| entry.at < until);
                let old: Vec<i64> = old.map(|entry| entry.seq).take(limit as usize).collect();
                for seq in &old {
                    self.all.remove(seq);
                }
                i64::try_from(old.len()).unwrap_or(i64::MAX)
            }
        }
    }

    /// Newest first; one more than the limit, if there is one.
    pub(super) fn list(&self, filter: &AuditFilter) -> Vec<AuditEntry> {
        let newest = self.all.values().rev();
        newest
            .filter(|it| filter.who.as_ref().is_none_or(|who| it.deed.who == *who))
            .filter(|it| filter.since.is_none_or(|since| it.at >= since))
            .filter(|it| filter.until.is_none_or(|until| it.at < until))
            .filter(|it| filter.before.is_none_or(|before| it.seq < before))
            .take(filter.limit + 1)
            .cloned()
            .collect()
    }
}
