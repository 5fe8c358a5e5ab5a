//! Keys: whether a repeat finds the same one, and only a repeat does.
//!
//! Owns the codes `K001` to `K008` and `K011` to `K015`. A value that changes from moment to moment
//! makes a key that no repeat finds again: an error. One that may be shared by different things, or
//! may be missing, is a warning.

mod better;
mod narrow;
mod role;

use super::trace::{Source, Trace, Tracer};
use super::visit::{Place, Role, is_planned};
use crate::codes::{
    C007, C009, K001, K002, K003, K004, K005, K006, K007, K008, K011, K012, K013, K014, K015,
};
use crate::diagnostic::{Diagnostic, Level, Span};
use crate::expr::Template;
use crate::model::{Flow, Preset, Trigger};
use better::better;

/// One key under scrutiny.
struct Key<'k, 'i, 'f> {
    flow: &'f Flow,
    template: &'f Template,
    role: Role,
    place: &'k Place<'i, 'f>,
    traces: Vec<Trace>,
}

/// Everything that is wrong with a key.
pub(super) fn check_key<'i, 'f>(
    tracer: &Tracer<'i, 'f>,
    place: &Place<'i, 'f>,
    template: &'f Template,
    role: Role,
) -> Vec<Diagnostic> {
    let key = Key {
        flow: tracer.flow,
        template,
        role,
        place,
        traces: tracer.template(template, &place.loops),
    };
    let mut found: Vec<Diagnostic> = Vec::new();
    for trace in &key.traces {
        let Some(diagnostic) = key.source(trace) else {
            continue;
        };
        let known = |it: &Diagnostic| it.code == diagnostic.code && it.at == diagnostic.at;
        if !found.iter().any(known) {
            found.push(diagnostic);
        }
    }
    let refused: Vec<Span> = found
        .iter()
        .filter(|it| it.level == Level::Error)
        .map(|it| it.at)
        .collect();
    if refused.is_empty() && role != Role::Kv {
        found.extend(key.sameness());
    }
    found.retain(|it| it.level == Level::Error || !refused.iter().any(|at| at.meets(it.at)));
    found
}

/// A flow without a key, whose trigger has none of its own.
pub(super) fn check_own(flow: &Flow) -> Option<Diagnostic> {
    if flow.key.is_some() {
        return None;
    }
    flow.triggers.iter().find_map(|trigger| {
        let Trigger::Webhook(hook) = trigger else {
            return None;
        };
        let preset = &hook.verify.preset;
        matches!(
            preset.it,
            Preset::GenericHmac | Preset::Bearer | Preset::None
        )
        .then(|| {
            let label = "its events are told apart only by a header Idempotency-Key or X-Event-Id";
            Diagnostic::warning(K015, preset.span, "the flow has no `key`", label)
                .help("without such a header the event waits for a person")
                .help("name what the sender repeats on redelivery: key: ${{ event.id }}")
        })
    })
}

impl Key<'_, '_, '_> {
    /// What is to be said of a source of the key.
    fn source(&self, trace: &Trace) -> Option<Diagnostic> {
        // Under which name a value is found again is for the flow to know, if it may be shown.
        let shown = matches!(
            trace.source,
            Source::Ai(_) | Source::Secret(_) | Source::TooDeep
        );
        if self.role == Role::Kv && !shown {
            return None;
        }
        let noun = self.role.noun();
        let harm = self.role.harm();
        Some(match &trace.source {
            Source::Clock => {
                let title = format!("{noun} depends on the current time");
                better(self, self.once_a_day(error(K001, trace, title, harm)))
            }
            Source::Random => {
                let title = format!("{noun} depends on randomness");
                better(self, error(K002, trace, title, harm))
            }
            Source::Moment(name) => self.moment(trace, name),
            Source::Delivery(name) => {
                let title = format!("{noun} seems to depend on the delivery");
                let label =
                    format!("if `{name}` changes when the event is sent again, so does this");
                better(self, warning(K003, trace, title, label))
            }
            Source::Ai(step) => {
                let title = format!("{noun} depends on what a model said");
                let label = format!("`{step}` may answer otherwise next time: {harm}");
                let found = error(K007, trace, title, label);
                better(
                    self,
                    found.help("make the key from what the model was given"),
                )
            }
            Source::Secret(name) => {
                let title = format!("{noun} contains a secret");
                let label = format!("secrets.{name}: keys are stored, shown and searched in clear");
                error(K011, trace, title, label).help("use a name for it that is no secret")
            }
            Source::Position(step) => {
                let title = format!("{noun} depends on the position in a list");
                let label = format!("whatever stands there in the answer of `{step}` next time");
                error(K012, trace, title, label)
                    .help("go through the list with `for_each` and take an id of the item")
            }
            Source::TooDeep => {
                let title = format!("{noun} leans on too many names");
                let label = "they are not followed to their end";
                error(C009, trace, title, label).help("say it more directly")
            }
            _ => return self.missing(trace).or_else(|| self.weak(trace)),
        })
    }

    fn moment(&self, trace: &Trace, name: &str) -> Diagnostic {
        let what = match name {
            "run.id" => "the run",
            name if name.starts_with("callbacks") || name.starts_with("approvals") => "the run",
            name if name.ends_with("attempt") => "the attempt",
            _ => "the delivery",
        };
        let title = format!("{} depends on {what}", self.role.noun());
        let label = format!("`{name}`: {}", self.role.harm());
        let mut found = error(K003, trace, title, label);
        if name.starts_with("schedule") {
            found = found.help(
                "`schedule` is a planned time only if nothing but a schedule starts the flow; else it is when the event came",
            );
        }
        better(self, found)
    }

    /// What may not be there, so that there is no key or one for many.
    fn missing(&self, trace: &Trace) -> Option<Diagnostic> {
        let (title, label, help) = match &trace.source {
            Source::Fallback { empty: true } => (
                "may be empty",
                "an empty part is refused when the flow runs".to_owned(),
                "name something that is always there; or let `if` or `filter` leave out what lacks it"
                    .to_owned(),
            ),
            Source::Fallback { empty: false } => (
                "may be the same for different things",
                "all that lack the value share this one, and count as one".to_owned(),
                "name something that is always there".to_owned(),
            ),
            Source::Element(name) => (
                "may be missing",
                format!("`{name}`: the list may be shorter, and then there is no key"),
                "name something that is always there".to_owned(),
            ),
            Source::Skipped(step) => (
                "may be missing",
                format!("`{step}` has an `if`: where it is skipped, there is no key"),
                format!("give this step the same `if` as `{step}`, or another key"),
            ),
            _ => return None,
        };
        let title = format!("{} {title}", self.role.noun());
        Some(warning(K006, trace, title, label).help(help))
    }

    /// What may be right, but is likely not.
    fn weak(&self, trace: &Trace) -> Option<Diagnostic> {
        let noun = self.role.noun();
        match &trace.source {
            Source::Whole(name) => {
                let title = format!("{noun} is made of the raw payload");
                let label = format!("any change anywhere in `{name}` makes another key");
                let help =
                    "name the fields that make it the same thing: hash(event.order, event.amount)";
                Some(warning(K008, trace, title, label).help(help))
            }
            Source::Answer { step, .. } if self.role.is_before_run() && !trace.hops.is_empty() => {
                let title = format!("{noun} depends on the step `{step}`");
                let label = "it is needed before the first step";
                Some(error(C007, trace, title, label).help("make it from the event"))
            }
            Source::Answer {
                step,
                changes: true,
            } if self.role == Role::Step => {
                let title = format!("{noun} depends on an answer of `{step}`");
                let label = "a later run may be answered otherwise, and would find another key";
                Some(Diagnostic {
                    level: Level::Note,
                    ..warning(K014, trace, title, label)
                })
            }
            _ => None,
        }
    }

    /// Whether different things have the same key.
    fn sameness(&self) -> Option<Diagnostic> {
        let noun = self.role.noun();
        let all = self.template.span;
        if let Some(each) = self.misses_item() {
            let title = format!("{noun} is the same for every item");
            let label = "the second item would count as a repeat of the first";
            let help = format!("add what tells the items apart: ${{{{ {each}.id }}}}");
            return Some(Diagnostic::error(K013, all, title, label).help(help));
        }
        if matches!(self.role, Role::Lock | Role::Per) {
            return None;
        }
        if self.traces.iter().any(|trace| trace.source.varies()) {
            return self.narrow();
        }
        let each = if is_planned(self.flow) {
            "tick"
        } else {
            "event"
        };
        let title = format!("{noun} is the same for every {each}");
        let label = "after the first, everything would count as a repeat";
        Some(Diagnostic {
            level: self.constant_level(),
            ..better(self, Diagnostic::error(K004, all, title, label))
        })
    }

    fn narrow(&self) -> Option<Diagnostic> {
        let subject = narrow::subject(self)?;
        let new = if is_planned(self.flow) {
            "the day: ${{ schedule.date }}"
        } else {
            "the order or the event: ${{ event.id }}"
        };
        let title = format!("{} may be too narrow", self.role.noun());
        let label = format!("two things of one {subject} would become one");
        let found = Diagnostic::warning(K005, self.template.span, title, label);
        Some(
            found
                .help(format!("add what is new each time, such as {new}"))
                .help(format!("if once per {subject} for ever is meant, leave it")),
        )
    }

    /// By hand it may be meant to happen once for ever.
    fn constant_level(&self) -> Level {
        if self.flow.triggers.is_empty() || self.role == Role::Latest {
            Level::Warning
        } else {
            Level::Error
        }
    }

    /// The name of the item that the key should have something of.
    fn misses_item(&self) -> Option<String> {
        let uses = |wanted: Option<&str>| {
            self.traces.iter().any(|trace| match &trace.source {
                Source::Item { of, .. } => of.as_deref() == wanted,
                Source::Unknown => true,
                _ => false,
            })
        };
        match self.role {
            Role::Sync => (!uses(None)).then(|| "item".to_owned()),
            Role::ForEach | Role::Step => {
                let each = self.place.loops.last()?;
                let inside = self.role == Role::Step && self.uses_inside(&each.id.it);
                let name = super::trace::item_of(each).unwrap_or("item");
                (!uses(Some(&each.id.it)) && !inside).then(|| name.to_owned())
            }
            _ => None,
        }
    }

    /// Whether it has something that each item has its own of.
    fn uses_inside(&self, each: &str) -> bool {
        self.traces.iter().any(|trace| match &trace.source {
            Source::RunKey => true,
            Source::Answer { step, .. } => self.place.at.is_some_and(|at| {
                let index = at.path.iter().any(|inside| inside.step.id.it == each);
                index && narrow::is_inside(&at.path, each, step)
            }),
            _ => false,
        })
    }

    fn once_a_day(&self, found: Diagnostic) -> Diagnostic {
        if !self.role.is_identity() {
            return found;
        }
        if is_planned(self.flow) {
            found.help(
                "for \"once a day\" write ${{ schedule.date }}, fixed when the run is planned",
            )
        } else {
            found.help("for \"once a day\" take the day from the event: ${{ date(event.created) }}")
        }
    }
}

fn error(
    code: &'static str,
    trace: &Trace,
    title: impl Into<String>,
    label: impl Into<String>,
) -> Diagnostic {
    along(trace, Diagnostic::error(code, trace.at, title, label))
}

fn warning(
    code: &'static str,
    trace: &Trace,
    title: impl Into<String>,
    label: impl Into<String>,
) -> Diagnostic {
    along(trace, Diagnostic::warning(code, trace.at, title, label))
}

/// Shows the way that a value took.
fn along(trace: &Trace, mut found: Diagnostic) -> Diagnostic {
    let mut shown: Vec<Span> = vec![trace.at];
    for (span, label) in &trace.hops {
        if !shown.contains(span) {
            found = found.also(*span, label.clone());
            shown.push(*span);
        }
    }
    if !shown.contains(&trace.from) {
        found = found.also(trace.from, "which comes from here");
    }
    found
}
