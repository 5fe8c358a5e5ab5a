//! Places that the configuration gives a name to, as steps take them: channels, mail servers, databases.
//!
//! Owns what each field means and which are needed. The invariant: no secret stands in the
//! configuration, only its name.

use std::sync::Arc;

use semel_flow::value::Piece;
use semel_flow::{Value, secret_name};
use semel_steps::{
    Connection, Connections, NotifySettings, SmtpLogin, SmtpServer, SmtpServers, SmtpTls,
};

use crate::config::{Config, Origin, Place};
use crate::failure::Failure;

/// The places of one section.
pub(super) fn of<'c>(
    config: &'c Config,
    section: &'c str,
) -> impl Iterator<Item = (&'c Place, Origin)> {
    config
        .places()
        .filter(move |(place, _)| place.section == section)
}

/// What is wrong with a place, and where it stands.
pub(super) fn wrong(place: &Place, origin: &Origin, why: &str) -> Failure {
    let (section, name) = (place.section, &place.name);
    Failure::usage(format!("{section}.{name}: {why} ({origin})"))
}

/// A number that a field gives.
pub(super) fn number<N: std::str::FromStr>(
    place: &Place,
    origin: &Origin,
    field: &str,
) -> anyhow::Result<Option<N>> {
    let Some(text) = place.fields.get(field) else {
        return Ok(None);
    };
    let number = text.parse().map_err(|_| {
        let why = format!("{field} {text:?} is not a number that fits");
        wrong(place, origin, &why)
    });
    Ok(Some(number?))
}

/// The databases that `sql` steps may use.
pub(super) fn connections(config: &Config) -> anyhow::Result<Connections> {
    let mut connections = Connections::new();
    for (place, origin) in of(config, "connections") {
        let missing = || wrong(place, &origin, "it has no `url`");
        let url = place.fields.get("url").ok_or_else(missing)?;
        let password = place.fields.get("password").map(|name| named(name));
        let connection = Connection::parse(url, password)
            .map_err(|error| wrong(place, &origin, &error.to_string()))?;
        let connection = match number(place, &origin, "sessions")? {
            Some(sessions) => connection.with_sessions(sessions),
            None => connection,
        };
        connections.insert(place.name.clone(), connection);
    }
    Ok(connections)
}

/// The mail servers that `email` steps may name.
pub(super) fn mail_servers(config: &Config) -> anyhow::Result<SmtpServers> {
    let mut servers = SmtpServers::default();
    for (place, origin) in of(config, "smtp") {
        let server = mail_server(place, &origin)?;
        servers
            .add(&place.name, server)
            .map_err(|error| Failure::usage(format!("{error} ({origin})")))?;
    }
    Ok(servers)
}

fn mail_server(place: &Place, origin: &Origin) -> anyhow::Result<SmtpServer> {
    let field = |name: &str| place.fields.get(name).cloned();
    let host = field("host").ok_or_else(|| wrong(place, origin, "it has no `host`"))?;
    let tls = match field("tls").as_deref() {
        None | Some("starttls") => SmtpTls::StartTls,
        Some("implicit") => SmtpTls::Implicit,
        Some("none") => SmtpTls::None,
        Some(_) => {
            let why = "tls is one of starttls, implicit, none";
            return Err(wrong(place, origin, why).into());
        }
    };
    let login = match (field("user"), field("password")) {
        (Some(user), Some(password)) => Some(SmtpLogin {
            user,
            password: named(&password).to_owned(),
        }),
        (None, None) => None,
        _ => {
            let why = "user and password go together; password is the name of a secret";
            return Err(wrong(place, origin, why).into());
        }
    };
    let usual = SmtpServer::new(&host);
    let limit = match field("limit") {
        Some(text) => semel_flow::size::bytes(&text)
            .and_then(|bytes| usize::try_from(bytes).ok())
            .ok_or_else(|| {
                wrong(
                    place,
                    origin,
                    "limit is a size up to 16MiB, such as \"10MiB\"",
                )
            })?,
        None => usual.limit,
    };
    Ok(SmtpServer {
        port: number(place, origin, "port")?.unwrap_or(tls.port()),
        tls,
        login,
        from: field("from"),
        helo: field("helo"),
        limit,
        ..usual
    })
}

/// A secret's name, written bare or as in flows.
pub(super) fn named(text: &str) -> &str {
    secret_name(text).unwrap_or(text)
}

/// Where messages to people go, by name.
pub(super) fn channels(config: &Config) -> anyhow::Result<NotifySettings> {
    let mut settings = NotifySettings::default();
    for (place, origin) in of(config, "channels") {
        let fields = channel(place, &origin)?;
        settings.channels.insert(place.name.clone(), fields);
    }
    Ok(settings)
}

/// A channel as the fields of a `notify` that goes there.
fn channel(place: &Place, origin: &Origin) -> anyhow::Result<Value> {
    const KINDS: [&str; 5] = ["slack", "token", "discord", "teams", "webhook"];
    let wrong = |why: &str| wrong(place, origin, why);
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
pub(super) fn secret(text: &str) -> Option<Value> {
    let name = secret_name(text)?;
    Some(Value::Sealed(Arc::new([Piece::Secret(name.into())])))
}
