//! Expressions and templates, kept as they are written.

use crate::diagnostic::{Diagnostic, Span};
use crate::expr::{Expr, Part, Template};

pub(super) fn expr(source: &str, span: Span) -> Expr {
    Expr {
        source: source.into(),
        span,
        volatile: false,
    }
}

pub(super) fn template(text: &str, span: Span) -> Result<Template, Diagnostic> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${{") {
        let Some((inner, next)) = after.split_once("}}") else {
            let title = "`${{` has no `}}`";
            let code = crate::codes::F019;
            return Err(Diagnostic::error(code, span, title, "it never ends"));
        };
        if !before.is_empty() {
            parts.push(Part::Text(before.into()));
        }
        parts.push(Part::Expr(expr(inner.trim(), span)));
        rest = next;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.into()));
    }
    Ok(Template { parts, span })
}
