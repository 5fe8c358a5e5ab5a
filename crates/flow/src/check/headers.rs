//! Headers of a webhook's request: which a flow uses, which it may not, and which a resend repeats.
//!
//! Owns the code `C014`. Only the headers that a flow names are kept with its runs; so each must be
//! written out, and one that proves who somebody is may not be used: what is kept is shown.

use std::collections::BTreeSet;

use super::index::Index;
use super::visit::{Spot, visit};
use crate::codes::C014;
use crate::diagnostic::{Diagnostic, Span};
use crate::expr::ast::{Ast, Node};
use crate::model::{Flow, Trigger};

/// Words of which a header's name may have none: it would carry a credential.
const CREDENTIALS: [&str; 14] = [
    "apikey",
    "auth",
    "authentication",
    "authorization",
    "cookie",
    "credential",
    "hmac",
    "jwt",
    "passwd",
    "password",
    "secret",
    "sig",
    "signature",
    "token",
];

/// Names of one event, which its sender repeats when it sends it again: as Shopify, GitHub and
/// Standard Webhooks say of theirs, and as the last two are meant.
const EVENTS: [&str; 6] = [
    "x-github-delivery",
    "x-shopify-event-id",
    "x-shopify-webhook-id",
    "webhook-id",
    "idempotency-key",
    "x-event-id",
];

/// What kind of event it is and whose; the same when it is sent again, and for many events.
const KINDS: [&str; 8] = [
    "content-type",
    "x-github-event",
    "x-github-hook-id",
    "x-github-hook-installation-target-id",
    "x-github-hook-installation-target-type",
    "x-shopify-api-version",
    "x-shopify-shop-domain",
    "x-shopify-topic",
];

/// Different whenever something is sent.
const DELIVERIES: [&str; 6] = [
    "date",
    "traceparent",
    "webhook-timestamp",
    "x-request-id",
    "x-slack-request-timestamp",
    "x-slack-retry-num",
];

/// What a resend makes of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resent {
    /// The same, and no other event has it.
    Event,
    /// The same, as with other events.
    Kind,
    /// Another one.
    Differs,
    /// Nobody has said.
    Unknown,
}

/// What a resend makes of the header of that name.
pub(super) fn resent(name: &str) -> Resent {
    if EVENTS.contains(&name) {
        Resent::Event
    } else if KINDS.contains(&name) {
        Resent::Kind
    } else if DELIVERIES.contains(&name) {
        Resent::Differs
    } else {
        Resent::Unknown
    }
}

/// Words of which a header's name has one if it is likely to be another at every delivery.
const LIKELY: [&str; 9] = [
    "attempt",
    "date",
    "delivery",
    "nonce",
    "request",
    "retry",
    "time",
    "timestamp",
    "trace",
];

/// Whether whoever sends an event again repeats the header of that name, as far as its name tells.
#[must_use]
pub fn is_repeated(name: &str) -> bool {
    match resent(name) {
        Resent::Event | Resent::Kind => true,
        Resent::Differs => false,
        Resent::Unknown => !name.split('-').any(|word| LIKELY.contains(&word)),
    }
}

/// The headers that a flow uses, by their names in lower case: all that is to be kept of a request
/// beside its body.
#[must_use]
pub fn headers(flow: &Flow) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let index = Index::of(flow);
    visit(flow, &index, &mut |_, spot| {
        if let Spot::Expr(expr, _) = spot {
            collect(expr.ast(), &mut names);
        }
    });
    names.retain(|name| !is_credential(flow, name));
    names
}

fn collect(ast: &Ast, names: &mut BTreeSet<String>) {
    names.extend(header_of(ast).map(str::to_owned));
    ast.parts().for_each(|part| collect(part, names));
}

/// The header that `request.headers["…"]` names, however it is written.
pub(super) fn header_of(ast: &Ast) -> Option<&str> {
    let (of, name) = member(ast)?;
    let (root, headers) = member(of)?;
    let is_request = matches!(&root.node, Node::Ident(root) if &**root == "request");
    (is_request && headers == "headers").then_some(name)
}

fn member(ast: &Ast) -> Option<(&Ast, &str)> {
    match &ast.node {
        Node::Select { of, name } | Node::Has { of, name } => Some((of, name)),
        Node::Index { of, at } => Some((of, at.text()?)),
        _ => None,
    }
}

/// What is wrong with the header that an expression names; none: it names none.
pub(super) fn check_header(flow: &Flow, name: Option<&str>, span: Span) -> Option<Diagnostic> {
    let Some(name) = name else {
        let title = "which header is meant must be written out";
        let label = "only the headers that the flow names are kept";
        let help = "write request.headers[\"x-github-event\"], or has() and default() around it";
        return Some(Diagnostic::error(C014, span, title, label).help(help));
    };
    let lower = name.to_ascii_lowercase();
    if is_credential(flow, &lower) {
        let title = format!("the header `{name}` may not be used");
        let label = "it proves who somebody is, and what a flow uses is kept and shown";
        let help = "`verify` checks who the sender is; a flow may use what it says of the event";
        return Some(Diagnostic::error(C014, span, title, label).help(help));
    }
    if !is_name(name) {
        let title = format!("no header can be called `{name}`");
        let label = "letters, digits and `-` make a header's name";
        return Some(Diagnostic::error(C014, span, title, label));
    }
    if lower != name {
        let title = format!("the header `{name}` is known in lower case");
        let label = "under this name there is none";
        let help = format!("write request.headers[\"{lower}\"]");
        return Some(Diagnostic::error(C014, span, title, label).help(help));
    }
    None
}

fn is_name(name: &str) -> bool {
    let sign = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(sign)
}

/// By its name, or because a sender of this flow signs with it.
fn is_credential(flow: &Flow, name: &str) -> bool {
    let words = name.split(['-', '_']);
    let words: Vec<&str> = words.map(|word| word.trim_end_matches('s')).collect();
    let by_name = words.iter().any(|word| CREDENTIALS.contains(word));
    let is_key = words
        .windows(2)
        .any(|two| matches!(two, ["api" | "access", "key"]));
    let signs = |trigger: &Trigger| match trigger {
        Trigger::Webhook(hook) => {
            let header = hook.verify.header.as_deref();
            header.is_some_and(|header| header.eq_ignore_ascii_case(name))
        }
        _ => false,
    };
    by_name || is_key || flow.triggers.iter().any(signs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_wherever_they_stand_and_credentials_never() {
        let source = "\
name: a
on:
  webhook:
    path: /hooks/a
    verify: generic-hmac
    header: X-Acme-Proof
    secret: '${{ secrets.S }}'
    filter: request.headers[\"x-kind\"] == \"a\" && has(request.headers.`x-extra`)
key: a/${{ default(request.headers[\"x-event-id\"], event.id) }}
let: {who: 'request[\"headers\"].origin', mine: 'event.headers.none'}
steps:
  - id: one
    http: {post: 'https://a.example', headers: {x: '${{ request.headers[\"x-step\"] }}'}}
    result: headers.mine + request.headers[\"x-result\"]
  - id: two
    set: {a: '${{ request.headers.authorization }}', b: '${{ request.headers[\"x-acme-proof\"] }}'}
";
        let flow = crate::read(source).flow.expect("a flow");
        let names: Vec<_> = headers(&flow).into_iter().collect();
        let expected = [
            "origin",
            "x-event-id",
            "x-extra",
            "x-kind",
            "x-result",
            "x-step",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn what_proves_who_somebody_is_is_known_by_its_name() {
        let source = "name: a\nsteps: [{id: s, stop: }]\n";
        let flow = crate::read(source).flow.expect("a flow");
        for name in [
            "authorization",
            "proxy-authorization",
            "cookie",
            "stripe-signature",
            "x-hub-signature",
            "x-hub-signature-256",
            "x-shopify-hmac-sha256",
            "x-slack-signature",
            "webhook-signature",
            "typeform-signature",
            "x-gitlab-token",
            "x-api-key",
            "x_auth_tokens",
        ] {
            assert!(is_credential(&flow, name), "{name}");
        }
        let known = EVENTS.iter().chain(&KINDS).chain(&DELIVERIES);
        for name in known.chain(&["user-agent", "x-forwarded-for", "x-gitlab-event"]) {
            assert!(!is_credential(&flow, name), "{name}");
        }
    }
}
