//! `semel runs show`: one run, with everything that is known of it.

use std::collections::BTreeMap;

use clap::Args;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::path;
use super::timeline::{Entry, Timeline};
use crate::cli::effect::{decide_help, effect, inbox_help};
use crate::cli::release::short;
use crate::client::{Access, Call, Client};
use crate::term::{Paint, Tone, print_line, shortened, shown, tone_of};
use crate::when;

/// Show a run: what started it, its steps, and all that happened, blocked duplicates included
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  semel runs show run_01a1e1ff70450000a929648c6a93ad99")]
pub(super) struct Show {
    /// The run (run_…), or the event that started it (evt_…)
    run: String,
}

/// How much of a value is shown.
const VALUE: usize = 200;

/// A run as the API shows it, as far as a card needs it.
#[derive(Debug, Deserialize)]
struct Run {
    #[serde(rename = "run")]
    id: String,
    flow: String,
    release: String,
    key: String,
    state: String,
    why: String,
    created_at: Option<String>,
    changed_at: Option<String>,
    wake: Option<String>,
    parent: Option<String>,
    by: String,
    from: Option<String>,
    payload: Option<Box<RawValue>>,
    payload_blob: Option<String>,
    again: Option<String>,
    duplicates: u64,
    #[serde(default)]
    children: BTreeMap<String, u64>,
    steps: Vec<Step>,
    timeline: Vec<Entry>,
    #[serde(default)]
    effects: Vec<Effect>,
}

#[derive(Debug, Deserialize)]
struct Step {
    #[serde(rename = "step")]
    id: String,
    kind: String,
    class: String,
    phase: String,
    attempts: u64,
    why: Option<String>,
    /// Where its undo stands, if that has begun.
    undo: Option<String>,
    undo_why: Option<String>,
    result: Option<Box<RawValue>>,
    result_blob: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Effect {
    step: String,
    scope: String,
    key: String,
    state: String,
    attempt: u64,
}

impl Show {
    pub(super) async fn run(self, client: &Client, json: bool) -> anyhow::Result<u8> {
        let call = Call::get(path(&self.run, ""));
        let found: Box<RawValue> = client.ask(Access::Existing, call).await?.read()?;
        if json {
            print_line(found.get());
            return Ok(0);
        }
        let run: Run = serde_json::from_str(found.get())?;
        run.print_card();
        run.print_steps();
        run.print_timeline();
        run.print_help(&client.flags());
        Ok(0)
    }
}

impl Step {
    /// What was done and taken back is undone.
    fn phase_shown(&self) -> &str {
        match self.undo.as_deref() {
            Some("done") => "undone",
            _ => &self.phase,
        }
    }

    /// Where an undo stands that is not done.
    fn undo_shown(&self) -> String {
        let Some(undo) = self.undo.as_deref().filter(|undo| *undo != "done") else {
            return String::new();
        };
        let why = self.undo_why.as_deref().map(shown);
        let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
        format!("its undo is {undo}{why}  ")
    }
}

impl Run {
    fn print_card(&self) {
        let paint = Paint::stdout();
        let row = |name: &str, value: &str| {
            if !value.is_empty() {
                let name = paint.on(Tone::Dim, &format!("{name:<11}"));
                print_line(&format!("{name} {value}"));
            }
        };
        let time = |at: &Option<String>| at.as_deref().map(|at| when::short(at) + " UTC");
        let text =
            |text: &Option<String>| text.as_deref().map(shown).unwrap_or_default().into_owned();
        let state = paint.on(tone_of(&self.state), &self.state);
        let why = match self.why.as_str() {
            "" => String::new(),
            why if why == self.state => String::new(),
            why => format!(": {}", shown(why)),
        };
        row("run", &self.id);
        row(
            "flow",
            &format!("{} ({})", shown(&self.flow), short(&self.release)),
        );
        row("key", &shown(&self.key));
        row("state", &format!("{state}{why}"));
        row("started", &time(&self.created_at).unwrap_or_default());
        row("changed", &time(&self.changed_at).unwrap_or_default());
        row("goes on", &time(&self.wake).unwrap_or_default());
        row("by", &shown(&self.by));
        row("from", &text(&self.from));
        row("again", &text(&self.again));
        row("parent", &text(&self.parent));
        row(
            "event",
            &value(self.payload.as_deref(), self.payload_blob.as_deref()),
        );
        let children: Vec<_> = self
            .children
            .iter()
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        row("children", &children.join(", "));
        if self.duplicates > 0 {
            row("duplicates", &format!("{} blocked", self.duplicates));
        }
    }

    fn print_steps(&self) {
        if self.steps.is_empty() {
            return;
        }
        let paint = Paint::stdout();
        print_line(&format!("\n{}", paint.on(Tone::Dim, "steps")));
        let width = |of: &dyn Fn(&Step) -> usize| self.steps.iter().map(of).max().unwrap_or(0);
        let step_width = width(&|step| step.id.chars().count());
        let kind_width = width(&|step| step.kind.chars().count());
        for step in &self.steps {
            let attempts = match step.attempts {
                0 | 1 => String::new(),
                attempts => format!("{attempts} attempts  "),
            };
            let why = step.why.as_deref().map(shown).unwrap_or_default();
            let result = value(step.result.as_deref(), step.result_blob.as_deref());
            let phase = step.phase_shown();
            let back = step.undo_shown();
            let line = format!(
                "  {}  {:<step_width$}  {:<kind_width$}  {:<7}  {attempts}{back}{why}{result}",
                paint.on(tone_of(phase), &format!("{phase:<8}")),
                shown(&step.id),
                step.kind,
                step.class,
            );
            print_line(line.trim_end());
        }
    }

    fn print_timeline(&self) {
        print_line(&format!("\n{}", Paint::stdout().on(Tone::Dim, "timeline")));
        let mut timeline = Timeline::new();
        timeline.fit(self.steps.iter().map(|step| step.id.as_str()));
        for entry in &self.timeline {
            timeline.print(entry);
        }
    }

    /// What a person can do now.
    fn print_help(&self, flags: &str) {
        let open = |it: &&Effect| matches!(it.state.as_str(), "unknown" | "review");
        let mut unknown = self.effects.iter().filter(open).peekable();
        if self.state != "parked" && unknown.peek().is_none() {
            return;
        }
        let mut told = false;
        for it in unknown {
            if let Ok(id) = effect(&it.scope, Some(&it.key), &[]) {
                let name = format!("{} {}", shown(&it.scope), shown(&it.key));
                let asks = |step: &Step| step.id == it.step && step.kind == "approve";
                let help = if self.steps.iter().any(asks) {
                    inbox_help(&id, flags)
                } else {
                    decide_help(&id, it.attempt, flags)
                };
                print_line(&format!("\n{name}\n{}", help.trim_end()));
                told = true;
            }
        }
        if !told {
            let run = &self.id;
            print_line(&format!(
                "\nWhen what it waits for is settled:\n  {:<40}semel runs resume {run} {flags}\n  {:<40}semel runs cancel {run} {flags}",
                "go on:", "or end it:"
            ));
        }
    }
}

/// A value, shortened, or where it is kept.
fn value(value: Option<&RawValue>, blob: Option<&str>) -> String {
    match (value.map(RawValue::get), blob) {
        (None | Some("null"), None) => String::new(),
        (None | Some("null"), Some(blob)) => {
            format!("(a long value: blob {})", shortened(blob, 12))
        }
        (Some(text), _) => shortened(text, VALUE),
    }
}
