//! Which request a link leads to.

use semel_engine::token::{Purpose, Token};
use semel_store::run::RunId;

use crate::app::App;
use crate::inbox::item::Item;
use crate::inbox::person::Person;
use crate::problem::Problem;
use crate::runs::story::Story;

/// Where a link leads.
#[derive(Debug)]
pub(super) enum Found {
    /// To a request, for this person.
    Request(Box<(Item, Person)>),
    /// To a step that its run has not come to.
    NotAsked { flow: Box<str>, step: Box<str> },
    /// To a run that is over and never asked.
    Over { how: String },
    /// To nothing, or it is none of ours.
    Nowhere,
}

/// Follows a link.
pub(super) async fn find(app: &App, text: &str) -> Result<Found, Problem> {
    let Some(Token {
        run,
        step,
        person: Some(person),
        ..
    }) = app.links().read(text, Purpose::Approve)
    else {
        return Ok(Found::Nowhere);
    };
    let Some(story) = story(app, run).await? else {
        return Ok(Found::Nowhere);
    };
    // The latest counts: asked again with other content it is another effect.
    for touched in story.effects().into_iter().rev() {
        if *touched.step != *step {
            continue;
        }
        let Some(record) = app.store.load(&touched.effect).await? else {
            continue;
        };
        let item = Item::of(app, record).await?;
        if item.request.is_some() {
            return Ok(Found::Request(Box::new((item, Person::by_link(&person)))));
        }
    }
    if story.run.state.is_open() {
        let flow = story.run.flow;
        return Ok(Found::NotAsked { flow, step });
    }
    let how = format!(
        "the run is {} and asked for nothing",
        story.run.state.name()
    );
    Ok(Found::Over { how })
}

async fn story(app: &App, run: RunId) -> Result<Option<Story>, Problem> {
    if app.store.run(run).await?.is_none() {
        return Ok(None);
    }
    Story::load(&app.store, run).await.map(Some)
}
