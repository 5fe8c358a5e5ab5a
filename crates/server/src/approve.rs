//! `/approve/{token}`: the page behind a signed link, where a person sees a request and decides it.
//!
//! Owns finding the request that a link leads to, the page, and what may be sent to it. Who may decide, and
//! what becomes of a decision, is `crate::inbox`, as for every other way in.
//!
//! The invariants: looking, by whatever method and however often, changes nothing; everything that came from
//! elsewhere is shown as text; a link that this server did not make is answered like one that leads nowhere.

mod find;
mod form;
mod page;
mod tree;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Uri;
use axum::response::Response;

use crate::app::App;
use crate::inbox::answer::{Said, answer};
use crate::inbox::item::Item;
use crate::inbox::person::Person;
use crate::inbox::refuse;
use crate::inbox::show::Whole;
use crate::problem::Problem;

use find::{Found, find};
use page::{Banner, failed, not_asked, nowhere, request_page};

/// `GET /approve/{token}`
pub(crate) async fn show(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let shown = async {
        let (item, person) = match find(&app, token(&uri)).await? {
            Found::Request(found) => *found,
            other => return Ok(elsewhere(&other)),
        };
        looked_at(&app, &item, &person).await
    };
    shown.await.unwrap_or_else(|problem| failed(&problem, None))
}

/// `POST /approve/{token}`
pub(crate) async fn decide(State(app): State<Arc<App>>, request: Request) -> Response {
    let decided = async {
        let (item, person) = match find(&app, token(request.uri())).await? {
            Found::Request(found) => *found,
            other => return Ok(elsewhere(&other)),
        };
        let sent = form::read(&app, request).await?;
        if sent.hash != item.hash() {
            return shown_with(&app, &item, &person, Err(&refuse::changed(&item))).await;
        }
        let said = Said {
            word: sent.word,
            person: person.clone(),
            note: sent.note,
            result: None,
        };
        match answer(&app, &item, &said).await {
            Ok(outcome) => {
                // As it is now, with what was just recorded.
                let again = app.store.load(&item.record.effect).await?;
                let item = Item::of(&app, again.unwrap_or(item.record)).await?;
                shown_with(&app, &item, &person, Ok(Banner::recorded(&item, &outcome))).await
            }
            Err(problem) => shown_with(&app, &item, &person, Err(&problem)).await,
        }
    };
    decided
        .await
        .unwrap_or_else(|problem| failed(&problem, None))
}

/// What the path ends with, as it is: no token of ours has anything that would be escaped.
fn token(uri: &Uri) -> &str {
    uri.path().rsplit('/').next().unwrap_or_default()
}

fn elsewhere(found: &Found) -> Response {
    match found {
        Found::NotAsked { flow, step } => not_asked(flow, step),
        Found::Over { how } => failed(&refuse::over(how), None),
        Found::Nowhere | Found::Request(_) => nowhere(),
    }
}

/// The page to whoever only looks.
async fn looked_at(app: &App, item: &Item, person: &Person) -> Result<Response, Problem> {
    let request = item.request.as_ref();
    if let Some(why) = request.and_then(|it| it.bars(&person.name, app.links())) {
        return Err(refuse::not_allowed(item, &why, app.links()));
    }
    let whole = Whole::load(app, item).await?;
    let banner = Banner::standing(item, &whole, person);
    Ok(request_page(item, &whole, person, &banner))
}

/// The page after a decision, or after one that does not count.
async fn shown_with(
    app: &App,
    item: &Item,
    person: &Person,
    outcome: Result<Banner, &Problem>,
) -> Result<Response, Problem> {
    match outcome {
        Ok(banner) => {
            let whole = Whole::load(app, item).await?;
            Ok(request_page(item, &whole, person, &banner))
        }
        Err(problem) => Ok(failed(problem, Some(item))),
    }
}
