//! Fields that are text with `${{ }}`, expressions, or trees of both.

use super::Lower;
use super::entry::{Entry, Slot};
use crate::codes::{F005, F011, F012, F013, F019};
use crate::diagnostic::{Diagnostic, Span, Spanned};
use crate::expr::{Expr, Part, Template};
use crate::model::Tree;
use crate::yaml::{Kind, Node};

/// Names that expressions know already.
const TAKEN: [&str; 17] = [
    "event",
    "steps",
    "step",
    "run",
    "secrets",
    "schedule",
    "failure",
    "status",
    "headers",
    "body",
    "cursor",
    "request",
    "true",
    "false",
    "null",
    "in",
    "approvals",
];

impl Lower {
    /// An expression, written bare.
    pub(super) fn expr(&mut self, entry: Entry<'_>, name: &'static str) -> Option<Expr> {
        self.expr_in(entry.slot(name)?)
    }

    pub(super) fn expr_in(&mut self, slot: Slot<'_>) -> Option<Expr> {
        let text = self.scalar(slot)?;
        self.bare(slot.field.name, text, slot.node)
    }

    /// An expression that must not be in `${{ }}`.
    fn bare(&mut self, name: &str, text: &str, node: &Node) -> Option<Expr> {
        if !text.contains("${{") {
            return self.parsed(Expr::parse(text, node.span));
        }
        let title = format!("`{name}` is an expression anyway");
        let label = "`${{ }}` is for expressions inside text";
        let mut found = Diagnostic::error(F011, node.span, title, label);
        let inner = text.trim().strip_prefix("${{");
        let inner = inner.and_then(|text| text.strip_suffix("}}"));
        if let Some(inner) = inner.filter(|inner| !inner.contains("${{")) {
            found = found.help(format!("write {name}: {}", inner.trim()));
        } else {
            found = found.help("write it without `${{` and `}}`; text goes in double quotes");
        }
        self.report(found);
        None
    }

    /// Text with `${{ }}`.
    pub(super) fn template(&mut self, entry: Entry<'_>, name: &'static str) -> Option<Template> {
        let slot = entry.slot(name)?;
        self.template_in(slot)
    }

    pub(super) fn template_in(&mut self, slot: Slot<'_>) -> Option<Template> {
        let text = self.scalar(slot)?;
        self.rendered(text, slot.node)
    }

    /// Text as a template.
    pub(super) fn rendered(&mut self, text: &str, node: &Node) -> Option<Template> {
        self.parsed(Template::parse(text, node.span, node.exact))
    }

    fn parsed<T>(&mut self, parsed: Result<T, Diagnostic>) -> Option<T> {
        parsed.map_err(|found| self.report(found)).ok()
    }

    /// Anything, with `${{ }}` in its text. What could not be read is left out; it was reported.
    pub(super) fn tree(&mut self, node: &Node) -> Tree {
        match &node.kind {
            Kind::Null => Tree::Null,
            Kind::Bool(it) => Tree::Bool(*it),
            Kind::Number(text) => Tree::Number(text.clone()),
            Kind::Text(text) => self.rendered(text, node).map_or(Tree::Null, Tree::Text),
            Kind::List(items) => Tree::List(items.iter().map(|item| self.tree(item)).collect()),
            Kind::Map(entries) => Tree::Map(
                entries
                    .iter()
                    .map(|(name, value)| {
                        self.plain_name(name);
                        (name.clone(), self.tree(value))
                    })
                    .collect(),
            ),
        }
    }

    /// Names of members are sent as they are.
    pub(super) fn plain_name(&mut self, name: &Spanned<String>) {
        if name.it.contains("${{") {
            let title = "a name is taken as it is written";
            let label = "`${{ }}` would not be replaced here";
            self.report(Diagnostic::error(F019, name.span, title, label));
        }
    }

    /// Names with text, or with lists of text.
    pub(super) fn texts(&mut self, slot: Slot<'_>, lists: bool) -> Tree {
        let Kind::Map(entries) = &slot.node.kind else {
            self.wrong_type(slot);
            return Tree::Null;
        };
        let mut members = Vec::with_capacity(entries.len());
        for (name, node) in entries {
            self.plain_name(name);
            let tree = match (&node.kind, node.scalar()) {
                (_, Some(text)) => self.rendered(text, node).map_or(Tree::Null, Tree::Text),
                (Kind::List(_), _) if lists => self.tree(node),
                _ => {
                    let title = format!("`{}` is {}", name.it, node.describe());
                    let label = "text is due here";
                    self.report(Diagnostic::error(F005, node.span, title, label));
                    Tree::Null
                }
            };
            members.push((name.clone(), tree));
        }
        Tree::Map(members)
    }

    /// Names with expressions, in the order of the file.
    pub(super) fn exprs(
        &mut self,
        entry: Entry<'_>,
        name: &'static str,
    ) -> Vec<(Spanned<String>, Expr)> {
        let Some(slot) = entry.slot(name) else {
            return Vec::new();
        };
        let Kind::Map(entries) = &slot.node.kind else {
            self.wrong_type(slot);
            return Vec::new();
        };
        let mut exprs = Vec::with_capacity(entries.len());
        for (name, node) in entries {
            self.variable(name);
            let expr = if let Some(text) = node.scalar() {
                self.bare(&name.it, text, node)
            } else {
                let title = format!("`{}` is {}", name.it, node.describe());
                let label = "an expression is due here";
                self.report(Diagnostic::error(F005, node.span, title, label));
                None
            };
            exprs.extend(expr.map(|expr| (name.clone(), expr)));
        }
        exprs
    }

    /// A name that expressions will use.
    pub(super) fn variable(&mut self, name: &Spanned<String>) {
        let text = name.it.as_str();
        let first = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (title, label) = if !first || !text.chars().all(fits) {
            let title = format!("`{text}` cannot be a name in an expression");
            (title, "letters, digits and `_`, and a letter first")
        } else if TAKEN.contains(&text) {
            (
                format!("`{text}` has a meaning already"),
                "choose another name",
            )
        } else {
            return;
        };
        self.report(Diagnostic::error(F012, name.span, title, label));
    }

    /// The name in `${{ secrets.NAME }}`.
    pub(super) fn secret(&mut self, field: &str, node: &Node) -> Option<Spanned<String>> {
        let text = node.scalar();
        if let Some(name) = text.and_then(secret_name) {
            return Some(Spanned {
                it: name.to_owned(),
                span: node.span,
            });
        }
        if text.is_some_and(|text| text.contains("${{")) {
            let title = format!("`{field}` is not exactly one secret");
            let label = "nothing may stand beside it";
            let found = Diagnostic::error(F013, node.span, title, label);
            self.report(found.help(format!("write {field}: ${{{{ secrets.NAME }}}}")));
        } else {
            self.in_clear(field, node.span);
        }
        None
    }

    /// A secret that stands in the file. Never says what was written.
    pub(super) fn in_clear(&mut self, field: &str, at: Span) {
        let title = format!("`{field}` is written in clear");
        let label = "whoever reads the file would know it";
        self.report(
            Diagnostic::error(F013, at, title, label)
                .help(format!("write {field}: ${{{{ secrets.NAME }}}}"))
                .help("give the server its value with: semel secrets set NAME"),
        );
    }
}

/// The name, if the text is exactly `${{ secrets.NAME }}`.
#[must_use]
pub fn secret_name(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("${{")?.strip_suffix("}}")?.trim();
    let name = inner.strip_prefix("secrets.")?;
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(fits)).then_some(name)
}

/// Text without expressions as a template.
pub(super) fn constant(text: &str, span: Span) -> Template {
    Template {
        parts: vec![Part::Text(text.into())],
        span,
    }
}
