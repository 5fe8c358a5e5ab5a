//! `semel config show`: which settings are in force, and where each came from.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::Context;
use crate::config::{Name, Origin, Setting, redacted};
use crate::term::{print_line, shown};

/// Show the settings in force
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  semel config show --origin")]
pub(crate) struct ConfigVerb {
    #[command(subcommand)]
    verb: Shown,
}

#[derive(Debug, Subcommand)]
enum Shown {
    /// Show every setting
    #[command(after_help = "EXAMPLE\n  semel config show --origin")]
    Show {
        /// Tell where each value came from
        #[arg(long)]
        origin: bool,
    },
}

impl ConfigVerb {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<u8> {
        let Shown::Show { origin } = self.verb;
        let setting = |name| (name, context.config.setting(name));
        let settings: Vec<_> = Name::ALL.into_iter().map(setting).collect();
        if context.json {
            let member = |(name, setting): &(Name, Option<&Setting>)| {
                let value = setting.map(|setting| visible(*name, setting));
                let origin = setting.map(|setting| setting.origin.to_string());
                let value = json!({"value": value, "origin": origin});
                (name.text().to_owned(), value)
            };
            let mut members: Map<String, Value> = settings.iter().map(member).collect();
            let destinations = context.config.destinations().map(|(destination, origin)| {
                let value = json!({"value": destination.text(), "origin": origin.to_string()});
                (destination.host.clone(), value)
            });
            members.insert("destinations".to_owned(), destinations.collect());
            let places = context.config.places().map(|(place, origin)| {
                let value = json!({"value": place.fields, "origin": origin.to_string()});
                (format!("{}.{}", place.section, place.name), value)
            });
            members.extend(places);
            let groups = context.config.groups().map(|(group, origin)| {
                let value = json!({"value": group.members, "origin": origin.to_string()});
                (format!("groups.{}", group.name), value)
            });
            members.extend(groups);
            Context::print_json(&members)?;
            return Ok(0);
        }
        let line = |name: &str, value: &str, from: Option<&Origin>| {
            let from = from.filter(|_| origin).map(|from| format!("  ({from})"));
            let from = from.unwrap_or_default();
            print_line(&format!("{name:<20} {}{}", shown(value), shown(&from)));
        };
        for (name, setting) in settings {
            let value = setting.map_or_else(|| "-".to_owned(), |s| visible(name, s));
            line(name.text(), &value, setting.map(|setting| &setting.origin));
        }
        for (destination, origin) in context.config.destinations() {
            let name = format!("destinations.{:?}", destination.host);
            line(&shown(&name), &destination.text(), Some(&origin));
        }
        for (place, origin) in context.config.places() {
            let name = format!("{}.{}", place.section, place.name);
            line(&shown(&name), &place.text(), Some(&origin));
        }
        for (group, origin) in context.config.groups() {
            let name = format!("groups.{}", group.name);
            line(&shown(&name), &group.members.join(", "), Some(&origin));
        }
        Ok(0)
    }
}

/// A value that may be shown. A token is never one; the file that holds it is.
fn visible(name: Name, setting: &Setting) -> String {
    match (name, &setting.origin) {
        (Name::Token, Origin::Environment(variable)) if variable == "SEMEL_TOKEN" => {
            "(set)".to_owned()
        }
        (Name::Token, _) => format!("(in {})", setting.value),
        (Name::Store | Name::Server | Name::OutgoingProxy, _) => redacted(&setting.value),
        _ => setting.value.clone(),
    }
}
