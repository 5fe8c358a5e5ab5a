//! The binary as a user meets it: every test runs `semel` itself and looks at what it prints, how
//! it exits, and what the destination saw.

mod backup;
mod config;
mod help;
mod killed;
mod ledger;
mod once;
mod overlap;
mod serve;
mod support;
mod through;
