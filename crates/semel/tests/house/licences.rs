//! The policy in deny.toml, checked without cargo-deny: licences, bans and sources.

use std::collections::BTreeSet;
use std::path::Path;

struct Policy {
    licences: BTreeSet<String>,
    banned: BTreeSet<String>,
}

fn policy() -> Policy {
    let text = crate::read(Path::new("deny.toml"));
    let table: toml::Table = text.parse().expect("deny.toml");
    let list = |section: &str, key: &str| table[section][key].as_array().expect(key).clone();
    let licences = list("licenses", "allow");
    let banned = list("bans", "deny");
    let text = |value: &toml::Value| value.as_str().expect("text").to_owned();
    Policy {
        licences: licences.iter().map(text).collect(),
        banned: banned.iter().map(|ban| text(&ban["crate"])).collect(),
    }
}

/// Reads a licence expression: `OR` of `AND` of licences, with brackets.
/// Some older packages write `/` for `OR`.
struct Expression<'a> {
    words: Vec<String>,
    at: usize,
    allowed: &'a BTreeSet<String>,
}

impl Expression<'_> {
    fn is_allowed(text: &str, allowed: &BTreeSet<String>) -> bool {
        let spaced = text.replace('/', " OR ").replace('(', " ( ");
        let spaced = spaced
            .replace(')', " ) ")
            .replace(" WITH ", "\u{a0}WITH\u{a0}");
        let words = spaced.split(' ').filter(|word| !word.is_empty());
        let mut expression = Expression {
            words: words.map(|word| word.replace('\u{a0}', " ")).collect(),
            at: 0,
            allowed,
        };
        let verdict = expression.any();
        verdict && expression.at == expression.words.len()
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|next| next == word);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> bool {
        let mut verdict = self.every();
        while self.take("OR") {
            verdict |= self.every();
        }
        verdict
    }

    fn every(&mut self) -> bool {
        let mut verdict = self.one();
        while self.take("AND") {
            verdict &= self.one();
        }
        verdict
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let verdict = self.any();
            return self.take(")") && verdict;
        }
        let licence = self.words.get(self.at);
        self.at += 1;
        licence.is_some_and(|licence| self.allowed.contains(licence))
    }
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    let allowed = BTreeSet::from(allowed);
    for (text, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("(GPL-3.0 OR MIT) AND ISC", true),
        ("MIT AND (GPL-3.0 OR LGPL-3.0)", false),
        ("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true),
        ("MIT GPL-3.0", false),
        ("", false),
    ] {
        assert_eq!(Expression::is_allowed(text, &allowed), expected, "{text}");
    }
}

#[test]
fn every_package_may_be_part_of_semel() {
    let policy = policy();
    let metadata = crate::metadata();
    let resolve = metadata.resolve.as_ref().expect("a resolved graph");
    let mut wrong = Vec::new();
    for package in resolve.nodes.iter().map(|node| &metadata[&node.id]) {
        let name = &package.name;
        let licence = package.license.as_deref().unwrap_or_default();
        if !Expression::is_allowed(licence, &policy.licences) {
            wrong.push(format!("{name}: licence `{licence}` is not allowed"));
        }
        if policy.banned.contains(name.as_str()) {
            wrong.push(format!("{name} is banned"));
        }
        let ours = package.source.is_none();
        if !ours
            && !package
                .source
                .as_ref()
                .is_some_and(cargo_metadata::Source::is_crates_io)
        {
            wrong.push(format!("{name} comes from {:?}", package.source));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
