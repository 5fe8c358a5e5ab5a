//! Settings and where each came from.
//!
//! Owns the order (flag over environment over `./semel.toml` over the user's file over default),
//! the names, and what the values mean together. The invariant: a setting is looked up here and
//! nowhere else, so `semel config show --origin` tells the truth.

mod destinations;
mod file;
mod groups;
mod name;
mod places;
mod secret;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use semel_ledger::Millis;
use semel_store::Location;

use crate::failure::Failure;

pub(crate) use destinations::{Destination, OTHERS};
pub(crate) use groups::Group;
pub(crate) use name::Name;
pub(crate) use places::Place;
pub(crate) use secret::{Secret, has_credentials, has_password, redacted};

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag(&'static str),
    Environment(String),
    File(PathBuf, usize),
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(flag) => write!(f, "flag {flag}"),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::File(path, line) => write!(f, "{}:{line}", path.display()),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// A value and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) value: String,
    pub(crate) origin: Origin,
}

/// What programs that send traces read where they go.
const OTEL_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The shortest span to remember or keep for, as in the API: nothing would switch protection off.
pub(crate) const SHORTEST: Millis = Millis::seconds(1);

/// All settings that have a value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    settings: BTreeMap<Name, Setting>,
    /// By host; those of nearer files.
    destinations: BTreeMap<String, (Destination, PathBuf)>,
    /// By section and name; those of nearer files.
    places: BTreeMap<(&'static str, String), (Place, PathBuf)>,
    /// By name; those of nearer files.
    groups: BTreeMap<String, (Group, PathBuf)>,
}

/// What the command line says, by name of the setting.
pub(crate) type Flags = Vec<(Name, &'static str, String)>;

/// The words around the process, so that tests can bring their own.
pub(crate) struct Surroundings<'a> {
    pub(crate) environment: &'a dyn Fn(&str) -> Option<String>,
    /// Later files only fill in what earlier ones leave open.
    pub(crate) files: Vec<PathBuf>,
}

impl Config {
    /// Gathers the settings from the machine.
    pub(crate) fn load(flags: Flags) -> anyhow::Result<Config> {
        let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let mut files = vec![PathBuf::from("semel.toml")];
        let user = environment("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| environment("HOME").map(|home| Path::new(&home).join(".config")));
        files.extend(user.map(|directory| directory.join("semel").join("config.toml")));
        let surroundings = Surroundings {
            environment: &environment,
            files,
        };
        Config::gather(flags, &surroundings)
    }

    fn gather(flags: Flags, around: &Surroundings<'_>) -> anyhow::Result<Config> {
        let mut config = Config::default();
        for (name, flag, value) in flags {
            config.fill(name, value, Origin::Flag(flag));
        }
        for name in Name::ALL {
            if let Some((value, origin)) = from_environment(name, around.environment)? {
                config.fill(name, value, origin);
            }
        }
        for path in &around.files {
            let contents = file::read(path)?;
            for found in contents.settings {
                let origin = Origin::File(path.clone(), found.line);
                config.fill(found.name, found.value, origin);
            }
            for destination in contents.destinations {
                let of = config.destinations.entry(destination.host.clone());
                of.or_insert_with(|| (destination, path.clone()));
            }
            for place in contents.places {
                let of = config.places.entry((place.section, place.name.clone()));
                of.or_insert_with(|| (place, path.clone()));
            }
            for group in contents.groups {
                let of = config.groups.entry(group.name.clone());
                of.or_insert_with(|| (group, path.clone()));
            }
        }
        if let Some(home) = default_data(around.environment) {
            config.fill(Name::Data, home, Origin::Default);
        }
        for name in Name::ALL {
            if let Some(value) = name.default() {
                config.fill(name, value.to_owned(), Origin::Default);
            }
        }
        Ok(config)
    }

    fn fill(&mut self, name: Name, value: String, origin: Origin) {
        let of = self.settings.entry(name);
        of.or_insert(Setting { value, origin });
    }

    pub(crate) fn setting(&self, name: Name) -> Option<&Setting> {
        self.settings.get(&name)
    }

    pub(crate) fn text(&self, name: Name) -> Option<&str> {
        self.setting(name).map(|setting| setting.value.as_str())
    }

    /// The data directory: as set, or (unset) beside the database that `store` names.
    pub(crate) fn data(&self) -> anyhow::Result<PathBuf> {
        let setting = self.setting(Name::Data);
        let chosen = setting.filter(|setting| setting.origin != Origin::Default);
        if chosen.is_none()
            && let Some(Location::Sqlite(path)) = self.store()?
        {
            return Ok(parent(&path));
        }
        let setting = setting.ok_or_else(|| {
            Failure::usage("no data directory is known: neither HOME nor XDG_DATA_HOME is set")
                .fix("give --data DIR or set SEMEL_DATA")
        })?;
        Ok(PathBuf::from(&setting.value))
    }

    /// The store that was named, if one was.
    pub(crate) fn store(&self) -> anyhow::Result<Option<Location>> {
        let Some(setting) = self.setting(Name::Store) else {
            return Ok(None);
        };
        setting.value.parse().map(Some).map_err(|_| {
            let shown = redacted(&setting.value);
            Failure::usage(format!(
                "store {shown:?} is not an address ({})",
                setting.origin
            ))
            .fix("write sqlite:PATH or postgres://USER@HOST/DATABASE")
            .into()
        })
    }

    /// The store that is used: the one named, or the file in the data directory.
    pub(crate) fn location(&self) -> anyhow::Result<Location> {
        match self.store()? {
            Some(location) => Ok(location),
            None => Ok(Location::Sqlite(self.data()?.join("semel.db"))),
        }
    }

    /// A span of time.
    pub(crate) fn span(&self, name: Name) -> anyhow::Result<Millis> {
        let Some(setting) = self.setting(name) else {
            return Ok(Millis::days(30));
        };
        let wrong = |why: String| {
            let (name, origin) = (name.text(), &setting.origin);
            Failure::usage(format!("{name} {:?} {why} ({origin})", setting.value))
        };
        let parsed: Result<Millis, semel_ledger::time::SpanError> = setting.value.parse();
        let span = parsed.map_err(|error| wrong(error.to_string()))?;
        if span < SHORTEST {
            let why = "is too short: at least 1s, at most 3650d".to_owned();
            return Err(wrong(why).into());
        }
        Ok(span)
    }

    /// A whole number from 1 on.
    pub(crate) fn count(&self, name: Name, most: usize) -> anyhow::Result<usize> {
        let Some(setting) = self.setting(name) else {
            return Ok(most);
        };
        let number = setting.value.parse().ok();
        let number = number.filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| {
            let (name, value, origin) = (name.text(), &setting.value, &setting.origin);
            let message =
                format!("{name} {value:?} is not a whole number from 1 to {most} ({origin})");
            Failure::usage(message).into()
        })
    }

    /// Where the world reaches the server, if that was said.
    pub(crate) fn public_url(&self) -> anyhow::Result<Option<String>> {
        let Some(setting) = self.setting(Name::PublicUrl) else {
            return Ok(None);
        };
        let (value, origin) = (&setting.value, &setting.origin);
        let rest = ["https://", "http://"]
            .iter()
            .find_map(|scheme| value.strip_prefix(scheme));
        let plain = |rest: &str| !rest.is_empty() && !rest.contains(['?', '#', '@', ' ']);
        if !rest.is_some_and(plain) {
            let message = format!("public_url {value:?} is not an address ({origin})");
            let fix = "write https://HOST, with a path if the server is reached under one";
            return Err(Failure::usage(message).fix(fix).into());
        }
        Ok(Some(value.clone()))
    }

    /// The limits of destinations that were named, with the place where they were.
    pub(crate) fn destinations(&self) -> impl Iterator<Item = (&Destination, Origin)> {
        let place = |path: &PathBuf, line| Origin::File(path.clone(), line);
        self.destinations
            .values()
            .map(move |(it, path)| (it, place(path, it.line)))
    }

    /// The places that have a name, with where they were written.
    pub(crate) fn places(&self) -> impl Iterator<Item = (&Place, Origin)> {
        let place = |path: &PathBuf, line| Origin::File(path.clone(), line);
        self.places
            .values()
            .map(move |(it, path)| (it, place(path, it.line)))
    }

    /// The groups of persons, with where they were written.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&Group, Origin)> {
        let place = |path: &PathBuf, line| Origin::File(path.clone(), line);
        self.groups
            .values()
            .map(move |(it, path)| (it, place(path, it.line)))
    }

    /// Who is in which group.
    pub(crate) fn members(&self) -> BTreeMap<String, Vec<String>> {
        let of = |(group, _): (&Group, Origin)| (group.name.clone(), group.members.clone());
        self.groups().map(of).collect()
    }

    /// The token to show to a server, if one was given: itself, or the file that holds it.
    pub(crate) fn token(&self) -> anyhow::Result<Option<Secret>> {
        let Some(setting) = self.setting(Name::Token) else {
            return Ok(None);
        };
        if setting.origin == Origin::Environment(Name::Token.in_environment()) {
            return Ok(Some(Secret::new(&setting.value)));
        }
        Secret::read(Path::new(&setting.value)).map(Some)
    }
}

/// The directory that a file is in.
pub(crate) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn default_data(environment: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let base = environment("XDG_DATA_HOME")
        .or_else(|| environment("HOME").map(|home| format!("{home}/.local/share")));
    base.map(|base| format!("{base}/semel"))
}

/// `SEMEL_X`, or the first line of the file that `SEMEL_X_FILE` names.
fn from_environment(
    name: Name,
    environment: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Option<(String, Origin)>> {
    let plain = name.in_environment();
    let by_file = format!("{plain}_FILE");
    match (environment(&plain), environment(&by_file)) {
        (Some(_), Some(_)) => Err(
            Failure::usage(format!("both {plain} and {by_file} are set"))
                .fix("unset one of them")
                .into(),
        ),
        (Some(value), None) => Ok(Some((value, Origin::Environment(plain)))),
        // The token stays in its file until it is needed.
        (None, Some(path)) if name == Name::Token => Ok(Some((path, Origin::Environment(by_file)))),
        (None, Some(path)) => {
            let text = std::fs::read_to_string(&path).map_err(|error| {
                Failure::usage(format!("{by_file}: cannot read {path}: {error}"))
            })?;
            let value = text.lines().next().unwrap_or_default().trim().to_owned();
            Ok(Some((value, Origin::Environment(by_file))))
        }
        // What other programs read that send traces.
        (None, None) if name == Name::OtlpEndpoint => {
            let value = environment(OTEL_ENDPOINT);
            Ok(value.map(|value| (value, Origin::Environment(OTEL_ENDPOINT.to_owned()))))
        }
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests;
