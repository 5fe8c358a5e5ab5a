-- Why: flows run, and a run must survive whatever happens to the node that works on it.
--
-- Start at the view `run_list` at the end; `journal` tells what a run has done so far.
-- Whoever changes a run's row, or mails to it, holds the row until the commit, so mail is numbered
-- in the order in which it becomes visible. Whoever starts or ends runs of a lane holds the lane (a
-- lock that ends with the transaction), so two ends at the same moment see each other.

-- One row for each run, small, as it changes. `id` sorts by time.
CREATE TABLE runs (
    id         bytea    PRIMARY KEY,
    flow       text     NOT NULL,
    key        text     NOT NULL,
    release    bytea    NOT NULL,
    -- The run that waits for it.
    parent     bytea,
    -- 0 queued, 1 running, 2 retrying, 3 waiting, 4 unknown, 5 parked;
    -- over: 6 done, 7 failed, 8 undone, 9 cancelled
    state      smallint NOT NULL,
    why        text     NOT NULL,
    created_at bigint   NOT NULL,
    changed_at bigint   NOT NULL,
    -- When somebody should work on it, and who does.
    wake       bigint,
    node       bigint,
    -- The queue it goes through. 0 it waits to be let in, 1 it is in, 2 it let the next pass.
    lane       bytea,
    place      smallint
) WITH (fillfactor = 80);

-- What is not done is little, whatever the number of runs: open ones, and those that ended badly.
CREATE INDEX runs_not_done ON runs (state, id) WHERE state <> 6;
CREATE INDEX runs_due ON runs (wake, id) WHERE node IS NULL AND wake IS NOT NULL;
CREATE INDEX runs_held ON runs (node) WHERE node IS NOT NULL;
CREATE INDEX runs_in_lane ON runs (lane, place, id) WHERE lane IS NOT NULL AND state < 6;
-- People look for runs that were started from outside; children are found by their parent.
CREATE INDEX runs_flow ON runs (flow, id) WHERE parent IS NULL;
CREATE INDEX runs_key ON runs USING hash (key) WHERE parent IS NULL;
CREATE INDEX runs_parent ON runs (parent, id) WHERE parent IS NOT NULL;

-- What a run has done, row by row. A row is written once: its place in the key is what stops a
-- node that no longer holds the run.
CREATE TABLE journal (
    run        bytea  NOT NULL,
    at         bigint NOT NULL,
    written_at bigint NOT NULL,
    row        text   NOT NULL,
    PRIMARY KEY (run, at)
);

-- What runs were told and have not read.
CREATE TABLE mail (
    seq  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run  bytea  NOT NULL,
    at   bigint NOT NULL,
    note text   NOT NULL
);
CREATE INDEX mail_run ON mail (run, seq);

-- Which long values a run's journal refers to: they are kept for as long as the run is.
CREATE TABLE run_blobs (
    hash bytea NOT NULL,
    run  bytea NOT NULL,
    PRIMARY KEY (hash, run)
);
CREATE INDEX run_blobs_run ON run_blobs (run);

-- The newest version of each thing that was applied: what is older is stale.
CREATE TABLE latest (
    of      bytea  PRIMARY KEY,
    version bigint NOT NULL
);

-- The texts of flows that were deployed. At most one of a flow takes triggers.
CREATE TABLE releases (
    seq        bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         bytea   NOT NULL UNIQUE,
    flow       text    NOT NULL,
    source     text    NOT NULL,
    created_at bigint  NOT NULL,
    "by"       text,
    live       boolean NOT NULL,
    live_at    bigint
);
CREATE INDEX releases_flow ON releases (flow, seq);
CREATE UNIQUE INDEX releases_live ON releases (flow) WHERE live;
-- One row: grows whenever another release goes live, or none of a flow is any more. Whoever
-- changes a release holds it, so they do so one after the other.
CREATE TABLE live_revision (number bigint NOT NULL);
INSERT INTO live_revision VALUES (0);

-- Saved positions, such as the last tick of a schedule.
CREATE TABLE cursors (
    name     text PRIMARY KEY,
    position text NOT NULL
) WITH (fillfactor = 50);

CREATE VIEW run_list AS
SELECT
    'run_' || encode(r.id, 'hex') AS run,
    r.flow,
    r.key,
    (ARRAY['queued', 'running', 'retrying', 'waiting', 'unknown', 'parked',
           'done', 'failed', 'undone', 'cancelled'])[r.state + 1] AS state,
    r.why,
    instant(r.created_at) AS created_at,
    instant(r.changed_at) AS changed_at,
    instant(r.wake) AS wake,
    r.node,
    'run_' || encode(r.parent, 'hex') AS parent,
    encode(r.release, 'hex') AS release
FROM runs r;
