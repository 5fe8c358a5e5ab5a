//! The store's contract: one file per concern, every case on every backend.
//!
//! A case is named after what it promises; `sqlite::a_second_claim_is_busy` is that promise on
//! SQLite. Time is a [`semel_store::ManualClock`], so nothing here sleeps.

#[path = "../shared/mod.rs"]
mod shared;

mod crew;
mod fixture;

/// Makes one test of each case for each backend. A case is a function that takes a fresh world.
macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        mod memory { $(crate::cases!(@test Memory, $case);)+ }
        mod sqlite { $(crate::cases!(@test Sqlite, $case);)+ }
        mod postgres { $(crate::cases!(@test Postgres, $case);)+ }
    };
    (@test $kind:ident, $case:ident) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            let kind = crate::fixture::Kind::$kind;
            super::$case(crate::fixture::World::fresh(kind).await).await;
        }
    };
}
pub(crate) use cases;

mod audit;
mod batch;
mod children;
mod claims;
mod cursors;
mod decide;
mod differential;
mod kv;
mod kv_histories;
mod kv_keeping;
mod lanes;
mod listeners;
mod lists;
mod mail;
mod nodes;
mod people;
mod receipts;
mod releases;
mod reopen;
mod requests;
mod retention;
mod run_duties;
mod run_histories;
mod run_lists;
mod run_storms;
mod runs;
mod secrets;
mod settle;
mod starts;
mod storms;
mod tokens_blobs;
mod unknown;
