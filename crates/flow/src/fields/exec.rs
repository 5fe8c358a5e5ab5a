//! A program on the server's machine.

use super::{Field, Is, Object, STEP, field, object, required};

/// A program on the server's machine.
pub static EXEC: Object = Object {
    within: Some(&STEP),
    ..object("`exec`", &EXEC_FIELDS)
};

pub(super) const STDIN: Field = field(
    "stdin",
    Is::Tree,
    "What it gets to read: text as it is, all else as JSON.",
);
pub(super) const OUTPUT: Field = field(
    "output",
    Is::Size,
    "How much is kept of each stream, at most `16MiB`. Left out, `1MiB`.",
);

static EXEC_FIELDS: [Field; 6] = [
    required(
        "command",
        Is::Command,
        "The program by its whole path, and its arguments: a list. No shell reads it.",
    ),
    field(
        "env",
        Is::Texts,
        "Variables for its environment, which is otherwise clean.",
    ),
    field(
        "dir",
        Is::Template,
        "Where it runs: a whole path. Left out, `/`.",
    ),
    STDIN,
    OUTPUT,
    field(
        "expect",
        Is::Codes { max: 255 },
        "The exit codes that are taken as success, such as `[0, 2]`. Left out, 0.",
    ),
];
