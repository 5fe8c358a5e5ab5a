//! `semel explain`: the page of an error code.

use clap::Args;
use semel_server::Code;
use serde_json::json;

use super::Context;
use crate::failure::Failure;
use crate::term::print_line;

/// Explain an error code
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel explain stale_token\n  semel explain        # lists all codes"
)]
pub(crate) struct Explain {
    /// The code, as in the member `code` of an error; without one, all are listed
    code: Option<String>,
}

impl Explain {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        let Some(name) = self.code else {
            return list(context.json);
        };
        let code = Code::named(&name).ok_or_else(|| {
            Failure::usage(format!("there is no error code {name:?}"))
                .fix("semel explain lists all codes")
        })?;
        if context.json {
            Context::print_json(&json!({
                "code": code.name(),
                "status": code.status().as_u16(),
                "title": code.title(),
                "page": code.page(),
            }))?;
        } else {
            print_line(code.page().trim_end());
        }
        Ok(0)
    }
}

fn list(json: bool) -> anyhow::Result<u8> {
    if json {
        let codes = Code::ALL.iter().map(|code| {
            json!({"code": code.name(), "status": code.status().as_u16(), "title": code.title()})
        });
        Context::print_json(&json!({"codes": codes.collect::<Vec<_>>()}))?;
        return Ok(0);
    }
    for code in Code::ALL {
        print_line(&format!(
            "{:<28}{}  {}",
            code.name(),
            code.status().as_u16(),
            code.title()
        ));
    }
    Ok(0)
}
