//! The tables of the documentation are those of the reading.
//!
//! With `SEMEL_WRITE_DOCS=1` the document is written anew instead of compared.

use semel_flow::fields::{self, Need, Object};

const OPEN: &str = "<!-- fields: ";
const CLOSE: &str = "<!-- end -->";

fn table(object: &Object) -> String {
    let mut lines = vec![
        "| field | takes | about |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    for field in object.fields {
        let must = match field.need {
            Need::Required => "Required. ",
            Need::Optional => "",
        };
        let (name, is, doc) = (field.name, field.is.describe(), field.doc);
        lines.push(format!("| `{name}` | {is} | {must}{doc} |"));
    }
    if !object.exactly_one.is_empty() {
        lines.push(format!("\nExactly one of {}.", listed(object.exactly_one)));
    }
    for group in object.at_most_one {
        lines.push(format!("\nAt most one of {}.", listed(group)));
    }
    lines.join("\n") + "\n"
}

fn listed(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn title(object: &Object) -> String {
    object.name.replace('`', "")
}

/// The document with a fresh table between every two marks.
fn filled(document: &str) -> String {
    let mut parts = document.split(OPEN);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").expect("the end of a mark");
        let (_, rest) = rest.split_once(CLOSE).expect("the end of a table");
        let object = fields::all()
            .into_iter()
            .find(|object| title(object) == name);
        let object = object.unwrap_or_else(|| panic!("there is no object `{name}`"));
        text.extend([OPEN, name, " -->\n", &table(object), CLOSE, rest]);
    }
    text
}

#[test]
fn tables_are_up_to_date() {
    let path = crate::root().join("docs/flow-file.md");
    let document = std::fs::read_to_string(&path).expect("the document");
    let fresh = filled(&document);
    if std::env::var_os("SEMEL_WRITE_DOCS").is_some() {
        std::fs::write(&path, &fresh).expect("written");
        return;
    }
    assert!(document == fresh, "run it once with SEMEL_WRITE_DOCS=1");
}

#[test]
fn every_object_has_its_table() {
    let path = crate::root().join("docs/flow-file.md");
    let document = std::fs::read_to_string(path).expect("the document");
    for object in fields::all() {
        let mark = format!("{OPEN}{} -->", title(object));
        assert_eq!(document.matches(&mark).count(), 1, "{mark}");
    }
}

/// Every whole flow in the document can be read as it stands there.
#[test]
fn flows_in_the_document_are_flows() {
    let path = crate::root().join("docs/flow-file.md");
    let document = std::fs::read_to_string(path).expect("the document");
    let blocks = document.split("```yaml\n").skip(1);
    let mut seen = 0;
    for block in blocks.filter_map(|block| block.split_once("```")) {
        let source = if block.0.starts_with("- id") {
            format!("name: part\nsteps:\n{}", block.0)
        } else {
            block.0.to_owned()
        };
        assert_eq!(
            crate::messages("docs", &source),
            "no problems\n",
            "{source}"
        );
        seen += 1;
    }
    assert!(seen >= 3);
}

/// Every whole flow on the page of a kind of step that waits can be read and deployed as it stands there.
#[test]
fn flows_on_the_page_of_wait_are_flows() {
    let path = crate::root().join("docs/steps/wait.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let blocks = page.split("```yaml\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split_once("```"));
    let flows: Vec<&str> = blocks
        .map(|it| it.0)
        .filter(|it| it.starts_with("name:"))
        .collect();
    assert_eq!(flows.len(), 2);
    for source in flows {
        assert_eq!(crate::messages("docs", source), "no problems\n", "{source}");
        let flow = semel_flow::read(source).flow.expect("a flow");
        let found = semel_flow::check::check(&flow);
        assert!(found.is_empty(), "{found:#?}");
    }
}
