//! Giving back blobs that nothing refers to.
//!
//! In bites, each its own statement, so that nobody waits long. Freed pages are used again by
//! PostgreSQL's own vacuum, which also cuts empty ends off its files.

use super::Postgres;
use crate::blob::BLOB_GRACE;
use crate::error::StoreError;

/// How many blobs one statement looks at.
const BITE: i64 = 500;
/// How long the mark of a writer that writes no more is kept.
const MARK_KEPT: semel_ledger::Millis = semel_ledger::Millis::days(1);

/// Whoever writes a blob again in between raises its `at`, and PostgreSQL looks again before it
/// deletes.
const DROP_UNUSED: &str = "\
    WITH bite AS (SELECT hash FROM blobs WHERE hash > $1 ORDER BY hash LIMIT $2), \
    gone AS (DELETE FROM blobs b USING bite WHERE b.hash = bite.hash AND b.at <= $3 \
             AND NOT EXISTS (SELECT FROM blob_uses u WHERE u.hash = b.hash) \
             AND NOT EXISTS (SELECT FROM run_blobs u WHERE u.hash = b.hash)) \
    SELECT hash FROM bite ORDER BY hash DESC LIMIT 1";

impl Postgres {
    pub(crate) async fn give_back(&self) -> Result<(), StoreError> {
        let now = self.context.clock.now().0;
        let before = |span: semel_ledger::Millis| now.saturating_sub_unsigned(span.0);
        let mut last: Vec<u8> = Vec::new();
        loop {
            let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                [&last, &BITE, &before(BLOB_GRACE)];
            let rows = self.questions.ask(DROP_UNUSED, &parameters).await?;
            let Some(row) = rows.first() else { break };
            last = super::row::Reader::new(row).next()?;
        }
        let old_marks = "DELETE FROM writers WHERE at <= $1";
        self.questions.ask(old_marks, &[&before(MARK_KEPT)]).await?;
        Ok(())
    }
}
