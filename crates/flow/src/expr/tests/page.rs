//! The page for users says what is true: each of its examples is run, and it has every function.

use super::*;
use crate::expr::functions;

const PAGE: &str = include_str!("../../../../../docs/expressions.md");

/// A row of a table: the example and what it gives.
struct Row {
    text: bool,
    example: String,
    gives: String,
}

/// What stands between the backticks of a cell; a cell without them is taken as it is.
fn cell(cell: &str) -> String {
    let cell = cell.trim().replace("\\|", "|");
    match cell.strip_prefix("``") {
        Some(rest) => rest.trim_end_matches("``").trim().to_owned(),
        None if cell.starts_with("error: ") => cell.replace('`', ""),
        None => cell.trim_matches('`').to_owned(),
    }
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut heading = "";
    for line in PAGE.lines() {
        if !line.starts_with('|') {
            heading = "";
            continue;
        }
        // A `|` that belongs to an example is escaped.
        let line_cells = line.replace("\\|", "\u{1}");
        let cells: Vec<String> = line_cells
            .trim_matches('|')
            .split('|')
            .map(|text| cell(&text.replace('\u{1}', "|")))
            .collect();
        if heading.is_empty() {
            heading = line;
        } else if !line.starts_with("|---") && heading.contains("| gives |") {
            rows.push(Row {
                text: heading.starts_with("| text |"),
                example: cells[0].clone(),
                gives: cells[1].clone(),
            });
        }
    }
    rows
}

fn world() -> World {
    let json_block = PAGE
        .split("```json")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    World([("event", json(json_block.expect("the event")))].into())
}

#[test]
fn every_example_gives_what_the_page_says() {
    let world = world();
    let rows = rows();
    assert!(rows.len() > 90, "{} examples", rows.len());
    for row in rows {
        let span = whole(&row.example);
        let value = if row.text {
            Template::parse(&row.example, span, true)
                .expect(&row.example)
                .render(&world)
        } else {
            Expr::parse(&row.example, span)
                .expect(&row.example)
                .eval(&world)
        };
        let found = match value {
            Ok(value) => value.to_json(),
            Err(error) => format!("error: {}", error.message.replace('`', "")),
        };
        assert!(found.starts_with(&row.gives), "{}: {found}", row.example);
        assert!(
            found == row.gives || row.gives.starts_with("error"),
            "{}: {found}",
            row.example
        );
    }
}

#[test]
fn every_function_has_an_example() {
    let examples: Vec<String> = rows().into_iter().map(|row| row.example).collect();
    for name in functions::names() {
        let call = format!("{name}(");
        assert!(
            examples.iter().any(|example| example.contains(&call)),
            "{name}"
        );
    }
}

#[test]
fn the_page_has_the_limits() {
    for limit in [MAX_EXPR_BYTES, MAX_DEPTH] {
        assert!(PAGE.contains(&format!("| {limit} ")), "{limit}");
    }
    assert!(PAGE.contains("1,000,000 steps") && FUEL == 1_000_000);
    assert!(PAGE.contains("100,000 items") && MAX_ITEMS == 100_000);
    assert!(PAGE.contains("| 1 MiB |") && MAX_TEXT_BYTES == 1 << 20);
}
