//! Reading single effects for many callers at once.
//!
//! A duplicate is answered by such a read, so it must be cheap: whoever asks while a read is under
//! way is gathered into the next one. No transaction, no lock, no fsync.

use std::collections::HashMap;
use std::sync::Arc;

use tokio_postgres::Statement;

use super::columns::read_columns;
use super::connect::{Address, Outage, Purpose, Session};
use super::fault::Fault;
use super::row::Stamped;
use super::within;
use crate::error::StoreError;
use crate::group::{Request, Requests};
use crate::record::Record;

/// The reader of single effects.
pub(super) struct Loader {
    pub(super) address: Arc<Address>,
    pub(super) requests: Requests<[u8; 16], Option<Record>>,
    pub(super) batch: usize,
    pub(super) line: Option<(Session, Statement)>,
    pub(super) outage: Outage,
}

impl Loader {
    /// Serves until nobody can ask any more.
    pub(super) async fn run(mut self) {
        let mut requests = Vec::new();
        while self.requests.recv_many(&mut requests, self.batch).await > 0 {
            let ids: Vec<[u8; 16]> = requests.iter().map(|request| request.ask).collect();
            let found = self.load_patiently(&ids).await;
            for Request { ask, reply } in requests.drain(..) {
                let answer = match &found {
                    Ok(found) => Ok(found.get(&ask).cloned()),
                    Err(fault) => Err(fault.for_caller()),
                };
                drop(reply.send(answer));
            }
        }
    }

    async fn load_patiently(
        &mut self,
        ids: &[[u8; 16]],
    ) -> Result<HashMap<[u8; 16], Record>, Fault> {
        loop {
            let fault = match self.load(ids).await {
                Ok(found) => {
                    self.outage.over();
                    return Ok(found);
                }
                Err(fault) => fault,
            };
            self.line = None;
            if !matches!(fault, Fault::Gone(_)) || !self.outage.wait().await {
                return Err(fault);
            }
        }
    }

    async fn load(&mut self, ids: &[[u8; 16]]) -> Result<HashMap<[u8; 16], Record>, Fault> {
        let line = match self.line.take() {
            Some(line) if !line.0.is_closed() => line,
            _ => open(&self.address).await?,
        };
        let (session, statement) = self.line.insert(line);
        let ids: Vec<&[u8]> = ids.iter().map(<[u8; 16]>::as_slice).collect();
        let rows = within(async { Ok(session.query(&*statement, &[&ids]).await?) }).await?;
        let read = |row| Stamped::read(row).map(|(id, stamped)| (id, stamped.record));
        Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
    }
}

pub(super) async fn open(address: &Address) -> Result<(Session, Statement), Fault> {
    within(async {
        let session = address.connect(Purpose::ByKey).await?;
        let columns = read_columns("");
        let load = format!("SELECT {columns} FROM effects WHERE id = ANY($1)");
        let statement = session.prepare(&load).await?;
        Ok((session, statement))
    })
    .await
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        fault.for_caller()
    }
}
