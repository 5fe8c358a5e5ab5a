//! The steps of a flow as a table: what a repeat of each does, and who sees to it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::term::{print_table, shown};

/// What there is to know of a step before it runs, from a file or from the API.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Row {
    step: String,
    depth: usize,
    on_failure: bool,
    kind: Cow<'static, str>,
    class: Cow<'static, str>,
    scope: Option<String>,
    key: Option<String>,
    guard: String,
    on_unknown: String,
    retry: String,
}

impl From<semel_flow::Row> for Row {
    fn from(row: semel_flow::Row) -> Row {
        Row {
            step: row.step,
            depth: row.depth,
            on_failure: row.on_failure,
            kind: row.kind.into(),
            class: row.class.name().into(),
            scope: row.scope,
            key: row.key,
            guard: row.guard,
            on_unknown: row.on_unknown,
            retry: row.retry,
        }
    }
}

/// The rows of a flow that was read from a file.
pub(super) fn rows(flow: &semel_flow::Flow) -> Vec<Row> {
    semel_flow::table(flow).into_iter().map(Row::from).collect()
}

pub(super) fn print(rows: &[Row]) {
    let header = ["class", "step", "does", "key", "guard", "on unknown"];
    print_table(&header, rows.iter().map(cells).collect());
}

fn cells(row: &Row) -> Vec<String> {
    let place = if row.on_failure { "on_failure: " } else { "" };
    let key = row.key.as_deref().map_or(Cow::Borrowed("–"), shown);
    vec![
        row.class.to_string(),
        format!("{}{place}{}", "  ".repeat(row.depth), shown(&row.step)),
        row.kind.to_string(),
        key.into_owned(),
        shown(&row.guard).into_owned(),
        shown(&row.on_unknown).into_owned(),
    ]
}
