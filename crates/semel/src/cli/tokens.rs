//! `semel tokens`: who may call the API.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use semel_store::access::Scope;

use super::Context;
use crate::client::{Access, Call, Client, segment};
use crate::failure::Failure;
use crate::files;
use crate::term::{print_line, print_table, shown};
use crate::when;

/// List, make and revoke API tokens
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Tokens {
    #[command(subcommand)]
    verb: TokensVerb,
}

const AFTER_HELP: &str = "\
EXAMPLE
  semel tokens create n8n --scopes read,guard > n8n.token
  semel tokens ls
  semel tokens revoke tok_1f0c9a…";

#[derive(Debug, Subcommand)]
enum TokensVerb {
    /// List tokens; their clear text is kept nowhere
    #[command(after_help = "EXAMPLE\n  semel tokens ls --json")]
    Ls,
    /// Make a token and print it, this once
    #[command(
        alias = "add",
        after_help = "EXAMPLE\n  semel tokens create n8n --scopes read,guard --out n8n.token"
    )]
    Create {
        /// What to call it
        name: String,
        /// What it may do: read, guard, trigger, operate, approve, deploy, admin [default: all that you may]
        #[arg(long, value_name = "SCOPES", value_delimiter = ',')]
        scopes: Vec<String>,
        /// Write it to a new file (mode 600) instead of printing it
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Stop accepting a token
    #[command(after_help = "EXAMPLE\n  semel tokens revoke tok_1f0c9a…")]
    Revoke {
        /// The id that `semel tokens ls` shows
        id: String,
    },
}

#[derive(Debug, Deserialize, Serialize)]
struct Token {
    id: String,
    name: String,
    #[serde(default)]
    scopes: Vec<String>,
    created_at: Option<String>,
    revoked_at: Option<String>,
    #[serde(rename = "token", skip_serializing_if = "Option::is_none")]
    clear: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Listed {
    tokens: Vec<Token>,
}

impl Tokens {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        match self.verb {
            TokensVerb::Ls => list(&client, context.json).await,
            TokensVerb::Create { name, scopes, out } => {
                let scopes = Some(scopes).filter(|scopes| !scopes.is_empty());
                let asked = json!({"name": name, "scopes": scopes});
                create(&client, &asked, out.as_deref(), context.json).await
            }
            TokensVerb::Revoke { id } => revoke(&client, &id, context.json).await,
        }?;
        Ok(0)
    }
}

async fn list(client: &Client, json: bool) -> anyhow::Result<()> {
    let answer = client
        .ask(Access::Existing, Call::get("/v1/tokens"))
        .await?;
    let listed: Listed = answer.read()?;
    if json {
        return Context::print_json(&listed);
    }
    let row = |token: &Token| {
        let state = if token.revoked_at.is_some() {
            "revoked"
        } else {
            "valid"
        };
        vec![
            state.to_owned(),
            token.id.clone(),
            shown(&token.name).into_owned(),
            scopes(&token.scopes),
            token
                .created_at
                .as_deref()
                .map(when::short)
                .unwrap_or_default(),
            token
                .revoked_at
                .as_deref()
                .map(when::short)
                .unwrap_or_default(),
        ]
    };
    let rows = listed.tokens.iter().map(row).collect();
    print_table(
        &["state", "id", "name", "scopes", "created", "revoked"],
        rows,
    );
    Ok(())
}

/// All of them are one word.
fn scopes(names: &[String]) -> String {
    if names.len() == Scope::ALL.len() {
        return "all".to_owned();
    }
    names.join(",")
}

async fn create(
    client: &Client,
    asked: &Value,
    out: Option<&Path>,
    json: bool,
) -> anyhow::Result<()> {
    if let Some(out) = out.filter(|out| out.exists()) {
        let message = format!("{} is there already", out.display());
        return Err(Failure::usage(message)
            .fix("name a new file, or remove that one")
            .into());
    }
    let call = Call::json(Method::POST, "/v1/tokens".to_owned(), asked);
    let mut token: Token = client.ask(Access::Create, call).await?.read()?;
    let clear = token.clear.clone().unwrap_or_default();
    if let Some(out) = out {
        files::write_private(out, format!("{clear}\n").as_bytes())?;
        token.clear = None;
    }
    if json {
        return Context::print_json(&token);
    }
    let id = &token.id;
    if let Some(out) = out {
        say!("semel: made {id}; it is in {}", out.display());
    } else {
        print_line(&clear);
        say!("semel: made {id}; this is the only time it is shown");
    }
    Ok(())
}

async fn revoke(client: &Client, id: &str, json: bool) -> anyhow::Result<()> {
    let call = Call::delete(format!("/v1/tokens/{}", segment(id)));
    let token: Token = client.ask(Access::Existing, call).await?.read()?;
    if json {
        return Context::print_json(&token);
    }
    say!("semel: {} ({}) is revoked", token.id, shown(&token.name));
    Ok(())
}
