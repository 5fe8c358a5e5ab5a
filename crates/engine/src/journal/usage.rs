//! What an answer took, where it is paid for by what it takes.

use std::fmt;

use semel_flow::Value;
use serde::{Deserialize, Serialize};

/// What a model read and said for one answer, and what that costs by the configured prices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// The model, as it calls itself.
    pub model: Box<str>,
    /// How many tokens it read.
    pub input: u64,
    /// How many it said.
    pub output: u64,
    /// Exactly, with its currency: `0.0004 USD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Box<str>>,
}

impl Usage {
    /// As an answer says in its `usage`, `model`, `cost` and `currency`; nothing if it does not.
    #[must_use]
    pub fn of(answer: &Value) -> Option<Usage> {
        let usage = answer.get("usage")?;
        let count = |name| match usage.get(name) {
            Some(Value::Int(count)) => u64::try_from(*count).ok(),
            _ => None,
        };
        let cost = match (answer.get("cost"), answer.get("currency")) {
            (Some(Value::Null) | None, _) => None,
            (Some(cost), Some(Value::Text(currency))) => {
                Some(format!("{} {currency}", cost.shown()).into())
            }
            (Some(cost), _) => Some(cost.shown().into()),
        };
        Some(Usage {
            model: answer.get("model")?.as_text()?.into(),
            input: count("input")?,
            output: count("output")?,
            cost,
        })
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usage {
            model,
            input,
            output,
            ..
        } = self;
        write!(f, "{model}: {input} in, {output} out")?;
        match &self.cost {
            Some(cost) => write!(f, ", {cost}"),
            None => Ok(()),
        }
    }
}
