//! What to write instead of a key that no repeat would find.

use super::super::trace::item_of;
use super::super::visit::{Role, is_planned};
use super::Key;
use crate::diagnostic::Diagnostic;
use crate::model::{Preset, Trigger};

/// Adds what to write instead.
pub(super) fn better(key: &Key<'_, '_, '_>, found: Diagnostic) -> Diagnostic {
    match key.role {
        Role::Flow => found.help(of_flow(key)),
        Role::Step => {
            let id = key.place.at.map_or("", |at| at.step.id.it.as_str());
            let thing = match key.place.loops.last().and_then(|each| item_of(each)) {
                Some(item) => format!("{item}.id"),
                None if is_planned(key.flow) => "schedule.date".to_owned(),
                None => "event.id".to_owned(),
            };
            found
                .help(format!(
                    "name what it is about: key: {id}/${{{{ {thing} }}}}"
                ))
                .help(format!(
                    "or leave `key` out: it is then the flow's key and `{id}`"
                ))
        }
        Role::ForEach => {
            let name = key.place.loops.last().and_then(|each| item_of(each));
            let name = name.unwrap_or("item");
            found.help(format!("name the item: key: ${{{{ {name}.id }}}}"))
        }
        Role::Sync => found.help("name the item: key: ${{ item.id }}"),
        Role::Lock => found.help("name what must not be changed by two at once"),
        Role::Kv => found.help("name what the value is about"),
        Role::Per | Role::Latest => {
            found.help("name the thing that the event is about, such as ${{ event.object.id }}")
        }
    }
}

fn of_flow(key: &Key<'_, '_, '_>) -> String {
    if is_planned(key.flow) {
        return match key.flow.triggers.first() {
            Some(Trigger::Sync(_)) => {
                "leave `key` out: it is then that of the fetched item".to_owned()
            }
            _ => "use ${{ schedule.time }}, fixed when the run is planned".to_owned(),
        };
    }
    let preset = key.flow.triggers.iter().find_map(|trigger| match trigger {
        Trigger::Webhook(hook) => Some(hook.verify.preset.it),
        _ => None,
    });
    let id = match preset {
        Some(Preset::Slack | Preset::Typeform) => "event.event_id",
        Some(preset @ (Preset::Github | Preset::Shopify | Preset::StandardWebhooks)) => {
            return format!(
                "leave `key` out: it is then the event id that {} sends",
                preset.name()
            );
        }
        _ => "event.id",
    };
    format!("use something the sender repeats on redelivery: {id}")
}
