//! How steps act on the world from this process: which addresses they may reach, how hard each
//! destination may be pressed, where secrets come from.

use std::path::Path;
use std::sync::Arc;

use semel_flow::Value;
use semel_flow::value::Piece;
use semel_server::Vault;
use semel_steps::{EnvSecrets, LimitSettings, NotifySettings, OutgoingRules, Settings, Steps};

use crate::config::{Config, Name, OTHERS, Origin, Place};
use crate::failure::Failure;
use crate::keys;

/// The steps with the settings in force, and the secrets they use.
pub(super) fn steps(config: &Config, data: &Path) -> anyhow::Result<(Steps, Arc<Vault>)> {
    let secrets = EnvSecrets::read(std::env::vars_os()).map_err(|error| {
        let why = std::error::Error::source(&error).map(|why| format!(": {why}"));
        Failure::usage(format!("{error}{}", why.unwrap_or_default()))
    })?;
    let vault = Arc::new(Vault::new(Arc::new(secrets), keys::of_owner(data)?));
    let settings = Settings {
        rules: rules(config)?,
        limits: limits(config),
        notify: channels(config)?,
        ..Settings::new(Arc::clone(&vault) as _)
    };
    Ok((Steps::new(settings), vault))
}

fn rules(config: &Config) -> anyhow::Result<OutgoingRules> {
    let Some(setting) = config.setting(Name::OutgoingAllow) else {
        return Ok(OutgoingRules::default());
    };
    OutgoingRules::parse(&setting.value).map_err(|error| {
        let (name, origin) = (Name::OutgoingAllow.text(), &setting.origin);
        Failure::usage(format!("{name}: {error} ({origin})")).into()
    })
}

fn limits(config: &Config) -> LimitSettings {
    let mut settings = LimitSettings::default();
    for (destination, _) in config.destinations() {
        if destination.host == OTHERS {
            settings.default = destination.limits;
        } else {
            let host = destination.host.clone();
            settings.hosts.insert(host, destination.limits);
        }
    }
    settings
}

/// Where messages to people go, by name.
fn channels(config: &Config) -> anyhow::Result<NotifySettings> {
    let mut settings = NotifySettings::default();
    let places = config.places();
    for (place, origin) in places.filter(|(place, _)| place.section == "channels") {
        let fields = channel(place, &origin)?;
        settings.channels.insert(place.name.clone(), fields);
    }
    Ok(settings)
}

/// A channel as the fields of a `notify` that goes there.
fn channel(place: &Place, origin: &Origin) -> anyhow::Result<Value> {
    const KINDS: [&str; 5] = ["slack", "token", "discord", "teams", "webhook"];
    let wrong = |why: &str| Failure::usage(format!("channels.{}: {why} ({origin})", place.name));
    let mut given = KINDS
        .into_iter()
        .filter_map(|kind| Some((kind, place.fields.get(kind)?)));
    let (Some((kind, value)), None) = (given.next(), given.next()) else {
        let why = "it needs one of slack, token, discord, teams, webhook, and only one";
        return Err(wrong(why).into());
    };
    let value = match secret(value) {
        Some(secret) => secret,
        None if kind == "webhook" => Value::text(value),
        None => {
            let why = format!("{kind} is written in clear");
            let fix = format!("write {kind} = \"${{{{ secrets.NAME }}}}\"");
            return Err(wrong(&why).fix(fix).into());
        }
    };
    Ok(match kind {
        "slack" => Value::map([(kind, Value::map([("url", value)]))]),
        "token" => {
            let to = place.fields.get("to");
            let to = to.ok_or_else(|| wrong("a token needs `to`, the channel's id"))?;
            let mut bot = vec![("token", value), ("to", Value::text(to))];
            bot.extend(place.fields.get("api").map(|api| ("api", Value::text(api))));
            Value::map([("slack", Value::map(bot))])
        }
        _ => Value::map([(kind, value)]),
    })
}

/// The secret that a text of exactly `${{ secrets.NAME }}` stands for.
fn secret(text: &str) -> Option<Value> {
    let inner = text.trim().strip_prefix("${{")?.strip_suffix("}}")?;
    let name = inner.trim().strip_prefix("secrets.")?;
    Some(Value::Sealed(Arc::new([Piece::Secret(name.into())])))
}
