//! Secrets from the environment: `SEMEL_SECRET_<NAME>`, or `SEMEL_SECRET_<NAME>_FILE` with the
//! path of a file that holds it. Read once, when the process starts.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use semel_act::{SecretSet, Secrets};

const PREFIX: &str = "SEMEL_SECRET_";
const FILE: &str = "_FILE";

/// Why the environment's secrets cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// The file cannot be read.
    #[error("{variable} names {path}, which cannot be read")]
    File {
        /// Which variable.
        variable: String,
        /// The file it names.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The value is not text.
    #[error("{variable} is not UTF-8 text")]
    NotText {
        /// Which variable.
        variable: String,
    },
    /// Both forms were given.
    #[error("both {PREFIX}{name} and {PREFIX}{name}_FILE are set; keep one")]
    Both {
        /// The secret.
        name: String,
    },
}

/// Secrets from the environment.
#[derive(Clone, Debug, Default)]
pub struct EnvSecrets {
    set: SecretSet,
}

impl EnvSecrets {
    /// Takes the secrets out of these variables, such as [`std::env::vars_os`].
    ///
    /// # Errors
    /// [`SecretsError`] that names the variable that is wrong.
    pub fn read(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<EnvSecrets, SecretsError> {
        let mut values: HashMap<String, Arc<str>> = HashMap::new();
        for (variable, value) in variables {
            let Some(variable) = variable.to_str() else {
                continue;
            };
            let Some(name) = variable.strip_prefix(PREFIX) else {
                continue;
            };
            let (name, value) = match name.strip_suffix(FILE) {
                Some(name) => (name, of_file(variable, value.into())?),
                None => (name, of_value(variable, value)?),
            };
            if values.insert(name.to_owned(), value).is_some() {
                return Err(SecretsError::Both {
                    name: name.to_owned(),
                });
            }
        }
        let set = values.into_iter().collect();
        Ok(EnvSecrets { set })
    }
}

fn of_value(variable: &str, value: OsString) -> Result<Arc<str>, SecretsError> {
    let text = value.into_string().map_err(|_| SecretsError::NotText {
        variable: variable.to_owned(),
    })?;
    Ok(text.into())
}

fn of_file(variable: &str, path: PathBuf) -> Result<Arc<str>, SecretsError> {
    match std::fs::read_to_string(&path) {
        // Editors end files with a line break that is no part of the secret.
        Ok(text) => Ok(text.trim_end_matches(['\r', '\n']).into()),
        Err(source) => Err(SecretsError::File {
            variable: variable.to_owned(),
            path,
            source,
        }),
    }
}

impl Secrets for EnvSecrets {
    fn now(&self) -> SecretSet {
        self.set.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<EnvSecrets, SecretsError> {
        let owned = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        EnvSecrets::read(owned)
    }

    #[test]
    fn values_come_from_variables_and_files() {
        let path = std::env::temp_dir().join(format!("semel-secret-{}", std::process::id()));
        std::fs::write(&path, "of a file\n").unwrap();
        let secrets = read(&[
            ("PATH", "/bin"),
            ("SEMEL_SECRET_A", "plain "),
            ("SEMEL_SECRET_B_FILE", path.to_str().unwrap()),
        ]);
        std::fs::remove_file(&path).unwrap();
        let secrets = secrets.unwrap();
        assert_eq!(secrets.secret("A").as_deref(), Some("plain "));
        assert_eq!(secrets.secret("B").as_deref(), Some("of a file"));
        assert_eq!(secrets.secret("PATH"), None);
        let shown = format!("{secrets:?}");
        assert!(
            !shown.contains("plain") && !shown.contains("of a file"),
            "{shown}"
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let missing = read(&[("SEMEL_SECRET_A_FILE", "/no/such/file")]).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "SEMEL_SECRET_A_FILE names /no/such/file, which cannot be read"
        );
        let path = std::env::current_exe().unwrap().join("x");
        assert!(read(&[("SEMEL_SECRET_A_FILE", path.to_str().unwrap())]).is_err());
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let both = read(&[("SEMEL_SECRET_A", "x"), ("SEMEL_SECRET_A_FILE", file)]).unwrap_err();
        assert!(both.to_string().contains("keep one"), "{both}");
    }
}
