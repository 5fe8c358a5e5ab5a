-- Why: people log in to the page, and it must be told who did what.
--
-- Tokens that were made before have every scope.
ALTER TABLE tokens ADD COLUMN scopes TEXT NOT NULL
    DEFAULT 'read,guard,trigger,operate,approve,deploy,admin';
-- `password` is a hash with its own salt; empty until they have chosen one.
CREATE TABLE people (
    name       TEXT    NOT NULL PRIMARY KEY,
    role       TEXT    NOT NULL,
    password   TEXT,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Who is logged in; what the browser holds is kept as a hash only.
CREATE TABLE sessions (
    hash       BLOB    NOT NULL PRIMARY KEY,
    person     TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    until      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_person ON sessions (person);
-- Links with which somebody chooses a password; without a person: the first of all, their name too.
CREATE TABLE invitations (
    hash   BLOB    NOT NULL PRIMARY KEY,
    person TEXT,
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- Written before it is done; `status` is added behind it, and without one nobody knows what came of it.
CREATE TABLE audit (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    who     TEXT    NOT NULL,
    via     TEXT    NOT NULL,
    address TEXT,
    action  TEXT    NOT NULL,
    target  TEXT    NOT NULL,
    note    TEXT,
    status  INTEGER
) STRICT;
CREATE INDEX audit_by_time ON audit (at);
