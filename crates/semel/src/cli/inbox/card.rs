//! An item as a person at a terminal sees it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::short;
use super::tree::tree;
use crate::client::or_null;
use crate::term::{Paint, Tone, print_line, shown, shown_lines};
use crate::when;

/// How much of a value of an effect is shown; of a request, all is.
const VALUE: usize = 2000;

/// An item as the API shows it, as far as a card needs it.
#[derive(Debug, Deserialize)]
pub(super) struct Card {
    pub(super) id: String,
    kind: String,
    state: String,
    why_over: Option<String>,
    what: String,
    show: Option<Box<RawValue>>,
    flow: Option<String>,
    step: Option<String>,
    run: Option<String>,
    scope: String,
    key: String,
    attempt: u64,
    since: Option<String>,
    until: Option<String>,
    by: Option<Vec<String>>,
    may: Option<Vec<String>>,
    needed: Option<u64>,
    maker: Option<String>,
    voters: Vec<Vote>,
    pub(super) hash: String,
    decided: Option<Decided>,
    choices: Vec<Choice>,
    lookups: Vec<Lookup>,
    effect: Effect,
}

#[derive(Debug, Deserialize)]
struct Vote {
    by: String,
    at: Option<String>,
    note: Option<String>,
}

/// Who decided what.
#[derive(Debug, Deserialize)]
pub(super) struct Decided {
    pub(super) decision: String,
    pub(super) by: Option<String>,
    pub(super) at: Option<String>,
    pub(super) note: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    decision: String,
    does: String,
}

#[derive(Debug, Deserialize)]
struct Lookup {
    at: Option<String>,
    found: Option<bool>,
    evidence: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Effect {
    input: Option<Box<RawValue>>,
    life: Vec<Turn>,
}

#[derive(Debug, Deserialize)]
struct Turn {
    at: Option<String>,
    attempt: u64,
    from: String,
    to: String,
    by: Option<String>,
    note: Option<String>,
}

fn row(name: &str, value: &str) {
    if value.is_empty() {
        return;
    }
    let name = Paint::stdout().on(Tone::Dim, &format!("{name:<11}"));
    // Further lines stand under the first.
    let value = value.replace('\n', &format!("\n{:12}", ""));
    print_line(&format!("{name} {value}"));
}

fn title(text: &str) {
    print_line(&format!("\n{}", Paint::stdout().on(Tone::Dim, text)));
}

fn time(at: Option<&str>) -> String {
    at.map(|at| when::short(at) + " UTC").unwrap_or_default()
}

fn noted(note: Option<&str>) -> String {
    note.map(|note| format!(": {}", shown_lines(note)))
        .unwrap_or_default()
}

impl Decided {
    /// `approve by ann, 2026-01-01 00:00:00 UTC: note`
    pub(super) fn text(&self) -> String {
        let by = self.by.as_deref().map(shown).unwrap_or_default();
        let (at, note) = (time(self.at.as_deref()), noted(self.note.as_deref()));
        format!("{} by {by}, {at}{note}", self.decision)
    }
}

impl Card {
    /// Prints it, and with which command it can be decided.
    pub(super) fn print(&self, flags: &str) {
        let paint = Paint::stdout();
        print_line(&paint.on(Tone::Strong, &shown_lines(&self.what)));
        self.print_shown();
        self.print_place(paint);
        self.print_lost();
        self.print_choices(flags);
    }

    fn is_request(&self) -> bool {
        self.kind == "approval"
    }

    /// What is asked for, all of it.
    fn print_shown(&self) {
        let text = or_null(self.show.as_deref());
        if self.is_request() && text != "null" {
            print_line("");
            tree(text, 0);
        }
        print_line("");
    }

    fn print_place(&self, paint: Paint) {
        let text =
            |text: &Option<String>| text.as_deref().map(shown).unwrap_or_default().into_owned();
        row("item", &format!("{} ({})", self.id, self.kind));
        let tone = match self.state.as_str() {
            "waiting" => Tone::Doubt,
            "decided" => Tone::Good,
            _ => Tone::Dim,
        };
        let state = paint.on(tone, &self.state);
        row(
            "state",
            &match (&self.decided, &self.why_over) {
                (_, Some(why)) => format!("{state}: {}", shown(why)),
                (Some(decided), None) => format!("{state}: {}", decided.text()),
                (None, None) => state,
            },
        );
        if let (Some(flow), Some(step)) = (&self.flow, &self.step) {
            row("where", &format!("{}, step {}", shown(flow), shown(step)));
        }
        row("run", &text(&self.run));
        row(
            "effect",
            &format!("{} {}", shown(&self.scope), shown(&self.key)),
        );
        row("waits since", &time(self.since.as_deref()));
        row("until", &time(self.until.as_deref()));
        row("started by", &text(&self.maker));
        if let Some(by) = &self.by {
            let may = self.may.as_ref().map(|may| may.join(", "));
            let may = may.filter(|_| by.iter().any(|by| by.starts_with("group:")));
            let may = may.map(|may| format!(" ({may})")).unwrap_or_default();
            row("may decide", &shown(&format!("{}{may}", by.join(", "))));
        }
        if let Some(needed @ 2..) = self.needed {
            row("approvals", &format!("{} of {needed}", self.voters.len()));
        }
        for vote in &self.voters {
            let note = noted(vote.note.as_deref());
            let line = format!("{}, {}{note}", shown(&vote.by), time(vote.at.as_deref()));
            row("approved by", &line);
        }
        row("hash", &self.hash);
    }

    /// What is known of an answer that was lost.
    fn print_lost(&self) {
        if self.is_request() {
            return;
        }
        row("attempt", &self.attempt.to_string());
        row("input", &excerpt(or_null(self.effect.input.as_deref())));
        if !self.effect.life.is_empty() {
            title("life");
        }
        for turn in &self.effect.life {
            let at = turn.at.as_deref().map(when::short).unwrap_or_default();
            let by = turn.by.as_deref().map(|by| format!(" by {}", shown(by)));
            let note = turn
                .note
                .as_deref()
                .map(|note| format!(": {}", shown(note)));
            print_line(&format!(
                "  {at}  attempt {}  {} → {}{}{}",
                turn.attempt,
                turn.from,
                turn.to,
                by.unwrap_or_default(),
                note.unwrap_or_default()
            ));
        }
        if !self.lookups.is_empty() {
            title("looked up at the destination");
        }
        for lookup in &self.lookups {
            let at = lookup.at.as_deref().map(when::short).unwrap_or_default();
            let found = match lookup.found {
                Some(true) => "it is there",
                Some(false) => "it is not there",
                None => "no answer that tells",
            };
            let said = excerpt(or_null(lookup.evidence.as_deref()));
            print_line(&format!("  {at}  {found}  {said}"));
        }
    }

    fn print_choices(&self, flags: &str) {
        if self.choices.is_empty() {
            return;
        }
        title("decide");
        let width = self.choices.iter().map(|choice| choice.decision.len());
        let width = width.max().unwrap_or_default();
        for Choice { decision, does } in &self.choices {
            print_line(&format!("  {decision:<width$}  {}", shown(does)));
        }
        let id = short(&self.id);
        let command = if self.is_request() {
            format!("semel inbox approve {id} {flags}")
        } else {
            format!("semel inbox decide {id} --decision DECISION {flags}")
        };
        print_line(&format!("\n  {}", command.trim_end()));
    }
}

fn excerpt(text: &str) -> String {
    if text == "null" {
        return String::new();
    }
    let end = text.floor_char_boundary(VALUE);
    let more = if end < text.len() {
        "… (--json shows all)"
    } else {
        ""
    };
    shown(&text[..end]).into_owned() + more
}
