-- Why: a run may wait for an event of another flow, and an event must find it among a hundred thousand that wait.
--
-- `place` is a hash of where the event comes from, which member of it counts and what that must be. A row goes
-- when the wait is over.
CREATE TABLE listeners (
    run   bytea NOT NULL,
    step  text  NOT NULL,
    place bytea NOT NULL,
    PRIMARY KEY (run, step)
);
CREATE INDEX listeners_by_place ON listeners (place);

-- What is or was listened for: as many rows as flow files have such waits. Whoever has an event asks here which
-- members of it count.
CREATE TABLE topics (
    source text NOT NULL,
    path   text NOT NULL,
    PRIMARY KEY (source, path)
);
