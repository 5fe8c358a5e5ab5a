//! A flow file: read, checked, explained.
//!
//! Owns the file's grammar ([`fields`], [`schema()`]) and what it becomes ([`read`], [`model`]), its
//! expressions ([`expr`]) and the values they work on ([`value`]), and everything that can be said
//! about a flow before it runs ([`mod@check`], [`diagnostic`], [`render`]).
//! Knows nothing of files, clocks, threads or the network: the caller brings the text, the names
//! and the time.
//!
//! The invariant: the same text gives the same flow and the same messages, and an expression given
//! the same names gives the same value within a bounded number of steps.

#![allow(
    clippy::result_large_err,
    reason = "a diagnostic is made once for a person, never on a hot path"
)]

pub mod check;
pub mod codes;
mod cron;
pub mod diagnostic;
pub mod explain;
pub mod expr;
pub mod fields;
pub mod graph;
mod lower;
pub mod model;
mod near;
pub mod render;
pub mod schedule;
mod schema;
pub mod shadow;
pub mod size;
pub mod value;
mod written;
mod yaml;

pub use check::{Abandoned, Row, abandoned, check, mark_volatile, table};
pub use diagnostic::{Diagnostic, Level, Span};
pub use expr::{Expr, Template};
pub use lower::{Reading, read, secret_name};
pub use model::Flow;
pub use near::nearest;
pub use schema::schema;
pub use value::Value;
pub use yaml::{MAX_DEPTH, MAX_FILE_BYTES, MAX_NODES};
