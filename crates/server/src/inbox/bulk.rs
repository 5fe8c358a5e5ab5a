//! `POST /v1/inbox/decide`: many items at once, but only those that were shown.
//!
//! Without a hash nothing is decided: what would be is shown, with a hash over exactly that set. With it,
//! the set is looked at again and decided only if it is still the same. Each item is decided for itself,
//! with its own precondition, and told of for itself.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use semel_ledger::{Digest, Scope, Time};
use semel_store::blob::hex;

use crate::app::App;
use crate::audit::Told;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::fields::Fields;
use crate::inbox::answer::{Outcome, Said, Word, answer};
use crate::inbox::item::Item;
use crate::inbox::list::{Walk, Which};
use crate::inbox::one::{word, write_outcome};
use crate::inbox::person::Person;
use crate::inbox::show;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::settle::MAX_NOTE;
use crate::timestamp;

const FIELDS: [&str; 9] = [
    "decision", "flow", "step", "scope", "since", "until", "note", "by", "hash",
];
/// How many items one call decides.
pub(crate) const MOST: usize = 500;
/// How many effects are looked at to find them.
const LOOKED_AT: usize = 10_000;
/// How many of a set are shown.
const SHOWN: usize = 20;

/// What is to be decided.
struct Set {
    word: Word,
    items: Vec<Item>,
}

/// `POST /v1/inbox/decide`
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&FIELDS)?;
    let word = word(&fields)?;
    caller.needs(word.scope())?;
    let said = Said {
        word,
        person: Person::calling(&app, &caller, fields.name("by")?.as_deref()),
        note: fields.note("note", MAX_NOTE)?,
        result: None,
    };
    let hash = fields.text("hash")?;
    let which = which(&fields, &said)?;
    let set = Set::find(&app, &fields, which, said.word).await?;
    match hash {
        None => Ok(set.shown().respond(StatusCode::OK)),
        Some(hash) if *hash != *set.hash() => Err(set.changed()),
        Some(_) => {
            let decided = set.decided(&app, &said).await;
            let note = format!("{} of {}", word.name(), set.items.len());
            Ok(Told::how(&note).with(decided.respond(StatusCode::OK)))
        }
    }
}

fn which(fields: &Fields<'_>, said: &Said) -> Result<Which, Problem> {
    let scope = fields.text("scope")?;
    let kind = match said.word {
        Word::Approve | Word::Reject => "approval",
        Word::Is(_) => "review",
    };
    Ok(Which {
        flow: fields.name("flow")?.map(Into::into),
        step: fields.name("step")?.map(Into::into),
        scope: scope.map(|scope| Scope::new(&scope)).transpose()?,
        kind: Some(kind),
        since: time(fields, "since")?,
        until: time(fields, "until")?,
        person: Some((*said.person.name).to_owned()),
    })
}

fn time(fields: &Fields<'_>, name: &str) -> Result<Option<Time>, Problem> {
    let Some(text) = fields.text(name)? else {
        return Ok(None);
    };
    let wrong = || {
        fields.invalid(
            name,
            "must be a time such as 2026-01-31T12:00:00Z (RFC 3339)",
        )
    };
    timestamp::parse(&text).map(Some).ok_or_else(wrong)
}

impl Set {
    async fn find(
        app: &App,
        fields: &Fields<'_>,
        which: Which,
        word: Word,
    ) -> Result<Set, Problem> {
        let mut walk = Walk::new(which, None, LOOKED_AT);
        let mut items = Vec::new();
        while let Some(item) = walk.next(app).await? {
            items.push(item);
            if items.len() > MOST {
                break;
            }
        }
        if items.len() > MOST || walk.place(app).await?.is_some() {
            let why = "leaves too many: at most 500 are decided at a time; narrow it with flow, step, scope, since and until";
            return Err(fields.invalid("the filter", why).limit(MOST));
        }
        Ok(Set { word, items })
    }

    /// Of the decision, and of every item as it stands.
    fn hash(&self) -> String {
        let each = self.items.iter().flat_map(|item| [item.id(), item.hash()]);
        let parts: Vec<String> = std::iter::once(self.word.name().to_owned())
            .chain(each)
            .collect();
        let digest = Digest::of_decision(parts.iter().map(|part| Some(part.as_str())));
        hex(&digest.0)
    }

    /// What would be decided.
    fn shown(&self) -> Object {
        let mut out = Object::new();
        out.text("decision", self.word.name())
            .number("count", self.items.len() as u64)
            .number("limit", MOST as u64)
            .text("hash", &self.hash())
            .list("items", self.items.iter().take(SHOWN), |out, item| {
                show::row(out, item, 0);
            });
        out
    }

    fn changed(&self) -> Problem {
        let detail = format!(
            "what waits has changed since it was shown: it is {} now, and nothing was decided",
            self.items.len()
        );
        let mut problem = Problem::new(Code::SetChanged, detail)
            .fix("look at the set as it is now, and send its hash");
        problem
            .more
            .text("verdict", "conflict")
            .append(&self.shown());
        problem
    }

    async fn decided(&self, app: &App, said: &Said) -> Object {
        let mut outcomes: Vec<(&Item, Result<Outcome, Problem>)> = Vec::new();
        for item in &self.items {
            outcomes.push((item, answer(app, item, said).await));
        }
        let recorded = outcomes.iter().filter(|(_, outcome)| outcome.is_ok());
        let recorded = recorded.count();
        let mut out = Object::new();
        out.text("decision", self.word.name())
            .number("count", outcomes.len() as u64)
            .number("recorded", recorded as u64)
            .number("refused", (outcomes.len() - recorded) as u64)
            .list("items", &outcomes, |out, (item, outcome)| {
                show::row(out, item, 0);
                match outcome {
                    Ok(outcome) => {
                        write_outcome(out, item, outcome);
                        out.raw("problem", "null");
                    }
                    Err(problem) => {
                        out.text("status", "refused").object("problem", |out| {
                            out.text("code", problem.code.name())
                                .text("detail", problem.detail());
                        });
                    }
                }
            });
        out
    }
}
