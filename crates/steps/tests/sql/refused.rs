//! Bad input, and what is said about it.

use crate::world::{Kind, World};
use crate::{message, perform, sql, steps, steps_with, task, word};

/// Fields, and what is said about them.
const WRONG: [(&str, &str); 25] = [
    (
        r#"{"on":"shop"}"#,
        "sql needs one of query, run, upsert, update, insert",
    ),
    (
        r#"{"on":"shop","query":"SELECT 1","run":"SELECT 1"}"#,
        "sql has both `query` and `run`; keep one",
    ),
    (
        r#"{"on":"shop","querry":"SELECT 1"}"#,
        "sql has no field `querry`",
    ),
    (
        r#"{"on":"shop","query":7}"#,
        "`query` is a whole number; write text",
    ),
    (r#"{"query":"SELECT 1"}"#, "`on` is missing"),
    (
        r#"{"on":"shp","query":"SELECT 1"}"#,
        "there is no connection `shp`; configured are: shop",
    ),
    (
        r#"{"on":"shop","query":"SELECT 1","params":{"a":1}}"#,
        "`params` is an object; write a list of values",
    ),
    (
        r#"{"on":"shop","query":"SELECT 1","receipt":true}"#,
        "sql has both `query` and `receipt`; keep one",
    ),
    (
        r#"{"on":"shop","run":"commit"}"#,
        "`run` is COMMIT; a step is a transaction of its own: leave COMMIT out",
    ),
    (
        r#"{"on":"shop","run":"-- x\n ; rollback"}"#,
        "`run` is ROLLBACK; a step is a transaction of its own: leave ROLLBACK out",
    ),
    (
        r#"{"on":"shop","run":"  -- nothing"}"#,
        "`run` does not begin with a statement; write one, comments after it",
    ),
    (
        r#"{"on":"shop","query":"SELECT 1","rows":0}"#,
        "`rows` is not a whole number from 1 to 100000",
    ),
    (
        r#"{"on":"shop","query":"SELECT 1","limit":"17MiB"}"#,
        "`limit` is not a size up to 16MiB; write a number with B, KiB or MiB, such as 4MiB",
    ),
    (
        r#"{"on":"shop","upsert":{"into":"t","on":{"a":1}}}"#,
        "`upsert.set` is missing",
    ),
    (
        r#"{"on":"shop","upsert":{"into":"t","on":{},"set":{"b":1}}}"#,
        "`upsert.on` has no column; name at least one",
    ),
    (
        r#"{"on":"shop","upsert":{"into":"t","on":{"a":null},"set":{"b":1}}}"#,
        "`upsert.on.a` is null, and null is equal to nothing; give the row a name",
    ),
    (
        r#"{"on":"shop","upsert":{"into":"t","on":{"a":1},"set":{"a":1}}}"#,
        "the column `a` stands in both `on` and `set`; keep one",
    ),
    (
        r#"{"on":"shop","upsert":{"into":"t; DROP","on":{"a":1},"set":{"b":1}}}"#,
        "`upsert.into` has ';'; names have letters, digits, `_`, `-` and `$`",
    ),
    (
        r#"{"on":"shop","upsert":{"into":"t","on":{"a":1},"set":{"b\"":1}}}"#,
        "`upsert.set.b\"` has '\"'; names have letters, digits, `_`, `-` and `$`",
    ),
    (
        r#"{"on":"shop","insert":{"into":"0123456789012345678901234567890123456789012345678901234567890123","on":{"a":1}}}"#,
        "`insert.into` has 64 bytes; the limit is 63",
    ),
    (
        r#"{"on":"shop","update":{"table":"t","set":{"b":1}}}"#,
        "`update.where` is missing",
    ),
    (
        r#"{"on":"shop","update":{"table":"t","set":{"b":1},"where":{"a":1},"expect":-1}}"#,
        "`update.expect` is not a whole number from 0 to 4294967295",
    ),
    (
        r#"{"on":"shop","update":{"table":"t","set":{"b":1},"where":{"a":1},"limit":1}}"#,
        "sql has no field `update.limit`",
    ),
    (
        r#"{"on":"shop","insert":{"into":"t","on":{"a":1}},"params":[1]}"#,
        "sql has both `params` and `insert`; keep one",
    ),
    (
        r#"{"on":"shop","query":"SELECT $1","params":["{{NONE}}"]}"#,
        "`params`: there is no secret NONE; set it with: semel secrets set NONE",
    ),
];

/// Fields that are wrong are named, and nothing is asked of the database.
#[tokio::test]
async fn wrong_fields_are_named() {
    // Nobody listens there: whoever connected would be told so.
    let steps = steps("postgres://nobody@127.0.0.1:1/none");
    for (input, expected) in WRONG {
        let (outcome, sent) = perform(&steps, &task(input)).await;
        assert_eq!(message(&outcome), expected, "{input}");
        assert_eq!((word(&outcome), sent), ("permanent", 0), "{input}");
    }
    let mut keyless = task(r#"{"on":"shop","run":"SELECT 1","receipt":true}"#);
    keyless.key = None;
    let (outcome, _) = perform(&steps, &keyless).await;
    assert_eq!(
        message(&outcome),
        "`receipt` writes the step's key, and this step has none"
    );
}

#[tokio::test]
async fn nobody_there_is_never_sent() {
    for url in [
        "postgres://nobody@127.0.0.1:1/none",
        "mysql://nobody@127.0.0.1:1/none",
        "sqlite:/no/such/file.db",
    ] {
        let (outcome, sent) = perform(&steps(url), &sql("run", "DELETE FROM t", "[]")).await;
        assert_eq!(
            (word(&outcome), sent),
            ("never_sent", 0),
            "{}",
            message(&outcome)
        );
    }
}

/// A password that the server refuses is not repeated by anybody.
#[tokio::test]
async fn passwords_stay_secret() {
    let world = World::new(Kind::Mariadb).await;
    let url = world.url.replace("root", "nobody");
    let (outcome, _) = perform(
        &steps_with(&url, Some("PASSWORD")),
        &sql("query", "SELECT 1", "[]"),
    )
    .await;
    assert_eq!(word(&outcome), "refused", "{}", message(&outcome));
    assert!(
        !message(&outcome).contains("hunter22"),
        "{}",
        message(&outcome)
    );
    let missing = steps_with("postgres://nobody@127.0.0.1:1/none", Some("NONE"));
    let (outcome, _) = perform(&missing, &sql("query", "SELECT 1", "[]")).await;
    assert_eq!(
        message(&outcome),
        "connection `shop`: there is no secret NONE; set it with: semel secrets set NONE"
    );
}

/// An answer is never cut short in silence, and what gave too long an answer is not done.
#[tokio::test(flavor = "multi_thread")]
async fn answers_have_limits() {
    for kind in [Kind::Postgres, Kind::Sqlite, Kind::Mariadb] {
        let world = World::with_orders(kind).await;
        world
            .exec("INSERT INTO orders VALUES (1, 'a', NULL), (2, 'b', NULL), (3, 'c', NULL)")
            .await;
        let steps = steps(&world.url);
        let few = |form: &str, text: &str, room: &str| {
            task(&format!(r#"{{"on":"shop","{form}":"{text}",{room}}}"#))
        };
        let all = "SELECT * FROM orders";
        let (outcome, _) = perform(&steps, &few("query", all, r#""rows":2"#)).await;
        assert_eq!(
            (word(&outcome), &*message(&outcome)),
            (
                "permanent",
                "the answer has more than 2 rows; ask for fewer, or raise `rows`"
            )
        );
        let (outcome, _) = perform(&steps, &few("query", all, r#""limit":"20B""#)).await;
        assert!(
            message(&outcome).contains("more than 20 bytes"),
            "{}",
            message(&outcome)
        );
        // MariaDB's DELETE … RETURNING is known to the others too, if they are new enough.
        let delete = "DELETE FROM orders RETURNING id";
        let (outcome, sent) = perform(&steps, &few("run", delete, r#""rows":2"#)).await;
        assert_eq!(
            (word(&outcome), sent),
            ("permanent", 0),
            "{}",
            message(&outcome)
        );
        assert_eq!(world.count("orders").await, "3", "{kind:?}");
        let (outcome, _) = perform(
            &steps,
            &few("query", "SELECT 1 AS a, 2 AS a", r#""rows":2"#),
        )
        .await;
        assert!(
            message(&outcome).contains("called `a`"),
            "{}",
            message(&outcome)
        );
    }
}

/// As many values as there are places for them.
#[tokio::test(flavor = "multi_thread")]
async fn values_and_places_are_counted() {
    for kind in [Kind::Postgres, Kind::Sqlite, Kind::Mariadb] {
        let world = World::with_orders(kind).await;
        let steps = steps(&world.url);
        let text = world.sql("SELECT id FROM orders WHERE id = $1");
        for params in ["[]", "[1,2]"] {
            let (outcome, _) = perform(&steps, &sql("query", &text, params)).await;
            assert_eq!(word(&outcome), "permanent", "{}", message(&outcome));
            assert!(
                message(&outcome).contains("`params`"),
                "{}",
                message(&outcome)
            );
        }
        // One statement is one statement.
        let two = "INSERT INTO orders VALUES (1, 'a', NULL); DELETE FROM orders";
        let (outcome, _) = perform(&steps, &sql("run", two, "[]")).await;
        assert_ne!(word(&outcome), "done", "{kind:?}");
        assert_eq!(world.count("orders").await, "0");
    }
}

/// A file's statements cannot reach another file or leave their transaction.
#[tokio::test(flavor = "multi_thread")]
async fn sqlite_stays_in_its_file() {
    let world = World::with_orders(Kind::Sqlite).await;
    let steps = steps(&world.url);
    for text in [
        "ATTACH DATABASE '/tmp/other.db' AS other",
        "PRAGMA writable_schema = 1",
        "VACUUM INTO '/tmp/copy.db'",
    ] {
        let (outcome, sent) = perform(&steps, &sql("run", text, "[]")).await;
        assert!(
            matches!(word(&outcome), "permanent" | "refused"),
            "{text}: {}",
            message(&outcome)
        );
        assert_eq!(sent, 0);
    }
}
