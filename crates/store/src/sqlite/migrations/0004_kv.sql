-- Why: flows remember small things from one run to the next, and count.
--
-- What has expired counts as absent, whether or not it was swept.
CREATE TABLE kv (
    key        TEXT    NOT NULL PRIMARY KEY,
    value      TEXT    NOT NULL,
    expires_at INTEGER,
    changed_at INTEGER NOT NULL,
    by         TEXT
) STRICT;
CREATE INDEX kv_by_end ON kv (expires_at) WHERE expires_at IS NOT NULL;
