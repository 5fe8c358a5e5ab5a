//! A request over HTTP, as the step that performs it takes it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Lower;
use super::entry::{Entry, Slot};
use super::text::constant;
use crate::codes::{F012, F017, F018};
use crate::diagnostic::{Diagnostic, Span, Spanned};
use crate::expr::Expr;
use crate::fields::{BASIC, HTTP, IDEMPOTENCY, Is, METHODS, PAGING, TIMEOUTS};
use crate::model::{Act, Kind, Tree};
use crate::size::bytes;
use crate::yaml::{self, Node};

/// Headers that carry what nobody else may know.
const CONFIDENTIAL: [&str; 5] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "cookie",
];

/// Members of an input, in the order of the file.
type Members = Vec<(Spanned<String>, Tree)>;

impl Lower {
    pub(super) fn http(&mut self, slot: Slot<'_>) -> Option<Arc<Act>> {
        let word = slot.name.span;
        let entry = self.entry(&HTTP, slot.node, word)?;
        let mut members = Members::new();
        let target = self.target(entry, &mut members);
        let mut exprs = BTreeMap::new();
        for (name, _) in entry.written() {
            let Some(field) = HTTP.field(&name.it) else {
                continue;
            };
            let Some(slot) = entry.slot(field.name) else {
                continue;
            };
            let tree = match field.name {
                "paging" => self.paging(slot, &mut exprs),
                name if METHODS.contains(&name) || matches!(name, "url" | "method") => continue,
                _ => self.http_field(entry, slot),
            };
            members.extend(tree.map(|tree| (name.clone(), tree)));
        }
        target?;
        self.check_paging(entry);
        Some(Arc::new(Act {
            kind: Kind::Http,
            input: Tree::Map(members),
            exprs,
            span: word,
            shadow: None,
        }))
    }

    /// Pages are followed only where asking again is free.
    fn check_paging(&mut self, entry: Entry<'_>) {
        let method = entry.slot("method").and_then(|slot| slot.node.scalar());
        let gets = entry.has("get") || method.is_some_and(|it| it.eq_ignore_ascii_case("get"));
        if let Some(slot) = entry.slot("paging").filter(|_| !gets) {
            let title = "`paging` follows a `get`";
            let label = "the next page cannot be asked for by another method";
            self.report(Diagnostic::error(F018, slot.name.span, title, label));
        }
    }

    /// The method and the address.
    fn target(&mut self, entry: Entry<'_>, members: &mut Members) -> Option<()> {
        let short = METHODS.iter().find_map(|name| entry.slot(name));
        let (method, span, url) = if let Some(slot) = short {
            (slot.field.name.to_uppercase(), slot.name.span, slot)
        } else {
            let url = entry.slot("url")?;
            let method = self.text(entry, "method")?;
            (self.method(&method)?, method.span, url)
        };
        let template = self.template_in(url)?;
        self.check_address(url.node);
        let name = |it: &str| Spanned {
            it: it.to_owned(),
            span,
        };
        members.push((name("method"), Tree::Text(constant(&method, span))));
        members.push((name("url"), Tree::Text(template)));
        Some(())
    }

    /// One field beside method and address.
    fn http_field(&mut self, entry: Entry<'_>, slot: Slot<'_>) -> Option<Tree> {
        match slot.field.name {
            "headers" => {
                let tree = self.texts(slot, false);
                self.check_headers(slot.node);
                Some(tree)
            }
            "query" | "form" => Some(self.texts(slot, true)),
            "json" => Some(self.tree(slot.node)),
            "multipart" => self.multipart(slot),
            "basic" => self.basic(slot),
            "bearer" => {
                self.confidential("bearer", slot.node);
                self.template_in(slot).map(Tree::Text)
            }
            "idempotency" => self.idempotency(slot),
            "timeouts" => self.timeouts(slot),
            "redirects" => {
                let number = self.whole(entry, "redirects")?;
                Some(Tree::Number(number.to_string()))
            }
            "limit" => self.limit(slot),
            "expect" => self.statuses(slot),
            _ => self.template_in(slot).map(Tree::Text),
        }
    }

    /// Text that must not be known to readers of the file.
    fn confidential(&mut self, field: &str, node: &Node) {
        if node.scalar().is_some_and(|text| !text.contains("${{")) {
            self.in_clear(field, node.span);
        }
    }

    fn check_headers(&mut self, node: &Node) {
        let yaml::Kind::Map(entries) = &node.kind else {
            return;
        };
        for (name, value) in entries {
            self.check_header(&name.it, name.span);
            if CONFIDENTIAL.contains(&name.it.to_ascii_lowercase().as_str()) {
                self.confidential(&name.it, value);
            }
        }
    }

    fn check_header(&mut self, name: &str, at: Span) {
        let fits = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(fits) {
            let title = "that cannot be the name of a header";
            let label = "letters, digits and `-`";
            self.report(Diagnostic::error(F012, at, title, label));
        }
    }

    fn basic(&mut self, slot: Slot<'_>) -> Option<Tree> {
        let entry = self.entry(&BASIC, slot.node, slot.name.span)?;
        if let Some(slot) = entry.slot("password") {
            self.confidential("password", slot.node);
        }
        Some(self.tree(slot.node))
    }

    fn idempotency(&mut self, slot: Slot<'_>) -> Option<Tree> {
        let entry = self.entry(&IDEMPOTENCY, slot.node, slot.name.span)?;
        if let Some(header) = self.text(entry, "header") {
            self.check_header(&header.it, header.span);
        }
        self.duration(entry, "window");
        self.boolean(entry, "quoted");
        Some(self.tree(slot.node))
    }

    fn timeouts(&mut self, slot: Slot<'_>) -> Option<Tree> {
        let entry = self.entry(&TIMEOUTS, slot.node, slot.name.span)?;
        for field in TIMEOUTS.fields {
            self.duration(entry, field.name);
        }
        Some(self.tree(slot.node))
    }

    pub(super) fn limit(&mut self, slot: Slot<'_>) -> Option<Tree> {
        let text = self.literal(slot)?;
        if bytes(text).is_none() {
            let name = slot.field.name;
            let title = format!("`{name}` is not a size");
            let label = "a number with B, KiB or MiB, from 1B to 16MiB";
            let found = Diagnostic::error(F017, slot.node.span, title, label);
            self.report(found.help(format!("such as {name}: 4MiB")));
            return None;
        }
        Some(Tree::Text(constant(text, slot.node.span)))
    }

    fn statuses(&mut self, slot: Slot<'_>) -> Option<Tree> {
        self.codes(slot, "an HTTP status", 200..=599)
    }

    /// Numbers between these: a list of them, or one.
    pub(super) fn codes(
        &mut self,
        slot: Slot<'_>,
        what: &str,
        range: RangeInclusive<u64>,
    ) -> Option<Tree> {
        let items = match &slot.node.kind {
            yaml::Kind::List(items) if !items.is_empty() => items.as_slice(),
            yaml::Kind::Number(_) => std::slice::from_ref(slot.node),
            _ => {
                self.wrong_type(slot);
                return None;
            }
        };
        for item in items {
            let code = match &item.kind {
                yaml::Kind::Number(text) => text.parse().ok(),
                _ => None,
            };
            if !code.is_some_and(|code| range.contains(&code)) {
                let title = format!("`{}` has something that is not {what}", slot.field.name);
                let (min, max) = (range.start(), range.end());
                let label = format!("a number from {min} to {max} is due here");
                self.report(Diagnostic::error(F017, item.span, title, label));
            }
        }
        Some(self.tree(slot.node))
    }

    fn paging(&mut self, slot: Slot<'_>, exprs: &mut BTreeMap<&'static str, Expr>) -> Option<Tree> {
        let entry = self.entry(&PAGING, slot.node, slot.name.span)?;
        let items = self.expr(entry, "items");
        let next = self.expr(entry, "next");
        exprs.extend(items.map(|expr| ("paging.items", expr)));
        exprs.extend(next.map(|expr| ("paging.next", expr)));
        self.text(entry, "cursor_in");
        self.whole(entry, "max");
        let plain = entry.written().iter().filter(|(name, _)| {
            let field = PAGING.field(&name.it);
            field.is_some_and(|field| !matches!(field.is, Is::Expr))
        });
        let mut members = Members::new();
        for (name, node) in plain {
            members.push((name.clone(), self.tree(node)));
        }
        Some(Tree::Map(members))
    }
}
