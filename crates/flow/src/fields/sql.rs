//! A statement in a database.

use super::{Field, Is, Object, STEP, field, object, required};

/// The most rows of an answer.
const MOST_ROWS: u64 = 100_000;

/// A statement in a database.
pub static SQL: Object = Object {
    exactly_one: &["query", "run", "upsert", "update", "insert"],
    at_most_one: &[
        &["query", "receipt"],
        &["params", "upsert"],
        &["params", "update"],
        &["params", "insert"],
    ],
    within: Some(&STEP),
    ..object("`sql`", &SQL_FIELDS)
};

static SQL_FIELDS: [Field; 10] = [
    required(
        "on",
        Is::Name,
        "Which database: the name of a connection in the configuration.",
    ),
    field("query", Is::Raw, "SQL that only reads. Class `read`."),
    field(
        "run",
        Is::Raw,
        "Any SQL, one statement. Class `guarded`; with `receipt`, `keyed`.",
    ),
    field(
        "params",
        Is::Tree,
        "With `query` or `run`: the values for its placeholders, in order.",
    ),
    field(
        "upsert",
        Is::Object(&UPSERT),
        "Make a row or change it. Class `set`; with `receipt`, `keyed`.",
    ),
    field(
        "update",
        Is::Object(&UPDATE),
        "Change rows if there are as many as expected. Class `guarded`; with `receipt`, `keyed`.",
    ),
    field(
        "insert",
        Is::Object(&INSERT),
        "Make a row unless it is there. Class `set`; with `receipt`, `keyed`.",
    ),
    field(
        "receipt",
        Is::Bool,
        "Write the step's mark in the same transaction: the effect is made exactly once. Makes the step `keyed`.",
    ),
    field(
        "rows",
        Is::Whole {
            min: 1,
            max: MOST_ROWS,
        },
        "The most rows of the answer. Left out, 1000.",
    ),
    field(
        "limit",
        Is::Size,
        "The longest answer, at most `16MiB`. Left out, `1MiB`.",
    ),
];

/// A row that is made or changed.
pub static UPSERT: Object = Object {
    within: Some(&SQL),
    ..object(
        "`upsert`",
        &[
            required("into", Is::Text, "The table, or `schema.table`."),
            required(
                "on",
                Is::Trees,
                "The columns that the row is known by, with their values. They must be unique together.",
            ),
            required("set", Is::Trees, "The other columns, with their values."),
        ],
    )
};

/// Rows that are changed if there are as many as expected.
pub static UPDATE: Object = Object {
    within: Some(&SQL),
    ..object(
        "`update`",
        &[
            required("table", Is::Text, "The table, or `schema.table`."),
            required(
                "set",
                Is::Trees,
                "The columns to change, with their new values.",
            ),
            required(
                "where",
                Is::Trees,
                "The columns that the rows are found by, with their values; null finds what is null.",
            ),
            field(
                "expect",
                Is::Whole {
                    min: 0,
                    max: 4_294_967_295,
                },
                "How many rows must be found; else nothing is changed. Left out, 1.",
            ),
        ],
    )
};

/// A row that is made unless it is there.
pub static INSERT: Object = Object {
    within: Some(&SQL),
    ..object(
        "`insert`",
        &[
            required("into", Is::Text, "The table, or `schema.table`."),
            required(
                "on",
                Is::Trees,
                "The columns that the row is known by, with their values. They must be unique together.",
            ),
            field("values", Is::Trees, "The other columns, with their values."),
        ],
    )
};
