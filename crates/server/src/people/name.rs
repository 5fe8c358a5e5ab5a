//! What a person may be called, and what a password must be.

use crate::fields::Fields;
use crate::problem::Problem;

/// The longest name.
const MAX_NAME: usize = 64;
/// The shortest password, in characters. Its length is what counts.
pub(crate) const MIN_PASSWORD: usize = 12;
/// The longest, in bytes: hashing must stay bounded.
pub(crate) const MAX_PASSWORD: usize = 1024;
/// Who is called so is somebody else: the process itself, and the first token.
const TAKEN: [&str; 3] = ["local", "first", "semel"];

/// Why a name cannot be used.
pub(crate) fn wrong_name(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-@+".contains(c);
    if name.is_empty() {
        return Some("is empty".to_owned());
    }
    if name.len() > MAX_NAME {
        return Some(format!("is longer than {MAX_NAME} characters"));
    }
    // One spelling for each person: whoever may not approve their own run must not do so as `Ada`.
    if !name.chars().all(plain) || !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Some(
            "must have only lower-case letters, digits and . _ - @ +, and begin with a letter or digit"
                .to_owned(),
        );
    }
    TAKEN
        .contains(&name)
        .then(|| format!("cannot be {name}: Semel itself is called so"))
}

/// Why a password cannot be used.
pub(crate) fn wrong_password(name: &str, password: &str) -> Option<String> {
    if password.chars().count() < MIN_PASSWORD {
        return Some(format!("must have at least {MIN_PASSWORD} characters"));
    }
    if password.len() > MAX_PASSWORD {
        return Some(format!("is longer than {MAX_PASSWORD} bytes"));
    }
    if password.to_lowercase().contains(name) && password.len() < name.len() + MIN_PASSWORD {
        return Some("is little more than the name".to_owned());
    }
    None
}

/// The field `name` of a new account.
pub(crate) fn of_new(fields: &Fields<'_>) -> Result<Box<str>, Problem> {
    let name = fields.need("name", fields.text("name")?)?;
    match wrong_name(&name) {
        Some(why) => Err(fields.invalid("name", &why)),
        None => Ok(name.into()),
    }
}

/// The field `password`, if it is there.
pub(crate) fn new_password(fields: &Fields<'_>, name: &str) -> Result<Option<String>, Problem> {
    let Some(password) = fields.text("password")? else {
        return Ok(None);
    };
    match wrong_password(name, &password) {
        Some(why) => Err(fields.invalid("password", &why)),
        None => Ok(Some(password.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_passwords_that_cannot_be_used_are_explained() {
        for name in ["ada", "a", "0day", "ada.l@example.org", "a-b_c+d"] {
            assert_eq!(wrong_name(name), None, "{name}");
        }
        let long = "a".repeat(65);
        for (name, word) in [
            ("", "empty"),
            ("Ada", "lower-case"),
            ("ada l", "lower-case"),
            ("ädä", "lower-case"),
            ("-rf", "begin"),
            ("group:finance", "lower-case"),
            ("ada\n", "lower-case"),
            ("local", "Semel itself"),
            (&long, "longer than 64"),
        ] {
            let why = wrong_name(name).unwrap();
            assert!(why.contains(word), "{name:?}: {why}");
        }
        let long = "é".repeat(513);
        for (password, word) in [
            ("eleven char", "at least 12"),
            ("", "at least 12"),
            (&long, "longer than 1024"),
            ("ada.lovelace1", "little more"),
        ] {
            let why = wrong_password("ada.lovelace", password).unwrap();
            assert!(why.contains(word), "{password}: {why}");
        }
        assert_eq!(wrong_password("ada", "twelve chars"), None);
    }
}
