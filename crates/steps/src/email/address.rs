//! One mail address, with or without a name.
//!
//! Owns what is taken for an address, and is stricter than the standard on purpose: quoted local
//! parts, comments and lists in one text are refused, so that no text can be read as another
//! address, a second one, or a part of a command. A domain in letters of the world is written in
//! its `xn--` form, which every server understands.

use lettre::Address;
use lettre::message::Mailbox;

/// The most bytes of what stands before the @, and of a whole address.
const MOST_LOCAL: usize = 64;
const MOST: usize = 254;
/// The most bytes of a name.
const MOST_NAME: usize = 255;

/// Why text is not an address. The text is not repeated: it may hold a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Nothing there.
    #[error("is empty; write an address such as ann@example.com")]
    Empty,
    /// A line break or the like: it could end the header and begin another.
    #[error("has a line break or another control character at byte {at}; remove it")]
    Control {
        /// Where it stands.
        at: usize,
    },
    /// Only half of an address.
    #[error("has no @; write an address such as ann@example.com")]
    NoAt,
    /// A name that could be read as more than a name.
    #[error(
        "has `{found}` in its name; put the name in double quotes, and write several addresses as a list"
    )]
    Name {
        /// The character.
        found: char,
    },
    /// Brackets or quotes that do not close.
    #[error("has brackets or quotes that do not close; write Name <ann@example.com>")]
    Open,
    /// A character that cannot stand before the @.
    #[error(
        "has `{found}` before its @; write letters, digits and .!#$%&'*+-/=?^_`{{|}}~, and several addresses as a list"
    )]
    Local {
        /// The character.
        found: char,
    },
    /// A dot too many, or nothing at all.
    #[error("has nothing, or a dot in a wrong place, before its @")]
    Dots,
    /// Not a domain.
    #[error("has no domain after its @ that mail could be sent to")]
    Domain,
    /// Over the limit.
    #[error(
        "is too long: at most {MOST_LOCAL} bytes before the @, {MOST} in all, {MOST_NAME} in the name"
    )]
    TooLong,
}

/// Reads `ann@example.com`, `Ann Lee <ann@example.com>` or `"Lee, Ann" <ann@example.com>`.
pub(super) fn read(text: &str) -> Result<Mailbox, AddressError> {
    if let Some((at, _)) = text.char_indices().find(|(_, c)| c.is_control()) {
        return Err(AddressError::Control { at });
    }
    let text = text.trim();
    if text.is_empty() {
        return Err(AddressError::Empty);
    }
    let Some(inner) = text.strip_suffix('>') else {
        let fault = text.contains('<').then_some(AddressError::Open);
        return fault.map_or_else(|| Ok(Mailbox::new(None, address(text)?)), Err);
    };
    let (name, inner) = inner.rsplit_once('<').ok_or(AddressError::Open)?;
    let name = name_of(name.trim())?;
    Ok(Mailbox::new(name, address(inner)?))
}

fn name_of(text: &str) -> Result<Option<String>, AddressError> {
    let name = match text.strip_prefix('"') {
        Some(rest) => unquoted(rest)?,
        None => match text.chars().find(|c| ",;:@<>()[]\\\"".contains(*c)) {
            Some(found) => return Err(AddressError::Name { found }),
            None => text.to_owned(),
        },
    };
    if name.len() > MOST_NAME {
        return Err(AddressError::TooLong);
    }
    Ok(Some(name).filter(|name| !name.is_empty()))
}

/// What stands in quotes; `rest` begins after the first.
fn unquoted(rest: &str) -> Result<String, AddressError> {
    let mut name = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => name.push(chars.next().ok_or(AddressError::Open)?),
            '"' => {
                return match chars.next() {
                    None => Ok(name),
                    Some(found) => Err(AddressError::Name { found }),
                };
            }
            c => name.push(c),
        }
    }
    Err(AddressError::Open)
}

fn address(text: &str) -> Result<Address, AddressError> {
    let (local, domain) = text.rsplit_once('@').ok_or(AddressError::NoAt)?;
    let plain = |c: char| c.is_alphanumeric() || ".!#$%&'*+-/=?^_`{|}~".contains(c);
    if let Some(found) = local.chars().find(|c| !plain(*c)) {
        return Err(AddressError::Local { found });
    }
    if local.split('.').any(str::is_empty) {
        return Err(AddressError::Dots);
    }
    if domain.is_empty() || domain.starts_with('[') {
        return Err(AddressError::Domain);
    }
    let domain = idna::domain_to_ascii(domain).map_err(|_| AddressError::Domain)?;
    if local.len() > MOST_LOCAL || local.len() + 1 + domain.len() > MOST {
        return Err(AddressError::TooLong);
    }
    Address::new(local, domain).map_err(|_| AddressError::Domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        for (text, name, address) in [
            ("ann@example.com", None, "ann@example.com"),
            ("  <ann@example.com> ", None, "ann@example.com"),
            (
                "Ann Lee <ann@example.com>",
                Some("Ann Lee"),
                "ann@example.com",
            ),
            (
                r#""Lee, \"A\" <x@y>" <a.b+c@example.com>"#,
                Some(r#"Lee, "A" <x@y>"#),
                "a.b+c@example.com",
            ),
            (
                "Jörg <jörg@bücher.example>",
                Some("Jörg"),
                "jörg@xn--bcher-kva.example",
            ),
            ("o'neil@EXAMPLE.com", None, "o'neil@example.com"),
        ] {
            let read = read(text).expect(text);
            assert_eq!((read.name.as_deref(), read.email.as_ref()), (name, address));
        }
    }

    #[test]
    fn nothing_else_is() {
        let long = format!("{}@example.com", "a".repeat(65));
        for (text, why) in [
            ("", AddressError::Empty),
            ("  ", AddressError::Empty),
            (
                "a@b.example\r\nBcc: c@d.example",
                AddressError::Control { at: 11 },
            ),
            ("a@b.example\0", AddressError::Control { at: 11 }),
            ("ann", AddressError::NoAt),
            ("Ann <ann>", AddressError::NoAt),
            (
                "a@b.example, c@d.example",
                AddressError::Local { found: '@' },
            ),
            (
                "a@b.example, Bob <c@d.example>",
                AddressError::Name { found: '@' },
            ),
            ("Lee, Ann <a@b.example>", AddressError::Name { found: ',' }),
            (
                "<a@b.example> <c@d.example>",
                AddressError::Name { found: '<' },
            ),
            (r#""A" B <c@d.example>"#, AddressError::Name { found: ' ' }),
            ("Ann <a@b.example", AddressError::Open),
            (r#""Ann <a@b.example>"#, AddressError::Open),
            (r#""a b"@c.example"#, AddressError::Local { found: '"' }),
            ("a b@c.example", AddressError::Local { found: ' ' }),
            ("a> SIZE=1 <b@c.example", AddressError::Open),
            ("a..b@c.example", AddressError::Dots),
            (".a@c.example", AddressError::Dots),
            ("@c.example", AddressError::Dots),
            ("a@", AddressError::Domain),
            ("a@b c", AddressError::Domain),
            ("a@b>c.example", AddressError::Domain),
            ("a@-b.example", AddressError::Domain),
            ("a@[127.0.0.1]", AddressError::Domain),
            (&long, AddressError::TooLong),
        ] {
            assert_eq!(read(text), Err(why), "{text}");
        }
    }
}
