//! What a writer says about runs, prepared once for each session.

use tokio_postgres::{Client, Error, Statement};

use super::statements::statements;

statements! {
    /// Everything a writer says about runs.
    RunStatements:
    /// The lanes of these runs.
    lanes_of = "SELECT DISTINCT lane FROM runs WHERE id = ANY($1) AND lane IS NOT NULL";
    /// Holds lanes until the commit, in the order that they are given.
    hold_lanes = "SELECT pg_advisory_xact_lock(lane) FROM unnest($1::bigint[]) AS lane";
    /// How many runs are in each of these lanes.
    inside = "SELECT lane, count(*) FROM runs \
              WHERE lane IS NOT NULL AND state < 6 AND lane = ANY($1) AND place = 1 GROUP BY lane";
    latest = "SELECT of, version FROM latest WHERE of = ANY($1)";
    there = "SELECT id FROM runs WHERE id = ANY($1)";
    /// Runs with their first rows; those that are there already stay as they are.
    start = "WITH u AS (SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::bytea[], \
                 $5::bytea[], $6::smallint[], $7::text[], $8::bigint[], $9::bigint[], $10::bytea[], \
                 $11::smallint[], $12::text[]) \
                 AS u (id, flow, key, release, parent, state, why, wake, node, lane, place, opening)), \
             new AS (INSERT INTO runs (id, flow, key, release, parent, state, why, created_at, \
                     changed_at, wake, node, lane, place) \
                 SELECT id, flow, key, release, parent, state, why, $13, $13, wake, node, lane, place \
                 FROM u ORDER BY id ON CONFLICT (id) DO NOTHING RETURNING id), \
             opened AS (INSERT INTO journal (run, at, written_at, row) \
                 SELECT u.id, 0, $13, u.opening FROM u JOIN new ON new.id = u.id \
                 ON CONFLICT DO NOTHING) \
             SELECT id FROM new";
    apply_latest = "INSERT INTO latest AS l (of, version) SELECT of, max(version) \
                    FROM unnest($1::bytea[], $2::bigint[]) AS u (of, version) GROUP BY of ORDER BY of \
                    ON CONFLICT (of) DO UPDATE SET version = greatest(l.version, excluded.version)";
    /// Holds runs and the parents of others until the commit. All writers lock in this order.
    hold = "SELECT FROM runs WHERE id = ANY($1::bytea[] || ARRAY(SELECT parent FROM runs \
            WHERE id = ANY($2) AND parent IS NOT NULL)) ORDER BY id FOR UPDATE";
    /// Who holds a run, and where it stands.
    standing = "SELECT id, node, lane, place, parent FROM runs WHERE id = ANY($1)";
    /// Which of these rows are there.
    written = "SELECT j.run, j.at FROM journal j \
               JOIN unnest($1::bytea[], $2::bigint[]) AS u (run, at) ON j.run = u.run AND j.at = u.at";
    write = "INSERT INTO journal (run, at, written_at, row) \
             SELECT u.run, u.at, $4, u.row FROM unnest($1::bytea[], $2::bigint[], $3::text[]) \
                    AS u (run, at, row) ORDER BY u.run, u.at \
             ON CONFLICT (run, at) DO NOTHING RETURNING run, at";
    use_blobs = "INSERT INTO run_blobs (hash, run) \
                 SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT DO NOTHING";
    read_mail = "DELETE FROM mail m USING unnest($1::bytea[], $2::bigint[]) AS u (run, seq) \
                 WHERE m.run = u.run AND m.seq <= u.seq";
    /// 0 it is shown, 1 it rests, 2 it rests and yields, 3 it is over. Read mail is gone by now, and a
    /// wake that came while it was held stands.
    move_on = "UPDATE runs r SET state = u.state, why = u.why, changed_at = $6, \
                   node = CASE WHEN u.kind = 0 THEN r.node END, \
                   wake = CASE WHEN u.kind = 0 THEN r.wake WHEN u.kind = 3 THEN NULL \
                       WHEN EXISTS (SELECT FROM mail m WHERE m.run = r.id) THEN $6 \
                       ELSE least(u.wake, r.wake) END, \
                   place = CASE WHEN u.kind = 3 AND r.lane IS NOT NULL THEN 2 \
                       WHEN u.kind = 2 AND r.place = 1 THEN 2 ELSE r.place END \
               FROM unnest($1::bytea[], $2::smallint[], $3::text[], $4::smallint[], $5::bigint[]) \
                    AS u (id, state, why, kind, wake) WHERE r.id = u.id";
    /// Lets in the oldest that wait, so many of each lane.
    let_in = "UPDATE runs SET place = 1, wake = $3 WHERE id IN (SELECT next.id \
              FROM unnest($1::bytea[], $2::bigint[]) AS u (lane, count) CROSS JOIN LATERAL \
                   (SELECT id FROM runs WHERE lane IS NOT NULL AND state < 6 AND lane = u.lane \
                    AND place = 0 ORDER BY id LIMIT u.count) AS next)";
    /// Tells open runs something and wakes those that rest; not while others of the lane are open.
    tell = "WITH due AS (SELECT u.run, u.note, u.turn \
                FROM unnest($1::bytea[], $2::bytea[], $3::text[]) WITH ORDINALITY \
                     AS u (run, lane, note, turn) \
                JOIN runs r ON r.id = u.run AND r.state < 6 WHERE u.lane IS NULL OR NOT EXISTS \
                    (SELECT FROM runs o WHERE o.lane IS NOT NULL AND o.state < 6 AND o.lane = u.lane)), \
            woken AS (UPDATE runs r SET wake = least(r.wake, $4) \
                WHERE r.id IN (SELECT run FROM due) AND r.node IS NULL) \
            INSERT INTO mail (run, at, note) SELECT run, $4, note FROM due ORDER BY turn";
    /// Everybody who is in a lane, or waits for it, but these; held.
    others_in_lane = "SELECT id FROM runs WHERE lane IS NOT NULL AND state < 6 AND lane = $1 \
                      AND place IN (0, 1) AND NOT id = ANY($2) ORDER BY id FOR UPDATE";
    take = "WITH due AS MATERIALIZED (SELECT id, wake FROM runs \
                WHERE node IS NULL AND wake IS NOT NULL AND wake <= $2 \
                ORDER BY wake, id LIMIT $3 FOR UPDATE SKIP LOCKED) \
            UPDATE runs r SET node = $1, wake = NULL FROM due WHERE r.id = due.id \
            RETURNING due.wake, due.id";
    free = "UPDATE runs SET node = NULL, wake = $2 WHERE id IN (SELECT id FROM runs \
            WHERE node IS NOT NULL AND node = $1 ORDER BY id LIMIT $3 FOR UPDATE)";
    forget = "DELETE FROM runs r WHERE id = ANY($1) AND state >= 6 AND changed_at <= $2 AND NOT EXISTS \
              (SELECT FROM runs p WHERE p.id = r.parent AND p.state < 6) RETURNING id";
    forget_journal = "DELETE FROM journal WHERE run = ANY($1)";
    forget_mail = "DELETE FROM mail WHERE run = ANY($1)";
    forget_blobs = "DELETE FROM run_blobs WHERE run = ANY($1)";
    forget_listeners = "DELETE FROM listeners WHERE run = ANY($1)";
    listen = "INSERT INTO listeners (run, step, place) \
              SELECT id, $2::text, $3::bytea FROM runs WHERE id = $1 AND state < 6 \
              ON CONFLICT (run, step) DO UPDATE SET place = excluded.place";
    /// Hardly ever new; two writers must not wait for each other if it is not.
    topic = "INSERT INTO topics (source, path) SELECT $1::text, $2::text \
             WHERE NOT EXISTS (SELECT FROM topics WHERE source = $1 AND path = $2) \
             ON CONFLICT DO NOTHING";
    hush = "DELETE FROM listeners WHERE run = $1 AND step = $2";
    listening = "SELECT DISTINCT l.run FROM listeners l JOIN runs r ON r.id = l.run AND r.state < 6 \
                 WHERE l.place = ANY($1) ORDER BY l.run";
}
