//! Many items at once: shown first, then exactly those.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::decide::Decide;
use super::{ls, short};
use crate::client::{Access, Answer, Call, Client};
use crate::failure::{Exit, Failure};
use crate::term::{print_line, shown};

const PATH: &str = "/v1/inbox/decide";

#[derive(Debug, Serialize)]
struct Body<'a> {
    decision: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<&'a str>,
}

/// What would be decided.
#[derive(Debug, Deserialize)]
struct Set {
    count: u64,
    hash: String,
    items: Vec<Box<RawValue>>,
}

/// What was.
#[derive(Debug, Deserialize)]
struct Decided {
    recorded: u64,
    refused: u64,
    items: Vec<Each>,
}

#[derive(Debug, Deserialize)]
struct Each {
    id: String,
    problem: Option<Problem>,
}

#[derive(Debug, Deserialize)]
struct Problem {
    detail: String,
}

/// Decides all that the filters leave.
pub(super) async fn decide(client: &Client, words: &Decide, json: bool) -> anyhow::Result<u8> {
    if words.which.is_everything() {
        return Err(Failure::usage("neither an item nor a filter is given")
            .fix("name the item, or say which: --flow F --step S --since WHEN")
            .into());
    }
    if let Some(hash) = &words.with.hash {
        return told(&send(client, words, Some(hash)).await?, json);
    }
    let found: Box<RawValue> = send(client, words, None).await?.read()?;
    let set: Set = serde_json::from_str(found.get())?;
    if json {
        print_line(found.get());
        return Ok(nothing_done(&set).code());
    }
    show(&set)?;
    if set.count > 0 && confirmed(&words.decision, &set)? {
        return told(&send(client, words, Some(&set.hash)).await?, json);
    }
    if set.count > 0 {
        let hash = &set.hash;
        say!("semel: nothing was decided; to decide exactly these, add --hash {hash}");
    }
    Ok(nothing_done(&set).code())
}

/// Asks, and lets go of the ledger: whoever is at the terminal may take their time.
async fn send(client: &Client, words: &Decide, hash: Option<&str>) -> anyhow::Result<Answer> {
    let Decide { which, with, .. } = words;
    let body = Body {
        decision: &words.decision,
        flow: which.flow.as_deref(),
        step: which.step.as_deref(),
        scope: which.scope.as_deref(),
        since: which.since.map(|at| at.to_string()),
        until: which.until.map(|at| at.to_string()),
        note: with.note.as_deref(),
        by: with.by(),
        hash,
    };
    let call = Call::json(Method::POST, PATH.to_owned(), &body);
    client.ask(Access::Existing, call).await
}

fn nothing_done(set: &Set) -> Exit {
    match set.count {
        0 => Exit::Done,
        _ => Exit::NeedsPerson,
    }
}

fn show(set: &Set) -> anyhow::Result<()> {
    if set.count == 0 {
        say!("semel: nothing waits that matches");
        return Ok(());
    }
    ls::print(&set.items)?;
    let more = set.count - set.items.len() as u64;
    if more > 0 {
        print_line(&format!("… and {more} more"));
    }
    print_line(&format!("set hash: {}", set.hash));
    Ok(())
}

/// Asks whoever is at the terminal; nobody else is asked.
fn confirmed(decision: &str, set: &Set) -> anyhow::Result<bool> {
    let (stdin, mut stderr) = (std::io::stdin(), std::io::stderr());
    if !stdin.is_terminal() || !stderr.is_terminal() {
        return Ok(false);
    }
    let these = match set.count {
        1 => "this one".to_owned(),
        count => format!("all {count}"),
    };
    write!(stderr, "semel: decide {these} as {decision}? Type yes: ")?;
    stderr.flush()?;
    let mut line = String::new();
    stdin.lock().read_line(&mut line)?;
    Ok(line.trim() == "yes")
}

fn told(answer: &Answer, json: bool) -> anyhow::Result<u8> {
    if !answer.status.is_success() {
        let failure = answer.problem();
        if failure.code.as_deref() == Some("set_changed")
            && let Ok(set) = answer.parse::<Set>()
            && !json
        {
            show(&set)?;
        }
        return Err(failure.into());
    }
    let found: Box<RawValue> = answer.read()?;
    let decided: Decided = serde_json::from_str(found.get())?;
    let exit = match decided.refused {
        0 => Exit::Done,
        _ => Exit::Conflict,
    };
    if json {
        print_line(found.get());
        return Ok(exit.code());
    }
    for item in &decided.items {
        if let Some(problem) = &item.problem {
            say!("semel: {}: {}", short(&item.id), shown(&problem.detail));
        }
    }
    print_line(&format!(
        "{} recorded, {} refused",
        decided.recorded, decided.refused
    ));
    Ok(exit.code())
}
