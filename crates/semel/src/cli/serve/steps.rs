//! How steps act on the world from this process: which addresses they may reach, how hard each
//! destination may be pressed, where secrets come from.

use std::path::Path;
use std::sync::Arc;

use semel_server::Vault;
use semel_steps::{
    EnvSecrets, ExecSettings, LimitSettings, OutgoingRules, Proxy, Settings, SshSettings, Steps,
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
        proxy: proxy(config)?,
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

/// What requests go through, if it is set here: the variables that other programs read for their
/// proxies are not, because a step must not go another way by accident.
fn proxy(config: &Config) -> anyhow::Result<Option<Proxy>> {
    let wrong = |name: Name, why: String| {
        let origin = config.setting(name).map(|setting| &setting.origin);
        let origin = origin.map(|origin| format!(" ({origin})"));
        let origin = origin.unwrap_or_default();
        Failure::usage(format!("{}: {why}{origin}", name.text()))
    };
    let Some(url) = config.text(Name::OutgoingProxy) else {
        let idle = [Name::OutgoingProxyLogin, Name::OutgoingNoProxy];
        return match idle.into_iter().find(|name| config.text(*name).is_some()) {
            Some(name) => Err(wrong(name, "there is no outgoing.proxy".to_owned()).into()),
            None => Ok(None),
        };
    };
    let mut proxy =
        Proxy::parse(url).map_err(|error| wrong(Name::OutgoingProxy, error.to_string()))?;
    if let Some(login) = config.text(Name::OutgoingProxyLogin) {
        proxy = proxy.with_login(places::named(login));
    }
    if let Some(without) = config.text(Name::OutgoingNoProxy) {
        proxy = proxy
            .without(without)
            .map_err(|error| wrong(Name::OutgoingNoProxy, error.to_string()))?;
    }
    Ok(Some(proxy))
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
