//! How an effect is named on the command line.

use clap::Args;
use semel_ledger::{EffectId, Key, Millis, Scope};

use crate::client::quoted;
use crate::failure::Failure;

/// An effect as two words: `SCOPE KEY`.
#[derive(Debug, Args)]
pub(super) struct Named {
    /// Which action, such as welcome-email
    scope: String,
    /// Which thing, such as order-10492; parts are joined with / (write %25 for %, %2F for a / inside a part)
    #[arg(allow_hyphen_values = true)]
    key: String,
    /// A further part of the key, taken as it is; may be repeated
    #[arg(long = "part", value_name = "PART", allow_hyphen_values = true)]
    parts: Vec<String>,
}

impl Named {
    pub(super) fn effect(&self) -> anyhow::Result<EffectId> {
        effect(&self.scope, Some(&self.key), &self.parts)
    }
}

/// The effect that a scope, a key in text form and raw parts name.
pub(super) fn effect(scope: &str, key: Option<&str>, parts: &[String]) -> anyhow::Result<EffectId> {
    let named = || {
        let scope = Scope::new(scope)?;
        let mut all: Vec<String> = match key {
            Some(key) => key.parse::<Key>()?.parts().collect(),
            None => Vec::new(),
        };
        all.extend_from_slice(parts);
        let key = Key::from_parts(&all)?;
        Ok(EffectId::new(scope, key))
    };
    named().map_err(|error: semel_ledger::KeyError| Failure::usage(error.to_string()).into())
}

/// The command with which a person decides, ready to be pasted.
pub(super) fn decide_command(effect: &EffectId, decision: &str, flags: &str) -> String {
    let (scope, key) = (quoted(effect.scope.as_str()), quoted(effect.key.as_str()));
    let flags = format!("--decision {decision} {flags}");
    if scope.starts_with('-') || key.starts_with('-') {
        return format!("semel ledger decide {flags} -- {scope} {key}");
    }
    format!("semel ledger decide {scope} {key} {flags}")
}

/// All that a person can decide, each with its command. `attempt` keeps a decision that is made
/// late from speaking for an attempt that came after.
pub(super) fn decide_help(effect: &EffectId, attempt: u64, flags: &str) -> String {
    let flags = &format!("{flags} --attempt {attempt}");
    let line = |meaning: &str, decision: &str| {
        format!(
            "  {meaning:<40}{}\n",
            decide_command(effect, decision, flags)
        )
    };
    [
        "Look at the destination, then say what is true:\n".to_owned(),
        line("it happened:", "happened"),
        line("it did not; let it run again:", "resend"),
        line("it did not (the next call may run it):", "failed"),
    ]
    .concat()
}

/// Where a request for leave is looked at and answered.
pub(super) fn inbox_help(effect: &EffectId, flags: &str) -> String {
    let item = semel_store::blob::hex(&effect.hash());
    format!(
        "Somebody asks for leave; look at it, then approve or reject it:\n  semel inbox show item_{} {flags}\n",
        &item[..12]
    )
}

/// Reads a span such as 90s or 30d.
pub(super) fn span(text: &str) -> Result<Millis, String> {
    text.parse()
        .map_err(|error: semel_ledger::time::SpanError| error.to_string())
}
