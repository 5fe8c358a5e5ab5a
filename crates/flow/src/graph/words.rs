//! What a picture says of triggers and steps, in few words.

use crate::model::{
    Act, Action, Approve, Class, Heard, Kind, OnUnknown, Round, Schedule, Step, Timing, Tree,
    Trigger, Wait,
};
use crate::written::{self, template};

/// Longer words are cut.
const LONGEST: usize = 46;

/// A step in words.
pub(super) struct Words {
    /// `http`, `switch`, …
    pub(super) kind: &'static str,
    /// What it does.
    pub(super) what: String,
    /// How a repeat is kept harmless; empty for steps that touch nothing.
    pub(super) guard: String,
}

/// `run` is the key of the run around the step.
pub(super) fn step(run: &str, step: &Step) -> Words {
    let (kind, what) = match &step.action {
        Action::Act(act) => (act.kind.name(), act_words(act)),
        Action::Ensure(ensure) => ("ensure", act_words(&ensure.create.act)),
        Action::Set(members) => {
            let names: Vec<&str> = members.iter().map(|(name, _)| name.it.as_str()).collect();
            ("set", names.join(", "))
        }
        Action::Switch { .. } => ("switch", String::new()),
        Action::ForEach(each) => (
            "for_each",
            format!("{} in {}", each.name, each.items.source),
        ),
        Action::Parallel(_) => ("parallel", String::new()),
        Action::Call { flow, .. } => ("call", flow.it.clone()),
        Action::Emit { event, .. } => ("emit", event.it.clone()),
        Action::Lock { name, .. } => ("lock", template(name)),
        Action::Stop { message } => ("stop", message.as_ref().map_or_else(String::new, template)),
        Action::Fail { message } => ("fail", template(message)),
        Action::Approve(approve) => ("approve", template(&approve.ask)),
        Action::Wait(wait) => ("wait", wait_words(wait)),
    };
    Words {
        kind,
        what: cut(&what),
        guard: cut(&guard(run, step)),
    }
}

/// What is waited for.
fn wait_words(wait: &Wait) -> String {
    match wait {
        Wait::For(span) => format!("for {span}"),
        Wait::Until(until) => format!("until {}", until.source.trim()),
        Wait::Callback(patience) => format!("for a callback, {} at most", patience.timeout),
        Wait::ForEvent(it) => match &it.of {
            Heard::Flow(flow) => format!("for an event of {}", flow.it),
            Heard::Event(event) => format!("for the event {}", event.it),
        },
    }
}

pub(crate) fn act_words(act: &Act) -> String {
    if act.kind != Kind::Http {
        return plain_words(act);
    }
    let method = act.constant("method").unwrap_or("");
    let url = match act.member("url") {
        Some(Tree::Text(url)) => template(url),
        _ => String::new(),
    };
    let url = url
        .trim_start_matches("https://")
        .trim_start_matches("http://");
    format!("{method} {url}").trim().to_owned()
}

/// What matters of a call in a few words; addresses of messages are secrets.
fn plain_words(act: &Act) -> String {
    let text = |name: &str| match act.member(name) {
        Some(Tree::Text(text)) => template(text),
        _ => String::new(),
    };
    let first = |name: &str| match act.member(name) {
        Some(Tree::List(items)) => match items.first() {
            Some(Tree::Text(text)) => template(text),
            _ => String::new(),
        },
        _ => text(name),
    };
    let named = |names: &[&'static str]| {
        let found = names.iter().find(|name| act.member(name).is_some());
        found.copied().unwrap_or_default().to_owned()
    };
    match act.kind {
        Kind::Sql => {
            let form = named(&["query", "run", "upsert", "update", "insert"]);
            format!("{form} on {}", text("on"))
        }
        Kind::Email => format!("to {}", first("to")),
        Kind::Notify if act.member("channel").is_some() => text("channel"),
        Kind::Notify => named(&["slack", "discord", "teams", "webhook"]),
        Kind::Exec => first("command"),
        Kind::Ssh => format!("{} {}", text("host"), first("command")),
        Kind::Kv => act.kv_form().map_or_else(String::new, |(form, key)| {
            format!("{form} {}", template(key))
        }),
        Kind::Ai => text("model"),
        Kind::Http | Kind::Other(_) => String::new(),
    }
}

fn guard(run: &str, step: &Step) -> String {
    if let Action::Approve(approve) = &step.action {
        return waits(approve);
    }
    if !step.class().has_effect() {
        return String::new();
    }
    format!("once per {}", written::step_key(step, run))
}

/// Whom a gate waits for, and what silence leads to.
fn waits(approve: &Approve) -> String {
    let people = |round: &Round| {
        let by: Vec<&str> = round.by.iter().map(|one| one.it.as_str()).collect();
        by.join(", ")
    };
    let Round {
        timeout,
        silence_approves,
        ..
    } = &approve.first;
    let then = match &approve.escalate {
        Some(next) => format!("then {}", people(next)),
        None if *silence_approves => "then yes".to_owned(),
        None => "then no".to_owned(),
    };
    let (needed, by) = (approve.needed, people(&approve.first));
    format!("{needed} of {by} within {timeout}, {then}")
}

/// What happens when nobody knows whether it happened.
pub(super) fn unknown(step: &Step) -> Option<&'static str> {
    if !step.class().has_effect() {
        return None;
    }
    let rule = step.on_unknown.as_ref().map(|rule| rule.it);
    let looked_up = step.lookup.is_some() || matches!(step.action, Action::Ensure(_));
    Some(match (looked_up, rule, step.class()) {
        (true, ..) => "looked up",
        (_, Some(OnUnknown::Retry), _) => "repeated",
        (_, None, Class::Guarded) if step.rule() == OnUnknown::Retry => "repeated",
        (_, Some(OnUnknown::Skip), _) => "taken as done",
        (_, None, Class::Keyed) => "repeated with the key",
        (_, Some(OnUnknown::Ask) | None, _) => "asks a person",
    })
}

pub(super) fn trigger(trigger: &Trigger) -> String {
    cut(&match trigger {
        Trigger::Webhook(webhook) => {
            let preset = webhook.verify.preset.it.name();
            format!("webhook {} ({preset})", webhook.path.it)
        }
        Trigger::Schedule(schedule) => format!("schedule {}", timing(schedule)),
        Trigger::Sync(sync) => {
            let from = act_words(&sync.fetch.act);
            format!("sync {}: {from}", timing(&sync.schedule))
        }
        Trigger::Event { name, .. } => format!("event {}", name.it),
    })
}

fn timing(schedule: &Schedule) -> String {
    match &schedule.timing {
        Timing::Cron { cron, zone } => format!("{} {}", cron.it, zone.it),
        Timing::Every(every) => format!("every {}", every.it),
    }
}

/// Shortens what would not fit; signs that steer a terminal are shown as what they are.
pub(super) fn cut(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if clean.chars().count() <= LONGEST {
        return clean;
    }
    let front: String = clean.chars().take(LONGEST - 1).collect();
    format!("{front}…")
}
