//! A fresh store of each kind, with time that moves when told.

use std::sync::Arc;

use semel_ledger::{Millis, State};
use semel_store::blob::hex;
use semel_store::store::random_bytes;
use semel_store::{
    Answer, Answered, Change, EffectChange, Location, ManualClock, Options, Receipt, ReceiptFilter,
    Record, Store, Turn,
};
use tempfile::TempDir;

use crate::shared::{START, effect};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
    Postgres,
}

/// One store with its clock.
pub(crate) struct World {
    pub(crate) kind: Kind,
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Arc<ManualClock>,
    location: Location,
    _directory: TempDir,
}

impl World {
    pub(crate) async fn fresh(kind: Kind) -> World {
        let directory = tempfile::tempdir().expect("a directory");
        let location = match kind {
            Kind::Memory => Location::Memory,
            Kind::Sqlite => Location::Sqlite(directory.path().join("semel.db")),
            Kind::Postgres => Location::Postgres(postgres_with_own_schema()),
        };
        let clock = Arc::new(ManualClock::at(START));
        let store = open(&location, &clock).await;
        World {
            kind,
            store,
            clock,
            location,
            _directory: directory,
        }
    }

    /// Another store on the same ledger, as another process would have it. Memory is not shared.
    pub(crate) async fn neighbour(&self) -> Option<Arc<Store>> {
        match self.kind {
            Kind::Memory => None,
            Kind::Sqlite | Kind::Postgres => Some(open(&self.location, &self.clock).await),
        }
    }

    /// Closes the store and opens it again; memory goes on as it is.
    pub(crate) async fn reopen(&mut self) {
        if self.kind != Kind::Memory {
            self.store.close().await.expect("it closes");
            self.store = open(&self.location, &self.clock).await;
        }
    }

    pub(crate) fn pass(&self, span: Millis) {
        self.clock.advance(span);
    }

    pub(crate) async fn step(&self, change: EffectChange) -> Answered {
        self.store.step(change).await.expect("an answer")
    }

    /// Commits effects' steps together and gives what became of each.
    pub(crate) async fn commit(&self, changes: Vec<EffectChange>) -> Vec<Answered> {
        let changes: Vec<Change> = changes.into_iter().map(Change::from).collect();
        let answers = self.store.commit(changes).await.expect("answers");
        let effect = |answer| match answer {
            Answer::Effect(answered) => *answered,
            other => panic!("{other:?} is not of an effect"),
        };
        answers.into_iter().map(effect).collect()
    }

    pub(crate) async fn find(&self, key: &str) -> Option<Record> {
        self.store.load(&effect(key)).await.expect("an answer")
    }

    pub(crate) async fn record(&self, key: &str) -> Record {
        self.find(key).await.expect("it is on record")
    }

    /// The state as it is now, whether or not a duty has passed by.
    pub(crate) async fn state(&self, key: &str) -> State {
        self.record(key).await.state_at(self.store.now())
    }

    pub(crate) async fn turns(&self, key: &str) -> Vec<Turn> {
        let record = self.record(key).await;
        self.store.turns(&record).await.expect("turns")
    }

    /// The result as text, wherever it is kept.
    pub(crate) async fn result(&self, key: &str) -> Option<Box<str>> {
        match self.record(key).await.result {
            Some(stored) => self.store.text(&stored).await.expect("an answer"),
            None => None,
        }
    }

    /// Writes the receipts that wait and gives those that match, newest first.
    pub(crate) async fn receipts(&self, filter: ReceiptFilter) -> Vec<Receipt> {
        self.store.write_receipts().await.expect("receipts");
        let limit = 1000;
        let filter = ReceiptFilter { limit, ..filter };
        self.store.receipts(&filter).await.expect("receipts").items
    }
}

async fn open(location: &Location, clock: &Arc<ManualClock>) -> Arc<Store> {
    let options = Options {
        clock: Some(Arc::clone(clock) as _),
        connections: 2,
        ..Options::default()
    };
    Arc::new(Store::open(location, options).await.expect("it opens"))
}

/// The test cluster's address, with a schema that no other test uses.
fn postgres_with_own_schema() -> String {
    let url = std::env::var("SEMEL_TEST_POSTGRES")
        .expect("SEMEL_TEST_POSTGRES names no PostgreSQL cluster: run ./test, which starts one");
    let separator = if url.contains('?') { '&' } else { '?' };
    let schema = hex(&random_bytes::<8>());
    format!("{url}{separator}semel_schema=test_{schema}")
}
