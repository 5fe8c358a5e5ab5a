//! Semel over HTTP.
//!
//! Owns the front door (`hooks`), the endpoints of flows, runs, guard, once, ledger, receipts, blobs,
//! tokens, secrets (which it seals: `vault`) and values under keys, who may call them, how a request is read and how a mistake is explained, the
//! accept loop and when the background duties run. Leaves what a claim means to `semel-ledger`, its
//! durability to `semel-store` and what becomes of a run to `semel-engine`; knows no SQL.
//!
//! The invariants: nothing is acknowledged before the store has it; a 4xx changed nothing; every
//! error has a stable code with a page; the store's errors become HTTP in one place
//! (`problem`).

mod accept;
mod app;
mod approve;
mod audit;
mod auth;
mod blobs;
mod body;
mod budget;
mod callbacks;
mod claiming;
mod code;
mod connection;
mod decide;
mod deploy;
mod duties;
mod encoding;
mod examine;
mod fields;
mod flows;
mod form;
mod guard;
mod health;
mod hooks;
mod html;
mod idle;
mod import;
mod inbox;
mod kv;
mod ledger;
mod metrics;
mod once;
mod origin;
mod out;
mod path;
mod patient;
mod people;
mod problem;
mod proof;
mod query;
mod receipts;
mod refusal;
mod releases;
mod router;
mod runs;
mod secrets;
mod serve;
mod settle;
mod shadow;
mod suggest;
mod target;
mod timestamp;
mod tls;
pub mod tokens;
mod trigger;
mod vault;
mod view;
mod watched;

pub use app::{App, Settings};
pub use code::Code;
pub use deploy::{
    AbandonedKeys, DeployError, DeployOptions, DeployStatus, Deployed, deploy, release_of,
};
pub use health::OPENAPI;
pub use html::is_treacherous;
pub use idle::Idle;
pub use people::{SetupLink, setup_link};
pub use proof::sign::{ProofError, Verified, verify_proof};
pub use releases::release_text;
pub use router::{Access, ROUTES, Route, router};
pub use serve::{ServeError, serve};
pub use tls::{Tls, TlsError};
pub use vault::{KeyError, KeySource, Vault, VaultError};
