//! Seeing it run from outside: `semel top`, traces at a collector, and what the doctor says of a server.

use crate::sink::{Habit, Sink};
use crate::support::{Home, ends, stdout};
use serde_json::Value;

/// A home with one flow that asks the sink.
fn shop(sink: &Sink) -> Home {
    let home = Home::new();
    std::fs::create_dir(home.path("flows")).unwrap();
    let url = &sink.url;
    home.file(
        "flows/order.yaml",
        format!(
            "name: order
on: manual
key: order/${{{{ event.id }}}}
steps:
  - {{id: pay, http: {{post: {url}/pay, bearer: \"${{{{ secrets.PAY }}}}\"}}}}
"
        ),
    );
    home
}

fn order(home: &Home, id: &str) {
    let data = format!("{{\"id\":\"{id}\"}}");
    let words = ["trigger", "order", "--key", id, "--wait", "--data", &data];
    ends(&home.run(&words), 0, &[]);
}

#[test]
fn a_run_is_counted_traced_and_shown() {
    let (sink, collector) = (Sink::new(), Sink::new());
    let home = shop(&sink);
    let _server = home.serve_with(
        &["--flows", "flows"],
        &[
            ("SEMEL_OUTGOING_ALLOW", "127.0.0.0/8"),
            ("SEMEL_SECRET_PAY", "s3cret-p4y"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
        ],
    );
    order(&home, "17");
    order(&home, "17");
    // What left for the collector is what one reads: OTLP, without the secret.
    collector.reached(1);
    let traced = collector.seen();
    let (path, body) = traced[0].split_once(' ').unwrap();
    assert_eq!(path, "/v1/traces");
    assert!(!body.contains("s3cret-p4y"));
    let body: Value = serde_json::from_str(body).unwrap();
    let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
    assert_eq!(spans[0]["name"], "order");
    assert_eq!(spans[1]["name"], "pay");
    let top = home.json(&["top", "--json"]);
    assert_eq!(top["totals"]["events"], 2, "{top}");
    assert_eq!(top["totals"]["duplicates"], 1);
    assert_eq!(top["totals"]["effects"], 1);
    assert_eq!(top["destinations"][0]["calls"], 1);
    let shown = home.run(&["top"]);
    ends(&shown, 0, &[]);
    let text = stdout(&shown);
    assert!(
        text.contains("order/17") && !text.contains('\x1b'),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let well = home.json(&["doctor", "--json"]);
    assert_eq!(well["ok"], true, "{well}");
}

#[test]
fn the_doctor_says_what_is_wrong_with_the_work() {
    let sink = Sink::new();
    sink.becomes(Habit::Obliging);
    let home = shop(&sink);
    let server = home.serve_with(&["--flows", "flows"], &[]);
    let sick = home.run(&["doctor"]);
    ends(&sick, 1, &[]);
    let text = stdout(&sick);
    assert!(text.contains("PAY (flow order)"), "{text}");
    assert!(text.contains("semel secrets set PAY"), "{text}");
    assert!(text.contains("! backup"), "{text}");
    let set = home.feed(&["secrets", "set", "PAY"], b"s3cret-p4y");
    ends(&set, 0, &[]);
    let copy = home.path("copy.db");
    ends(&home.run(&["backup", copy.to_str().unwrap()]), 0, &[]);
    let well = home.run(&["doctor"]);
    ends(&well, 0, &[]);
    for check in [
        "✓ flows",
        "✓ backup",
        "✓ clock",
        "✓ inbox",
        "✓ destinations",
    ] {
        assert!(stdout(&well).contains(check), "{check}: {}", stdout(&well));
    }
    server.stop();
}
