//! `semel explain`: the page of an error code, or a flow in sentences.

mod flow;

use clap::Args;
use semel_flow::codes;
use semel_server::Code;
use serde_json::{Value, json};

use super::Context;
use crate::failure::Failure;
use crate::term::print_line;

/// Explain a flow, or an error code
#[derive(Debug, Args)]
#[command(
    after_help = "EXAMPLE\n  semel explain flows/order.yaml\n  semel explain stale_token\n  semel explain K001\n  semel explain        # lists all codes"
)]
pub(crate) struct Explain {
    /// A flow file, or a code as in the member `code` of an error or in a message of semel check; without one, all codes are listed
    #[arg(value_name = "FILE|CODE")]
    what: Option<String>,
}

/// A code with its page: of an answer over HTTP, or of a message about a flow file.
enum Page {
    Answer(Code),
    Flow(&'static codes::Code),
}

impl Page {
    fn named(name: &str) -> Option<Page> {
        let answer = Code::named(name).map(Page::Answer);
        answer.or_else(|| codes::Code::named(name).map(Page::Flow))
    }

    fn all() -> impl Iterator<Item = Page> {
        let answers = Code::ALL.iter().copied().map(Page::Answer);
        answers.chain(codes::ALL.iter().map(Page::Flow))
    }

    fn name(&self) -> &'static str {
        match self {
            Page::Answer(code) => code.name(),
            Page::Flow(code) => code.name,
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Page::Answer(code) => code.title(),
            Page::Flow(code) => code.title,
        }
    }

    fn text(&self) -> &'static str {
        match self {
            Page::Answer(code) => code.page(),
            Page::Flow(code) => code.page,
        }
    }

    /// The status of an answer; a message about a file has none.
    fn status(&self) -> Option<u16> {
        match self {
            Page::Answer(code) => Some(code.status().as_u16()),
            Page::Flow(_) => None,
        }
    }

    fn document(&self) -> Value {
        json!({"code": self.name(), "status": self.status(), "title": self.title()})
    }
}

impl Explain {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        let Some(name) = self.what else {
            return list(context.json);
        };
        let page = Page::named(&name);
        if page.is_none() && flow::is_meant(&name) {
            return flow::run(&name, context.json);
        }
        let page = page.ok_or_else(|| {
            Failure::usage(format!("there is no error code {name:?}"))
                .fix("semel explain lists all codes")
        })?;
        if context.json {
            let mut document = page.document();
            document["page"] = page.text().into();
            Context::print_json(&document)?;
        } else {
            print_line(page.text().trim_end());
        }
        Ok(0)
    }
}

fn list(json: bool) -> anyhow::Result<u8> {
    if json {
        let codes: Vec<_> = Page::all().map(|page| page.document()).collect();
        Context::print_json(&json!({"codes": codes}))?;
        return Ok(0);
    }
    for page in Page::all() {
        let status = page.status().map(|status| status.to_string());
        print_line(&format!(
            "{:<28}{:<5}{}",
            page.name(),
            status.as_deref().unwrap_or("–"),
            page.title()
        ));
    }
    Ok(0)
}
