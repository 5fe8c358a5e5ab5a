-- Why: flows need secrets, and whoever steals this file must not have them.
--
-- `sealed` can be opened only with a key that is kept outside of the database; `key` tells which.
CREATE TABLE secrets (
    name       TEXT    NOT NULL PRIMARY KEY,
    key        BLOB    NOT NULL,
    sealed     BLOB    NOT NULL,
    changed_at INTEGER NOT NULL,
    by         TEXT
) STRICT, WITHOUT ROWID;
-- One row: grows with every change, so that other nodes notice.
CREATE TABLE secrets_revision (number INTEGER NOT NULL) STRICT;
INSERT INTO secrets_revision VALUES (0);
