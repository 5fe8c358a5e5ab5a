//! Events as known senders send them: what a flow does not read looks like the real thing too.
//!
//! Owns the outline of an event for each preset and the headers that come with it. What the flow reads is put in by
//! [`Shape::fitted`](crate::shape::Shape::fitted). The invariant: the same number gives the same event.

use semel_flow::Value;
use semel_flow::model::Preset;

/// 2026-01-05T09:00:00Z, when simulations begin.
const MOMENT: i64 = 1_767_603_600;
const MOMENT_TEXT: &str = "2026-01-05T09:00:00Z";

/// What is known of an event before it is made up.
pub(crate) struct Outline {
    pub(crate) event: Value,
    pub(crate) headers: Vec<(&'static str, Value)>,
}

/// What the flow wants to hear: a kind of event, wherever the sender writes it.
pub(crate) struct Wanted<'a> {
    /// `event.type`, or what stands for it.
    pub(crate) kind: Option<&'a str>,
    /// Members of the event that are read.
    pub(crate) members: Vec<&'a str>,
}

/// The `number`th event of a sender; `None` if nothing is known about it.
pub(crate) fn outline(preset: Preset, wanted: &Wanted<'_>, number: usize) -> Option<Outline> {
    match preset {
        Preset::Stripe => Some(stripe(wanted, number)),
        Preset::Github => Some(github(wanted, number)),
        Preset::Shopify => Some(shopify(number)),
        Preset::Slack => Some(slack(number)),
        Preset::StandardWebhooks => Some(standard(wanted, number)),
        Preset::Typeform => Some(typeform(number)),
        Preset::GenericHmac | Preset::Bearer | Preset::None => None,
    }
}

/// An outline written as JSON; the text is ours, so it is right.
fn written(json: &str) -> Value {
    Value::read(json.as_bytes()).unwrap_or(Value::Null)
}

fn stripe(wanted: &Wanted<'_>, number: usize) -> Outline {
    // The longer name first: `customer.subscription.updated` is about a subscription.
    const OBJECTS: [(&str, &str, &str); 8] = [
        ("customer.subscription.", "subscription", "sub"),
        ("checkout.session.", "checkout.session", "cs_test"),
        ("payment_intent.", "payment_intent", "pi"),
        ("payout.", "payout", "po"),
        ("invoice.", "invoice", "in"),
        ("charge.", "charge", "ch"),
        ("customer.", "customer", "cus"),
        ("", "payment_intent", "pi"),
    ];
    let kind = wanted.kind.unwrap_or("payment_intent.succeeded");
    let found = OBJECTS.iter().find(|(start, ..)| kind.starts_with(start));
    let (_, object, prefix) = found.unwrap_or(&OBJECTS[2]);
    let own = match *object {
        "customer" => r#""email": "jenny.rosen@example.com", "name": "Jenny Rosen""#.to_owned(),
        "payout" => r#""amount": 4200, "currency": "eur", "status": "paid""#.to_owned(),
        "subscription" => {
            format!(r#""customer": "cus_NffrFeUfNV2Hi{number}", "status": "active""#)
        }
        "checkout.session" => format!(
            r#""amount_total": 4200, "currency": "eur", "customer": "cus_NffrFeUfNV2Hi{number}", "customer_details": {{"email": "jenny.rosen@example.com"}}, "payment_status": "paid""#
        ),
        "invoice" => format!(
            r#""amount_paid": 4200, "currency": "eur", "customer": "cus_NffrFeUfNV2Hi{number}", "customer_email": "jenny.rosen@example.com", "status": "paid""#
        ),
        _ => format!(
            r#""amount": 4200, "currency": "eur", "customer": "cus_NffrFeUfNV2Hi{number}", "receipt_email": "jenny.rosen@example.com", "status": "succeeded""#
        ),
    };
    let event = written(&format!(
        r#"{{"id": "evt_1SmPzULkdIwHu7ixraBm86{number}", "object": "event", "type": "payment_intent.succeeded", "created": {MOMENT}, "livemode": true,
        "data": {{"object": {{"id": "{prefix}_3SmPzULkdIwHu7ix0aXq12{number}", "object": "{object}", {own}}}}}}}"#
    ));
    Outline {
        event,
        headers: Vec::new(),
    }
}

fn github(wanted: &Wanted<'_>, number: usize) -> Outline {
    let reads = |name: &str| wanted.members.contains(&name);
    let subject = |url: &str| {
        format!(
            r#"{{"id": 27{number}, "number": 13{number}, "title": "It does not work", "state": "open", "html_url": "https://github.com/octo-org/octo-repo/{url}/13{number}", "user": {{"login": "octocat", "id": 583231}}}}"#
        )
    };
    let (kind, own) = if reads("pull_request") {
        let pull = subject("pull");
        (
            "pull_request",
            format!(r#""action": "opened", "pull_request": {pull}"#),
        )
    } else if reads("commits") || reads("ref") || reads("head_commit") {
        let commit = format!(
            r#"{{"id": "7fd1a60b01f91b314f59955a4e4d4e80d8edf11{number}", "message": "Mend it"}}"#
        );
        (
            "push",
            format!(
                r#""ref": "refs/heads/main", "after": "7fd1a60b01f91b314f59955a4e4d4e80d8edf11{number}", "head_commit": {commit}, "commits": [{commit}]"#
            ),
        )
    } else if reads("release") {
        (
            "release",
            format!(
                r#""action": "published", "release": {{"id": {number}, "tag_name": "v1.0.{number}"}}"#
            ),
        )
    } else {
        let issue = subject("issues");
        ("issues", format!(r#""action": "opened", "issue": {issue}"#))
    };
    let event = written(&format!(
        r#"{{{own}, "repository": {{"id": 1296269, "name": "octo-repo", "full_name": "octo-org/octo-repo"}}, "sender": {{"login": "octocat", "id": 583231}}}}"#
    ));
    let delivery = format!("72d3162e-cc78-11e3-81ab-4c9367dc095{}", number % 10);
    Outline {
        event,
        headers: vec![
            ("x-github-event", Value::text(kind)),
            ("x-github-delivery", Value::text(&delivery)),
        ],
    }
}

fn shopify(number: usize) -> Outline {
    // Money is text at Shopify.
    let event = written(&format!(
        r##"{{"id": 82098291194615{number}, "name": "#100{number}", "email": "jon@example.com", "created_at": "{MOMENT_TEXT}", "updated_at": "{MOMENT_TEXT}",
        "currency": "EUR", "total_price": "42.00", "financial_status": "paid",
        "customer": {{"id": 11531029680{number}, "email": "jon@example.com", "first_name": "Jon", "last_name": "Snow"}},
        "line_items": [{{"id": 86691442497{number}, "sku": "IPOD-342-N", "title": "Player", "quantity": 1, "price": "42.00"}}]}}"##
    ));
    let id = format!("b54557e4-bdd9-4b37-8a5f-bf7d70bcd04{}", number % 10);
    Outline {
        event,
        headers: vec![
            ("x-shopify-topic", Value::text("orders/paid")),
            ("x-shopify-shop-domain", Value::text("shop.example")),
            ("x-shopify-webhook-id", Value::text(&id)),
            ("x-shopify-event-id", Value::text(&id)),
        ],
    }
}

fn slack(number: usize) -> Outline {
    let event = written(&format!(
        r#"{{"type": "event_callback", "team_id": "T0LAN0Z89", "api_app_id": "A0KRD7HC3", "event_id": "Ev0PV52K2{number}", "event_time": {MOMENT},
        "event": {{"type": "message", "channel": "C0BJF6UQ4", "user": "U061F7AUR", "text": "Hello", "ts": "{MOMENT}.00000{number}"}}}}"#
    ));
    Outline {
        event,
        headers: Vec::new(),
    }
}

fn standard(wanted: &Wanted<'_>, number: usize) -> Outline {
    let kind = wanted.kind.unwrap_or("order.paid");
    let prefix = kind.split('.').next().unwrap_or("order");
    let event = Value::map([
        ("type", Value::text(kind)),
        ("timestamp", Value::text(MOMENT_TEXT)),
        (
            "data",
            Value::map([("id", Value::text(&format!("{prefix}_{number}")))]),
        ),
    ]);
    let id = format!("msg_2KWPBgLlAfxdpx2AI54pPJ85f{number}");
    Outline {
        event,
        headers: vec![
            ("webhook-id", Value::text(&id)),
            ("webhook-timestamp", Value::text(&MOMENT.to_string())),
        ],
    }
}

fn typeform(number: usize) -> Outline {
    let event = written(&format!(
        r#"{{"event_id": "01KE6B0Q8ZVY3T{number}", "event_type": "form_response",
        "form_response": {{"form_id": "lT4Z3j", "token": "a3a12ec67a1365927098a606107fac1{number}", "landed_at": "{MOMENT_TEXT}", "submitted_at": "{MOMENT_TEXT}",
        "answers": [{{"type": "email", "email": "lian1078@example.com", "field": {{"id": "SMEUb7VJz9{number}", "type": "email", "ref": "email"}}}}]}}}}"#
    ));
    Outline {
        event,
        headers: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_sender_has_an_outline_that_differs_by_number() {
        let wanted = Wanted {
            kind: None,
            members: Vec::new(),
        };
        for preset in Preset::ALL {
            let one = outline(preset, &wanted, 1);
            let known = preset.retry_horizon().is_some();
            assert_eq!(one.is_some(), known, "{}", preset.name());
            let (Some(one), Some(two)) = (one, outline(preset, &wanted, 2)) else {
                continue;
            };
            assert!(matches!(one.event, Value::Map(_)), "{}", preset.name());
            assert_ne!(one.event, two.event, "{}", preset.name());
        }
    }
}
