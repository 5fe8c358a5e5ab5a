//! Values go in and come back exact.

use crate::world::{Kind, World};
use crate::{done, message, perform, sql, steps, word};

/// What a query gives, as JSON.
async fn rows(world: &World, text: &str, params: &str) -> String {
    done(&steps(&world.url), &sql("query", text, params)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_values_come_back_exact() {
    let world = World::new(Kind::Postgres).await;
    for (text, expected) in [
        ("9223372036854775807::int8", "9223372036854775807"),
        ("(-32768)::int2", "-32768"),
        ("4294967295::oid", "4294967295"),
        (
            "12345678901234567890.1234500::numeric",
            r#""12345678901234567890.1234500""#,
        ),
        ("10.00::numeric(10,2)", r#""10.00""#),
        ("-0.00001::numeric", r#""-0.00001""#),
        ("100000000::numeric", r#""100000000""#),
        ("'NaN'::numeric", r#""NaN""#),
        ("0.1::float8", "0.1"),
        ("0.1::float4", "0.1"),
        ("'Infinity'::float8", r#""Infinity""#),
        ("true", "true"),
        ("NULL::int", "null"),
        ("NULL", "null"),
        ("'text'", r#""text""#),
        (r"'a\b''c'::varchar", r#""a\\b'c""#),
        ("'ab'::char(4)", r#""ab  ""#),
        (r"'\x00ff'::bytea", r#""AP8=""#),
        (
            r#"'{"b": 1.10, "a": [null, 12345678901234567890]}'::json"#,
            r#"{"a":[null,12345678901234567890],"b":1.1}"#,
        ),
        (r#"'{"a": "x"}'::jsonb"#, r#"{"a":"x"}"#),
        (
            "'2026-02-03 04:05:06.789'::timestamptz",
            r#""2026-02-03T04:05:06.789Z""#,
        ),
        (
            "'2026-02-03 04:05:06+02'::timestamptz",
            r#""2026-02-03T02:05:06Z""#,
        ),
        (
            "'2026-02-03 04:05:06.000001'::timestamp",
            r#""2026-02-03T04:05:06.000001""#,
        ),
        ("'infinity'::timestamptz", r#""infinity""#),
        ("'1969-07-20'::date", r#""1969-07-20""#),
        ("'23:59:59.5'::time", r#""23:59:59.5""#),
        ("'23:59:59+05:30'::timetz", r#""23:59:59+05:30""#),
        (
            "'1 year 2 mons 3 days 04:05:06'::interval",
            r#""P1Y2M3DT4H5M6S""#,
        ),
        (
            "'6f9619ff-8b86-d011-b42d-00cf4fc964ff'::uuid",
            r#""6f9619ff-8b86-d011-b42d-00cf4fc964ff""#,
        ),
        ("ARRAY[[1,2],[3,NULL]]", "[[1,2],[3,null]]"),
        ("'{}'::text[]", "[]"),
        ("ARRAY[1.50::numeric]", r#"["1.50"]"#),
    ] {
        let found = rows(&world, &format!("SELECT {text} AS v"), "[]").await;
        assert_eq!(found, format!(r#"[{{"v":{expected}}}]"#), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_values_go_in_exact() {
    let world = World::new(Kind::Postgres).await;
    for (param, ty, expected) in [
        ("9223372036854775807", "int8", "9223372036854775807"),
        (
            "12345678901234567890.12345",
            "numeric",
            "12345678901234567890.12345",
        ),
        (
            r#""12345678901234567890.1234500""#,
            "numeric",
            "12345678901234567890.1234500",
        ),
        ("0.1", "float8", "0.1"),
        ("true", "bool", "true"),
        ("null", "int4", "NULL"),
        (
            r#""2026-02-03T04:05:06.789Z""#,
            "timestamptz",
            "2026-02-03 04:05:06.789+00",
        ),
        (r#""AP8=""#, "bytea", "\\x00ff"),
        (r#"{"base64":"AP8="}"#, "bytea", "\\x00ff"),
        (r#"{"a":[1,null]}"#, "jsonb", r#"{"a": [1, null]}"#),
        (r#""text""#, "jsonb", r#""text""#),
        (r#"["a,b","c\"d",null]"#, "text[]", r#"{"a,b","c\"d",NULL}"#),
        (
            r#""6f9619ff-8b86-d011-b42d-00cf4fc964ff""#,
            "uuid",
            "6f9619ff-8b86-d011-b42d-00cf4fc964ff",
        ),
    ] {
        world.exec("DROP TABLE IF EXISTS t").await;
        world.exec(&format!("CREATE TABLE t (v {ty})")).await;
        let insert = sql("run", "INSERT INTO t VALUES ($1)", &format!("[{param}]"));
        done(&steps(&world.url), &insert).await;
        // The checker's session is at UTC too, as the server is.
        let stored = world.text("SELECT v::text FROM t").await;
        assert_eq!(stored, expected, "{param} as {ty}");
    }
    let wrong = sql("query", "SELECT $1::bytea AS v", r#"["%"]"#);
    let (outcome, _) = perform(&steps(&world.url), &wrong).await;
    assert_eq!(
        (word(&outcome), &*message(&outcome)),
        ("permanent", "the value for $1 (bytea) is not base64")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_types_without_an_exact_value_are_refused_first() {
    let world = World::new(Kind::Postgres).await;
    world.exec("CREATE TABLE t (v int)").await;
    let insert = sql(
        "run",
        "INSERT INTO t VALUES (1) RETURNING point(1, 2) AS p",
        "[]",
    );
    let (outcome, sent) = perform(&steps(&world.url), &insert).await;
    assert_eq!((word(&outcome), sent), ("permanent", 0));
    assert!(
        message(&outcome).contains("p::text"),
        "{}",
        message(&outcome)
    );
    assert_eq!(world.count("t").await, "0");
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_values_go_in_and_come_back_exact() {
    let world = World::new(Kind::Sqlite).await;
    world.exec("CREATE TABLE t (v, j JSON)").await;
    for (param, expected) in [
        ("9223372036854775807", "9223372036854775807"),
        ("0.1", "0.1"),
        (
            "12345678901234567890.12345",
            r#""12345678901234567890.12345""#,
        ),
        ("true", "1"),
        ("null", "null"),
        (r#""a'b""#, r#""a'b""#),
        (r#"{"base64":"AP8="}"#, r#""AP8=""#),
        (r#"[1,"x"]"#, r#""[1,\"x\"]""#),
    ] {
        world.exec("DELETE FROM t").await;
        let insert = sql(
            "run",
            "INSERT INTO t VALUES ($1, $1)",
            &format!("[{param}]"),
        );
        done(&steps(&world.url), &insert).await;
        let found = rows(&world, "SELECT v FROM t", "[]").await;
        assert_eq!(found, format!(r#"[{{"v":{expected}}}]"#), "{param}");
    }
    // What its table calls JSON comes back as a value.
    assert_eq!(
        rows(&world, "SELECT j FROM t", "[]").await,
        r#"[{"j":[1,"x"]}]"#
    );
    // A number is the number of a value, wherever it stands.
    let swapped = rows(&world, "SELECT $2 AS a, $1 AS b", r#"["one","two"]"#).await;
    assert_eq!(swapped, r#"[{"a":"two","b":"one"}]"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb_values_go_in_and_come_back_exact() {
    let world = World::new(Kind::Mariadb).await;
    for (ty, param, expected) in [
        ("BIGINT", "9223372036854775807", "9223372036854775807"),
        (
            "BIGINT UNSIGNED",
            "18446744073709551615",
            "18446744073709551615",
        ),
        (
            "DECIMAL(30,7)",
            "12345678901234567890.12345",
            r#""12345678901234567890.1234500""#,
        ),
        ("DOUBLE", "0.1", "0.1"),
        ("FLOAT", "0.1", "0.1"),
        ("BOOLEAN", "true", "1"),
        ("INT", "null", "null"),
        ("VARCHAR(9)", r#""a'b\\c""#, r#""a'b\\c""#),
        ("BLOB", r#"{"base64":"AP8="}"#, r#""AP8=""#),
        ("BIT(9)", "257", "257"),
        ("DATE", r#""2026-02-03""#, r#""2026-02-03""#),
        (
            "DATETIME(6)",
            r#""2026-02-03 04:05:06.000001""#,
            r#""2026-02-03T04:05:06.000001""#,
        ),
        (
            "TIMESTAMP(3) NULL",
            r#""2026-02-03 04:05:06.789""#,
            r#""2026-02-03T04:05:06.789Z""#,
        ),
        ("TIME", r#""-101:02:03""#, r#""-101:02:03""#),
        ("JSON", r#"{"a":[1]}"#, r#""{\"a\":[1]}""#),
    ] {
        world.exec("DROP TABLE IF EXISTS t").await;
        world.exec(&format!("CREATE TABLE t (v {ty})")).await;
        let insert = sql("run", "INSERT INTO t VALUES (?)", &format!("[{param}]"));
        assert_eq!(done(&steps(&world.url), &insert).await, "1", "{ty}");
        let found = rows(&world, "SELECT v FROM t", "[]").await;
        assert_eq!(found, format!(r#"[{{"v":{expected}}}]"#), "{ty}");
    }
    // A value that does not fit is refused, not cut.
    world.exec("DROP TABLE t").await;
    world.exec("CREATE TABLE t (v VARCHAR(2))").await;
    let insert = sql("run", "INSERT INTO t VALUES (?)", r#"["abc"]"#);
    let (outcome, _) = perform(&steps(&world.url), &insert).await;
    assert_eq!(word(&outcome), "refused", "{}", message(&outcome));
}

/// What commits by itself is unknown as soon as it may have, and cannot have a mark.
#[tokio::test(flavor = "multi_thread")]
async fn mariadb_statements_that_commit_by_themselves() {
    let world = World::new(Kind::Mariadb).await;
    let steps = steps(&world.url);
    let create = sql("run", "CREATE TABLE t (v INT)", "[]");
    let marked = crate::receipts::with_receipt(create.clone());
    let (outcome, sent) = perform(&steps, &marked).await;
    assert_eq!((word(&outcome), sent), ("permanent", 0));
    assert!(
        message(&outcome).contains("commits by itself"),
        "{}",
        message(&outcome)
    );
    let (outcome, sent) = perform(&steps, &create).await;
    assert_eq!((word(&outcome), sent), ("done", 1), "{}", message(&outcome));
    world
        .exec("CREATE PROCEDURE p() BEGIN INSERT INTO t VALUES (1); COMMIT; INSERT INTO none VALUES (1); END")
        .await;
    let (outcome, sent) = perform(&steps, &sql("run", "CALL p()", "[]")).await;
    assert_eq!(
        (word(&outcome), sent),
        ("unknown", 1),
        "{}",
        message(&outcome)
    );
    assert_eq!(world.count("t").await, "1");
}
