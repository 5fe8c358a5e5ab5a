//! Runs inside the writer's transaction: started, moved on, taken, freed, forgotten.

use rusqlite::{Connection, OptionalExtension as _, ToSql, params};
use semel_ledger::Time;

use super::effects::Batch;
use super::lanes::{self, Standing};
use super::{blobs, mail};
use crate::blob::BlobRef;
use crate::run::{
    Advance, Beginning, NewRun, Next, Place, RunId, RunState, Start, StartOutcome, Started,
    WhenFull,
};

/// Who is there already stays.
pub(super) const INSERT: &str = "INSERT INTO runs (id, flow, key, key_hash, release, parent, state, why,
    created_at, changed_at, wake, node, lane, place) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?9, ?9, ?, ?, ?, ?)
    ON CONFLICT (id) DO NOTHING";
pub(super) const WRITE: &str = "INSERT INTO journal (run, at, written_at, row) VALUES (?, ?, ?, ?)
    ON CONFLICT (run, at) DO NOTHING";

/// What a key is searched by: a short number, whatever the key's length.
pub(super) fn key_hash(key: &str) -> i64 {
    let mut short = [0; 8];
    short.copy_from_slice(&blake3::hash(key.as_bytes()).as_bytes()[..8]);
    i64::from_le_bytes(short)
}

impl Batch<'_> {
    pub(super) fn start(&mut self, start: Start) -> rusqlite::Result<Started> {
        let Start {
            once,
            latest,
            otherwise,
            run,
        } = start;
        let connection = self.connection;
        let stale = match &latest {
            Some(latest) => lanes::is_stale(connection, latest)?,
            None => false,
        };
        let full = match &run.lane {
            Some(lane) => lanes::is_full(connection, lane)?,
            None => false,
        };
        let skipped = full
            && run
                .lane
                .is_some_and(|lane| lane.when_full == WhenFull::Skip);
        let mut answered = None;
        if let Some(mut change) = once {
            if stale || skipped {
                change.content.result = otherwise;
            }
            answered = Some(self.step(change)?);
        }
        let refused = answered
            .as_ref()
            .is_some_and(|answered| !answered.verdict.is_grant());
        let outcome = if refused {
            StartOutcome::Refused
        } else if stale {
            StartOutcome::Stale
        } else if skipped {
            StartOutcome::Skipped
        } else if let Some(beginning) = self.insert_run(&run, full)? {
            if let Some(latest) = &latest {
                lanes::apply_latest(connection, latest)?;
            }
            StartOutcome::Started {
                held: beginning.is_held(),
            }
        } else {
            StartOutcome::Refused
        };
        Ok(Started { answered, outcome })
    }

    /// Nothing if a run of that name is there.
    fn insert_run(&mut self, run: &NewRun, full: bool) -> rusqlite::Result<Option<Beginning>> {
        let beginning = Beginning::of(run, full, self.member, self.now);
        let flow = self.scopes.named(self.connection, &run.flow)?;
        let inserted = self.statements.insert_run.execute(params![
            run.id.0,
            flow,
            run.key.as_str(),
            key_hash(run.key.as_str()),
            run.release.0,
            run.parent.map(|parent| parent.0),
            beginning.state as i64,
            run.why,
            self.now.0,
            beginning.wake.map(|wake| wake.0),
            beginning.node,
            run.lane.map(|lane| lane.id),
            beginning.place.map(|place| place as i64),
        ])?;
        if inserted == 0 {
            return Ok(None);
        }
        self.write_row(run.id, 0, &run.opening)?;
        self.keep_for_run(run.id, &run.contents)?;
        if let Some(lane) = run.lane
            && beginning.place == Some(Place::Waits)
            && lane.when_full == WhenFull::Replace
        {
            lanes::replace(self.connection, lane.id, run.id, self.now)?;
        }
        Ok(Some(beginning))
    }

    /// Gives whether the place was free.
    fn write_row(&mut self, run: RunId, at: u32, row: &str) -> rusqlite::Result<bool> {
        let written = params![run.0, at, self.now.0, row];
        Ok(self.statements.write_row.execute(written)? == 1)
    }

    fn keep_for_run(&self, run: RunId, contents: &[Vec<u8>]) -> rusqlite::Result<()> {
        const USE: &str = "INSERT OR IGNORE INTO run_blobs (hash, run) VALUES (?, ?)";
        for content in contents {
            blobs::put(self.connection, content, self.now)?;
            let hash = BlobRef::of(content).hash;
            self.connection
                .prepare_cached(USE)?
                .execute(params![hash, run.0])?;
        }
        Ok(())
    }

    pub(super) fn advance(&mut self, advance: &Advance) -> rusqlite::Result<bool> {
        let Some(member) = self.member else {
            return Ok(false);
        };
        let id = advance.run;
        let mut standing = Standing::default();
        if !matches!(advance.next, Next::GoOn) {
            let Some(held) = lanes::held(self.connection, id, member.node)? else {
                return Ok(false);
            };
            standing = held;
        }
        let free = match &advance.row {
            Some(row) => self.write_row(id, advance.at, row)?,
            None => !has_row(self.connection, id, advance.at)?,
        };
        if !free {
            return Ok(false);
        }
        self.keep_for_run(id, &advance.contents)?;
        if let Some(read) = advance.read_mail {
            mail::drop_read(self.connection, id, read)?;
        }
        self.go_on(id, &advance.next, &standing)?;
        Ok(true)
    }

    fn go_on(&self, id: RunId, next: &Next, standing: &Standing) -> rusqlite::Result<()> {
        // What was read is gone by now; a wake that came while it was held stands.
        const SHOW: &str = "UPDATE runs SET state = ?, why = ?, changed_at = ? WHERE id = ?";
        const REST: &str = "UPDATE runs SET state = ?1, why = ?2, changed_at = ?3, node = NULL,
            wake = iif(EXISTS (SELECT 1 FROM mail WHERE run = ?4), ?3,
                       min(coalesce(?5, wake), coalesce(wake, ?5))) WHERE id = ?4";
        const FINISH: &str = "UPDATE runs SET state = ?, why = ?, changed_at = ?, node = NULL,
            wake = NULL, place = iif(lane IS NULL, NULL, 2) WHERE id = ?";
        let (connection, now) = (self.connection, self.now);
        let update = |sql, values: &[&dyn ToSql]| connection.prepare_cached(sql)?.execute(values);
        match next {
            Next::GoOn => {}
            Next::Show { state, why } => {
                update(SHOW, &[&(*state as i64), why, &now.0, &id.0])?;
            }
            Next::Rest {
                state,
                why,
                wake,
                yields,
            } => {
                let wake = wake.map(|wake| wake.0);
                update(REST, &[&(*state as i64), why, &now.0, &id.0, &wake])?;
                if *yields && standing.is_in() {
                    lanes::yield_place(connection, id)?;
                    lanes::let_in(connection, standing, now)?;
                }
            }
            Next::Finish { state, why, tell } => {
                update(FINISH, &[&(*state as i64), why, &now.0, &id.0])?;
                mail::drop_read(connection, id, i64::MAX)?;
                lanes::leave(connection, standing, tell.as_deref(), now)?;
            }
        }
        Ok(())
    }

    pub(super) fn take(&self, limit: u32) -> rusqlite::Result<Vec<RunId>> {
        const DUE: &str =
            "SELECT id FROM runs WHERE node IS NULL AND wake IS NOT NULL AND wake <= ?
                            ORDER BY wake, id LIMIT ?";
        const TAKE: &str = "UPDATE runs SET node = ?, wake = NULL WHERE id = ?";
        let Some(member) = self.member else {
            return Ok(Vec::new());
        };
        let mut due = self.connection.prepare_cached(DUE)?;
        let due = due.query_map(params![self.now.0, limit], |row| row.get(0).map(RunId))?;
        let due: Vec<RunId> = due.collect::<Result<_, _>>()?;
        let mut take = self.connection.prepare_cached(TAKE)?;
        for run in &due {
            take.execute(params![member.node, run.0])?;
        }
        Ok(due)
    }

    /// Takes the runs of a node away from it, if it can no longer be working on them.
    pub(super) fn free(&self, node: u64, limit: u32) -> rusqlite::Result<usize> {
        const SERVES: &str = "SELECT 1 FROM nodes WHERE node = ? AND NOT fenced";
        // Only open runs are held, and those have an index.
        const FREE: &str = "UPDATE runs SET node = NULL, wake = ? WHERE id IN (SELECT id FROM runs
            WHERE state <> 6 AND state IN (0, 1, 2, 3, 4, 5) AND node = ? ORDER BY id LIMIT ?)";
        let own = self.member.is_some_and(|member| member.node == node);
        if !own && self.connection.prepare_cached(SERVES)?.exists([node])? {
            return Ok(0);
        }
        self.connection
            .prepare_cached(FREE)?
            .execute(params![self.now.0, node, limit])
    }
}

fn has_row(connection: &Connection, run: RunId, at: u32) -> rusqlite::Result<bool> {
    const HAS: &str = "SELECT 1 FROM journal WHERE run = ? AND at = ?";
    let mut has = connection.prepare_cached(HAS)?;
    let found = has.query_row(params![run.0, at], |_| Ok(()));
    Ok(found.optional()?.is_some())
}

/// Forgets those of `runs` that ended in time and that no open run waits for.
pub(super) fn forget(
    connection: &Connection,
    runs: &[RunId],
    until: Time,
) -> rusqlite::Result<usize> {
    const FORGET: &str =
        "DELETE FROM runs WHERE id = ? AND state >= 6 AND changed_at <= ? AND NOT EXISTS
        (SELECT 1 FROM runs AS parents WHERE parents.id = runs.parent AND parents.state < 6)";
    let mut count = 0;
    for run in runs {
        let forgotten = params![run.0, until.0];
        if connection.prepare_cached(FORGET)?.execute(forgotten)? == 0 {
            continue;
        }
        for table in [
            "DELETE FROM journal WHERE run = ?",
            "DELETE FROM mail WHERE run = ?",
            "DELETE FROM run_blobs WHERE run = ?",
            "DELETE FROM listeners WHERE run = ?",
        ] {
            connection.prepare_cached(table)?.execute([run.0])?;
        }
        count += 1;
    }
    Ok(count)
}

/// The states in the order of their numbers; the schema's view, indexes and statements spell the same.
const _: () = assert!(RunState::Parked as i64 == 5 && RunState::Done as i64 == 6);
const _: () = assert!(Place::Waits as i64 == 0 && Place::In as i64 == 1 && Place::Left as i64 == 2);
