//! A mail over SMTP.

use super::{Field, Is, Object, STEP, field, object, required};

/// A mail over SMTP.
pub static EMAIL: Object = Object {
    at_least_one: &["text", "html"],
    within: Some(&STEP),
    ..object("`email`", &EMAIL_FIELDS)
};

static EMAIL_FIELDS: [Field; 11] = [
    required(
        "to",
        Is::Templates,
        "Who gets it: an address such as `ann@example.com` or `Ann Lee <ann@example.com>`, or a list of them.",
    ),
    field("cc", Is::Templates, "Who gets it too, for all to see."),
    field("bcc", Is::Templates, "Who gets it too, unseen."),
    field(
        "from",
        Is::Template,
        "Whom it is from. Left out, the sender of the mail server.",
    ),
    field("reply_to", Is::Templates, "Where answers go, if elsewhere."),
    required("subject", Is::Template, "The subject, on one line."),
    field(
        "text",
        Is::Template,
        "The mail as text. `text`, `html` or both must be there.",
    ),
    field("html", Is::Template, "The mail as HTML."),
    field(
        "attachments",
        Is::Objects(&ATTACHMENT),
        "Files to go along: a list of `{name, type, content}` or `{name, type, base64}`.",
    ),
    field(
        "headers",
        Is::Texts,
        "Headers that the step does not write itself.",
    ),
    field(
        "via",
        Is::Name,
        "The mail server, by its name in the configuration. Left out, `default`.",
    ),
];

/// A file that goes along with a mail.
pub static ATTACHMENT: Object = Object {
    exactly_one: &["content", "base64"],
    within: Some(&EMAIL),
    ..object(
        "an attachment",
        &[
            required("name", Is::Template, "The name of the file."),
            field(
                "type",
                Is::Template,
                "Its content type. Left out, `text/plain` with `content`, else `application/octet-stream`.",
            ),
            field(
                "content",
                Is::Tree,
                "Its content: text as it is, anything else as JSON.",
            ),
            field("base64", Is::Template, "Its content, in base64."),
        ],
    )
};
