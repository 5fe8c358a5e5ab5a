//! Links to a run that are handed out: to whoever calls back, and to whoever decides.
//!
//! Owns their form and their signature. A token says which step of which run it is for, and proves that this
//! server made it; it is kept nowhere, so whoever steals the database has none. What makes one good for a single
//! use is the entry in the ledger that it leads to.
//!
//! The invariant: nothing about a token is believed before its signature of 256 bits is right, and every other
//! text is refused alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use semel_flow::model::GROUP;
use semel_store::run::RunId;

/// What the signature is derived for, so that the key is good for nothing else.
const USE: &str = "semel 2026 signature of a link to a run";
const MAC_BYTES: usize = 32;
/// No name of a step or a person is nearly as long.
const MAX_TEXT: usize = 2048;

/// What tokens are signed with.
#[derive(Clone)]
pub struct TokenKey([u8; 32]);

impl std::fmt::Debug for TokenKey {
    /// Says nothing about the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenKey").finish_non_exhaustive()
    }
}

/// What a token is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To call back.
    Callback,
    /// To see a request and decide it.
    Approve,
}

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is good for.
    pub purpose: Purpose,
    /// Which run.
    pub run: RunId,
    /// Which step of it.
    pub step: Box<str>,
    /// Who it was made for.
    pub person: Option<Box<str>>,
}

impl TokenKey {
    /// The key that is made from secret bytes.
    #[must_use]
    pub fn new(secret: &[u8; 32]) -> TokenKey {
        TokenKey(blake3::derive_key(USE, secret))
    }

    /// The text of a token.
    #[must_use]
    pub fn sign(&self, token: &Token) -> String {
        let said = said(token);
        let mut bytes = blake3::keyed_hash(&self.0, &said).as_bytes().to_vec();
        bytes.extend(said);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// What a token says, if it was signed with this key.
    #[must_use]
    pub fn read(&self, text: &str) -> Option<Token> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (mac, said) = bytes.split_first_chunk::<MAC_BYTES>()?;
        // Compares in constant time.
        if blake3::keyed_hash(&self.0, said) != *mac {
            return None;
        }
        understood(said)
    }
}

/// One byte for the purpose, the run, the step, and after a zero the person.
fn said(token: &Token) -> Vec<u8> {
    let purpose = match token.purpose {
        Purpose::Callback => b'c',
        Purpose::Approve => b'a',
    };
    let mut said = vec![purpose];
    said.extend(token.run.0);
    said.extend(token.step.as_bytes());
    if let Some(person) = &token.person {
        said.push(0);
        said.extend(person.as_bytes());
    }
    said
}

fn understood(said: &[u8]) -> Option<Token> {
    let (purpose, rest) = said.split_first()?;
    let (run, names) = rest.split_first_chunk::<16>()?;
    let names = std::str::from_utf8(names).ok()?;
    let (step, person) = match names.split_once('\0') {
        Some((step, person)) => (step, Some(person.into())),
        None => (names, None),
    };
    Some(Token {
        purpose: match purpose {
            b'c' => Purpose::Callback,
            b'a' => Purpose::Approve,
            _ => return None,
        },
        run: RunId(*run),
        step: step.into(),
        person,
    })
}

/// Where the key comes from: it may come to be while the server runs.
pub trait LinkKeys: Send + Sync {
    /// The key; `None` while there is none.
    fn link_key(&self) -> Option<TokenKey>;
}

/// Makes links to this server.
#[derive(Clone)]
pub struct Links {
    base: Arc<str>,
    keys: Arc<dyn LinkKeys>,
    groups: Arc<Groups>,
}

/// The persons of each group.
pub type Groups = BTreeMap<String, Vec<String>>;

impl std::fmt::Debug for Links {
    /// Says nothing about the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut said = f.debug_struct("Links");
        said.field("base", &self.base).finish_non_exhaustive()
    }
}

/// For an engine whose runs hand out no links.
struct NoKey;

impl LinkKeys for NoKey {
    fn link_key(&self) -> Option<TokenKey> {
        None
    }
}

impl LinkKeys for TokenKey {
    fn link_key(&self) -> Option<TokenKey> {
        Some(self.clone())
    }
}

impl Default for Links {
    fn default() -> Links {
        Links::new("", Arc::new(NoKey))
    }
}

impl Links {
    /// Links that begin with `base`, where the world reaches this server.
    #[must_use]
    pub fn new(base: &str, keys: Arc<dyn LinkKeys>) -> Links {
        Links {
            base: base.trim_end_matches('/').into(),
            keys,
            groups: Arc::default(),
        }
    }

    /// The same, with who is in which group.
    #[must_use]
    pub fn with_groups(self, groups: Groups) -> Links {
        let groups = Arc::new(groups);
        Links { groups, ..self }
    }

    /// The persons that some names of persons and groups (`group:NAME`) stand for.
    #[must_use]
    pub fn persons<'l>(&'l self, named: &[&'l str]) -> Vec<&'l str> {
        let mut persons = Vec::new();
        for name in named {
            match name.strip_prefix(GROUP) {
                Some(group) => {
                    let members = self.groups.get(group).into_iter().flatten();
                    persons.extend(members.map(String::as_str));
                }
                None => persons.push(*name),
            }
        }
        persons
    }

    /// Where to call back for a step; `None` while there is no key.
    #[must_use]
    pub fn callback(&self, run: RunId, step: &str) -> Option<String> {
        let token = Token {
            purpose: Purpose::Callback,
            run,
            step: step.into(),
            person: None,
        };
        self.link("callbacks", &token)
    }

    /// Where a person decides a step; `None` while there is no key.
    #[must_use]
    pub fn approval(&self, run: RunId, step: &str, person: &str) -> Option<String> {
        let token = Token {
            purpose: Purpose::Approve,
            run,
            step: step.into(),
            person: Some(person.into()),
        };
        self.link("approve", &token)
    }

    /// What a token says, if this server made it for that.
    #[must_use]
    pub fn read(&self, text: &str, purpose: Purpose) -> Option<Token> {
        let token = self.keys.link_key()?.read(text)?;
        (token.purpose == purpose).then_some(token)
    }

    fn link(&self, place: &str, token: &Token) -> Option<String> {
        let text = self.keys.link_key()?.sign(token);
        Some(format!("{}/{place}/{text}", self.base))
    }
}

/// The text without the tokens of links in it; `None` if there are none.
#[must_use]
pub fn masked(text: &str) -> Option<String> {
    /// No token is shorter: the signature, the purpose and the run.
    const LEAST: usize = (MAC_BYTES + 17) * 4 / 3;
    let is_sign = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let (mut shown, mut rest, mut found) = (String::new(), text, false);
    while let Some(at) = ["/callbacks/", "/approve/"]
        .iter()
        .filter_map(|place| Some(rest.find(place)? + place.len()))
        .min()
    {
        let (before, after) = rest.split_at(at);
        let length = after.find(|c| !is_sign(c)).unwrap_or(after.len());
        shown.push_str(before);
        if length < LEAST {
            rest = after;
            continue;
        }
        shown.push('…');
        rest = &after[length..];
        found = true;
    }
    shown.push_str(rest);
    found.then_some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_shown_without_what_makes_them_good() {
        let links = Links::new("https://semel.example", Arc::new(TokenKey::new(&[1; 32])));
        let link = links.callback(RunId([7; 16]), "paid").unwrap();
        let other = links.approval(RunId([7; 16]), "paid", "ann").unwrap();
        let text = format!("see /approve/this: {other}, {link}?a=1");
        assert_eq!(
            masked(&text).unwrap(),
            "see /approve/this: https://semel.example/approve/…, https://semel.example/callbacks/…?a=1"
        );
        assert_eq!(masked("/callbacks/short … /approve/"), None);
    }

    fn token(purpose: Purpose, person: Option<&str>) -> Token {
        Token {
            purpose,
            run: RunId([7; 16]),
            step: "paid".into(),
            person: person.map(Into::into),
        }
    }

    #[test]
    fn a_token_says_what_was_signed() {
        let key = TokenKey::new(&[1; 32]);
        for token in [
            token(Purpose::Callback, None),
            token(Purpose::Approve, Some("ann@example.com")),
        ] {
            let text = key.sign(&token);
            assert!(
                text.bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
            );
            assert_eq!(key.read(&text), Some(token));
        }
    }

    #[test]
    fn every_other_text_is_refused() {
        let key = TokenKey::new(&[1; 32]);
        let token = token(Purpose::Approve, Some("ann"));
        let text = key.sign(&token);
        assert_eq!(TokenKey::new(&[2; 32]).read(&text), None, "another key");
        for at in 0..text.len() {
            let mut other = text.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(key.read(&other), None, "{at}");
        }
        for at in 0..text.len() {
            assert_eq!(key.read(&text[..at]), None);
        }
        for other in ["", "AAAA", "ä", &format!("{text}A"), &"A".repeat(5000)] {
            assert_eq!(key.read(other), None, "{other}");
        }
    }

    #[test]
    fn a_link_is_good_for_one_thing() {
        let links = Links::new("https://semel.example/", Arc::new(TokenKey::new(&[1; 32])));
        let run = RunId([7; 16]);
        let link = links.callback(run, "paid").unwrap();
        let text = link
            .strip_prefix("https://semel.example/callbacks/")
            .unwrap();
        assert_eq!(
            links.read(text, Purpose::Callback),
            Some(token(Purpose::Callback, None))
        );
        assert_eq!(links.read(text, Purpose::Approve), None);
        let link = links.approval(run, "paid", "ann").unwrap();
        let text = link.strip_prefix("https://semel.example/approve/").unwrap();
        assert_eq!(
            links
                .read(text, Purpose::Approve)
                .unwrap()
                .person
                .as_deref(),
            Some("ann")
        );
        assert_eq!(Links::default().callback(run, "paid"), None);
    }
}
