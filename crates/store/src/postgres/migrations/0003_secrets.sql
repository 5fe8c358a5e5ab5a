-- Why: flows need secrets, and whoever steals this database must not have them.
--
-- `sealed` can be opened only with a key that is kept outside of the database; `key` tells which.
CREATE TABLE secrets (
    name       text   PRIMARY KEY,
    key        bytea  NOT NULL,
    sealed     bytea  NOT NULL,
    changed_at bigint NOT NULL,
    "by"       text
);
-- One row: grows with every change, so that other nodes notice. Whoever changes a secret holds it.
CREATE TABLE secrets_revision (number bigint NOT NULL);
INSERT INTO secrets_revision VALUES (0);
