//! Reading a task's fields, with an error that names the field.

use semel_act::Secrets;
use semel_flow::Value;
use semel_flow::value::Map;

use crate::amiss::{Amiss, missing, no_secret, size, wrong_kind};
use crate::secrets::{Filler, Redactor};

/// How much output is kept of each stream if the file says nothing.
const OUTPUT: usize = 1 << 20;
/// The longest argument that Linux hands to a program, less its end.
const MOST_ARGUMENT_BYTES: usize = (128 << 10) - 1;

/// What is wrong with a task's fields. Values are not repeated: they may hold secrets.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FieldError {
    #[error("`{kind}` has no field `{field}`")]
    Unknown { kind: &'static str, field: String },
    #[error("`{field}` is empty")]
    Empty { field: String },
    #[error(transparent)]
    Amiss(#[from] Amiss),
    #[error(
        "`{field}` has a secret in it, and everybody on the machine can read arguments; \
         pass it by `stdin`{or_env}"
    )]
    Shown { field: String, or_env: &'static str },
    #[error("`{field}` has a U+0000 in it; no program can be given one")]
    Nul { field: String },
    #[error("`{field}` has {bytes} bytes; the limit is {MOST_ARGUMENT_BYTES}: pass it by `stdin`")]
    TooLong { field: String, bytes: usize },
    #[error("`expect` has something that is not an exit code from 0 to {most}")]
    Code { most: i32 },
    #[error("`{field}` {wrong}")]
    Wrong { field: String, wrong: String },
}

pub(crate) type Read<T> = Result<T, FieldError>;

/// Reads the fields of one task and puts secrets in.
pub(crate) struct Reader<'t> {
    kind: &'static str,
    members: &'t Map,
    filler: Filler,
}

impl<'t> Reader<'t> {
    /// Of a step of that kind, which has these fields and no others.
    pub(crate) fn new(
        kind: &'static str,
        input: &'t Value,
        known: &[&str],
        secrets: &'t dyn Secrets,
    ) -> Read<Reader<'t>> {
        let Value::Map(members) = input else {
            return Err(wrong_kind(kind, input, "fields such as `command`"));
        };
        if let Some(field) = members.keys().find(|it| !known.contains(&it.as_ref())) {
            return Err(FieldError::Unknown {
                kind,
                field: field.as_ref().to_owned(),
            });
        }
        Ok(Reader {
            kind,
            members,
            filler: Filler::new(secrets),
        })
    }

    /// What must not come back.
    pub(crate) fn redactor(&self) -> Redactor {
        self.filler.redactor()
    }

    /// A field, unless it is left out or null.
    pub(crate) fn field(&self, name: &str) -> Option<&'t Value> {
        self.members.get(name).filter(|it| **it != Value::Null)
    }

    /// Text with its secrets put in, if the field is there.
    pub(crate) fn text(&mut self, name: &str) -> Read<Option<String>> {
        let Some(value) = self.field(name) else {
            return Ok(None);
        };
        self.filled(name, value).map(Some)
    }

    /// Text that must be there.
    pub(crate) fn some_text(&mut self, name: &str) -> Read<String> {
        let text = self.text(name)?;
        let text = text.ok_or_else(|| missing::<FieldError>(name))?;
        if text.is_empty() {
            return Err(FieldError::Empty {
                field: name.to_owned(),
            });
        }
        Ok(text)
    }

    pub(crate) fn flag(&self, name: &str) -> Read<bool> {
        match self.field(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong_kind(name, other, "`true` or `false`")),
        }
    }

    /// The program and its arguments.
    pub(crate) fn command(&self) -> Read<Vec<String>> {
        let wanted = "a list: the program and its arguments";
        let items = match self.field("command") {
            Some(Value::List(items)) => items,
            Some(other) => return Err(wrong_kind("command", other, wanted)),
            None => return Err(missing("command")),
        };
        let words = items.iter().enumerate();
        let words = words.map(|(at, item)| self.word(format!("command[{at}]"), item));
        let words = words.collect::<Read<Vec<_>>>()?;
        if words.first().is_none_or(String::is_empty) {
            return Err(FieldError::Empty {
                field: "command".to_owned(),
            });
        }
        Ok(words)
    }

    fn word(&self, field: String, value: &Value) -> Read<String> {
        let text = match value {
            Value::Sealed(_) => {
                let or_env = if self.kind == "exec" { " or `env`" } else { "" };
                return Err(FieldError::Shown { field, or_env });
            }
            Value::Null | Value::List(_) | Value::Map(_) => {
                return Err(wrong_kind(field, value, "text"));
            }
            plain => plain.shown(),
        };
        if text.len() > MOST_ARGUMENT_BYTES {
            let bytes = text.len();
            return Err(FieldError::TooLong { field, bytes });
        }
        without_nul(field, text)
    }

    /// Variables for the environment.
    pub(crate) fn env(&mut self) -> Read<Vec<(String, String)>> {
        let members = match self.field("env") {
            None => return Ok(Vec::new()),
            Some(Value::Map(members)) => members,
            Some(other) => return Err(wrong_kind("env", other, "names with text")),
        };
        let mut variables = Vec::with_capacity(members.len());
        for (name, value) in members.iter() {
            let field = format!("env.{name}");
            check_variable(&field, name)?;
            if *value != Value::Null {
                let text = self.filled(&field, value)?;
                variables.push((name.as_ref().to_owned(), without_nul(field, text)?));
            }
        }
        Ok(variables)
    }

    /// What the program gets to read: text as it is, all else as JSON.
    pub(crate) fn stdin(&mut self) -> Read<Vec<u8>> {
        let Some(value) = self.field("stdin") else {
            return Ok(Vec::new());
        };
        let filled = self.filler.value(value);
        let filled = filled.map_err(no_secret::<FieldError>("stdin"))?;
        Ok(filled.shown().into_bytes())
    }

    /// How much output is kept.
    pub(crate) fn output(&self) -> Read<usize> {
        match self.field("output") {
            None => Ok(OUTPUT),
            Some(value) => size("output", value),
        }
    }

    /// The exit codes that are success.
    pub(crate) fn expect(&self, most: i32) -> Read<Vec<i32>> {
        let codes: &[Value] = match self.field("expect") {
            None => return Ok(vec![0]),
            Some(Value::List(items)) => items,
            Some(one) => std::slice::from_ref(one),
        };
        let code = |value: &Value| match value {
            Value::Int(code) => i32::try_from(*code).ok(),
            _ => None,
        };
        let codes = codes
            .iter()
            .map(|value| code(value).filter(|code| (0..=most).contains(code)));
        codes
            .collect::<Option<Vec<_>>>()
            .filter(|codes| !codes.is_empty())
            .ok_or(FieldError::Code { most })
    }

    fn filled(&mut self, field: &str, value: &Value) -> Read<String> {
        match value {
            Value::Sealed(pieces) => {
                let filled = self.filler.text(pieces);
                filled.map_err(no_secret(field))
            }
            Value::Null | Value::List(_) | Value::Map(_) => Err(wrong_kind(field, value, "text")),
            plain => Ok(plain.shown()),
        }
    }
}

fn without_nul(field: String, text: String) -> Read<String> {
    if text.contains('\0') {
        return Err(FieldError::Nul { field });
    }
    Ok(text)
}

/// A variable that says which code is loaded would make any program any other.
fn check_variable(field: &str, name: &str) -> Read<()> {
    let wrong = if name.starts_with("LD_") || matches!(name, "GCONV_PATH" | "GLIBC_TUNABLES") {
        "says which code is loaded into programs; leave it out"
    } else if name.starts_with("SEMEL_") {
        "is set by Semel itself; leave it out"
    } else if name.is_empty() || name.contains(['=', '\0']) {
        "is not the name of a variable; write letters, digits and _"
    } else {
        return Ok(());
    };
    Err(FieldError::Wrong {
        field: field.to_owned(),
        wrong: wrong.to_owned(),
    })
}
