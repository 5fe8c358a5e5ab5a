//! How each service wants a message.

use semel_flow::Value;
use semel_flow::value::Piece;
use semel_ledger::Key;

use super::NotifyError;

/// Discord counts characters, and refuses what has more.
const DISCORD_CHARS: usize = 2000;
/// Slack cuts what has more, without a word.
const SLACK_CHARS: usize = 40_000;
/// Where Slack's methods are, unless the file says.
const SLACK_API: &str = "https://slack.com/api";
/// What a card of Teams may hold is 28 KB in all.
const TEAMS_CHARS: usize = 20_000;

/// What is said, whoever it is said to.
pub(super) struct Said<'a> {
    text: &'a str,
    title: Option<&'a str>,
    update: Option<&'a str>,
    markup: bool,
    key: Option<&'a Key>,
}

impl<'a> Said<'a> {
    pub(super) fn read(input: &'a Value, key: Option<&'a Key>) -> Result<Said<'a>, NotifyError> {
        let text = text(input, "text")?.ok_or(NotifyError::Empty { field: "text" })?;
        Ok(Said {
            text,
            title: self::text(input, "title")?,
            update: self::text(input, "update")?,
            markup: input.get("markup") == Some(&Value::Bool(true)),
            key,
        })
    }

    /// Title and text in one, with the title between such signs.
    fn joined(&self, bold: &str, plain: impl Fn(&str) -> String) -> String {
        let shown = |text: &str| {
            if self.markup {
                text.to_owned()
            } else {
                plain(text)
            }
        };
        match self.title {
            Some(title) => format!("{bold}{}{bold}\n{}", shown(title), shown(self.text)),
            None => shown(self.text),
        }
    }

    fn at_most(&self, service: &'static str, most: usize) -> Result<(), NotifyError> {
        let title = self.title.map_or(0, |title| title.chars().count());
        let chars = self.text.chars().count() + title;
        if chars > most {
            return Err(NotifyError::TooLong {
                chars,
                service,
                most,
            });
        }
        Ok(())
    }
}

/// A text field; none if it was left out.
fn text<'a>(input: &'a Value, field: &'static str) -> Result<Option<&'a str>, NotifyError> {
    match input.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Text(text)) if text.trim().is_empty() => Err(NotifyError::Empty { field }),
        Some(Value::Text(text)) => Ok(Some(text)),
        Some(Value::Sealed(_)) => Err(NotifyError::Secret),
        Some(other) => Err(NotifyError::Kind {
            field,
            kind: other.kind(),
        }),
    }
}

/// Who carries a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    /// By an incoming webhook, which only says `ok`.
    Slack,
    /// By a bot's token, which names the message.
    SlackBot,
    Discord,
    Teams,
    Webhook,
}

impl Service {
    /// The service that the fields name, and what stands there.
    pub(super) fn of(fields: &Value) -> Result<(Service, &Value), NotifyError> {
        if let Some(slack) = fields.get("slack") {
            return Ok(match slack.get("url") {
                Some(url) => (Service::Slack, url),
                None => (Service::SlackBot, slack),
            });
        }
        let others = [
            ("discord", Service::Discord),
            ("teams", Service::Teams),
            ("webhook", Service::Webhook),
        ];
        let mut given = others
            .into_iter()
            .filter_map(|(name, service)| Some((service, fields.get(name)?)));
        given.next().ok_or(NotifyError::Nowhere)
    }

    /// The request that carries the message.
    pub(super) fn request(self, place: &Value, said: &Said<'_>) -> Result<Value, NotifyError> {
        let (method, url, json) = match self {
            Service::Slack => {
                said.no_update("Slack by address")?;
                said.at_most("Slack", SLACK_CHARS)?;
                let text = said.joined("*", escaped);
                let json = Value::map([("text", Value::Text(text.into()))]);
                ("POST", place.clone(), json)
            }
            Service::SlackBot => return by_bot(place, said),
            Service::Discord => return discord(place, said),
            Service::Teams => {
                said.no_update("Teams")?;
                said.at_most("Teams", TEAMS_CHARS)?;
                ("POST", place.clone(), card(said))
            }
            Service::Webhook => {
                said.no_update("a webhook")?;
                ("POST", place.clone(), plain(said))
            }
        };
        Ok(Value::map([
            ("method", Value::text(method)),
            ("url", url),
            ("json", json),
        ]))
    }
}

impl Said<'_> {
    fn no_update(&self, service: &'static str) -> Result<(), NotifyError> {
        match self.update {
            Some(_) => Err(NotifyError::NoUpdate { service }),
            None => Ok(()),
        }
    }
}

/// Slack reads these three as the beginning of a link, a mention or an entity.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn by_bot(slack: &Value, said: &Said<'_>) -> Result<Value, NotifyError> {
    said.at_most("Slack", SLACK_CHARS)?;
    let member = |name: &str| slack.get(name).cloned().unwrap_or(Value::Null);
    let text = Value::Text(said.joined("*", escaped).into());
    let mut json = vec![("channel", member("to")), ("text", text)];
    let api = slack.get("api").and_then(Value::as_text);
    let api = api.unwrap_or(SLACK_API).trim_end_matches('/');
    let method = match said.update {
        Some(id) => {
            json.push(("ts", Value::text(id)));
            "chat.update"
        }
        None => "chat.postMessage",
    };
    Ok(Value::map([
        ("method", Value::text("POST")),
        ("url", Value::Text(format!("{api}/{method}").into())),
        ("bearer", member("token")),
        ("json", Value::map(json)),
    ]))
}

fn discord(url: &Value, said: &Said<'_>) -> Result<Value, NotifyError> {
    said.at_most("Discord", DISCORD_CHARS)?;
    let content = said.joined("**", ToOwned::to_owned);
    let mut json = vec![("content", Value::Text(content.into()))];
    if !said.markup {
        let nobody = Value::map([("parse", Value::list(Vec::new()))]);
        json.push(("allowed_mentions", nobody));
    }
    let (method, url) = match said.update {
        Some(id) if id.bytes().all(|byte| byte.is_ascii_digit()) => {
            ("PATCH", behind(url, &format!("/messages/{id}")))
        }
        Some(_) => return Err(NotifyError::NoMessage),
        None => ("POST", url.clone()),
    };
    Ok(Value::map([
        ("method", Value::text(method)),
        ("url", url),
        // Else the answer comes before the message is there, and without its id.
        ("query", Value::map([("wait", Value::text("true"))])),
        ("json", Value::map(json)),
    ]))
}

/// More of an address that may be a secret.
fn behind(url: &Value, more: &str) -> Value {
    match url {
        Value::Sealed(pieces) => {
            let pieces = pieces.iter().cloned();
            Value::Sealed(pieces.chain([Piece::Plain(more.into())]).collect())
        }
        other => {
            let text = other.as_text().unwrap_or_default();
            Value::Text(format!("{text}{more}").into())
        }
    }
}

/// An adaptive card, as workflows of Teams take it.
fn card(said: &Said<'_>) -> Value {
    let block = |text: &str, title: bool| {
        let mut members = vec![
            ("type", Value::text("TextBlock")),
            ("text", Value::text(text)),
            ("wrap", Value::Bool(true)),
        ];
        if title {
            members.push(("weight", Value::text("Bolder")));
        }
        Value::map(members)
    };
    let title = said.title.map(|title| block(title, true));
    let blocks = title.into_iter().chain([block(said.text, false)]).collect();
    let content = Value::map([
        ("type", Value::text("AdaptiveCard")),
        ("version", Value::text("1.4")),
        ("body", Value::list(blocks)),
    ]);
    let kind = Value::text("application/vnd.microsoft.card.adaptive");
    let attachment = Value::map([("contentType", kind), ("content", content)]);
    Value::map([
        ("type", Value::text("message")),
        ("attachments", Value::list(vec![attachment])),
    ])
}

fn plain(said: &Said<'_>) -> Value {
    let mut members = vec![("text", Value::text(said.text))];
    members.extend(said.title.map(|title| ("title", Value::text(title))));
    members.extend(said.key.map(|key| ("key", Value::text(key.as_str()))));
    Value::map(members)
}
