//! How a run begins, and which events are the same work.

use super::does;
use crate::model::{Flow, Missed, OverlapPolicy, Preset, Schedule, Timing, Trigger};
use crate::written::template;

pub(super) fn begins(flow: &Flow) -> Vec<String> {
    let mut said: Vec<String> = flow.triggers.iter().map(trigger).collect();
    if said.is_empty() {
        said.push("A person or another flow starts it; nothing else does.".to_owned());
    }
    let latest = flow.triggers.iter().filter_map(|trigger| match trigger {
        Trigger::Webhook(hook) => hook.latest.as_ref(),
        _ => None,
    });
    said.extend(latest.map(|latest| {
        let (of, version) = (template(&latest.of), &latest.version.source);
        format!("Of events about the same `{of}`, one that is older by `{version}` than what was taken already is left out.")
    }));
    said.push(identity(flow));
    said.extend(overlap(flow));
    said
}

fn trigger(trigger: &Trigger) -> String {
    match trigger {
        Trigger::Webhook(hook) => {
            let signed = match hook.verify.preset.it {
                Preset::None => ", from anybody,".to_owned(),
                Preset::Bearer => " with the right token".to_owned(),
                Preset::GenericHmac => " that is signed".to_owned(),
                known => format!(" that {} has signed", sender(known)),
            };
            let filter = hook.filter.as_ref();
            let filter = filter.map_or_else(String::new, |it| format!(", if `{}`", it.source));
            format!(
                "A request to {}{signed} starts a run{filter}.",
                hook.path.it
            )
        }
        Trigger::Schedule(schedule) => format!("The clock starts a run: {}.", timing(schedule)),
        Trigger::Sync(sync) => format!(
            "The clock fetches a list with {}: {}. Each item of `{}` that is not known yet starts a run; `{}` tells them apart.",
            does::call(&sync.fetch.act),
            timing(&sync.schedule),
            sync.items.source,
            template(&sync.key)
        ),
        Trigger::Event { name, filter } => {
            let filter = filter.as_ref();
            let filter = filter.map_or_else(String::new, |it| format!(", if `{}`", it.source));
            format!(
                "The event {} of another flow starts a run{filter}.",
                name.it
            )
        }
    }
}

fn sender(preset: Preset) -> &'static str {
    match preset {
        Preset::Stripe => "Stripe",
        Preset::Github => "GitHub",
        Preset::Shopify => "Shopify",
        Preset::Slack => "Slack",
        Preset::Typeform => "Typeform",
        _ => "the sender",
    }
}

fn timing(schedule: &Schedule) -> String {
    let when = match &schedule.timing {
        Timing::Cron { cron, zone } => format!("`{}` in {}", cron.it, zone.it),
        Timing::Every(every) => format!("every {}", every.it),
    };
    let missed = match schedule.missed {
        Missed::Skip => "what is missed while nobody is there is left out",
        Missed::Once => "what is missed while nobody is there is made up for once",
        Missed::All => "what is missed while nobody is there is made up for, each time",
    };
    format!("{when}; {missed}")
}

/// What makes two events the same work.
fn identity(flow: &Flow) -> String {
    let within = match &flow.remember {
        Some(remember) => format!(" within {}", remember.it),
        None => String::new(),
    };
    let listed = |trigger: &Trigger| matches!(trigger, Trigger::Sync(_));
    match &flow.key {
        Some(key) => format!(
            "Whatever has the same key `{}` is the same work: what comes again{within}, or after a crash, starts nothing new.",
            template(key)
        ),
        None if flow.triggers.is_empty() => {
            "Every start is a run of its own, unless whoever starts it gives the same key."
                .to_owned()
        }
        None if flow.triggers.iter().all(listed) => {
            format!("An item that is listed again{within} starts nothing new.")
        }
        None => format!(
            "Events that their sender calls the same are the same work: what comes again{within}, or after a crash, starts nothing new."
        ),
    }
}

fn overlap(flow: &Flow) -> Option<String> {
    let overlap = flow.overlap.as_ref()?;
    let which = match &overlap.per {
        Some(per) => format!("Runs with the same `{}`", template(per)),
        None => "Runs of this flow".to_owned(),
    };
    Some(match overlap.policy {
        OverlapPolicy::Allow => format!("{which} may be under way at the same time."),
        OverlapPolicy::Queue => format!("{which} wait for each other, in the order they came."),
        OverlapPolicy::Skip => format!("{which}: while one is under way, no other starts."),
        OverlapPolicy::Replace => format!("{which}: a new one cancels the one before."),
    })
}
