//! `POST /v1/inbox/{id}/link`: a link with which one person sees a request and decides it.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;

use semel_store::access::Scope;

use crate::app::App;
use crate::audit::Told;
use crate::auth::Caller;
use crate::body;
use crate::code::Code;
use crate::inbox::item::Item;
use crate::inbox::refuse;
use crate::out::Object;
use crate::problem::Problem;
use crate::query::Query;
use crate::target::Segment;

/// `POST /v1/inbox/{id}/link`
pub(crate) async fn make(
    State(app): State<Arc<App>>,
    Segment(name): Segment,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    Query::parse(request.uri().query(), &[])?;
    let document = body::required(&app, request).await?;
    let fields = document.fields()?;
    fields.only(&["for"])?;
    let person = fields.need("for", fields.name("for")?)?;
    // Whoever has the link decides in that person's name.
    if *person != *caller.name {
        caller.needs(Scope::Admin)?;
    }
    let item = Item::named(&app, &name).await?;
    let (Some(request), Some(run)) = (&item.request, item.run_id()) else {
        let detail = "a lost answer is decided with a token; links are for requests";
        return Err(Problem::new(Code::NotAllowed, detail));
    };
    if let Some(why) = request.bars(&person, app.links()) {
        return Err(refuse::not_allowed(&item, &why, app.links()));
    }
    app.vault.ready_links(&app.store).await?;
    let url = app.links().approval(run, &request.step, &person);
    let url = url.ok_or_else(|| {
        Problem::new(
            Code::SigningUnavailable,
            "there is no key to sign links with",
        )
    })?;
    let mut out = Object::new();
    out.text("id", &item.id())
        .text("for", &person)
        .text("url", &url)
        .time("until", request.until());
    let note = format!("for {person}");
    Ok(Told::how(&note).with(out.respond(StatusCode::OK)))
}
