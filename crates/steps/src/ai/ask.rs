//! What is asked: a step's fields with what the configuration says of the model.

use semel_flow::Value;

use super::model::{Model, Models};
use super::schema::Schema;

/// What is wrong with a task's fields. Values are not repeated: they may hold secrets.
#[derive(Debug, thiserror::Error)]
pub(super) enum AskError {
    #[error("ai.model: {why}")]
    Model { why: String },
    #[error("ai.{field} is {kind}; write text")]
    Kind { field: String, kind: &'static str },
    #[error("ai.{field} is empty")]
    Empty { field: String },
    #[error("ai needs `prompt` or `messages`")]
    Nothing,
    #[error("ai.messages[{index}]: role is one of system, user, assistant")]
    Role { index: usize },
    #[error("ai.messages: the last one is the question: its role is `user`")]
    NoQuestion,
    #[error("ai.{field} is not a number that fits")]
    Number { field: &'static str },
    #[error("ai.schema: {why}")]
    Schema { why: String },
}

/// One question.
pub(super) struct Ask<'a> {
    pub(super) model: &'a Model,
    /// What the model is told before everything else.
    pub(super) system: Vec<&'a Value>,
    /// Who says what; the question last.
    pub(super) messages: Vec<(&'a str, &'a Value)>,
    pub(super) schema: Option<Schema<'a>>,
    pub(super) temperature: Option<&'a Value>,
    pub(super) max_tokens: Option<u32>,
    sample: Option<&'a Value>,
}

impl<'a> Ask<'a> {
    pub(super) fn read(models: &'a Models, input: &'a Value) -> Result<Ask<'a>, AskError> {
        let name = input.get("model").and_then(Value::as_text);
        let model = models.find(name.unwrap_or_default());
        let model = model.map_err(|why| AskError::Model { why })?;
        let mut ask = Ask {
            model,
            system: Vec::new(),
            messages: Vec::new(),
            schema: None,
            temperature: model.temperature.as_ref(),
            max_tokens: model.max_tokens,
            sample: input.get("sample").filter(|it| **it != Value::Null),
        };
        if let Some(system) = input.get("system") {
            ask.system.push(text("system", system)?);
        }
        match (input.get("prompt"), input.get("messages")) {
            (Some(prompt), _) => ask.messages.push(("user", text("prompt", prompt)?)),
            (None, Some(Value::List(messages))) => ask.conversation(messages)?,
            _ => return Err(AskError::Nothing),
        }
        if let Some(schema) = input.get("schema") {
            let schema = Schema::read(schema);
            ask.schema = Some(schema.map_err(|why| AskError::Schema { why })?);
        }
        ask.numbers(input)?;
        Ok(ask)
    }

    /// Some APIs have no system messages further down: all of them go first.
    fn conversation(&mut self, messages: &'a [Value]) -> Result<(), AskError> {
        for (index, message) in messages.iter().enumerate() {
            let said = message.get("text").unwrap_or(&Value::Null);
            let said = text(&format!("messages[{index}].text"), said)?;
            match message.get("role").and_then(Value::as_text) {
                Some("system") => self.system.push(said),
                Some(role @ ("user" | "assistant")) => self.messages.push((role, said)),
                _ => return Err(AskError::Role { index }),
            }
        }
        match self.messages.last() {
            Some(("user", _)) => Ok(()),
            _ => Err(AskError::NoQuestion),
        }
    }

    fn numbers(&mut self, input: &'a Value) -> Result<(), AskError> {
        match input.get("temperature") {
            None | Some(Value::Null) => {}
            Some(number @ (Value::Int(_) | Value::Decimal(_))) => self.temperature = Some(number),
            Some(_) => {
                let field = "temperature";
                return Err(AskError::Number { field });
            }
        }
        match input.get("max_tokens") {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Int(number)) if *number > 0 => {
                let field = "max_tokens";
                let number = u32::try_from(*number);
                self.max_tokens = Some(number.map_err(|_| AskError::Number { field })?);
                Ok(())
            }
            Some(_) => Err(AskError::Number {
                field: "max_tokens",
            }),
        }
    }

    /// All that the model is told, and by whom it is served.
    pub(super) fn identity(&self) -> Value {
        let Model { api, url, name, .. } = self.model;
        let messages = self.messages.iter().map(|(role, said)| {
            Value::map([("role", Value::text(role)), ("text", (*said).clone())])
        });
        let mut members = vec![
            ("api", Value::text(api.name())),
            ("url", Value::text(url)),
            ("model", Value::text(name)),
            ("messages", Value::list(messages.collect())),
        ];
        if !self.system.is_empty() {
            let system = self.system.iter().map(|said| (*said).clone());
            members.push(("system", Value::list(system.collect())));
        }
        let schema = self.schema.as_ref().map(|schema| schema.value);
        let others = [
            ("schema", schema),
            ("temperature", self.temperature),
            ("sample", self.sample),
        ];
        members.extend(
            others
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?.clone()))),
        );
        let max_tokens = self.max_tokens.map(|most| Value::Int(most.into()));
        members.extend(max_tokens.map(|most| ("max_tokens", most)));
        Value::map(members)
    }
}

/// A text with something in it; a secret may be.
fn text<'a>(field: &str, value: &'a Value) -> Result<&'a Value, AskError> {
    let field = || field.to_owned();
    match value {
        Value::Text(text) if text.trim().is_empty() => Err(AskError::Empty { field: field() }),
        Value::Text(_) | Value::Sealed(_) => Ok(value),
        other => Err(AskError::Kind {
            field: field(),
            kind: other.kind(),
        }),
    }
}
