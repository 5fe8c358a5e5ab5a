//! Lists that come in pages.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::client::{Call, Query, Session};

/// How many rows one call brings when all are wanted.
const MOST: usize = 1000;

/// A page, with its rows as they were sent, so that numbers keep every digit.
#[derive(Debug, Deserialize)]
pub(crate) struct Page {
    #[serde(
        alias = "effects",
        alias = "receipts",
        alias = "runs",
        alias = "values",
        alias = "items"
    )]
    pub(crate) rows: Vec<Box<RawValue>>,
    pub(crate) next: Option<String>,
}

/// Which part of a list.
pub(crate) struct Part<'a> {
    pub(crate) path: &'a str,
    /// What the place in the list is called.
    pub(crate) place: &'static str,
    /// What is asked for, but for the place in the list.
    pub(crate) query: &'a dyn Fn() -> Query,
    pub(crate) after: Option<String>,
    /// At most so many; none for all.
    pub(crate) limit: Option<usize>,
}

/// Brings the rows, page by page, to `take`; gives the place where the next ones begin.
pub(crate) async fn pages(
    session: &Session,
    part: Part<'_>,
    mut take: impl AsyncFnMut(Box<RawValue>) -> anyhow::Result<()>,
) -> anyhow::Result<Option<String>> {
    let mut after = part.after;
    let mut left = part.limit.unwrap_or(usize::MAX);
    loop {
        let query = (part.query)()
            .with("limit", &left.min(MOST).to_string())
            .with_some(part.place, after.as_deref());
        let answer = session.send(Call::get(query.after(part.path))).await?;
        let page: Page = answer.read()?;
        left = left.saturating_sub(page.rows.len());
        for row in page.rows {
            take(row).await?;
        }
        after = page.next;
        if after.is_none() || left == 0 {
            return Ok(after);
        }
    }
}
