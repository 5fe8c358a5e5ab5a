//! Everything people and duties ask, on a session of its own so that no question waits for the
//! writers and no writer for a question.

use std::sync::Arc;

use semel_ledger::{Cause, Scope, State, Time, Transition, Verdict};
use tokio::sync::Mutex;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::columns::{read_columns, state_number, text};
use super::connect::{Address, Purpose, Session};
use super::fault::Fault;
use super::nodes;
use super::row::{Reader, Stamped, Unreadable, unreadable};
use super::{Postgres, within};
use crate::error::StoreError;
use crate::node::NodeState;
use crate::query::{Filter, Page, ReceiptFilter, Tally};
use crate::receipt::{Receipt, ReceiptId, refusal_named};
use crate::record::{Record, Turn};
use crate::token::Token;

/// A session that is opened when it is needed and again when it is gone.
#[derive(Clone, Debug)]
pub(super) struct Questions {
    address: Arc<Address>,
    session: Arc<Mutex<Option<Arc<Session>>>>,
}

impl Questions {
    pub(super) fn new(address: Arc<Address>) -> Questions {
        Questions {
            address,
            session: Arc::default(),
        }
    }

    pub(super) async fn session(&self) -> Result<Arc<Session>, StoreError> {
        let mut held = self.session.lock().await;
        if let Some(session) = held.as_ref().filter(|session| !session.is_closed()) {
            return Ok(Arc::clone(session));
        }
        let opened = within(async { Ok(self.address.connect(Purpose::Questions).await?) }).await?;
        let session = Arc::new(opened);
        *held = Some(Arc::clone(&session));
        Ok(session)
    }

    /// Asks; a second time on a new session if the old one turns out to be gone.
    pub(super) async fn ask(
        &self,
        sql: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        let mut first = true;
        loop {
            let session = self.session().await?;
            let fault = match within(async { Ok(session.query(sql, parameters).await?) }).await {
                Ok(rows) => return Ok(rows),
                Err(fault) => fault,
            };
            if !matches!(fault, Fault::Gone(_)) || !first {
                return Err(fault.into());
            }
            first = false;
            *self.session.lock().await = None;
        }
    }
}

/// Conditions that are written down as they are needed, with their values.
#[derive(Default)]
pub(super) struct Conditions<'a> {
    pub(super) sql: String,
    pub(super) values: Vec<&'a (dyn ToSql + Sync)>,
}

impl<'a> Conditions<'a> {
    pub(super) fn plain(&mut self, condition: &str) {
        let joint = if self.sql.is_empty() {
            " WHERE "
        } else {
            " AND "
        };
        self.sql.push_str(joint);
        self.sql.push_str(condition);
    }

    /// Adds `condition`, in which `?` stands for the value, if there is one.
    pub(super) fn add<T: ToSql + Sync>(&mut self, condition: &str, value: Option<&'a T>) {
        let Some(value) = value else { return };
        self.values.push(value);
        let place = format!("${}", self.values.len());
        self.plain(&condition.replace('?', &place));
    }
}

/// Which states are wanted, as conditions without values: the planner then sees that the index
/// on what is open will do. A lease that ran out is unknown already.
fn in_states(states: &[State], lapsed: &str) -> [String; 2] {
    let list = |states: &[State]| {
        let numbers = states.iter().map(|state| state_number(*state).to_string());
        numbers.collect::<Vec<_>>().join(", ")
    };
    let mut stored = states.to_vec();
    if states.contains(&State::Unknown) {
        stored.push(State::Claimed);
    }
    let seen = list(states);
    [
        format!("state IN ({})", list(&stored)),
        format!("CASE WHEN {lapsed} THEN 3 ELSE state END IN ({seen})"),
    ]
}

impl Postgres {
    pub(crate) async fn list(&self, filter: Filter, now: Time) -> Result<Page<Record>, StoreError> {
        let limit = filter.limit;
        let scope = filter.scope.as_ref().map(Scope::as_str);
        let external_id = filter.external_id.as_deref().map(text);
        let key_prefix = filter.key_prefix.as_deref().map(text);
        let since = filter.since.map(|since| since.0);
        let until = filter.until.map(|until| until.0);
        let hashes = filter.hashes.as_ref();
        let first = hashes.map(|(first, _)| first.as_slice());
        let last = hashes.map(|(_, last)| last.as_slice());
        let lapsed = format!("state = 0 AND lease_until <= {}", now.0);
        let began = format!("CASE WHEN {lapsed} THEN lease_until ELSE changed_at END");
        let mut which = Conditions::default();
        which.add("scope = ?", scope.as_ref());
        if !filter.states.is_empty() {
            for condition in in_states(&filter.states, &lapsed) {
                which.plain(&condition);
            }
        }
        which.add("external_id = ?", external_id.as_ref());
        which.add("starts_with(key, ?)", key_prefix.as_ref());
        which.add(&format!("{began} >= ?"), since.as_ref());
        which.add(&format!("{began} < ?"), until.as_ref());
        which.add("id >= ?", first.as_ref());
        which.add("id <= ?", last.as_ref());
        which.add("seq < ?", filter.after.as_ref());
        let sql = format!(
            "SELECT {} FROM effects{} ORDER BY seq DESC LIMIT {}",
            read_columns(""),
            which.sql,
            limit + 1
        );
        let rows = self.questions.ask(&sql, &which.values).await?;
        Ok(Page::new(records(&rows)?, limit, |record| record.seq))
    }

    pub(crate) async fn turns(&self, seq: i64) -> Result<Vec<Turn>, StoreError> {
        let sql = "SELECT attempt, claimed_at, at, from_state, to_state, cause, \"by\", note \
                   FROM turns WHERE effect = $1 ORDER BY seq";
        let rows = self.questions.ask(sql, &[&seq]).await?;
        Ok(rows.iter().map(turn).collect::<Result<_, _>>()?)
    }

    pub(crate) async fn receipts(
        &self,
        filter: ReceiptFilter,
    ) -> Result<Page<Receipt>, StoreError> {
        let limit = filter.limit;
        let scope = filter.scope.as_ref().map(Scope::as_str);
        let effect = filter.effect.as_ref().map(<[u8; 16]>::as_slice);
        let verdict = filter.verdict.map(Verdict::name);
        let since = filter.since.map(|since| since.0);
        let mut which = Conditions::default();
        which.add("r.scope = ?", scope.as_ref());
        which.add(
            "r.effect = (SELECT seq FROM effects WHERE id = ?)",
            effect.as_ref(),
        );
        which.add("r.verdict = ?", verdict.as_ref());
        which.add("r.at >= ?", since.as_ref());
        which.add("r.seq < ?", filter.after.as_ref());
        let sql = format!(
            "SELECT r.id, r.seq, e.scope, e.key, r.verdict, r.at, r.\"by\", r.attempt, r.count \
             FROM receipts r JOIN effects e ON e.seq = r.effect{} ORDER BY r.seq DESC LIMIT {}",
            which.sql,
            limit + 1
        );
        let rows = self.questions.ask(&sql, &which.values).await?;
        let items = rows.iter().map(receipt).collect::<Result<_, _>>()?;
        Ok(Page::new(items, limit, |receipt: &Receipt| receipt.seq))
    }

    pub(crate) async fn tallies(&self, since: Time) -> Result<Vec<Tally>, StoreError> {
        let sql = "SELECT scope, hour, verdict, count FROM tallies WHERE hour >= $1 \
                   ORDER BY hour, scope COLLATE \"C\", verdict COLLATE \"C\"";
        let rows = self.questions.ask(sql, &[&since.0]).await?;
        Ok(rows.iter().map(tally).collect::<Result<_, _>>()?)
    }

    pub(crate) async fn blob(&self, hash: [u8; 32]) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT bytes FROM blobs WHERE hash = $1";
        let rows = self.questions.ask(sql, &[&hash.as_slice()]).await?;
        let bytes = rows.first().map(|row| Reader::new(row).next());
        Ok(bytes.transpose()?)
    }

    pub(crate) async fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        let sql = format!(
            "SELECT {} FROM tokens ORDER BY created_at, id",
            nodes::TOKEN
        );
        let rows = self.questions.ask(&sql, &[]).await?;
        Ok(rows.iter().map(nodes::token).collect::<Result<_, _>>()?)
    }

    pub(crate) async fn nodes(&self) -> Result<Vec<NodeState>, StoreError> {
        let sql = format!("SELECT {} FROM nodes ORDER BY node", nodes::NODE);
        let rows = self.questions.ask(&sql, &[]).await?;
        Ok(rows.iter().map(nodes::node).collect::<Result<_, _>>()?)
    }

    pub(crate) async fn overdue(
        &self,
        node: Option<u64>,
        now: Time,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError> {
        let node = node.map(u64::cast_signed);
        let (which, value) = match &node {
            Some(node) => ("owner_node = $1", node),
            None => ("lease_until <= $1", &now.0),
        };
        let sql = format!(
            "SELECT {} FROM effects WHERE state = 0 AND {which} ORDER BY seq LIMIT {limit}",
            read_columns("")
        );
        Ok(records(&self.questions.ask(&sql, &[value]).await?)?)
    }

    pub(crate) async fn walk(&self, after: i64, limit: usize) -> Result<Vec<Record>, StoreError> {
        let sql = format!(
            "SELECT {} FROM effects WHERE seq > $1 ORDER BY seq LIMIT {limit}",
            read_columns("")
        );
        Ok(records(&self.questions.ask(&sql, &[&after]).await?)?)
    }
}

fn records(rows: &[Row]) -> Result<Vec<Record>, Unreadable> {
    let read = |row| Stamped::read(row).map(|(_, stamped)| stamped.record);
    rows.iter().map(read).collect()
}

fn turn(row: &Row) -> Result<Turn, Unreadable> {
    let mut reader = Reader::new(row);
    let transition = Transition {
        attempt: reader.attempt()?,
        claimed_at: reader.time()?,
        at: reader.time()?,
        from: reader.state()?,
        to: reader.state()?,
        cause: {
            let number = usize::try_from(reader.next::<i16>()?).unwrap_or(usize::MAX);
            *Cause::ALL.get(number).ok_or(unreadable("a cause"))?
        },
    };
    Ok(Turn {
        transition,
        by: reader.next()?,
        note: reader.next()?,
    })
}

fn verdict(name: &str) -> Result<Verdict, Unreadable> {
    refusal_named(name).ok_or(unreadable("a verdict"))
}

fn receipt(row: &Row) -> Result<Receipt, Unreadable> {
    let mut reader = Reader::new(row);
    Ok(Receipt {
        id: ReceiptId(reader.hash()?),
        seq: reader.next()?,
        effect: reader.effect()?,
        verdict: verdict(reader.next()?)?,
        at: reader.time()?,
        by: reader.next()?,
        attempt: reader.attempt()?,
        count: reader.next::<i64>()?.cast_unsigned(),
        counted: false,
    })
}

fn tally(row: &Row) -> Result<Tally, Unreadable> {
    let mut reader = Reader::new(row);
    Ok(Tally {
        scope: reader.next()?,
        hour: reader.time()?,
        verdict: verdict(reader.next()?)?,
        count: reader.next::<i64>()?.cast_unsigned(),
    })
}
