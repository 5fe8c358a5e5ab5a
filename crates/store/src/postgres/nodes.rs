//! Nodes and tokens: few rows, changed one at a time inside the batch's transaction.
//!
//! The invariant: declaring a node dead changes the key of its row. It therefore waits for every
//! commit that holds that key, and every later commit of the old epoch finds it gone.

use semel_ledger::Time;
use tokio_postgres::{Error, Row};

use super::columns::text;
use super::connect::Session;
use super::row::{Reader, Unreadable};
use crate::access::Scopes;
use crate::node::{Membership, NODE_LEASE, NodeChange, NodeState};
use crate::token::{Token, TokenChange};

/// The columns that [`node`] reads.
pub(super) const NODE: &str = "node, epoch, name, lease_until, fenced";
/// The columns that [`token`] reads.
pub(super) const TOKEN: &str = "id, name, hash, created_at, revoked_at, scopes";

/// The identities that rows of `node, epoch` tell of.
pub(super) fn memberships(rows: &[Row]) -> Vec<Membership> {
    let read = |row: &Row| {
        Some(Membership {
            node: row.try_get::<_, i64>(0).ok()?.cast_unsigned(),
            epoch: row.try_get::<_, i64>(1).ok()?.cast_unsigned(),
        })
    };
    rows.iter().filter_map(read).collect()
}

pub(super) fn node(row: &Row) -> Result<NodeState, Unreadable> {
    let mut reader = Reader::new(row);
    Ok(NodeState {
        node: reader.next::<i64>()?.cast_unsigned(),
        epoch: reader.next::<i64>()?.cast_unsigned(),
        name: reader.next()?,
        lease_until: reader.time()?,
        fenced: reader.next()?,
    })
}

pub(super) fn token(row: &Row) -> Result<Token, Unreadable> {
    let mut reader = Reader::new(row);
    Ok(Token {
        id: reader.next()?,
        name: reader.next()?,
        hash: reader.hash()?,
        created_at: reader.time()?,
        revoked_at: reader.next::<Option<i64>>()?.map(Time),
        scopes: Scopes::parse(reader.next()?),
    })
}

pub(super) async fn change_node(
    session: &Session,
    change: &NodeChange,
    now: Time,
) -> Result<Option<NodeState>, Error> {
    let lease_until = now.after(NODE_LEASE).0;
    let member = match change {
        NodeChange::Join { name } => {
            let insert = format!(
                "INSERT INTO nodes (epoch, name, lease_until, fenced) \
                 VALUES (1, $1, $2, false) RETURNING {NODE}"
            );
            let row = session
                .query_one(&insert, &[&text(name), &lease_until])
                .await?;
            return Ok(node(&row).ok());
        }
        NodeChange::Renew(member)
        | NodeChange::Fence { member, .. }
        | NodeChange::Leave(member) => member,
    };
    let (number, epoch) = (member.node.cast_signed(), member.epoch.cast_signed());
    // The row as it is by now, whoever else is changing it.
    let current = format!("SELECT {NODE} FROM nodes WHERE node = $1");
    match change {
        NodeChange::Join { .. } => {}
        NodeChange::Renew(_) => {
            let renew = "UPDATE nodes SET lease_until = $3 \
                         WHERE node = $1 AND epoch = $2 AND NOT fenced";
            session
                .execute(renew, &[&number, &epoch, &lease_until])
                .await?;
        }
        NodeChange::Fence { force, .. } => {
            let fence = "UPDATE nodes SET epoch = epoch + 1, fenced = true \
                         WHERE node = $1 AND epoch = $2 AND ($3 OR lease_until <= $4)";
            session
                .execute(fence, &[&number, &epoch, force, &now.0])
                .await?;
        }
        NodeChange::Leave(_) => {
            let leave = format!(
                "DELETE FROM nodes WHERE node = $1 AND (epoch = $2 OR fenced) RETURNING {NODE}"
            );
            let gone = session.query_opt(&leave, &[&number, &epoch]).await?;
            if let Some(row) = gone {
                return Ok(node(&row).ok());
            }
        }
    }
    let row = session.query_opt(&current, &[&number]).await?;
    Ok(row.and_then(|row| node(&row).ok()))
}

pub(super) async fn change_token(
    session: &Session,
    change: &TokenChange,
    now: Time,
) -> Result<bool, Error> {
    let changed = match change {
        TokenChange::Add(token) => {
            let add = "INSERT INTO tokens (id, name, hash, created_at, revoked_at, scopes) \
                       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING";
            let revoked_at = token.revoked_at.map(|at| at.0);
            let hash = token.hash.as_slice();
            let (id, name, made) = (text(&token.id), text(&token.name), token.created_at.0);
            let scopes = token.scopes.text();
            session
                .execute(add, &[&id, &name, &hash, &made, &revoked_at, &scopes])
                .await?
        }
        TokenChange::Revoke { id } => {
            let revoke = "UPDATE tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
            session.execute(revoke, &[&text(id), &now.0]).await?
        }
    };
    Ok(changed > 0)
}
