//! `semel rollback`: an earlier release takes triggers again.

use clap::Args;
use hyper::Method;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::Context;
use super::deploy::refused;
use super::release::short;
use crate::client::{Access, Call, Client, segment};
use crate::term::{print_line, shown};

/// Let an earlier release of a flow take triggers again; runs keep the release they began with
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel rollback order-paid\n  semel rollback order-paid --to rel_1f0c9a3b5d7e"
)]
pub(crate) struct Rollback {
    /// Which flow
    flow: String,
    /// Which release [default: the one that was live before]
    #[arg(long, value_name = "REL")]
    to: Option<String>,
    /// Although done keys of the live release would not be found
    #[arg(long)]
    abandon_keys: bool,
}

#[derive(Debug, Deserialize)]
struct Done {
    status: String,
    release: String,
}

impl Rollback {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<u8> {
        let client = Client::new(&context.config)?;
        let mut body = json!({"abandon": self.abandon_keys});
        if let Some(to) = &self.to {
            body["to"] = to.as_str().into();
        }
        let path = format!("/v1/flows/{}/rollback", segment(&self.flow));
        let call = Call::json(Method::POST, path, &body);
        let answer = client.ask(Access::Existing, call).await?;
        if !answer.status.is_success() {
            return Err(refused(&answer, "semel rollback … --abandon-keys").into());
        }
        let found: Box<RawValue> = answer.read()?;
        if context.json {
            print_line(found.get());
            return Ok(0);
        }
        let done: Done = serde_json::from_str(found.get())?;
        let (flow, release) = (shown(&self.flow), short(&done.release).to_owned());
        match done.status.as_str() {
            "unchanged" => say!("semel: {flow} is live as {release} already"),
            _ => say!("semel: {flow} is live as {release}"),
        }
        Ok(0)
    }
}
