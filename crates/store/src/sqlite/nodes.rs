//! Nodes and tokens: small tables, seldom written.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use semel_ledger::Time;

use crate::access::Scopes;
use crate::node::{Membership, NODE_LEASE, NodeChange, NodeState};
use crate::token::{Token, TokenChange};

const NODE: &str = "SELECT node, epoch, name, lease_until, fenced FROM nodes";

pub(super) fn is_member(connection: &Connection, member: Membership) -> rusqlite::Result<bool> {
    const CHECK: &str = "SELECT 1 FROM nodes WHERE node = ? AND epoch = ? AND NOT fenced";
    connection
        .prepare_cached(CHECK)?
        .exists(params![member.node, member.epoch])
}

pub(super) fn change(
    connection: &Connection,
    change: NodeChange,
    now: Time,
) -> rusqlite::Result<Option<NodeState>> {
    let lease_until = now.after(NODE_LEASE).0;
    let node = match change {
        NodeChange::Join { name } => {
            const JOIN: &str =
                "INSERT INTO nodes (epoch, name, lease_until, fenced) VALUES (1, ?, ?, 0)";
            connection
                .prepare_cached(JOIN)?
                .execute(params![name, lease_until])?;
            connection.last_insert_rowid().unsigned_abs()
        }
        NodeChange::Renew(member) => {
            const RENEW: &str =
                "UPDATE nodes SET lease_until = ? WHERE node = ? AND epoch = ? AND NOT fenced";
            let renew = params![lease_until, member.node, member.epoch];
            connection.prepare_cached(RENEW)?.execute(renew)?;
            member.node
        }
        NodeChange::Fence { member, force } => {
            const FENCE: &str = "UPDATE nodes SET epoch = epoch + 1, fenced = 1
                                  WHERE node = ? AND epoch = ? AND (? OR lease_until <= ?)";
            let fence = params![member.node, member.epoch, force, now.0];
            connection.prepare_cached(FENCE)?.execute(fence)?;
            member.node
        }
        NodeChange::Leave(member) => {
            const LEAVE: &str = "DELETE FROM nodes WHERE node = ? AND (epoch = ? OR fenced)";
            let node = member.node;
            let before = find(connection, node)?;
            connection
                .prepare_cached(LEAVE)?
                .execute(params![node, member.epoch])?;
            return Ok(before);
        }
    };
    find(connection, node)
}

fn find(connection: &Connection, node: u64) -> rusqlite::Result<Option<NodeState>> {
    let sql = format!("{NODE} WHERE node = ?");
    connection
        .prepare_cached(&sql)?
        .query_row([node], read_node)
        .optional()
}

fn read_node(row: &Row<'_>) -> rusqlite::Result<NodeState> {
    Ok(NodeState {
        node: row.get(0)?,
        epoch: row.get(1)?,
        name: row.get(2)?,
        lease_until: Time(row.get(3)?),
        fenced: row.get(4)?,
    })
}

pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<NodeState>> {
    let sql = format!("{NODE} ORDER BY node");
    connection
        .prepare_cached(&sql)?
        .query_map([], read_node)?
        .collect()
}

pub(super) fn change_token(
    connection: &Connection,
    change: TokenChange,
    now: Time,
) -> rusqlite::Result<bool> {
    let changed = match change {
        TokenChange::Add(token) => {
            const ADD: &str =
                "INSERT OR IGNORE INTO tokens (id, name, hash, created_at, revoked_at, scopes)
                               VALUES (?, ?, ?, ?, ?, ?)";
            let revoked_at = token.revoked_at.map(|at| at.0);
            let add = params![
                token.id,
                token.name,
                token.hash,
                token.created_at.0,
                revoked_at,
                token.scopes.text()
            ];
            connection.prepare_cached(ADD)?.execute(add)?
        }
        TokenChange::Revoke { id } => {
            const REVOKE: &str =
                "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL";
            connection
                .prepare_cached(REVOKE)?
                .execute(params![now.0, id])?
        }
    };
    Ok(changed > 0)
}

pub(super) fn tokens(connection: &Connection) -> rusqlite::Result<Vec<Token>> {
    const ALL: &str =
        "SELECT id, name, hash, created_at, revoked_at, scopes FROM tokens ORDER BY created_at, id";
    let read = |row: &Row<'_>| {
        Ok(Token {
            id: row.get(0)?,
            name: row.get(1)?,
            hash: row.get(2)?,
            created_at: Time(row.get(3)?),
            revoked_at: row.get::<_, Option<i64>>(4)?.map(Time),
            scopes: Scopes::parse(row.get_ref(5)?.as_str()?),
        })
    };
    connection
        .prepare_cached(ALL)?
        .query_map([], read)?
        .collect()
}
