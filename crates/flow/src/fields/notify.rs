//! A message to people, where they talk.

use super::{Is, Object, STEP, field, object, required};

/// A message to people.
pub static NOTIFY: Object = Object {
    exactly_one: &["slack", "discord", "teams", "webhook", "channel"],
    // Neither can change what was said.
    at_most_one: &[&["teams", "update"], &["webhook", "update"]],
    within: Some(&STEP),
    ..object(
        "`notify`",
        &[
            field(
                "slack",
                Is::Short {
                    long: &SLACK,
                    main: "url",
                },
                "The address of an incoming webhook of Slack, or a bot's token and channel.",
            ),
            field(
                "discord",
                Is::Secret,
                "The address of a webhook of Discord, from a secret.",
            ),
            field(
                "teams",
                Is::Secret,
                "The address of a workflow of Microsoft Teams, from a secret.",
            ),
            field(
                "webhook",
                Is::Url,
                "Any address that takes JSON with `text`, `title` and `key`.",
            ),
            field(
                "channel",
                Is::Name,
                "The name that the server's configuration gives to one of these.",
            ),
            required("text", Is::Template, "What to say."),
            field("title", Is::Template, "A line above it."),
            field(
                "update",
                Is::Template,
                "The `id` of an earlier message to replace. Class `set`. Discord, and Slack by token.",
            ),
            field(
                "markup",
                Is::Bool,
                "Links and mentions in the text count. Left out, they are shown as text.",
            ),
        ],
    )
};

/// Slack, by address or by token.
pub static SLACK: Object = Object {
    exactly_one: &["url", "token"],
    needs: &[("token", "to"), ("to", "token"), ("api", "token")],
    within: Some(&NOTIFY),
    ..object(
        "`slack`",
        &[
            field("url", Is::Secret, "An incoming webhook, from a secret."),
            field("token", Is::Secret, "A bot's token that may `chat:write`."),
            field("to", Is::Template, "With `token`: the channel's id."),
            field(
                "api",
                Is::Url,
                "With `token`: where Slack's methods are. Left out, `https://slack.com/api`.",
            ),
        ],
    )
};
