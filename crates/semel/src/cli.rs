//! The command line: verbs, the flags that all of them share, and which code each ends with.

#![allow(
    clippy::doc_markdown,
    reason = "what stands above a flag is shown as help, where backticks would be noise"
)]

mod audit;
mod backup;
mod bench;
mod check;
mod completions;
mod config;
mod demo;
mod deploy;
mod diff;
mod doctor;
mod effect;
mod explain;
mod flows;
mod graph;
mod inbox;
mod init;
mod kv;
mod ledger;
mod once;
mod people;
mod prove;
mod receipt;
mod receipts;
mod release;
mod releases;
mod rerun;
mod restore;
mod rollback;
mod runs;
mod schema;
mod secrets;
mod serve;
mod shadow;
mod steps;
mod tokens;
mod trigger;
mod words;

use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Flags, Name, has_credentials, has_password};
use crate::failure::Failure;

pub(crate) use words::words;

/// Trigger it twice, retry it, crash it, re-run it. The world sees it once.
#[derive(Debug, Parser)]
#[command(name = "semel", version, propagate_version = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 needs a person, 4 conflict, 5 busy.

EXAMPLE
  semel init
  semel demo
  semel serve --flows flows --watch
  semel check flows/order.yaml
  semel inbox ls
  semel prove flows/order.yaml
  semel runs ls --state parked
  semel once --scope nightly-report --key \"$(date +%F)\" -- ./report.sh
  semel ledger ls --state unknown";

/// Flags that every verb takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where the ledger is")]
pub(crate) struct Global {
    /// Data directory [SEMEL_DATA; default: ~/.local/share/semel]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data: Option<String>,
    /// Database: sqlite:PATH or postgres://… [SEMEL_STORE; default: the file in the data directory]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// A server to ask instead of a file [SEMEL_SERVER]
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// File with the server's token [SEMEL_TOKEN_FILE, or SEMEL_TOKEN for the token itself]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<String>,
    /// Refused: everybody on the machine can read the arguments of a process
    #[arg(long, global = true, hide = true, value_name = "TOKEN")]
    token: Option<String>,
    /// Print one JSON document instead of text
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Demo(demo::Demo),
    Check(check::Check),
    Prove(prove::Prove),
    Graph(graph::Graph),
    Deploy(deploy::Deploy),
    Flows(flows::Flows),
    Releases(releases::Releases),
    Diff(diff::Diff),
    Rollback(rollback::Rollback),
    Trigger(trigger::Trigger),
    Runs(runs::Runs),
    Rerun(rerun::Rerun),
    Shadow(shadow::Shadow),
    Inbox(inbox::Inbox),
    Receipt(receipt::Receipt),
    Serve(serve::Serve),
    Once(once::Once),
    Ledger(ledger::Ledger),
    Receipts(receipts::Receipts),
    Secrets(secrets::Secrets),
    Kv(kv::Kv),
    Tokens(tokens::Tokens),
    People(people::People),
    Audit(audit::Audit),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Doctor(doctor::Doctor),
    Config(config::ConfigVerb),
    Explain(explain::Explain),
    Schema(schema::Schema),
    Bench(bench::Bench),
    Completions(completions::Completions),
    Init(init::Init),
}

impl Verb {
    pub(crate) fn is_server(&self) -> bool {
        matches!(self, Verb::Serve(_) | Verb::Bench(_))
    }
}

/// What every verb gets.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) config: Config,
    pub(crate) json: bool,
}

impl Context {
    /// Prints the one JSON document of a command.
    fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
        crate::term::print_line(&serde_json::to_string_pretty(value)?);
        Ok(())
    }
}

/// Who is at the terminal, for the record.
fn user() -> Option<String> {
    std::env::var("USER").ok().filter(|user| !user.is_empty())
}

fn secret(flag: &str, fix: &str) -> anyhow::Error {
    let message = format!(
        "the password in {flag} is not taken as an argument: everybody on this machine can read those"
    );
    Failure::usage(message).fix(fix).into()
}

pub(crate) async fn run(cli: Cli) -> anyhow::Result<u8> {
    let Cli { global, verb } = cli;
    if global.token.is_some() {
        return Err(Failure::usage(
            "a token is not taken as an argument: everybody on this machine can read those",
        )
        .fix("use --token-file FILE, SEMEL_TOKEN_FILE or SEMEL_TOKEN")
        .into());
    }
    if global.store.as_deref().is_some_and(has_password) {
        return Err(secret("--store", "use SEMEL_STORE_FILE or SEMEL_STORE"));
    }
    if global.server.as_deref().is_some_and(has_credentials) {
        let fix =
            "leave it out; the token goes in --token-file FILE, SEMEL_TOKEN_FILE or SEMEL_TOKEN";
        return Err(secret("--server", fix));
    }
    let json = global.json;
    let mut flags: Flags = Vec::new();
    let mut flag = |name, flag, value: Option<String>| {
        flags.extend(value.map(|value| (name, flag, value)));
    };
    flag(Name::Data, "--data", global.data);
    flag(Name::Store, "--store", global.store);
    flag(Name::Server, "--server", global.server);
    flag(Name::Token, "--token-file", global.token_file);
    match &verb {
        Verb::Serve(serve) => flags.extend(serve.flags()),
        Verb::Check(check) => flags.extend(check.flags()),
        _ => {}
    }
    let context = Context {
        config: Config::load(flags)?,
        json,
    };
    match verb {
        Verb::Demo(verb) => verb.run(&context).await,
        Verb::Check(verb) => verb.run(&context).await,
        Verb::Prove(verb) => verb.run(&context),
        Verb::Graph(verb) => verb.run(&context),
        Verb::Deploy(verb) => verb.run(&context).await,
        Verb::Flows(verb) => verb.run(&context).await,
        Verb::Releases(verb) => verb.run(&context).await,
        Verb::Diff(verb) => verb.run(&context).await,
        Verb::Rollback(verb) => verb.run(&context).await,
        Verb::Trigger(verb) => verb.run(&context).await,
        Verb::Runs(verb) => verb.run(&context).await,
        Verb::Rerun(verb) => verb.run(&context).await,
        Verb::Shadow(verb) => verb.run(&context).await,
        Verb::Inbox(verb) => verb.run(&context).await,
        Verb::Receipt(verb) => verb.run(&context).await,
        Verb::Serve(verb) => verb.run(&context).await,
        Verb::Once(verb) => verb.run(&context).await,
        Verb::Ledger(verb) => verb.run(&context).await,
        Verb::Receipts(verb) => verb.run(&context).await,
        Verb::Secrets(verb) => verb.run(&context).await,
        Verb::Kv(verb) => verb.run(&context).await,
        Verb::Tokens(verb) => verb.run(&context).await,
        Verb::People(verb) => verb.run(&context).await,
        Verb::Audit(verb) => verb.run(&context).await,
        Verb::Backup(verb) => verb.run(&context),
        Verb::Restore(verb) => verb.run(&context).await,
        Verb::Doctor(verb) => verb.run(&context).await,
        Verb::Config(verb) => verb.run(&context),
        Verb::Explain(verb) => verb.run(&context),
        Verb::Schema(verb) => verb.run(&context),
        Verb::Bench(verb) => verb.run(&context).await,
        Verb::Completions(verb) => Ok(verb.run()),
        Verb::Init(verb) => verb.run(&context),
    }
}
