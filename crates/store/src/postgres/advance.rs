//! Runs that move on, set at a time: rows of journals, and what becomes of the runs.
//!
//! Works inside the batch's transaction, in which the runs' rows and their lanes are held already.
//! A run stands here at most once; that is for the caller to see to.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use semel_ledger::Time;
use tokio_postgres::Error;

use super::ask::Other;
use super::columns::text;
use super::kv::Columns;
use super::pipeline::Pipeline;
use super::starts::Uses;
use super::writer::Line;
use crate::run::{Advance, Next, Place, RunId};

/// Where a run stands.
#[derive(Clone, Debug)]
struct Standing {
    node: Option<i64>,
    lane: Option<Vec<u8>>,
    place: Option<i16>,
    parent: Option<Vec<u8>>,
}

/// Moves runs on; gives for each whether it did.
pub(super) async fn apply(
    line: &Line,
    moves: &[(Other<'_>, &Advance)],
    now: Time,
) -> Result<Vec<bool>, Error> {
    let standing = look(line, moves).await?;
    let may = |(other, advance): &&(Other<'_>, &Advance)| {
        let Some(member) = other.by.member else {
            return false;
        };
        let node = member.node.cast_signed();
        let held = standing.runs.get(&advance.run).and_then(|run| run.node);
        (matches!(advance.next, Next::GoOn) || held == Some(node))
            && !standing.taken.contains(&(advance.run, advance.at))
    };
    let candidates: Vec<&Advance> = moves.iter().filter(may).map(|(_, it)| *it).collect();
    let written = write_rows(line, &candidates, now).await?;
    let won =
        |advance: &Advance| advance.row.is_none() || written.contains(&(advance.run, advance.at));
    let winners: Vec<&Advance> = candidates.into_iter().filter(|it| won(it)).collect();
    move_on(line, &winners, &standing.runs, now).await?;
    let winners: HashSet<RunId> = winners.iter().map(|advance| advance.run).collect();
    let done = |(_, advance): &(Other<'_>, &Advance)| winners.contains(&advance.run);
    Ok(moves.iter().map(done).collect())
}

/// What is there before anything moves.
#[derive(Default)]
struct Looked {
    runs: HashMap<RunId, Standing>,
    /// Places in journals that nothing is to be written to, but that must be free.
    taken: HashSet<(RunId, u32)>,
}

async fn look(line: &Line, moves: &[(Other<'_>, &Advance)]) -> Result<Looked, Error> {
    let all = || moves.iter().map(|(_, advance)| *advance);
    let touched = all().filter(|advance| !matches!(advance.next, Next::GoOn));
    let touched: Vec<&[u8]> = touched.map(|advance| advance.run.0.as_slice()).collect();
    let silent = all().filter(|advance| advance.row.is_none());
    let (runs, places): (Vec<&[u8]>, Vec<i64>) = silent
        .map(|advance| (advance.run.0.as_slice(), i64::from(advance.at)))
        .unzip();
    let mut pipe = Pipeline::new(&line.session);
    let touched = (!touched.is_empty())
        .then_some(&touched)
        .map(|ids| pipe.query(&line.runs.standing, vec![ids]));
    let taken = (!runs.is_empty()).then(|| pipe.query(&line.runs.written, vec![&runs, &places]));
    let mut replies = pipe.run().await?;
    let mut looked = Looked::default();
    for row in touched.map_or_else(Vec::new, |place| replies.take(place).rows) {
        if let Some(id) = id(row.try_get(0)?) {
            let standing = Standing {
                node: row.try_get(1)?,
                lane: row.try_get(2)?,
                place: row.try_get(3)?,
                parent: row.try_get(4)?,
            };
            looked.runs.insert(id, standing);
        }
    }
    for row in taken.map_or_else(Vec::new, |place| replies.take(place).rows) {
        looked.taken.extend(place(&row)?);
    }
    Ok(looked)
}

fn id(bytes: &[u8]) -> Option<RunId> {
    bytes.try_into().ok().map(RunId)
}

fn place(row: &tokio_postgres::Row) -> Result<Option<(RunId, u32)>, Error> {
    let (run, at): (&[u8], i64) = (row.try_get(0)?, row.try_get(1)?);
    Ok(id(run).zip(u32::try_from(at).ok()))
}

/// Writes rows where nothing stands; gives where.
async fn write_rows(
    line: &Line,
    advances: &[&Advance],
    now: Time,
) -> Result<HashSet<(RunId, u32)>, Error> {
    let (mut runs, mut places, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for advance in advances {
        if let Some(row) = &advance.row {
            runs.push(advance.run.0.as_slice());
            places.push(i64::from(advance.at));
            rows.push(text(row));
        }
    }
    let mut written = HashSet::new();
    if !runs.is_empty() {
        let write = &line.runs.write;
        let values: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
            [&runs, &places, &rows, &now.0];
        for row in line.session.query(write, &values).await? {
            written.extend(place(&row)?);
        }
    }
    Ok(written)
}

/// Everything that follows from rows that were written.
async fn move_on(
    line: &Line,
    winners: &[&Advance],
    standing: &HashMap<RunId, Standing>,
    now: Time,
) -> Result<(), Error> {
    let mut moved = Moved::default();
    for advance in winners {
        moved.push(advance, standing.get(&advance.run));
    }
    let (lanes, counts): (Vec<&[u8]>, Vec<i64>) =
        moved.let_in.iter().map(|(l, n)| (*l, *n)).unzip();
    let tell = moved
        .tell
        .iter()
        .chain(moved.last_of_lane.values().flatten());
    let (mut parents, mut of_lane, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (parent, lane, note) in tell {
        parents.push(*parent);
        of_lane.push(*lane);
        notes.push(text(note));
    }
    let puts = winners.iter().flat_map(|advance| &advance.puts);
    let values = Columns::of_puts(puts, now);
    let mut pipe = Pipeline::new(&line.session);
    moved.uses.pipe(&mut pipe, line);
    values.pipe(&mut pipe, line);
    if !moved.read.is_empty() {
        pipe.execute(&line.runs.read_mail, vec![&moved.read, &moved.read_up_to]);
    }
    if !moved.id.is_empty() {
        let columns = vec![
            &moved.id as _,
            &moved.state as _,
            &moved.why as _,
            &moved.kind as _,
            &moved.wake as _,
            &now.0 as _,
        ];
        pipe.execute(&line.runs.move_on, columns);
    }
    if !lanes.is_empty() {
        pipe.execute(&line.runs.let_in, vec![&lanes, &counts, &now.0]);
    }
    if !parents.is_empty() {
        pipe.execute(&line.runs.tell, vec![&parents, &of_lane, &notes, &now.0]);
    }
    pipe.run().await?;
    Ok(())
}

/// A note to a parent: to whom, only if nobody else of this lane is open, and what.
type Note<'a> = (&'a [u8], Option<&'a [u8]>, &'a str);

/// Runs that move on, turned on their side.
#[derive(Default)]
struct Moved<'a> {
    uses: Uses<'a>,
    read: Vec<&'a [u8]>,
    read_up_to: Vec<i64>,
    id: Vec<&'a [u8]>,
    state: Vec<i16>,
    why: Vec<Cow<'a, str>>,
    kind: Vec<i16>,
    wake: Vec<Option<i64>>,
    /// How many each lane lets in.
    let_in: BTreeMap<&'a [u8], i64>,
    tell: Vec<Note<'a>>,
    /// What the last run of a lane says: those before it end while it is open.
    last_of_lane: BTreeMap<&'a [u8], Option<Note<'a>>>,
}

impl<'a> Moved<'a> {
    fn push(&mut self, advance: &'a Advance, standing: Option<&'a Standing>) {
        self.uses.push(&advance.run, &advance.contents);
        if let Some(read) = advance.read_mail {
            self.read.push(&advance.run.0);
            self.read_up_to.push(read);
        }
        let (state, why, kind, wake) = match &advance.next {
            Next::GoOn => return,
            Next::Show { state, why } => (*state, why, 0, None),
            Next::Rest {
                state,
                why,
                wake,
                yields,
            } => {
                if *yields {
                    self.pass(standing);
                }
                (*state, why, 1 + i16::from(*yields), *wake)
            }
            Next::Finish { state, why, tell } => {
                // All its mail goes, whether it was read or not.
                self.read.push(&advance.run.0);
                self.read_up_to.push(i64::MAX);
                self.pass(standing);
                self.end(standing, tell.as_deref());
                (*state, why, 3, None)
            }
        };
        self.id.push(&advance.run.0);
        self.state.push(state as i16);
        self.why.push(text(why));
        self.kind.push(kind);
        self.wake.push(wake.map(|wake| wake.0));
    }

    /// The next in its lane may pass, if it was in.
    fn pass(&mut self, standing: Option<&'a Standing>) {
        let inside = standing.filter(|run| run.place == Some(Place::In as i16));
        if let Some(lane) = inside.and_then(|run| run.lane.as_deref()) {
            *self.let_in.entry(lane).or_default() += 1;
        }
    }

    fn end(&mut self, standing: Option<&'a Standing>, tell: Option<&'a str>) {
        let lane = standing.and_then(|run| run.lane.as_deref());
        let parent = standing.and_then(|run| run.parent.as_deref());
        let note = parent.zip(tell).map(|(parent, note)| (parent, lane, note));
        match lane {
            Some(lane) => {
                self.last_of_lane.insert(lane, note);
            }
            None => self.tell.extend(note),
        }
    }
}
