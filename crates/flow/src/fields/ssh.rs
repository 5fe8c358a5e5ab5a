//! A command on another machine.

use super::exec::{OUTPUT, STDIN};
use super::{Field, Is, Object, STEP, field, object, required};

/// A command on another machine.
pub static SSH: Object = Object {
    exactly_one: &["command", "status"],
    at_most_one: &[&["detach", "output"], &["detach", "expect"]],
    needs: &[
        ("stdin", "command"),
        ("expect", "command"),
        ("detach", "command"),
        ("scope", "status"),
    ],
    within: Some(&STEP),
    ..object("`ssh`", &SSH_FIELDS)
};

static SSH_FIELDS: [Field; 12] = [
    required("host", Is::Template, "The machine, by name or address."),
    field("port", Is::Template, "Its port. Left out, 22."),
    required("user", Is::Template, "Who to be there."),
    field("identity", Is::Secret, "The private key, from a secret."),
    field(
        "host_key",
        Is::Text,
        "The machine's only host key, such as `ssh-ed25519 AAAA…`. Left out, those of the \
         server's known hosts.",
    ),
    field(
        "command",
        Is::Command,
        "The program and its arguments: a list. Each arrives as it is.",
    ),
    STDIN,
    OUTPUT,
    field(
        "expect",
        Is::Codes { max: 254 },
        "The exit codes that are taken as success, such as `[0, 2]`. Left out, 0.",
    ),
    field(
        "detach",
        Is::Bool,
        "Start the work once under the step's key and do not wait for it. Makes the step `keyed`.",
    ),
    field(
        "status",
        Is::Template,
        "Ask how the work under this key is doing. Class `read`.",
    ),
    field(
        "scope",
        Is::Template,
        "With `status`: the scope under which the work was started. In a `lookup` left out: the step's own.",
    ),
];
