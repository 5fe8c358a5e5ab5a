//! A value under a key, in the server's own store.

use semel_ledger::Millis;

use super::{Field, Is, Object, STEP, duration, field, object};

/// What a `kv` step does; each holds the key.
pub const KV_FORMS: [&str; 6] = ["get", "set", "set_if_absent", "swap", "delete", "add"];

/// A value under a key.
pub static KV: Object = Object {
    exactly_one: &KV_FORMS,
    at_most_one: &[
        &["get", "to"],
        &["delete", "to"],
        &["add", "to"],
        &["get", "ttl"],
        &["delete", "ttl"],
    ],
    needs: &[
        ("set", "to"),
        ("set_if_absent", "to"),
        ("swap", "from"),
        ("swap", "to"),
        ("from", "swap"),
        ("by", "add"),
    ],
    within: Some(&STEP),
    ..object("`kv`", &KV_FIELDS)
};

static KV_FIELDS: [Field; 10] = [
    field(
        "get",
        Is::Template,
        "Read the value of this key; `null` if there is none. Class `read`.",
    ),
    field(
        "set",
        Is::Template,
        "Put `to` under this key, whatever is there. Class `set`.",
    ),
    field(
        "set_if_absent",
        Is::Template,
        "Put `to` under this key if nothing is there. Class `keyed`.",
    ),
    field(
        "swap",
        Is::Template,
        "Put `to` under this key if exactly `from` is there. Class `keyed`.",
    ),
    field(
        "delete",
        Is::Template,
        "Take away what is under this key. Class `set`.",
    ),
    field(
        "add",
        Is::Template,
        "Add `by` to the number under this key; to 0 if there is none. Class `keyed`.",
    ),
    field(
        "to",
        Is::Tree,
        "What is put there: any JSON of at most 64 KiB. `null` takes it away.",
    ),
    field(
        "from",
        Is::Tree,
        "With `swap`: what must be there now. `null`: nothing.",
    ),
    field(
        "by",
        Is::Number,
        "With `add`: how much; exact, and may be negative or have a point. Left out, 1.",
    ),
    field(
        "ttl",
        duration(Millis::seconds(1), Millis::days(3_650)),
        "How long it is kept. Left out, until it is changed. With `add` it counts from the first one.",
    ),
];
