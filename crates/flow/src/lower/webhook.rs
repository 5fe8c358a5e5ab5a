//! A request from outside, and how its sender is recognised.

use super::Lower;
use super::entry::{Entry, Slot};
use super::scalar::spanned;
use crate::codes::{F012, F018};
use crate::diagnostic::{Diagnostic, Spanned};
use crate::fields::{LATEST, WEBHOOK};
use crate::model::{Latest, Preset, Secrets, Verify, Webhook};
use crate::yaml::Kind;

/// The longest path of a hook, in bytes.
const MAX_PATH_BYTES: usize = 200;
/// What every path begins with.
const HOOKS: &str = "/hooks/";

impl Lower {
    pub(super) fn webhook(&mut self, slot: Slot<'_>) -> Option<Webhook> {
        let entry = self.entry(&WEBHOOK, slot.node, slot.name.span)?;
        let path = self.hook_path(entry);
        let verify = self.verify(entry);
        let filter = self.expr(entry, "filter");
        let latest = self.latest(entry);
        Some(Webhook {
            path: path?,
            verify: verify?,
            filter,
            latest,
        })
    }

    fn hook_path(&mut self, entry: Entry<'_>) -> Option<Spanned<String>> {
        let slot = entry.slot("path")?;
        let text = self.literal(slot)?;
        let rest = text.strip_prefix(HOOKS);
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
        let part = |part: &str| !matches!(part, "" | "." | "..") && part.chars().all(fits);
        let whole = rest.is_some_and(|rest| rest.split('/').all(part));
        if whole && text.len() <= MAX_PATH_BYTES {
            return Some(spanned(text, slot.node));
        }
        let title = if rest.is_none() {
            format!("`path` does not begin with `{HOOKS}`")
        } else if whole {
            format!(
                "`path` has {} bytes; the limit is {MAX_PATH_BYTES}",
                text.len()
            )
        } else {
            "`path` has something else than letters, digits, `-`, `_`, `.` and `~`".to_owned()
        };
        let mut found = Diagnostic::error(F012, slot.node.span, title, "not a path for a hook");
        let bare = text.trim_matches('/');
        if rest.is_none() && bare.split('/').all(part) {
            found = found.help(format!("write path: {HOOKS}{bare}"));
        }
        self.report(found);
        None
    }

    fn verify(&mut self, entry: Entry<'_>) -> Option<Verify> {
        let secrets = self.secrets(entry);
        let header = self.text(entry, "header").map(|text| text.it);
        let encoding = self.word(entry, "encoding").map(|word| word.it.to_owned());
        let prefix = self.text(entry, "prefix").map(|text| text.it);
        let tolerance = self.duration(entry, "tolerance").map(|found| found.it);
        let word = self.word(entry, "verify")?;
        let preset = Preset::ALL
            .into_iter()
            .find(|preset| preset.name() == word.it)?;
        self.fits_preset(entry, preset);
        Some(Verify {
            preset: Spanned {
                it: preset,
                span: word.span,
            },
            secrets,
            header,
            encoding,
            prefix,
            tolerance,
        })
    }

    /// Whether the fields beside `verify` are those that it needs.
    fn fits_preset(&mut self, entry: Entry<'_>, preset: Preset) {
        let given = ["secret", "secrets"]
            .into_iter()
            .find(|name| entry.has(name));
        match given {
            None if preset != Preset::None => {
                let why = format!("what the sender signs with, as `verify: {}`", preset.name());
                self.lacks(entry, "secret", &format!("{why}: ${{{{ secrets.NAME }}}}"));
            }
            Some(name) if preset == Preset::None => {
                let why = "with `verify: none` it would never be looked at";
                self.pointless(entry, name, why);
            }
            _ => {}
        }
        if preset == Preset::GenericHmac {
            if !entry.has("header") {
                let why = "which header carries the signature, such as X-Signature";
                self.lacks(entry, "header", why);
            }
            return;
        }
        for name in ["header", "encoding", "prefix"] {
            let why = format!("`verify: {}` has its own", preset.name());
            self.pointless(entry, name, &why);
        }
    }

    /// A field that means nothing beside what else is there.
    fn pointless(&mut self, entry: Entry<'_>, name: &'static str, why: &str) {
        if let Some(slot) = entry.slot(name) {
            let title = format!("`{name}` has no meaning here");
            let found = Diagnostic::error(F018, slot.name.span, title, why);
            self.report(found.help(format!("leave out `{name}`, or choose another `verify`")));
        }
    }

    fn secrets(&mut self, entry: Entry<'_>) -> Secrets {
        if let Some(slot) = entry.slot("secret") {
            return self.secret("secret", slot.node).into_iter().collect();
        }
        let Some(slot) = entry.slot("secrets") else {
            return Secrets::new();
        };
        let Kind::List(items) = &slot.node.kind else {
            self.wrong_type(slot);
            return Secrets::new();
        };
        if items.is_empty() {
            self.wrong_type(slot);
        }
        let items = items.iter();
        items
            .filter_map(|item| self.secret("secrets", item))
            .collect()
    }

    fn latest(&mut self, entry: Entry<'_>) -> Option<Latest> {
        let slot = entry.slot("latest")?;
        let inner = self.entry(&LATEST, slot.node, slot.name.span)?;
        let of = self.template(inner, "of");
        let version = self.expr(inner, "version");
        Some(Latest {
            of: of?,
            version: version?,
        })
    }
}
