-- Why: people want to see at a glance what happened, however many runs there are.
--
-- How often something happened in a minute (`span` 60), an hour (3600) or a day (86400) that begins at `at`. `part` is
-- what is counted apart: '' everything together, 'flows' each flow, 'steps of FLOW' each of its steps.
-- Written behind the answers; nothing that a run does depends on it.
CREATE TABLE counts (
    span  integer NOT NULL,
    part  text    COLLATE "C" NOT NULL,
    at    bigint  NOT NULL,
    name  text    COLLATE "C" NOT NULL,
    what  text    COLLATE "C" NOT NULL,
    count bigint  NOT NULL,
    PRIMARY KEY (span, part, at, name, what)
) WITH (fillfactor = 70);
CREATE INDEX counts_by_time ON counts (span, at);
