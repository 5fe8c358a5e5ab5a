//! Runs one at a time: mail, taking, letting go, forgetting.

use std::collections::BTreeSet;

use semel_ledger::Time;
use tokio_postgres::Error;
use tokio_postgres::types::ToSql;

use super::ask::Other;
use super::columns::text;
use super::listeners;
use super::pipeline::Pipeline;
use super::writer::Line;
use crate::change::Change;
use crate::node::Membership;
use crate::run::{Next, RunId};

/// Holds every run that `others` are about until the commit, as far as it is known which those are.
pub(super) async fn hold(line: &Line, others: &[Other<'_>]) -> Result<(), Error> {
    let told = listeners::told(line, others).await?;
    let (mut runs, mut telling) = (BTreeSet::new(), Vec::new());
    runs.extend(told.iter().map(|run| run.0.as_slice()));
    for other in others {
        match other.change {
            Change::Mail { run, .. } => {
                runs.insert(run.0.as_slice());
            }
            Change::Advance(advance) if !matches!(advance.next, Next::GoOn) => {
                runs.insert(&advance.run.0);
                if let Next::Finish { tell: Some(_), .. } = advance.next {
                    telling.push(advance.run.0.as_slice());
                }
            }
            _ => {}
        }
    }
    if runs.is_empty() {
        return Ok(());
    }
    let runs: Vec<&[u8]> = runs.into_iter().collect();
    line.session
        .execute(&line.runs.hold, &[&runs, &telling])
        .await?;
    Ok(())
}

/// Tells open runs something; gives how many are.
pub(super) async fn tell(
    line: &Line,
    runs: &[&[u8]],
    note: &str,
    now: Time,
) -> Result<usize, Error> {
    let lanes: Vec<Option<&[u8]>> = vec![None; runs.len()];
    let notes = vec![text(note); runs.len()];
    let told: [&(dyn ToSql + Sync); 4] = [&runs, &lanes, &notes, &now.0];
    let told = line.session.execute(&line.runs.tell, &told).await?;
    Ok(usize::try_from(told).unwrap_or(usize::MAX))
}

/// Runs that may go on, oldest wake first. What another writer holds right now is passed over.
pub(super) async fn take(
    line: &Line,
    limit: u32,
    member: Option<Membership>,
    now: Time,
) -> Result<Vec<RunId>, Error> {
    let Some(member) = member else {
        return Ok(Vec::new());
    };
    let (node, limit) = (member.node.cast_signed(), i64::from(limit));
    let taken = line
        .session
        .query(&line.runs.take, &[&node, &now.0, &limit])
        .await?;
    let mut runs = Vec::with_capacity(taken.len());
    for row in &taken {
        let (wake, id): (i64, &[u8]) = (row.try_get(0)?, row.try_get(1)?);
        if let Ok(id) = id.try_into() {
            runs.push((wake, RunId(id)));
        }
    }
    runs.sort_unstable();
    Ok(runs.into_iter().map(|(_, run)| run).collect())
}

/// Takes the runs of a node away from it, if it can no longer be working on them.
pub(super) async fn free(
    line: &Line,
    node: u64,
    limit: u32,
    member: Option<Membership>,
    now: Time,
) -> Result<usize, Error> {
    let own = member.is_some_and(|member| member.node == node);
    let (node, limit) = (node.cast_signed(), i64::from(limit));
    if !own {
        let nodes = vec![node];
        let serves = line
            .session
            .query(&line.statements.alive, &[&nodes])
            .await?;
        if !serves.is_empty() {
            return Ok(0);
        }
    }
    let freed = line
        .session
        .execute(&line.runs.free, &[&node, &now.0, &limit])
        .await?;
    Ok(usize::try_from(freed).unwrap_or(usize::MAX))
}

/// Forgets those of `runs` that ended in time and that no open run waits for.
pub(super) async fn forget(line: &Line, runs: &[RunId], until: Time) -> Result<usize, Error> {
    let ids: Vec<&[u8]> = runs.iter().map(|run| run.0.as_slice()).collect();
    let gone = line
        .session
        .query(&line.runs.forget, &[&ids, &until.0])
        .await?;
    let gone: Vec<&[u8]> = gone.iter().filter_map(|row| row.try_get(0).ok()).collect();
    if !gone.is_empty() {
        let mut pipe = Pipeline::new(&line.session);
        pipe.execute(&line.runs.forget_journal, vec![&gone]);
        pipe.execute(&line.runs.forget_mail, vec![&gone]);
        pipe.execute(&line.runs.forget_blobs, vec![&gone]);
        pipe.execute(&line.runs.forget_listeners, vec![&gone]);
        pipe.run().await?;
    }
    Ok(gone.len())
}
