//! People and the audit log as the store's callers ask and write them.

use semel_ledger::Time;

use super::{Backend, Store};
use crate::audit::{AUDIT_KEPT, AuditChange, AuditEntry, AuditFilter};
use crate::change::{Answer, Change};
use crate::duty::BITE;
use crate::error::StoreError;
use crate::person::{Invitation, Person, PersonChange, Session};
use crate::query::{MAX_PAGE, Page};

impl Store {
    /// Everybody with an account, by name.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn people(&self) -> Result<Vec<Person>, StoreError> {
        backend!(self, people())
    }

    /// One of them.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn person(&self, name: &str) -> Result<Option<Person>, StoreError> {
        backend!(self, person(name))
    }

    /// A session that has not ended, and whose it is.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn session(&self, hash: [u8; 32]) -> Result<Option<(Session, Person)>, StoreError> {
        let found: Option<(Session, Person)> = backend!(self, session(hash))?;
        Ok(found.filter(|(session, _)| session.until > self.now()))
    }

    /// An invitation that has not ended.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn invitation(&self, hash: [u8; 32]) -> Result<Option<Invitation>, StoreError> {
        let found: Option<Invitation> = backend!(self, invitation(hash))?;
        Ok(found.filter(|invitation| invitation.until > self.now()))
    }

    /// The entries of the audit log that match, newest first.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn audit(&self, filter: &AuditFilter) -> Result<Page<AuditEntry>, StoreError> {
        let filter = AuditFilter {
            limit: filter.limit.clamp(1, MAX_PAGE),
            ..filter.clone()
        };
        backend!(self, audit(filter))
    }

    /// Changes something about people; gives whether anything changed.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn change_person(&self, change: PersonChange) -> Result<bool, StoreError> {
        let change = Change::Person(Box::new(change));
        match self.commit(vec![change]).await?.pop() {
            Some(Answer::Person(changed)) => Ok(changed),
            _ => Err(StoreError::Closed),
        }
    }

    /// Writes to the audit log; gives the place of a new entry, or how many changed.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn write_audit(&self, change: AuditChange) -> Result<i64, StoreError> {
        let change = Change::Audit(Box::new(change));
        match self.commit(vec![change]).await?.pop() {
            Some(Answer::Audited(number)) => Ok(number),
            _ => Err(StoreError::Closed),
        }
    }

    /// Forgets sessions and invitations that have ended, and one bite of old entries of the audit log; gives how many
    /// of these. If that is [`BITE`], there may be more.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn sweep_people_bite(&self) -> Result<usize, StoreError> {
        self.change_person(PersonChange::Sweep).await?;
        let kept = i64::try_from(AUDIT_KEPT.0).unwrap_or(i64::MAX);
        let until = Time(self.now().0.saturating_sub(kept));
        let limit = u32::try_from(BITE).unwrap_or(u32::MAX);
        let swept = self.write_audit(AuditChange::Sweep { until, limit });
        Ok(usize::try_from(swept.await?).unwrap_or_default())
    }
}
