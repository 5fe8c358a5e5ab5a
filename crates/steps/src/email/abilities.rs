//! What a server says it can do.

use super::line::Reply;

/// How to tell a server who we are; the first that it offers is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Auth {
    Plain,
    Login,
}

/// The abilities that matter here.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Abilities {
    pub(super) starttls: bool,
    pub(super) auth: Option<Auth>,
    /// Addresses with letters outside ASCII.
    pub(super) utf8: bool,
    /// The largest message, if it said so.
    pub(super) size: Option<usize>,
}

impl Abilities {
    /// Reads the reply to `EHLO`: after the first line, one ability a line.
    pub(super) fn of(reply: &Reply) -> Abilities {
        let mut abilities = Abilities::default();
        for text in reply.lines.iter().skip(1) {
            let text = text.to_ascii_uppercase();
            // Old servers write `AUTH=LOGIN`.
            let mut words = text.split([' ', '=']).filter(|word| !word.is_empty());
            match words.next() {
                Some("STARTTLS") => abilities.starttls = true,
                Some("SMTPUTF8") => abilities.utf8 = true,
                Some("SIZE") => {
                    let size = words.next().and_then(|size| size.parse().ok());
                    // Nothing, or 0, is no limit that is told.
                    abilities.size = size.filter(|size| *size > 0);
                }
                Some("AUTH") => {
                    let known = words.filter_map(|word| match word {
                        "PLAIN" => Some(Auth::Plain),
                        "LOGIN" => Some(Auth::Login),
                        _ => None,
                    });
                    abilities.auth = abilities.auth.into_iter().chain(known).min();
                }
                _ => {}
            }
        }
        abilities
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(lines: &[&str]) -> Abilities {
        let lines = ["mail.example.com"].iter().chain(lines);
        Abilities::of(&Reply {
            code: 250,
            lines: lines.map(|line| (*line).to_owned()).collect(),
        })
    }

    #[test]
    fn abilities_are_read() {
        let all = offered(&[
            "SIZE 1000",
            "StartTLS",
            "AUTH CRAM-MD5 LOGIN PLAIN",
            "SMTPUTF8",
        ]);
        let expected = Abilities {
            starttls: true,
            auth: Some(Auth::Plain),
            utf8: true,
            size: Some(1000),
        };
        assert_eq!(all, expected);
        assert_eq!(
            offered(&["AUTH=LOGIN", "AUTH GSSAPI"]).auth,
            Some(Auth::Login)
        );
        assert_eq!(
            offered(&["SIZE 0", "AUTH XOAUTH2", "AUTHENTIC PLAIN"]),
            Abilities::default()
        );
        assert_eq!(offered(&["SIZE"]), Abilities::default());
        // The first line is the server's name, whatever it is.
        let named = Abilities::of(&Reply {
            code: 250,
            lines: vec!["STARTTLS".to_owned()],
        });
        assert_eq!(named, Abilities::default());
    }
}
