-- Why: flows run, and a run must survive whatever happens to the process that works on it.
--
-- Start at the view `run_list` at the end; `journal` tells what a run has done so far.

-- A list of more than two in the condition would make a table of its own for every row written.
DROP INDEX effects_open;
CREATE INDEX effects_open ON effects (state, lease_until) WHERE state = 0 OR state = 3 OR state = 4;

-- One row for each run, small, as it changes. `id` sorts by time, so new rows go to the end.
-- `flow` is the number of a name in `scopes`: a flow's runs are claimed under its own name.
-- `state`: 0 queued, 1 running, 2 retrying, 3 waiting, 4 unknown, 5 parked; over: 6 done, 7 failed,
-- 8 undone, 9 cancelled. `node` is who works on it; `wake` is when somebody should.
-- `place` is where it stands with its lane: 0 it waits to be let in, 1 it is in, 2 it let the next pass.
CREATE TABLE runs (
    id         BLOB    NOT NULL PRIMARY KEY,
    flow       INTEGER NOT NULL REFERENCES scopes (id),
    key        TEXT    NOT NULL,
    key_hash   INTEGER NOT NULL,
    release    BLOB    NOT NULL,
    parent     BLOB,
    state      INTEGER NOT NULL,
    why        TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    wake       INTEGER,
    node       INTEGER,
    lane       BLOB,
    place      INTEGER
) STRICT, WITHOUT ROWID;

-- What is not done is little, whatever the number of runs: open ones, and those that ended badly.
CREATE INDEX runs_not_done ON runs (state) WHERE state <> 6;
CREATE INDEX runs_due ON runs (wake) WHERE node IS NULL AND wake IS NOT NULL;
CREATE INDEX runs_in_lane ON runs (lane, place) WHERE lane IS NOT NULL AND state < 6;
-- People look for runs that were started from outside; children are found by their parent.
CREATE INDEX runs_by_flow ON runs (flow) WHERE parent IS NULL;
CREATE INDEX runs_by_key ON runs (key_hash) WHERE parent IS NULL;
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL;

-- What a run has done, row by row. A row is written once: its place in the key is what stops a
-- node that no longer holds the run. Rows are appended in order and found by a short index: of many
-- runs at once each would otherwise write into a page of its own.
CREATE TABLE journal (
    seq        INTEGER PRIMARY KEY,
    run        BLOB    NOT NULL,
    at         INTEGER NOT NULL,
    written_at INTEGER NOT NULL,
    row        TEXT    NOT NULL,
    UNIQUE (run, at)
) STRICT;

-- What runs were told and have not read. Numbers are never used twice, or a run that has read up
-- to one could throw away mail that it has not seen.
CREATE TABLE mail (
    seq  INTEGER PRIMARY KEY AUTOINCREMENT,
    run  BLOB    NOT NULL,
    at   INTEGER NOT NULL,
    note TEXT    NOT NULL
) STRICT;
CREATE INDEX mail_by_run ON mail (run);

-- Which long values a run's journal refers to: they are kept for as long as the run is.
CREATE TABLE run_blobs (
    hash BLOB NOT NULL,
    run  BLOB NOT NULL,
    PRIMARY KEY (hash, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_blobs_by_run ON run_blobs (run);

-- The newest version of each thing that was applied: what is older is stale.
CREATE TABLE latest (
    of      BLOB    NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The texts of flows that were deployed. At most one of a flow takes triggers.
CREATE TABLE releases (
    seq        INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,
    flow       TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    by         TEXT,
    live       INTEGER NOT NULL,
    live_at    INTEGER
) STRICT;
CREATE INDEX releases_by_flow ON releases (flow);
CREATE UNIQUE INDEX releases_live ON releases (flow) WHERE live;
-- One row: grows whenever another release goes live, or none of a flow is any more.
CREATE TABLE live_revision (number INTEGER NOT NULL) STRICT;
INSERT INTO live_revision VALUES (0);

-- Saved positions, such as the last tick of a schedule.
CREATE TABLE cursors (
    name     TEXT NOT NULL PRIMARY KEY,
    position TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE VIEW run_list AS
SELECT 'run_' || lower(hex(runs.id)) AS run,
       scopes.name AS flow,
       key,
       CASE state
           WHEN 0 THEN 'queued'
           WHEN 1 THEN 'running'
           WHEN 2 THEN 'retrying'
           WHEN 3 THEN 'waiting'
           WHEN 4 THEN 'unknown'
           WHEN 5 THEN 'parked'
           WHEN 6 THEN 'done'
           WHEN 7 THEN 'failed'
           WHEN 8 THEN 'undone'
           WHEN 9 THEN 'cancelled'
       END AS state,
       why,
       strftime('%FT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
       strftime('%FT%H:%M:%fZ', changed_at / 1000.0, 'unixepoch') AS changed_at,
       strftime('%FT%H:%M:%fZ', wake / 1000.0, 'unixepoch') AS wake,
       node,
       iif(parent IS NULL, NULL, 'run_' || lower(hex(parent))) AS parent,
       lower(hex(release)) AS release
  FROM runs
  JOIN scopes ON scopes.id = runs.flow;
