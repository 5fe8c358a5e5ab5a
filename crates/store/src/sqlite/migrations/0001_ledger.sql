-- Why: the first schema. One file holds everything that Semel promises.
--
-- It is read by people too: start at the view `ledger` at the end.

-- Actions. A scope's name stands in millions of rows, so they hold its number.
CREATE TABLE scopes (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- One row for each intended change to the world. `id` is the hash of scope and key, and its
-- uniqueness is what makes two claims at the same moment impossible. Rows are appended in order
-- and found by a short random index, which costs far less than rows in random order.
-- Times are milliseconds since 1970. `input` and `result` are JSON text, or, when that is long,
-- the 32-byte hash and 8-byte length of a blob.
CREATE TABLE effects (
    seq         INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL UNIQUE,
    scope       INTEGER NOT NULL REFERENCES scopes (id),
    key         TEXT    NOT NULL,
    state       INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    fence       BLOB    NOT NULL,
    process     BLOB,
    node        INTEGER,
    epoch       INTEGER,
    owner       TEXT,
    fingerprint BLOB,
    on_unknown  INTEGER,
    remember    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    claimed_at  INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    changed_at  INTEGER NOT NULL,
    settled     BLOB,
    tombstone   INTEGER NOT NULL,
    input       ANY,
    result      ANY,
    external_id TEXT,
    note        TEXT,
    blobs       BLOB,
    blocked     INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What a person or a duty must look at: claimed, unknown, in review. Small, whatever the ledger's size.
CREATE INDEX effects_open ON effects (state, lease_until) WHERE state IN (0, 3, 4);
CREATE INDEX effects_by_scope ON effects (scope);
CREATE INDEX effects_by_external_id ON effects (external_id) WHERE external_id IS NOT NULL;

-- The life of an effect beyond its first claim and settlement, which its own row tells.
CREATE TABLE transitions (
    seq        INTEGER PRIMARY KEY,
    effect     INTEGER NOT NULL REFERENCES effects (seq),
    attempt    INTEGER NOT NULL,
    claimed_at INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    was        INTEGER NOT NULL,
    became     INTEGER NOT NULL,
    cause      TEXT    NOT NULL,
    by         TEXT,
    note       TEXT
) STRICT;
CREATE INDEX transitions_by_effect ON transitions (effect);

-- Proof of what was blocked; and how much of it, by the hour, for ever.
CREATE TABLE receipts (
    seq     INTEGER PRIMARY KEY,
    id      BLOB    NOT NULL,
    effect  INTEGER NOT NULL REFERENCES effects (seq),
    verdict TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    by      TEXT,
    attempt INTEGER NOT NULL
) STRICT;
CREATE INDEX receipts_by_effect ON receipts (effect);
CREATE TABLE tallies (
    hour    INTEGER NOT NULL,
    scope   INTEGER NOT NULL REFERENCES scopes (id),
    verdict TEXT    NOT NULL,
    count   INTEGER NOT NULL,
    PRIMARY KEY (hour, scope, verdict)
) STRICT, WITHOUT ROWID;

-- Long values, once each, and who needs them.
CREATE TABLE blobs (
    hash    BLOB    NOT NULL PRIMARY KEY,
    at      INTEGER NOT NULL,
    content BLOB    NOT NULL
) STRICT;
CREATE INDEX blobs_by_age ON blobs (at);
CREATE TABLE blob_uses (
    hash   BLOB    NOT NULL,
    effect INTEGER NOT NULL REFERENCES effects (seq),
    PRIMARY KEY (hash, effect)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses_by_effect ON blob_uses (effect);

-- What time it was when this boot of this machine first opened the file. Whoever opens it later in
-- the same boot counts on from here, so that a wall clock that is set moves no lease and forgets nothing.
CREATE TABLE clock (
    boot       BLOB    NOT NULL PRIMARY KEY,
    booted_for INTEGER NOT NULL,
    time       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Who may call, by the hash of their token.
CREATE TABLE tokens (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    hash       BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

-- Who serves. Numbers are never used twice, so a dead node cannot be mistaken for a new one.
CREATE TABLE nodes (
    node        INTEGER PRIMARY KEY AUTOINCREMENT,
    epoch       INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    lease_until INTEGER NOT NULL,
    fenced      INTEGER NOT NULL
) STRICT;

CREATE VIEW ledger AS
SELECT scopes.name AS scope,
       key,
       CASE state
           WHEN 0 THEN iif(lease_until <= unixepoch('subsec') * 1000, 'unknown', 'claimed')
           WHEN 1 THEN 'done'
           WHEN 2 THEN 'failed'
           WHEN 3 THEN 'unknown'
           WHEN 4 THEN 'review'
           WHEN 5 THEN 'undone'
           WHEN 6 THEN 'released'
       END AS state,
       attempt,
       owner,
       external_id,
       iif(typeof(input) = 'text', input, NULL) AS input,
       iif(typeof(result) = 'text', result, NULL) AS result,
       note,
       blocked,
       strftime('%FT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
       strftime('%FT%H:%M:%fZ', claimed_at / 1000.0, 'unixepoch') AS claimed_at,
       strftime('%FT%H:%M:%fZ', changed_at / 1000.0, 'unixepoch') AS changed_at
  FROM effects
  JOIN scopes ON scopes.id = effects.scope;
