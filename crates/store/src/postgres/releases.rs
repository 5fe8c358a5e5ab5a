//! Releases and saved positions: few rows, changed one at a time inside the batch's transaction.

use semel_ledger::Time;
use tokio_postgres::{Error, Row};

use super::columns::text;
use super::row::{Reader, Unreadable, unreadable};
use super::writer::Line;
use crate::blob::Stored;
use crate::run::{CursorChange, Release, ReleaseChange, ReleaseId};

/// The columns that [`read`] expects.
pub(super) const COLUMNS: &str = "id, flow, source, created_at, \"by\", live, live_at";

pub(super) fn read(row: &Row) -> Result<Release, Unreadable> {
    let mut reader = Reader::new(row);
    Ok(Release {
        id: ReleaseId(reader.hash()?),
        flow: reader.next()?,
        source: Stored::Inline(reader.next::<Option<_>>()?.ok_or(unreadable("a source"))?),
        created_at: reader.time()?,
        by: reader.next()?,
        live: reader.next()?,
        live_at: reader.next::<Option<i64>>()?.map(Time),
    })
}

pub(super) async fn change(line: &Line, change: &ReleaseChange, now: Time) -> Result<bool, Error> {
    // One after the other: what is live is read and then written.
    line.session
        .execute("SELECT FROM live_revision FOR UPDATE", &[])
        .await?;
    match change {
        ReleaseChange::Deploy {
            id,
            flow,
            source,
            by,
            live,
        } => {
            let deploy = "INSERT INTO releases (id, flow, source, created_at, \"by\", live) \
                          VALUES ($1, $2, $3, $4, $5, false) ON CONFLICT (id) DO NOTHING";
            let (source, by) = (text(source), by.as_deref().map(text));
            let name = id.0.as_slice();
            let new = line
                .session
                .execute(deploy, &[&name, flow, &source, &now.0, &by])
                .await?;
            let went_live = *live
                && is_of(line, *id, flow).await?
                && make_live(line, flow, Some(*id), now).await?;
            Ok(new == 1 || went_live)
        }
        ReleaseChange::GoLive { flow, id, was } => {
            let find = "SELECT id FROM releases WHERE flow = $1 AND live";
            let found = line.session.query_opt(find, &[flow]).await?;
            let is: Option<Vec<u8>> = found.map(|row| row.try_get(0)).transpose()?;
            let was = was.map(|was| was.0.to_vec());
            Ok(is == was
                && is_of(line, *id, flow).await?
                && make_live(line, flow, Some(*id), now).await?)
        }
        ReleaseChange::Retire { flow } => make_live(line, flow, None, now).await,
    }
}

async fn is_of(line: &Line, id: ReleaseId, flow: &str) -> Result<bool, Error> {
    let find = "SELECT FROM releases WHERE id = $1 AND flow = $2";
    let id = id.0.as_slice();
    let found = line.session.query_opt(find, &[&id, &flow]).await?;
    Ok(found.is_some())
}

/// Makes one text of a flow, or none, the one that takes triggers; gives whether that is new.
async fn make_live(
    line: &Line,
    flow: &str,
    id: Option<ReleaseId>,
    now: Time,
) -> Result<bool, Error> {
    let retire = "UPDATE releases SET live = false, live_at = $3 \
                  WHERE flow = $1 AND live AND id IS DISTINCT FROM $2";
    let go_live = "UPDATE releases SET live = true, live_at = $2 WHERE id = $1 AND NOT live";
    let id = id.map(|id| id.0.to_vec());
    let session = &line.session;
    let mut changed = session.execute(retire, &[&flow, &id, &now.0]).await?;
    if id.is_some() {
        changed += session.execute(go_live, &[&id, &now.0]).await?;
    }
    if changed > 0 {
        let count = "UPDATE live_revision SET number = number + 1";
        session.execute(count, &[]).await?;
    }
    Ok(changed > 0)
}

/// Moves a saved position, if it is what it is said to be.
pub(super) async fn move_cursor(line: &Line, change: &CursorChange) -> Result<bool, Error> {
    let CursorChange { name, was, becomes } = change;
    let (name, becomes) = (text(name), text(becomes));
    let moved = match was {
        None => {
            let first =
                "INSERT INTO cursors (name, position) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            line.session.execute(first, &[&name, &becomes]).await?
        }
        Some(was) => {
            let next = "UPDATE cursors SET position = $2 WHERE name = $1 AND position = $3";
            let was = text(was);
            line.session.execute(next, &[&name, &becomes, &was]).await?
        }
    };
    Ok(moved == 1)
}
