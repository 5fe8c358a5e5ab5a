-- Why: people log in to the page, and it must be told who did what.
--
-- Tokens that were made before have every scope.
ALTER TABLE tokens ADD COLUMN scopes text NOT NULL
    DEFAULT 'read,guard,trigger,operate,approve,deploy,admin';
-- `password` is a hash with its own salt; empty until they have chosen one.
CREATE TABLE people (
    name       text   PRIMARY KEY,
    role       text   NOT NULL,
    password   text,
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL
);
-- One row. Whoever changes people, sessions or invitations holds it, so that no two wait for each other's rows and
-- what was checked still holds when it is written.
CREATE TABLE people_lock (number bigint NOT NULL);
INSERT INTO people_lock VALUES (0);
-- Who is logged in; what the browser holds is kept as a hash only.
CREATE TABLE sessions (
    hash       bytea  PRIMARY KEY,
    person     text   NOT NULL,
    created_at bigint NOT NULL,
    until      bigint NOT NULL
);
CREATE INDEX sessions_by_person ON sessions (person);
-- Links with which somebody chooses a password; without a person: the first of all, their name too.
CREATE TABLE invitations (
    hash   bytea  PRIMARY KEY,
    person text,
    until  bigint NOT NULL
);
-- Written before it is done; `status` is added behind it, and without one nobody knows what came of it.
CREATE TABLE audit (
    seq     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      bigint NOT NULL,
    who     text   NOT NULL,
    via     text   NOT NULL,
    address text,
    action  text   NOT NULL,
    target  text   NOT NULL,
    note    text,
    status  bigint
);
CREATE INDEX audit_by_time ON audit (at);
