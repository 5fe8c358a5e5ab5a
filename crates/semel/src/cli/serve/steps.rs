//! How steps act on the world from this process: which addresses they may reach, how hard each
//! destination may be pressed, where secrets come from.

use std::path::Path;
use std::sync::Arc;

use semel_server::Vault;
use semel_steps::{
    EnvSecrets, ExecSettings, LimitSettings, OutgoingRules, Settings, SshSettings, Steps,
};

use super::{models, places};
use crate::config::{Config, Name, OTHERS};
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
        notify: places::channels(config)?,
        smtp: places::mail_servers(config)?,
        connections: places::connections(config)?,
        models: models::models(config)?,
        exec: programs(config),
        ssh: machines(config),
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

fn programs(config: &Config) -> ExecSettings {
    let allow = config.setting(Name::ExecAllow);
    let allow = allow.map(|setting| std::env::split_paths(&setting.value).collect());
    ExecSettings {
        allow: allow.unwrap_or_default(),
    }
}

fn machines(config: &Config) -> SshSettings {
    let path = |name| {
        let setting = config.setting(name);
        setting.map(|setting| setting.value.as_str().into())
    };
    SshSettings {
        known_hosts: path(Name::SshKnownHosts),
        agent: path(Name::SshAgent),
        config: path(Name::SshConfig),
        ..SshSettings::default()
    }
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
