//! The page itself, in every state that a request can be in.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use semel_ledger::Time;
use semel_store::run::RunId;

use super::tree;
use crate::html::{Html, Referrer, respond};
use crate::inbox::answer::Outcome;
use crate::inbox::item::{Item, Winner, winner};
use crate::inbox::person::Person;
use crate::inbox::refuse::word;
use crate::inbox::request::Request;
use crate::inbox::show::Whole;
use crate::problem::Problem;
use crate::settle::MAX_NOTE;
use crate::timestamp;

/// What stands above a request.
#[derive(Debug)]
pub(super) struct Banner {
    status: StatusCode,
    good: Option<bool>,
    text: String,
    /// Whether this person can still decide.
    asks: bool,
}

impl Banner {
    /// How it stands, to whoever looks.
    pub(super) fn standing(item: &Item, whole: &Whole, person: &Person) -> Banner {
        let said = |status: StatusCode, text: String| Banner {
            status,
            good: None,
            text,
            asks: false,
        };
        let own = whole.votes.iter().find(|vote| vote.by == person.name);
        let decided = winner(&whole.turns, None).filter(|_| !item.is_open());
        match (&whole.over, decided, own) {
            (Some(why), ..) => {
                let text = format!("This is over: {why}. Nothing can be decided any more.");
                said(StatusCode::GONE, text)
            }
            (None, Some(winner), _) => Banner::decided(item, &winner, ""),
            (None, None, Some(vote)) => {
                let left = left(whole, item.request.as_ref());
                let text = format!("You approved this on {}. {left}", time(vote.at));
                said(StatusCode::OK, text)
            }
            (None, None, None) => Banner {
                asks: true,
                ..said(StatusCode::OK, String::new())
            },
        }
    }

    /// What was just recorded, or had been.
    pub(super) fn recorded(item: &Item, outcome: &Outcome) -> Banner {
        match outcome {
            Outcome::Decided { winner, again } => {
                let before = if *again {
                    "This was recorded already. "
                } else {
                    "Recorded. "
                };
                Banner::decided(item, winner, before)
            }
            Outcome::Voted { left, again } => {
                let before = if *again {
                    "Your approval was recorded already."
                } else {
                    "Your approval is recorded."
                };
                Banner {
                    status: StatusCode::OK,
                    good: Some(true),
                    text: format!("{before} {left} more needed."),
                    asks: false,
                }
            }
        }
    }

    fn decided(item: &Item, winner: &Winner, before: &str) -> Banner {
        let done = match word(item, winner.decision) {
            "approve" => "Approved",
            "reject" => "Rejected",
            _ => "Taken back",
        };
        let by = winner.by.as_deref().unwrap_or("somebody");
        let note = winner.note.as_deref();
        let note = note.map(|note| format!("\n“{note}”")).unwrap_or_default();
        Banner {
            status: StatusCode::OK,
            good: Some(done == "Approved"),
            text: format!("{before}{done} by {by} on {}.{note}", time(winner.at)),
            asks: false,
        }
    }
}

fn left(whole: &Whole, request: Option<&Request>) -> String {
    let needed = request.map_or(1, |request| request.needed) as usize;
    match needed.saturating_sub(whole.votes.len()) {
        0 => String::new(),
        left => format!("{left} more needed."),
    }
}

/// `2026-01-31 12:00:00 UTC`
fn time(time: Time) -> String {
    let text = timestamp::text(time).unwrap_or_default();
    let text = text.split('.').next().unwrap_or_default();
    format!("{} UTC", text.replace('T', " "))
}

/// A request, with buttons if this person can decide it.
pub(super) fn request_page(
    item: &Item,
    whole: &Whole,
    person: &Person,
    banner: &Banner,
) -> Response {
    let mut html = Html::default();
    html.banner(banner.good, &banner.text);
    if let Some(request) = &item.request {
        html.markup("<h1>").text(&request.ask).markup("</h1>\n");
        if request.show.get() != "null" {
            html.markup("<h2>What is asked for</h2>\n<div class=\"shown\">");
            tree::write(&mut html, &request.show);
            html.markup("</div>\n");
        }
        details(&mut html, item, request, whole);
        if banner.asks {
            form(&mut html, item, person);
        }
    }
    respond(Referrer::None, banner.status, "A request", html)
}

fn details(html: &mut Html, item: &Item, request: &Request, whole: &Whole) {
    html.markup("<h2>Where it comes from</h2>\n<table class=\"plain\">\n");
    html.row("Flow", &format!("{}, step {}", request.flow, request.step));
    if let Some(run) = item.run_id() {
        html.row("Run", &run_text(item, run));
    }
    html.row("Started by", request.maker.as_deref().unwrap_or("an event"))
        .row("Asked", &time(item.record.entry.changed_at))
        .row("Open until", &time(request.until()))
        .row("May decide", &request.by.join(", "));
    if request.needed > 1 {
        let cast = whole.votes.len();
        html.row(
            "Approvals",
            &format!("{cast} so far, {} needed", request.needed),
        );
        for vote in &whole.votes {
            let note = vote.note.as_deref();
            let note = note.map(|note| format!("\n“{note}”")).unwrap_or_default();
            html.row(
                "Approved by",
                &format!("{}, {}{note}", vote.by, time(vote.at)),
            );
        }
    }
    html.markup("</table>\n<p class=\"small\">What you confirm: <code>")
        .text(&item.hash())
        .markup("</code></p>\n");
}

fn run_text(item: &Item, run: RunId) -> String {
    match &item.run {
        Some(row) => format!("{}\n{}", row.key.as_str(), run.text()),
        None => run.text(),
    }
}

fn form(html: &mut Html, item: &Item, person: &Person) {
    html.markup("<form method=\"post\" autocomplete=\"off\">\n<h2>Your decision</h2>\n")
        .markup("<input type=\"hidden\" name=\"hash\" value=\"")
        .text(&item.hash())
        .markup("\">\n<label for=\"note\">Note (optional)</label>\n")
        .markup("<textarea id=\"note\" name=\"note\" maxlength=\"")
        .text(&(MAX_NOTE / 4).to_string())
        .markup("\"></textarea>\n<div class=\"buttons\">\n")
        .markup("<button name=\"decision\" value=\"approve\">Approve</button>\n")
        .markup("<button name=\"decision\" value=\"reject\">Reject</button>\n</div>\n")
        .markup("<p class=\"small\">You decide as ")
        .text(&person.name)
        .markup(
            ". This link is yours alone: whoever has it can decide in your name.</p>\n</form>\n",
        );
}

/// The run has not come to the step.
pub(super) fn not_asked(flow: &str, step: &str) -> Response {
    let mut html = Html::default();
    html.markup("<h1>Nothing is asked yet</h1>\n<p>The run of ")
        .text(flow)
        .markup(" has not come to its step ")
        .text(step)
        .markup(" yet. Open this link again later.</p>\n");
    respond(Referrer::None, StatusCode::OK, "Nothing is asked yet", html)
}

/// One page for every link that is none.
pub(super) fn nowhere() -> Response {
    let mut html = Html::default();
    html.markup("<h1>This link leads nowhere</h1>\n<p>It is not complete, or what it was about is long over. ")
        .markup("Open it again from where you got it, all of it.</p>\n");
    respond(
        Referrer::None,
        StatusCode::NOT_FOUND,
        "This link leads nowhere",
        html,
    )
}

/// Why nothing was decided, or cannot be shown.
pub(super) fn failed(problem: &Problem, item: Option<&Item>) -> Response {
    let mut html = Html::default();
    html.markup("<h1>")
        .text(problem.code.title())
        .markup("</h1>\n");
    html.banner(Some(false), problem.detail());
    if let Some(request) = item.and_then(|item| item.request.as_ref()) {
        html.markup("<p>It was about: ")
            .text(&request.ask)
            .markup("</p>\n");
    }
    html.markup("<p class=\"small\">Nothing was changed by this. Open the link again to see how it stands.</p>\n");
    let mut response = respond(
        Referrer::None,
        problem.code.status(),
        problem.code.title(),
        html,
    );
    if problem.ends_connection() {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response
}
