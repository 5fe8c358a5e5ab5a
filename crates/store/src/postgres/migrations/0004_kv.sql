-- Why: flows remember small things from one run to the next, and count.
--
-- What has expired counts as absent, whether or not it was swept. Keys are in the order of their bytes.
CREATE TABLE kv (
    key        text   COLLATE "C" PRIMARY KEY,
    value      text   NOT NULL,
    expires_at bigint,
    changed_at bigint NOT NULL,
    "by"       text
);
CREATE INDEX kv_by_end ON kv (expires_at) WHERE expires_at IS NOT NULL;
