//! Steps: what is common to all, and the kinds there are.

use semel_ledger::Millis;

use super::ai::AI;
use super::approve::APPROVE;
use super::email::EMAIL;
use super::exec::EXEC;
use super::http::HTTP;
use super::kv::KV;
use super::notify::NOTIFY;
use super::sql::SQL;
use super::ssh::SSH;
use super::wait::WAIT;
use super::{FLOW, Field, Is, Object, RETRY, duration, field, object, required};

/// What is common to every step.
pub static STEP: Object = Object {
    within: Some(&FLOW),
    ..object("a step", &STEP_FIELDS)
};

static STEP_FIELDS: [Field; 11] = [
    required(
        "id",
        Is::Name,
        "Its name, unique in the flow; later steps see it as `steps.<id>`.",
    ),
    field("if", Is::Expr, "Only if this is true."),
    field(
        "key",
        Is::Template,
        "The identity of its effect. Left out, `<flow key>/<id>`.",
    ),
    field(
        "scope",
        Is::Text,
        "Which action it is, if other flows share it. Left out, `<flow>/<id>`.",
    ),
    field(
        "effect",
        Is::Word(&["pure", "read", "set", "keyed", "guarded"]),
        "What a repeat does, if you know better than the kind's default.",
    ),
    field(
        "lookup",
        Is::Object(&LOOKUP),
        "How to ask the destination whether it happened.",
    ),
    field(
        "on_unknown",
        Is::Word(&["ask", "retry", "skip"]),
        "What to do when nobody knows whether it happened: ask a person, try again, or take it as done.",
    ),
    field("retry", Is::Object(&RETRY), "When to try again."),
    field(
        "timeout",
        duration(Millis(1), Millis::days(1)),
        "How long one attempt may take.",
    ),
    field("undo", Is::Object(&UNDO), "How to take it back."),
    field(
        "result",
        Is::Expr,
        "Over the answer: what later steps see as `steps.<id>.result`. Left out, all of it.",
    ),
];

/// What a step can do; one of them in each step.
pub static KINDS: Object = Object {
    within: Some(&STEP),
    ..object("what a step does", &KIND_FIELDS)
};

static KIND_FIELDS: [Field; 20] = [
    field("http", Is::Object(&HTTP), "A request."),
    field("sql", Is::Object(&SQL), "A statement in a database."),
    field("email", Is::Object(&EMAIL), "A mail."),
    field(
        "notify",
        Is::Object(&NOTIFY),
        "A message to people, where they talk.",
    ),
    field(
        "exec",
        Is::Object(&EXEC),
        "A program on the server's machine.",
    ),
    field("ssh", Is::Object(&SSH), "A command on another machine."),
    field("ai", Is::Object(&AI), "A question to a language model."),
    field(
        "kv",
        Is::Object(&KV),
        "A value under a key, in the server's own store.",
    ),
    field(
        "ensure",
        Is::Object(&ENSURE),
        "Find, or else create; update if asked.",
    ),
    field(
        "set",
        Is::Trees,
        "Give values names: `steps.<id>.result.<name>`.",
    ),
    field(
        "switch",
        Is::Cases,
        "The first case that is true, else the steps of `else`.",
    ),
    field(
        "for_each",
        Is::Expr,
        "The same steps for every item of a list; beside it stand `as`, `key`, `parallel` and `steps`.",
    ),
    field("parallel", Is::Branches, "Branches side by side."),
    field(
        "call",
        Is::Object(&CALL),
        "Run another flow and wait for its result.",
    ),
    field("emit", Is::Object(&EMIT), "Tell other flows."),
    field(
        "lock",
        Is::Object(&LOCK),
        "Steps that only one run at a time may be in.",
    ),
    field(
        "stop",
        Is::Short {
            long: &STOP,
            main: "message",
        },
        "End the run as done.",
    ),
    field(
        "fail",
        Is::Short {
            long: &FAIL,
            main: "message",
        },
        "End the run as failed.",
    ),
    field(
        "wait",
        Is::Object(&WAIT),
        "Rest until a time, a callback or an event has come.",
    ),
    field(
        "approve",
        Is::Object(&APPROVE),
        "Ask people for leave, and wait for their answer.",
    ),
];

/// What stands beside `for_each`; its `key` is that of an item.
pub static FOR_EACH: Object = Object {
    within: Some(&STEP),
    ..object(
        "a step with `for_each`",
        &[
            field("as", Is::Name, "What an item is called. Left out, `item`."),
            required(
                "key",
                Is::Template,
                "The identity of an item's work: what was done for it is found again by this.",
            ),
            field(
                "parallel",
                Is::Whole { min: 1, max: 1000 },
                "How many items at a time. Left out, 1.",
            ),
            required("steps", Is::Steps, "What is done for each item."),
        ],
    )
};

const SETTLE: Is = duration(Millis(0), Millis::seconds(3_600));

/// What a destination can be asked with.
const QUESTIONS: [&str; 3] = ["http", "sql", "ssh"];

/// How to find out whether an effect happened.
pub static LOOKUP: Object = Object {
    exactly_one: &QUESTIONS,
    within: Some(&STEP),
    ..object(
        "`lookup`",
        &[
            field("http", Is::Object(&HTTP), "A request that only reads."),
            field("sql", Is::Object(&SQL), "A query."),
            field(
                "ssh",
                Is::Object(&SSH),
                "A command that only reads, or `status`.",
            ),
            FOUND,
            FOUND_RESULT,
            field(
                "settle",
                SETTLE,
                "How long the destination may take to show what it did. Left out, `2s`.",
            ),
        ],
    )
};

/// Find, or else create.
pub static ENSURE: Object = Object {
    within: Some(&STEP),
    ..object(
        "`ensure`",
        &[
            required("find", Is::Object(&FIND), "Is it there?"),
            required("create", Is::Object(&MADE), "Make it, if it is not."),
            field("update", Is::Object(&MADE), "Change it, if it is."),
            field(
                "settle",
                SETTLE,
                "How long the destination may take to show what was created. Left out, `2s`.",
            ),
        ],
    )
};

const FOUND: Field = required("found", Is::Expr, "Over the answer: is it there?");
const FOUND_RESULT: Field = field(
    "result",
    Is::Expr,
    "Over the answer, if it is there: what later steps see.",
);

/// A question to the destination.
pub static FIND: Object = Object {
    exactly_one: &QUESTIONS,
    within: Some(&ENSURE),
    ..object(
        "`find`",
        &[
            field("http", Is::Object(&HTTP), "A request that only reads."),
            field("sql", Is::Object(&SQL), "A query."),
            field(
                "ssh",
                Is::Object(&SSH),
                "A command that only reads, or `status`.",
            ),
            FOUND,
            FOUND_RESULT,
        ],
    )
};

/// A call with what later steps see of it.
pub static MADE: Object = Object {
    exactly_one: &["http", "sql"],
    within: Some(&ENSURE),
    ..object(
        "`create` and `update`",
        &[
            field("http", Is::Object(&HTTP), "The request."),
            field("sql", Is::Object(&SQL), "The statement."),
            field(
                "result",
                Is::Expr,
                "Over the answer: what later steps see. Left out, all of it.",
            ),
        ],
    )
};

/// How to take an effect back.
pub static UNDO: Object = Object {
    exactly_one: &["http", "sql", "email", "notify", "exec", "ssh", "kv"],
    within: Some(&STEP),
    ..object(
        "`undo`",
        &[
            field("http", Is::Object(&HTTP), "The request."),
            field("sql", Is::Object(&SQL), "The statement."),
            field("email", Is::Object(&EMAIL), "The mail."),
            field("notify", Is::Object(&NOTIFY), "The message."),
            field("exec", Is::Object(&EXEC), "The program."),
            field("ssh", Is::Object(&SSH), "The command."),
            field("kv", Is::Object(&KV), "The value."),
        ],
    )
};

/// A case of `switch`.
pub static CASE: Object = Object {
    within: Some(&STEP),
    ..object(
        "a case",
        &[
            required("if", Is::Expr, "Is it this one?"),
            required("steps", Is::Steps, "Then this."),
        ],
    )
};

/// Run another flow.
pub static CALL: Object = Object {
    within: Some(&STEP),
    ..object(
        "`call`",
        &[
            required("flow", Is::Name, "Which flow."),
            field("input", Is::Tree, "What it is given as its `event`."),
        ],
    )
};

/// Tell other flows.
pub static EMIT: Object = Object {
    within: Some(&STEP),
    ..object(
        "`emit`",
        &[
            required("event", Is::DottedName, "The event's name."),
            field("data", Is::Tree, "What it carries, as their `event`."),
        ],
    )
};

/// Steps that only one run at a time may be in.
pub static LOCK: Object = Object {
    within: Some(&STEP),
    ..object(
        "`lock`",
        &[
            required("name", Is::Template, "The lock's name, across all flows."),
            field(
                "wait",
                duration(Millis::seconds(1), Millis::days(30)),
                "How long to wait for it. Left out, for ever.",
            ),
            required("steps", Is::Steps, "What is done inside."),
        ],
    )
};

/// End the run as done.
pub static STOP: Object = Object {
    within: Some(&STEP),
    ..object("`stop`", &[field("message", Is::Template, "Why.")])
};

/// End the run as failed.
pub static FAIL: Object = Object {
    within: Some(&STEP),
    ..object("`fail`", &[required("message", Is::Template, "Why.")])
};
