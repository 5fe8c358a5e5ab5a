//! The schema that editors use says the same as the reading.

use semel_flow::model::Tree;
use serde_json::{Value, json};

/// YAML as an editor sees it. The reading's own tree is used: no second parser, no second opinion
/// about what is a number.
fn as_json(source: &str) -> Value {
    let text = format!(
        "name: t\nsteps:\n  - id: t\n    set:\n      it:\n{}",
        indented(source)
    );
    let flow = semel_flow::read(&text).flow.expect("a flow");
    let semel_flow::model::Action::Set(values) = &flow.steps[0].action else {
        panic!("{source}");
    };
    json_of(&values[0].1, &text)
}

fn indented(source: &str) -> String {
    let lines: Vec<_> = source
        .lines()
        .map(|line| format!("        {line}"))
        .collect();
    lines.join(
        "
",
    ) + "
"
}

fn json_of(tree: &Tree, source: &str) -> Value {
    match tree {
        Tree::Null => Value::Null,
        Tree::Bool(it) => json!(it),
        Tree::Number(text) => text
            .parse::<serde_json::Number>()
            .map_or(Value::Null, Value::Number),
        // As it was written, with its expressions.
        Tree::Text(template) => json!(source[template.span.start..template.span.end]),
        Tree::List(items) => items.iter().map(|item| json_of(item, source)).collect(),
        Tree::Map(members) => {
            let members = members.iter();
            members
                .map(|(name, tree)| (name.it.clone(), json_of(tree, source)))
                .collect()
        }
    }
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft7::new(&semel_flow::schema()).expect("a schema of draft-07")
}

#[test]
fn the_schema_is_one() {
    assert!(jsonschema::draft7::meta::is_valid(&semel_flow::schema()));
}

#[test]
fn examples_fit_the_schema() {
    let validator = validator();
    for (name, source) in crate::flows(&crate::root().join("examples")) {
        let flow = as_json(&source);
        let wrong: Vec<_> = validator
            .iter_errors(&flow)
            .map(|error| error.to_string())
            .collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

/// What the reading refuses for its shape, the schema refuses too.
#[test]
fn wrong_flows_do_not_fit_the_schema() {
    let validator = validator();
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let shapes = ["F003", "F004", "F005", "F006", "F011"];
    let mut seen = 0;
    for (name, source) in crate::flows(&here.join("tests/bad_flows")) {
        let found = semel_flow::read(&source).diagnostics;
        // Not YAML at all, or text that the tree above cannot show.
        let readable = found.iter().all(|found| {
            found.code.starts_with('F') && !["F001", "F002", "F019"].contains(&found.code)
        });
        if readable && found.iter().any(|found| shapes.contains(&found.code)) {
            seen += 1;
            assert!(!validator.is_valid(&as_json(&source)), "{name}");
        }
    }
    assert!(seen >= 8, "only {seen} flows were compared");
}

/// One wrong thing at a time in a flow that fits.
#[test]
fn every_rule_of_the_schema_is_kept() {
    let validator = validator();
    let good = json!({
        "name": "x",
        "on": {"webhook": {"path": "/hooks/a", "verify": "stripe", "secret": "${{ secrets.A }}"}},
        "steps": [
            {"id": "a", "http": {"post": "https://a.example", "json": {"a": 1}}},
            {"id": "b", "for_each": "event.items", "key": "${{ item.id }}", "parallel": 3, "steps": [{"id": "c", "stop": null}]},
            {"id": "d", "parallel": {"x": [{"id": "e", "fail": "why"}]}},
        ],
    });
    assert!(validator.is_valid(&good));
    for (pointer, wrong) in [
        ("/name", json!("a b")),
        ("/name", json!(null)),
        ("/on", json!("manually")),
        ("/on/webhook/path", json!("/other")),
        ("/on/webhook/verify", json!("strpe")),
        ("/on/webhook/secret", json!("clear")),
        ("/on/webhook", json!({"path": "/hooks/a"})),
        (
            "/on",
            json!({"schedule": {"every": "5m", "cron": "* * * * *"}}),
        ),
        ("/on", json!({"schedule": {"every": "5m", "zone": "UTC"}})),
        ("/on", json!({"schedule": {"cron": "* * * *"}})),
        ("/on", json!({"schedule": {}})),
        ("/steps", json!([])),
        (
            "",
            json!({"name": "x", "steps": [{"id": "a", "stop": null}], "nmae": "y"}),
        ),
        (
            "/steps/0/http",
            json!({"post": "https://a.example", "retry": {}}),
        ),
        (
            "/steps/0/http",
            json!({"post": "https://a.example", "get": "https://a.example"}),
        ),
        (
            "/steps/0/http",
            json!({"post": "https://a.example", "json": 1, "body": "a"}),
        ),
        ("/steps/0/http", json!({"url": "https://a.example"})),
        ("/steps/0/http", json!({"post": "a.example"})),
        (
            "/steps/0/http",
            json!({"post": "https://a.example", "limit": "1MB"}),
        ),
        (
            "/steps/0/http",
            json!({"post": "https://a.example", "redirects": 21}),
        ),
        ("/steps/0", json!({"id": "a"})),
        ("/steps/0", json!({"id": "a", "stop": null, "fail": "b"})),
        ("/steps/0", json!({"id": "a", "sql": {}})),
        (
            "/steps/0",
            json!({"id": "a", "stop": null, "if": "${{ true }}"}),
        ),
        ("/steps/0", json!({"id": "a", "stop": null, "timeout": "5"})),
        ("/steps/0", json!({"id": "a", "stop": null, "steps": []})),
        ("/steps/1/key", json!([])),
        ("/steps/1/parallel", json!({"x": []})),
        (
            "/steps/1",
            json!({"id": "b", "for_each": "event.items", "steps": [{"id": "c", "stop": null}]}),
        ),
        ("/steps/2/parallel", json!(3)),
    ] {
        let mut flow = good.clone();
        *flow.pointer_mut(pointer).expect(pointer) = wrong.clone();
        assert!(!validator.is_valid(&flow), "{pointer}: {wrong}");
    }
}
