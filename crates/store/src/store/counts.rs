//! Counts as the store's callers see them.

use semel_ledger::Time;

use super::{Backend, Store};
use crate::change::{Answer, Change};
use crate::count::{Counted, HOURS_KEPT, MINUTES_KEPT, Part, Span, Standing};
use crate::duty::BITE;
use crate::error::StoreError;

impl Store {
    /// What was counted in the spans that begin at `since` or later, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn counts(
        &self,
        span: Span,
        part: &Part,
        since: Time,
    ) -> Result<Vec<Counted>, StoreError> {
        backend!(self, counts(span, part.text(), since))
    }

    /// The same of only some things that are counted, the spans taken together: `at` is the first.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn counts_together(
        &self,
        span: Span,
        part: &Part,
        since: Time,
        only: &[&'static str],
    ) -> Result<Vec<Counted>, StoreError> {
        backend!(self, counts_together(span, part.text(), since, only))
    }

    /// What stands still to be done: costs as much as is under way, whatever is over.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn standing(&self) -> Result<Standing, StoreError> {
        backend!(self, standing())
    }

    /// Forgets one bite of counts that are no longer kept; gives how many. If that is [`BITE`], there may
    /// be more.
    ///
    /// # Errors
    /// [`StoreError`] if the store could not.
    pub async fn sweep_counts_bite(&self) -> Result<usize, StoreError> {
        let mut swept = 0;
        for (span, kept) in [
            (Span::Minute, MINUTES_KEPT),
            (Span::Hour, HOURS_KEPT),
            (Span::Day, self.keep()),
        ] {
            let kept = i64::try_from(kept.0).unwrap_or(i64::MAX);
            let sweep = Change::SweepCounts {
                span,
                until: Time(self.now().0.saturating_sub(kept)),
                limit: u32::try_from(BITE - swept).unwrap_or(u32::MAX),
            };
            if let Some(Answer::Counted(count)) = self.commit(vec![sweep]).await?.pop() {
                swept += count;
            }
        }
        Ok(swept)
    }
}
