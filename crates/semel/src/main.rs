//! The `semel` binary: one file per verb, settings, and the wiring between them.
//!
//! Owns how people and scripts speak to Semel from a shell. Leaves what a claim means to the
//! ledger, durability to the store and the API to the server: every verb that touches the ledger
//! asks the same HTTP API, over the network or in this process.

#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "doc comments of arguments are help texts, where brackets show defaults"
)]

/// As `eprintln!`, but a stderr that is closed or full changes nothing of what the command does.
macro_rules! say {
    ($($words:tt)*) => { $crate::term::say(format_args!($($words)*)) };
}

mod bench;
mod cli;
mod client;
mod config;
mod csv;
mod demo;
mod failure;
mod files;
mod flows;
mod keys;
mod process;
mod term;
mod when;

use std::process::ExitCode;

use clap::Parser as _;

/// What one thread allocates another frees, for every call: the system's allocator is slow at that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before anything can open a TLS connection; a second provider would be a defect of the build.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let cli = cli::Cli::parse_from(cli::words(std::env::args_os()));
    let json = cli.global.json;
    let code = match run(cli) {
        Ok(code) => code,
        Err(error) => {
            failure::tell(&error, json);
            failure::exit_of(&error).code()
        }
    };
    ExitCode::from(code)
}

fn run(cli: cli::Cli) -> anyhow::Result<u8> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    if !cli.verb.is_server() {
        runtime.worker_threads(2);
    }
    let runtime = runtime.enable_all().build()?;
    let code = runtime.block_on(cli::run(cli));
    // A thread that is stuck in a read from a terminal must not keep the process.
    runtime.shutdown_background();
    code
}
