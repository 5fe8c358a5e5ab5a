//! A request over HTTP.

use semel_ledger::Millis;
use semel_ledger::time::LONGEST;

use super::{Field, Is, Object, STEP, duration, field, object, required};

/// The methods that have a field of their own.
pub const METHODS: [&str; 6] = ["get", "post", "put", "patch", "delete", "head"];

/// A request over HTTP.
pub static HTTP: Object = Object {
    exactly_one: &["get", "post", "put", "patch", "delete", "head", "url"],
    at_most_one: &[&["json", "form", "multipart", "body"], &["basic", "bearer"]],
    needs: &[
        ("url", "method"),
        ("method", "url"),
        ("content_type", "body"),
    ],
    within: Some(&STEP),
    ..object("`http`", &HTTP_FIELDS)
};

static HTTP_FIELDS: [Field; 23] = [
    field("get", Is::Url, "Read from this address. Class `read`."),
    field(
        "post",
        Is::Url,
        "Post to this address. Class `guarded`; with `idempotency`, `keyed`.",
    ),
    field("put", Is::Url, "Put to this address. Class `set`."),
    field(
        "patch",
        Is::Url,
        "Patch this address. Class `guarded`; with `idempotency`, `keyed`.",
    ),
    field("delete", Is::Url, "Delete this address. Class `set`."),
    field(
        "head",
        Is::Url,
        "Ask for the headers of this address. Class `read`.",
    ),
    field("method", Is::Text, "With `url`: any other method."),
    field("url", Is::Url, "With `method`: the address."),
    field("headers", Is::Texts, "Headers to send."),
    field("query", Is::Pairs, "Parameters to add to the address."),
    field("json", Is::Tree, "The body, sent as JSON."),
    field("form", Is::Pairs, "The body, sent as a form."),
    field("multipart", Is::Parts, "The body, sent in parts."),
    field("body", Is::Template, "The body, sent as it is."),
    field(
        "content_type",
        Is::Template,
        "With `body`: what it is. Left out, `text/plain; charset=utf-8`.",
    ),
    field("basic", Is::Object(&BASIC), "A user and a password."),
    field("bearer", Is::Template, "A token, from a secret."),
    field(
        "idempotency",
        Is::Object(&IDEMPOTENCY),
        "The destination drops repeats by our key. Makes the step `keyed`.",
    ),
    field(
        "timeouts",
        Is::Object(&TIMEOUTS),
        "How long each phase may take.",
    ),
    field(
        "redirects",
        Is::Whole { min: 0, max: 20 },
        "How many redirects to follow. Left out, 5 for `get` and `head`, else none.",
    ),
    field(
        "limit",
        Is::Size,
        "The longest answer, at most `16MiB`. Left out, `1MiB`.",
    ),
    field(
        "expect",
        Is::Statuses,
        "The statuses that are taken as success, such as `[200, 404]`. Left out, all of 2xx.",
    ),
    field(
        "paging",
        Is::Object(&PAGING),
        "With `get`: fetch page by page, as one list.",
    ),
];

/// A user and a password.
pub static BASIC: Object = Object {
    within: Some(&HTTP),
    ..object(
        "`basic`",
        &[
            required("user", Is::Template, "The user."),
            required("password", Is::Template, "The password, from a secret."),
        ],
    )
};

/// A native idempotency key.
pub static IDEMPOTENCY: Object = Object {
    within: Some(&HTTP),
    ..object(
        "`idempotency`",
        &[
            field(
                "header",
                Is::Text,
                "The header that carries the step's key. Left out, `Idempotency-Key`.",
            ),
            required(
                "window",
                duration(Millis::seconds(60), LONGEST),
                "How long the destination remembers a key.",
            ),
            field(
                "quoted",
                Is::Bool,
                "Send the key in double quotes, as the IETF draft has it. Left out, bare.",
            ),
        ],
    )
};

const PHASE: Is = duration(Millis(1), Millis::seconds(86_400));

/// How long each phase may take.
pub static TIMEOUTS: Object = Object {
    within: Some(&HTTP),
    ..object(
        "`timeouts`",
        &[
            field("connect", PHASE, "Until the connection stands."),
            field("first_byte", PHASE, "Until the answer begins."),
            field("total", PHASE, "Until the answer is complete."),
        ],
    )
};

/// Page by page.
pub static PAGING: Object = Object {
    within: Some(&HTTP),
    ..object(
        "`paging`",
        &[
            required("items", Is::Expr, "Over each page: its items."),
            required(
                "next",
                Is::Expr,
                "Over each page: the address or the cursor of the next one; null ends it.",
            ),
            field(
                "cursor_in",
                Is::Text,
                "The query parameter that `next` goes into, if it is a cursor and not an address.",
            ),
            field(
                "max",
                Is::Whole {
                    min: 1,
                    max: 100_000,
                },
                "The most pages. Left out, 1000.",
            ),
        ],
    )
};

/// A part of a multipart body.
pub static PART: Object = Object {
    exactly_one: &["value", "content", "base64"],
    within: Some(&HTTP),
    ..object(
        "a part",
        &[
            required("name", Is::Text, "The name of the part."),
            field("value", Is::Template, "Its text."),
            field("content", Is::Template, "The content of a file."),
            field("base64", Is::Template, "The content of a file, in base64."),
            field("filename", Is::Template, "The name of the file."),
            field("type", Is::Text, "Its content type."),
        ],
    )
};
