-- Why: the ledger's first home in PostgreSQL.
--
-- Several nodes share it as equals and any of them may die, so nothing here belongs to a
-- connection: whoever commits brings its node's epoch, and every row tells its own story.
-- All names live in one schema, which the session's search_path names.
-- Times are milliseconds since 1970 by the database's clock, because the machine that decides
-- about them counts so; the view `ledger` at the end shows them as people read them.

-- An effect is one intended change to the world. It is found by `id`, a hash of scope and key:
-- sixteen bytes make a small index, and the unique constraint on it is what lets only one of two
-- nodes win. `seq` is its place in the ledger; pages and the sweeper walk along it.
CREATE SEQUENCE effects_seq;
CREATE TABLE effects (
    seq           bigint   PRIMARY KEY,
    id            bytea    NOT NULL UNIQUE,
    scope         text     NOT NULL,
    key           text     NOT NULL,
    -- 0 claimed, 1 done, 2 failed, 3 unknown, 4 review, 5 undone, 6 released
    state         smallint NOT NULL,
    attempt       bigint   NOT NULL,
    -- What the latest grant is recognised by.
    fence         bytea    NOT NULL,
    -- Who got it: a node, a process, or (all empty) whoever has the token.
    owner_node    bigint,
    owner_epoch   bigint,
    owner_machine bytea,
    owner_pid     bigint,
    owner_started bigint,
    fingerprint   bytea,
    on_unknown    text,
    remember      bigint   NOT NULL,
    created_at    bigint   NOT NULL,
    claimed_at    bigint   NOT NULL,
    lease_until   bigint   NOT NULL,
    changed_at    bigint   NOT NULL,
    settled       bytea,
    tombstone     boolean  NOT NULL,
    "by"          text,
    -- JSON is kept letter for letter, so it is text; a long one is a blob, with its length here.
    input         text,
    input_blob    bytea,
    input_bytes   bigint,
    result        text,
    result_blob   bytea,
    result_bytes  bigint,
    external_id   text,
    note          text,
    -- Hashes of further blobs, 32 bytes each, one after the other.
    blobs         bytea,
    blocked       bigint   NOT NULL DEFAULT 0,
    -- Grows with every change, so that a writer notices that what it read is no longer so.
    revision      bigint   NOT NULL DEFAULT 0
);
ALTER SEQUENCE effects_seq OWNED BY effects.seq;
CREATE INDEX effects_scope ON effects (scope, seq);
-- What is still open is little, whatever the ledger's size.
CREATE INDEX effects_open ON effects (state, lease_until) WHERE state IN (0, 3, 4);
CREATE INDEX effects_node ON effects (owner_node) WHERE state = 0 AND owner_node IS NOT NULL;
-- A hash index, since a destination may use names of any length.
CREATE INDEX effects_external_id ON effects USING hash (external_id) WHERE external_id IS NOT NULL;

-- What an effect lived through beyond its first claim and settlement.
CREATE TABLE turns (
    effect     bigint   NOT NULL,
    seq        bigint   GENERATED ALWAYS AS IDENTITY,
    attempt    bigint   NOT NULL,
    claimed_at bigint   NOT NULL,
    at         bigint   NOT NULL,
    from_state smallint NOT NULL,
    to_state   smallint NOT NULL,
    cause      smallint NOT NULL,
    "by"       text,
    note       text,
    PRIMARY KEY (effect, seq)
);

-- Long texts and outputs, once each. `at` is when it was last written: whoever wrote it has a day
-- to refer to it. `blob_uses` tells which effect keeps which, so that the rest can be given back.
CREATE TABLE blobs (
    hash  bytea  PRIMARY KEY,
    bytes bytea  NOT NULL,
    at    bigint NOT NULL
);
CREATE TABLE blob_uses (
    hash   bytea NOT NULL,
    effect bytea NOT NULL,
    PRIMARY KEY (hash, effect)
);
CREATE INDEX blob_uses_effect ON blob_uses (effect);

-- Every refused claim: in full for the first hundred of an effect, and always in the tally.
CREATE TABLE receipts (
    seq     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id      bytea  NOT NULL,
    effect  bigint NOT NULL,
    scope   text   NOT NULL,
    verdict text   NOT NULL,
    at      bigint NOT NULL,
    "by"    text,
    attempt bigint NOT NULL,
    count   bigint NOT NULL
);
CREATE INDEX receipts_effect ON receipts (effect, seq);
CREATE INDEX receipts_scope ON receipts (scope, seq);
CREATE TABLE tallies (
    scope   text   NOT NULL,
    hour    bigint NOT NULL,
    verdict text   NOT NULL,
    count   bigint NOT NULL,
    PRIMARY KEY (hour, scope, verdict)
);

-- Who may use the API; only hashes of tokens are kept.
CREATE TABLE tokens (
    seq        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id         text   NOT NULL UNIQUE,
    name       text   NOT NULL,
    hash       bytea  NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint
);

-- Who serves. Every commit of a node holds its (node, epoch) as a foreign key would, until the
-- end. Declaring a node dead changes the epoch, which is part of the key: so it waits for commits
-- under way, and no later one passes. Renewing a lease touches no key and waits for nobody.
-- Numbers are never used again.
CREATE TABLE nodes (
    node        bigint  GENERATED ALWAYS AS IDENTITY,
    epoch       bigint  NOT NULL,
    name        text    NOT NULL,
    lease_until bigint  NOT NULL,
    fenced      boolean NOT NULL,
    PRIMARY KEY (node, epoch)
) WITH (fillfactor = 50);

-- The latest commit of each writer, written in that very commit: when a connection breaks before
-- COMMIT was answered, this row tells whether it happened. (A transaction number would not do:
-- after a crash PostgreSQL may give the same number again.)
CREATE TABLE writers (
    writer bytea  PRIMARY KEY,
    commit bigint NOT NULL,
    at     bigint NOT NULL
) WITH (fillfactor = 50);

-- For people. A lease that ran out is unknown already, whether or not anybody has noticed.
CREATE FUNCTION instant(millis bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN millis >= 9000000000000000 THEN 'infinity'::timestamptz
        WHEN millis <= -200000000000000 THEN '-infinity'::timestamptz
        ELSE to_timestamp(millis / 1000.0)
    END
$$;
CREATE VIEW ledger AS
SELECT
    e.seq,
    e.scope,
    e.key,
    CASE
        WHEN e.state = 0 AND instant(e.lease_until) <= clock_timestamp() THEN 'unknown'
        ELSE (ARRAY['claimed', 'done', 'failed', 'unknown', 'review', 'undone', 'released'])[e.state + 1]
    END AS state,
    e.attempt,
    e."by",
    CASE
        WHEN e.owner_node IS NOT NULL THEN 'node ' || e.owner_node
        WHEN e.owner_pid IS NOT NULL THEN 'process ' || e.owner_pid
        ELSE 'client'
    END AS owner,
    instant(e.created_at) AS created_at,
    instant(e.claimed_at) AS claimed_at,
    instant(e.lease_until) AS lease_until,
    instant(e.changed_at) AS changed_at,
    e.external_id,
    coalesce(e.input, convert_from(i.bytes, 'UTF8')) AS input,
    coalesce(e.result, convert_from(r.bytes, 'UTF8')) AS result,
    e.note,
    e.on_unknown,
    e.tombstone,
    e.blocked
FROM effects e
LEFT JOIN blobs i ON i.hash = e.input_blob
LEFT JOIN blobs r ON r.hash = e.result_blob;
