//! `semel secrets`: what flows may use and nobody may read.

pub(super) mod value;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Context;
use crate::client::{Access, Call, Client, segment};
use crate::failure::Failure;
use crate::term::{print_table, shown};
use crate::when;

/// Set, list and remove the secrets of flows
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Secrets {
    #[command(subcommand)]
    verb: SecretsVerb,
}

const AFTER_HELP: &str = "\
A flow uses a secret as ${{ secrets.NAME }}. Values are sealed with a key that is kept outside of the
database (secrets.key in the data directory, or SEMEL_SECRETS_KEY_FILE): keep a copy of it somewhere else.

EXAMPLE
  semel secrets set STRIPE_KEY < stripe.key
  semel secrets ls
  semel secrets rm STRIPE_KEY
  semel secrets rotate";

#[derive(Debug, Subcommand)]
enum SecretsVerb {
    /// Set a secret to what stdin or a file holds
    #[command(after_help = "\
One line break at the end is no part of the value. At a terminal the value is asked for and not shown.

EXAMPLE
  semel secrets set STRIPE_KEY < stripe.key
  pass show stripe | semel secrets set STRIPE_KEY
  semel secrets set DEPLOY_KEY --from ~/.ssh/deploy")]
    Set {
        /// What flows call it: letters, digits and _
        name: String,
        /// Read the value from this file instead of stdin
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Refused: everybody on the machine can read the arguments of a process
        #[arg(hide = true, allow_hyphen_values = true)]
        value: Vec<String>,
    },
    /// List secrets; their values are never shown
    #[command(after_help = "EXAMPLE\n  semel secrets ls --json")]
    Ls,
    /// Remove a secret
    #[command(after_help = "EXAMPLE\n  semel secrets rm STRIPE_KEY")]
    Rm {
        /// Which
        name: String,
    },
    /// Seal all secrets with a new key; their values stay
    #[command(
        after_help = "The old key is kept until all are sealed with the new one.\n\nEXAMPLE\n  semel secrets rotate"
    )]
    Rotate,
}

#[derive(Debug, Deserialize, Serialize)]
struct Secret {
    name: String,
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sealed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Listed {
    secrets: Vec<Secret>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Rotated {
    resealed: u64,
    key: String,
}

impl Secrets {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        match self.verb {
            SecretsVerb::Set { value, .. } if !value.is_empty() => Err(Failure::usage(
                "a secret is not taken as an argument: everybody on this machine can read those",
            )
            .fix("give it on stdin, or name a file: --from FILE")
            .into()),
            SecretsVerb::Set { name, from, .. } => {
                let value = value::read(&name, from.as_deref())?;
                set(&client, &name, &value, context.json).await
            }
            SecretsVerb::Ls => list(&client, context.json).await,
            SecretsVerb::Rm { name } => remove(&client, &name, context.json).await,
            SecretsVerb::Rotate => rotate(&client, context.json).await,
        }?;
        Ok(0)
    }
}

async fn set(client: &Client, name: &str, value: &str, json: bool) -> anyhow::Result<()> {
    // The path of another request.
    if name == "rotate" {
        return Err(Failure::usage("a secret cannot be called rotate")
            .fix("call it ROTATE")
            .into());
    }
    let path = format!("/v1/secrets/{}", segment(name));
    let call = Call::json(Method::PUT, path, &json!({"value": value}));
    let secret: Secret = client.ask(Access::Create, call).await?.read()?;
    if json {
        return Context::print_json(&secret);
    }
    say!("semel: {} is set", shown(&secret.name));
    for warning in &secret.warnings {
        say!("semel: warning: {}", shown(warning));
    }
    Ok(())
}

async fn list(client: &Client, json: bool) -> anyhow::Result<()> {
    let call = Call::get("/v1/secrets");
    let listed: Listed = client.ask(Access::Existing, call).await?.read()?;
    if json {
        return Context::print_json(&listed);
    }
    let row = |secret: &Secret| {
        let changed = secret.changed_at.as_deref().map(when::short);
        vec![
            shown(&secret.name).into_owned(),
            secret.source.clone().unwrap_or_default(),
            changed.unwrap_or_default(),
            shown(secret.by.as_deref().unwrap_or_default()).into_owned(),
        ]
    };
    let rows = listed.secrets.iter().map(row).collect();
    print_table(&["name", "source", "changed", "by"], rows);
    Ok(())
}

async fn remove(client: &Client, name: &str, json: bool) -> anyhow::Result<()> {
    let call = Call::delete(format!("/v1/secrets/{}", segment(name)));
    let secret: Secret = client.ask(Access::Existing, call).await?.read()?;
    if json {
        return Context::print_json(&secret);
    }
    say!("semel: {} is removed", shown(&secret.name));
    if secret.source.is_some() {
        say!("semel: warning: the server's environment has it too, and that one counts");
    }
    Ok(())
}

async fn rotate(client: &Client, json: bool) -> anyhow::Result<()> {
    let call = Call::post("/v1/secrets/rotate");
    let rotated: Rotated = client.ask(Access::Existing, call).await?.read()?;
    if json {
        return Context::print_json(&rotated);
    }
    let Rotated { resealed, key } = rotated;
    say!("semel: {resealed} secrets are sealed with the key {key}; keep a copy of it elsewhere");
    Ok(())
}
