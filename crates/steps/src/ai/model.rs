//! The models that flows may name, and where each is asked.

use std::collections::BTreeMap;

use semel_flow::{Value, nearest};

use super::price::Price;
use crate::outgoing::Target;

/// How long an answer may be if nobody says and the API wants a number.
const MOST_TOKENS: u32 = 4096;

/// In which words a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Chat completions, as `OpenAI` and many others have them.
    OpenAiChat,
    /// Responses, as `OpenAI` has them.
    OpenAiResponses,
    /// Messages, as Anthropic has them.
    Anthropic,
}

impl Api {
    /// All of them.
    pub const ALL: [Api; 3] = [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic];

    /// The word for it, the same everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Api::OpenAiChat => "openai-chat",
            Api::OpenAiResponses => "openai-responses",
            Api::Anthropic => "anthropic",
        }
    }

    /// The API of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Api> {
        Api::ALL.into_iter().find(|api| api.name() == name)
    }

    /// Where whoever made it serves it, as their own client libraries write it.
    #[must_use]
    pub fn home(self) -> &'static str {
        match self {
            Api::OpenAiChat | Api::OpenAiResponses => "https://api.openai.com/v1",
            Api::Anthropic => "https://api.anthropic.com",
        }
    }
}

/// Why a model cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The address is none.
    #[error("url {why}")]
    Url {
        /// Why.
        why: String,
    },
    /// There is no model to name.
    #[error("model is empty; write what the API calls it")]
    NoModel,
    /// A number that no API takes.
    #[error("temperature is a number from 0 to 2")]
    Temperature,
    /// No room for an answer.
    #[error("max_tokens is a whole number from 1")]
    MaxTokens,
}

/// A model and how it is asked.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) api: Api,
    pub(super) url: String,
    /// What the API calls it.
    pub(super) name: String,
    /// The credential, as a secret by name; none for servers that want none.
    pub key: Option<Value>,
    /// What its answers cost.
    pub price: Option<Price>,
    pub(super) max_tokens: Option<u32>,
    pub(super) temperature: Option<Value>,
}

impl Model {
    /// A model that the API calls by that name, at its home.
    ///
    /// # Errors
    /// [`ModelError`] if the name is empty.
    pub fn new(api: Api, name: &str) -> Result<Model, ModelError> {
        if name.trim().is_empty() {
            return Err(ModelError::NoModel);
        }
        Ok(Model {
            api,
            url: api.home().to_owned(),
            name: name.to_owned(),
            key: None,
            price: None,
            max_tokens: match api {
                Api::OpenAiChat | Api::OpenAiResponses => None,
                Api::Anthropic => Some(MOST_TOKENS),
            },
            temperature: None,
        })
    }

    /// The same, served elsewhere.
    ///
    /// # Errors
    /// [`ModelError`] if requests cannot be sent there.
    pub fn at(self, url: &str) -> Result<Model, ModelError> {
        let parsed = Target::parse(url);
        parsed.map_err(|error| ModelError::Url {
            why: error.to_string(),
        })?;
        Ok(Model {
            url: url.trim_end_matches('/').to_owned(),
            ..self
        })
    }

    /// The same, with answers of at most so many tokens if a step does not say.
    ///
    /// # Errors
    /// [`ModelError`] if that is none.
    pub fn with_max_tokens(self, max_tokens: u32) -> Result<Model, ModelError> {
        if max_tokens == 0 {
            return Err(ModelError::MaxTokens);
        }
        Ok(Model {
            max_tokens: Some(max_tokens),
            ..self
        })
    }

    /// The same, at that temperature if a step does not say.
    ///
    /// # Errors
    /// [`ModelError`] if it is no number from 0 to 2.
    pub fn with_temperature(self, text: &str) -> Result<Model, ModelError> {
        let fits = text
            .parse()
            .is_ok_and(|number: f64| (0.0..=2.0).contains(&number));
        let number = Value::read(text.as_bytes()).ok().filter(|_| fits);
        Ok(Model {
            temperature: Some(number.ok_or(ModelError::Temperature)?),
            ..self
        })
    }
}

/// Models by the names that flows call them.
#[derive(Clone, Debug, Default)]
pub struct Models(BTreeMap<String, Model>);

impl Models {
    /// Gives a model a name.
    pub fn add(&mut self, name: &str, model: Model) {
        self.0.insert(name.to_owned(), model);
    }

    /// The model of that name, or what there is instead.
    pub(super) fn find(&self, name: &str) -> Result<&Model, String> {
        let names = || self.0.keys().map(String::as_str);
        self.0.get(name).ok_or_else(|| {
            let near = nearest(name, names()).map(|near| format!(" (did you mean `{near}`?)"));
            let there: Vec<_> = names().collect();
            let there = match there.as_slice() {
                [] => "none: add [models.NAME]".to_owned(),
                there => there.join(", "),
            };
            let near = near.unwrap_or_default();
            format!("there is no model `{name}`{near}; the configuration has {there}")
        })
    }
}
