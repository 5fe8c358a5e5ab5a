//! Runs that wait for an event, inside the batch's transaction.

use semel_ledger::Time;
use tokio_postgres::Error;

use super::Postgres;
use super::ask::Other;
use super::columns::text;
use super::row::{Reader, Unreadable};
use super::runs;
use super::writer::Line;
use crate::change::Change;
use crate::error::StoreError;
use crate::listen::{Listen, Topic};
use crate::run::RunId;

impl Postgres {
    pub(crate) async fn topics(&self) -> Result<Vec<Topic>, StoreError> {
        let sql =
            "SELECT source, path FROM topics ORDER BY source COLLATE \"C\", path COLLATE \"C\"";
        let rows = self.questions.ask(sql, &[]).await?;
        let read = |row| {
            let mut reader = Reader::new(row);
            Ok(Topic {
                source: reader.next()?,
                path: reader.next()?,
            })
        };
        let topics: Result<_, Unreadable> = rows.iter().map(read).collect();
        Ok(topics?)
    }
}

/// Gives whether the run is open.
pub(super) async fn listen(line: &Line, listen: &Listen) -> Result<bool, Error> {
    let (step, place) = (text(&listen.step), listen.place.as_slice());
    let run = listen.run.0.as_slice();
    let listens = line
        .session
        .execute(&line.runs.listen, &[&run, &step, &place])
        .await?;
    if listens == 0 {
        return Ok(false);
    }
    let topic = (text(&listen.source), text(&listen.path));
    line.session
        .execute(&line.runs.topic, &[&topic.0, &topic.1])
        .await?;
    Ok(true)
}

pub(super) async fn hush(line: &Line, run: RunId, step: &str) -> Result<(), Error> {
    let (run, step) = (run.0.as_slice(), text(step));
    line.session
        .execute(&line.runs.hush, &[&run, &step])
        .await?;
    Ok(())
}

/// Tells every open run that listens there; gives which those are.
pub(super) async fn tell(
    line: &Line,
    place: [u8; 16],
    note: &str,
    now: Time,
) -> Result<Vec<RunId>, Error> {
    let found = listening(line, &[&place]).await?;
    if !found.is_empty() {
        let ids: Vec<&[u8]> = found.iter().map(|run| run.0.as_slice()).collect();
        runs::tell(line, &ids, note, now).await?;
    }
    Ok(found)
}

/// The open runs that some of `others` tell of an event.
pub(super) async fn told(line: &Line, others: &[Other<'_>]) -> Result<Vec<RunId>, Error> {
    let places = others.iter().filter_map(|other| match other.change {
        Change::Tell { place, .. } => Some(place.as_slice()),
        _ => None,
    });
    let places: Vec<&[u8]> = places.collect();
    if places.is_empty() {
        return Ok(Vec::new());
    }
    listening(line, &places).await
}

async fn listening(line: &Line, places: &[&[u8]]) -> Result<Vec<RunId>, Error> {
    let rows = line.session.query(&line.runs.listening, &[&places]).await?;
    let mut found = Vec::with_capacity(rows.len());
    for row in &rows {
        let id: &[u8] = row.try_get(0)?;
        found.extend(id.try_into().ok().map(RunId));
    }
    Ok(found)
}
