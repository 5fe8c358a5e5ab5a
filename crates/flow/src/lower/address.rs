//! Methods and addresses, as far as they are known before their expressions have values.

use super::Lower;
use crate::codes::{F013, F017, F020};
use crate::diagnostic::{Diagnostic, Spanned};
use crate::yaml::Node;

impl Lower {
    pub(super) fn method(&mut self, method: &Spanned<String>) -> Option<String> {
        let text = method.it.as_str();
        let fits = |c: char| c.is_ascii_alphabetic() || c == '-';
        if !text.is_empty() && text.len() <= 20 && text.chars().all(fits) {
            return Some(text.to_ascii_uppercase());
        }
        let title = "`method` is not a method of HTTP";
        self.report(Diagnostic::error(
            F017,
            method.span,
            title,
            "such as GET or POST",
        ));
        None
    }

    /// What can be told about an address before its expressions have values.
    pub(super) fn check_address(&mut self, node: &Node) {
        let text = node.scalar().unwrap_or_default();
        if text.starts_with("${{") {
            return;
        }
        let Some(rest) = strip_scheme(text) else {
            let title = "the address has neither http:// nor https://";
            let found = Diagnostic::error(F020, node.span, title, "not an address of HTTP");
            let help = if text.contains("://") {
                "only http and https are spoken".to_owned()
            } else {
                format!("write https://{}", text.trim_start_matches('/'))
            };
            return self.report(found.help(help));
        };
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.is_empty() {
            let title = "the address has no host";
            self.report(Diagnostic::error(
                F020,
                node.span,
                title,
                "a host is due after ://",
            ));
        }
        if host.contains('@') {
            let title = "the address has a user or password in it";
            let label = "it would be written to logs and history";
            let found = Diagnostic::error(F013, node.span, title, label);
            self.report(found.help("write basic: {user: …, password: \"${{ secrets.NAME }}\"}"));
        }
        if let Some(wrong) = text.split("${{").next().and_then(unfit) {
            let title = format!("the address has {wrong:?} in it");
            let label = "spaces and control characters must be percent-escaped";
            self.report(Diagnostic::error(F020, node.span, title, label));
        }
    }
}

fn strip_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
}

/// What cannot stand in an address.
fn unfit(text: &str) -> Option<char> {
    text.chars().find(|c| c.is_whitespace() || c.is_control())
}
