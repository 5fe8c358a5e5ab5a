//! The statements of a writer, prepared once for each session.

use tokio_postgres::{Client, Error, Statement};

use super::columns::{WRITTEN, read_columns};

/// Makes the struct, and the function that prepares each of its statements.
macro_rules! statements {
    ($(#[$what:meta])* $all:ident: $($(#[$why:meta])* $name:ident = $sql:expr;)*) => {
        $(#[$what])*
        #[derive(Debug)]
        pub(super) struct $all {
            $($(#[$why])* pub(super) $name: Statement,)*
        }

        impl $all {
            pub(super) async fn prepare(client: &Client) -> Result<$all, Error> {
                $(let $name = $sql;)*
                // All are sent at once: one round trip, however many there are.
                let ($($name,)*) = tokio::try_join!($(Box::pin(client.prepare(&$name))),*)?;
                Ok($all { $($name,)* })
            }
        }
    };
}
pub(super) use statements;

statements! {
    /// Everything a writer says about effects.
    Statements:
    /// Which of these nodes may commit.
    alive = "SELECT node, epoch FROM nodes WHERE node = ANY($1) AND NOT fenced";
    /// Holds the epochs of these nodes until the commit.
    hold = "SELECT node, epoch FROM nodes WHERE node = ANY($1) AND NOT fenced \
            ORDER BY node FOR KEY SHARE";
    /// Whole effects as they are committed.
    load = load_sql();
    /// Whole effects, held until the commit. All writers lock in this order.
    load_held = format!("{} ORDER BY id FOR UPDATE", load_sql());
    /// Only holds them.
    hold_effects = "SELECT FROM effects WHERE id = ANY($1) ORDER BY id FOR UPDATE";
    remove = "DELETE FROM effects e USING unnest($1::bytea[], $2::bigint[]) AS u (id, revision) \
              WHERE e.id = u.id AND e.revision = u.revision";
    forget_turns = "DELETE FROM turns WHERE effect = ANY($1)";
    forget_receipts = "DELETE FROM receipts WHERE effect = ANY($1)";
    insert = insert_sql();
    update = update_sql();
    turns = "INSERT INTO turns \
             (effect, attempt, claimed_at, at, from_state, to_state, cause, \"by\", note) \
             SELECT e.seq, u.attempt, u.claimed_at, u.at, u.from_state, u.to_state, u.cause, u.who, u.note \
             FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], \
                         $6::smallint[], $7::smallint[], $8::text[], $9::text[]) WITH ORDINALITY \
                  AS u (id, attempt, claimed_at, at, from_state, to_state, cause, who, note, place) \
             JOIN effects e ON e.id = u.id ORDER BY u.place";
    /// Who writes a blob has a day to refer to it, also if it was there before.
    blobs = "INSERT INTO blobs (hash, bytes, at) \
             SELECT u.hash, u.bytes, $3 FROM unnest($1::bytea[], $2::bytea[]) AS u (hash, bytes) \
             ON CONFLICT (hash) DO UPDATE SET at = greatest(blobs.at, excluded.at)";
    drop_uses = "DELETE FROM blob_uses WHERE effect = ANY($1)";
    add_uses = "INSERT INTO blob_uses (hash, effect) \
                SELECT * FROM unnest($1::bytea[], $2::bytea[]) ON CONFLICT DO NOTHING";
    /// An effect that is gone leaves its late receipts to the tallies.
    receipts = "INSERT INTO receipts (id, effect, scope, verdict, at, \"by\", attempt, count) \
                SELECT u.id, e.seq, e.scope, u.verdict, u.at, u.who, u.attempt, u.count \
                FROM unnest($1::bytea[], $2::bytea[], $3::text[], $4::bigint[], $5::text[], \
                            $6::bigint[], $7::bigint[]) WITH ORDINALITY \
                     AS u (id, effect, verdict, at, who, attempt, count, place) \
                JOIN effects e ON e.id = u.effect ORDER BY u.place";
    blocked = "UPDATE effects e SET blocked = e.blocked + u.count \
               FROM unnest($1::bytea[], $2::bigint[]) AS u (id, count) WHERE e.id = u.id";
    tallies = "INSERT INTO tallies (hour, scope, verdict, count) \
               SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[]) \
               ON CONFLICT (hour, scope, verdict) DO UPDATE SET count = tallies.count + excluded.count";
    /// The commit that is under way, known by its number once it is done.
    mark = "INSERT INTO writers (writer, commit, at) VALUES ($1, $2, $3) \
            ON CONFLICT (writer) DO UPDATE SET commit = excluded.commit, at = excluded.at";
    /// The latest commit of a writer. Waits for one that is still under way.
    last_commit = "INSERT INTO writers (writer, commit, at) VALUES ($1, -1, $2) \
                   ON CONFLICT (writer) DO UPDATE SET at = excluded.at RETURNING commit";
}

fn load_sql() -> String {
    let columns = read_columns("");
    format!("SELECT {columns} FROM effects WHERE id = ANY($1)")
}

/// `unnest($1::bytea[], …) AS u (id, …)` over the written columns and `more`.
fn unnest(more: &[(&str, &str)]) -> String {
    let columns = || WRITTEN.iter().chain(more);
    let arrays: Vec<String> = columns()
        .enumerate()
        .map(|(at, (_, kind))| format!("${}::{kind}[]", at + 1))
        .collect();
    let names: Vec<&str> = columns().map(|(name, _)| *name).collect();
    format!("unnest({}) AS u ({})", arrays.join(", "), names.join(", "))
}

/// Positions are given in the order of the changes; rows go in in the order of their ids, so that
/// two writers with the same new keys wait for each other instead of locking each other out.
fn insert_sql() -> String {
    let names: Vec<&str> = WRITTEN.iter().map(|(name, _)| *name).collect();
    let names = names.join(", ");
    let rows = unnest(&[]);
    format!(
        "INSERT INTO effects (seq, {names}) SELECT seq, {names} \
         FROM (SELECT nextval('effects_seq') AS seq, u.* FROM {rows}) AS numbered \
         ORDER BY id ON CONFLICT (id) DO NOTHING RETURNING id, seq"
    )
}

fn update_sql() -> String {
    let never_change = ["id", "scope", "key", "created_at"];
    let sets: Vec<String> = WRITTEN
        .iter()
        .filter(|(name, _)| !never_change.contains(name))
        .map(|(name, _)| format!("{name} = u.{name}"))
        .collect();
    format!(
        "UPDATE effects e SET {}, revision = e.revision + 1 FROM {} \
         WHERE e.id = u.id AND e.revision = u.revision",
        sets.join(", "),
        unnest(&[("revision", "bigint")])
    )
}
