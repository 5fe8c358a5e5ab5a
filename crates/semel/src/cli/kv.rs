//! `semel kv`: the values that flows keep under keys.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Args, Subcommand};
use hyper::Method;
use semel_ledger::Key;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Context;
use super::ledger::{Part, pages};
use crate::client::{Access, Call, Client, Query, segment};
use crate::failure::Failure;
use crate::term::{print_line, print_table, shown};
use crate::when;

/// More than the server takes: that it is too long is for the server to say.
const MAX_BYTES: u64 = 1024 * 1024;
/// How much of a value is shown in a table.
const SHOWN: usize = 60;

/// Look at and change the values that flows keep under keys
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Kv {
    #[command(subcommand)]
    verb: KvVerb,
}

const AFTER_HELP: &str = "\
A flow keeps a value with a step such as kv: {add: orders/today}. Keys are shared by all flows of a server.
A key is parts joined by /; inside a part % is written %25 and / is written %2F.

EXAMPLE
  semel kv ls orders/
  semel kv get orders/today
  semel kv set limits/mails 500
  semel kv rm orders/today";

#[derive(Debug, Subcommand)]
enum KvVerb {
    /// Print the value of a key as JSON
    #[command(after_help = "EXAMPLE\n  semel kv get orders/today")]
    Get {
        /// Which
        key: Key,
    },
    /// Put a value under a key
    #[command(after_help = "\
A value is JSON: text is written with its quotes. Without VALUE and --file it is read from stdin.

EXAMPLE
  semel kv set limits/mails 500
  semel kv set shop/name '\"Corner shop\"' --ttl 30d
  semel kv set turn '\"b\"' --expect '\"a\"'
  semel kv set rates < rates.json")]
    Set {
        /// Which
        key: Key,
        /// The value, as JSON
        #[arg(allow_hyphen_values = true)]
        value: Option<String>,
        /// Read the value from this file
        #[arg(long, value_name = "FILE", conflicts_with = "value")]
        file: Option<PathBuf>,
        /// How long it is kept, such as 30d; left out, until it is changed
        #[arg(long, value_name = "SPAN")]
        ttl: Option<String>,
        /// Only if exactly this is there now, as JSON; null for nothing
        #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
        expect: Option<String>,
    },
    /// List values by key
    #[command(after_help = "EXAMPLE\n  semel kv ls orders/\n  semel kv ls --all --json")]
    Ls {
        /// Only keys that begin so
        prefix: Option<String>,
        /// At most so many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
        limit: u16,
        /// Go on behind this key: `next` of the page before
        #[arg(long, value_name = "KEY")]
        after: Option<String>,
        /// All of them
        #[arg(long, conflicts_with = "limit")]
        all: bool,
    },
    /// Take away what is under a key
    #[command(after_help = "EXAMPLE\n  semel kv rm orders/today")]
    Rm {
        /// Which
        key: Key,
    },
}

/// Values are shown as they were sent, so that numbers keep every digit.
#[derive(Debug, Deserialize, Serialize)]
struct Kept {
    key: String,
    value: Box<RawValue>,
    expires_at: Option<String>,
    changed_at: String,
    by: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Changed {
    key: String,
    value: Box<RawValue>,
    before: Box<RawValue>,
}

#[derive(Debug, Serialize)]
struct Listed {
    values: Vec<Box<RawValue>>,
    next: Option<String>,
}

#[derive(Debug, Serialize)]
struct NewValue {
    value: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<String>,
}

impl Kv {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        match self.verb {
            KvVerb::Get { key } => get(&client, &key, context.json).await,
            KvVerb::Set {
                key,
                value,
                file,
                ttl,
                expect,
            } => {
                let new = NewValue {
                    value: json("the value", &read(value, file.as_deref())?)?,
                    from: expect.map(|it| json("--expect", &it)).transpose()?,
                    ttl,
                };
                set(&client, &key, &new, context.json).await
            }
            KvVerb::Ls {
                prefix,
                limit,
                after,
                all,
            } => {
                let limit = (!all).then_some(usize::from(limit));
                list(&client, prefix.as_deref(), after, limit, context.json).await
            }
            KvVerb::Rm { key } => remove(&client, &key, context.json).await,
        }?;
        Ok(0)
    }
}

/// The parts of a key are the segments of its path.
fn path(key: &Key) -> String {
    let segments: Vec<String> = key.parts().map(|part| segment(&part)).collect();
    format!("/v1/kv/{}", segments.join("/"))
}

fn read(value: Option<String>, file: Option<&Path>) -> anyhow::Result<String> {
    let mut text = String::new();
    match (value, file) {
        (Some(value), _) => return Ok(value),
        (None, Some(path)) => {
            let shown = || format!("cannot read {}", path.display());
            let file = File::open(path).with_context(shown)?;
            file.take(MAX_BYTES)
                .read_to_string(&mut text)
                .with_context(shown)?;
        }
        (None, None) => {
            let stdin = std::io::stdin().lock();
            stdin
                .take(MAX_BYTES)
                .read_to_string(&mut text)
                .context("cannot read stdin")?;
        }
    }
    Ok(text)
}

fn json(what: &str, text: &str) -> anyhow::Result<Box<RawValue>> {
    serde_json::from_str(text).map_err(|error| {
        Failure::usage(format!("{what} is not JSON: {error}"))
            .fix("write text with its quotes: '\"text\"'")
            .into()
    })
}

async fn get(client: &Client, key: &Key, json: bool) -> anyhow::Result<()> {
    let value: Kept = client
        .ask(Access::Existing, Call::get(path(key)))
        .await?
        .read()?;
    if json {
        return Context::print_json(&value);
    }
    print_line(&shown(value.value.get()));
    Ok(())
}

async fn set(client: &Client, key: &Key, new: &NewValue, json: bool) -> anyhow::Result<()> {
    let call = Call::json(Method::PUT, path(key), new);
    let changed: Changed = client.ask(Access::Create, call).await?.read()?;
    if json {
        return Context::print_json(&changed);
    }
    say!("semel: {} is set", shown(&changed.key));
    Ok(())
}

async fn remove(client: &Client, key: &Key, json: bool) -> anyhow::Result<()> {
    let call = Call::delete(path(key));
    let changed: Changed = client.ask(Access::Existing, call).await?.read()?;
    if json {
        return Context::print_json(&changed);
    }
    say!("semel: {} is removed", shown(&changed.key));
    Ok(())
}

async fn list(
    client: &Client,
    prefix: Option<&str>,
    after: Option<String>,
    limit: Option<usize>,
    json: bool,
) -> anyhow::Result<()> {
    let session = client.connect(Access::Existing).await?;
    let part = Part {
        path: "/v1/kv",
        place: "after",
        query: &|| Query::default().with_some("prefix", prefix),
        after,
        limit,
    };
    let mut values = Vec::new();
    let next = pages(&session, part, async |row| {
        values.push(row);
        Ok(())
    })
    .await?;
    session.close().await?;
    if json {
        return Context::print_json(&Listed { values, next });
    }
    let mut rows = Vec::with_capacity(values.len());
    for value in &values {
        rows.push(cells(&serde_json::from_str(value.get())?));
    }
    print_table(&["key", "value", "expires", "changed", "by"], rows);
    if let Some(next) = next {
        say!("semel: there is more: --after {}", shown(&next));
    }
    Ok(())
}

fn cells(value: &Kept) -> Vec<String> {
    let text = value.value.get();
    let short = match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    };
    let expires = value.expires_at.as_deref().map(when::short);
    vec![
        shown(&value.key).into_owned(),
        shown(&short).into_owned(),
        expires.unwrap_or_default(),
        when::short(&value.changed_at),
        shown(value.by.as_deref().unwrap_or_default()).into_owned(),
    ]
}
