//! What each form does, the same on every database.

use crate::world::{Kind, World, on_every_database};
use crate::{done, message, perform, sql, steps, task, word};

on_every_database!(
    a_query_gives_rows,
    a_query_may_only_read,
    any_statement_is_run,
    a_row_is_made_or_changed,
    a_row_is_made_once,
    rows_are_changed_if_they_are_as_expected,
    another_unique_column_is_not_taken_for_the_row,
    a_session_is_used_again,
    names_are_those_of_the_file,
);

async fn a_query_gives_rows(kind: Kind) {
    let world = World::with_orders(kind).await;
    world
        .exec("INSERT INTO orders VALUES (1, 'paid', 'a'), (2, 'open', NULL)")
        .await;
    let steps = steps(&world.url);
    let query = world.sql("SELECT id, note FROM orders WHERE id >= $1 ORDER BY id");
    let (outcome, sent) = perform(&steps, &sql("query", &query, "[1]")).await;
    assert_eq!(sent, 0, "a query has no effect");
    assert_eq!(
        message(&outcome),
        r#"done: {"count":2,"rows":[{"id":1,"note":"a"},{"id":2,"note":null}]}"#
    );
    let none = done(&steps, &sql("query", &query, "[9]")).await;
    assert_eq!(none, "[]");
}

async fn a_query_may_only_read(kind: Kind) {
    let world = World::with_orders(kind).await;
    let steps = steps(&world.url);
    for text in [
        "INSERT INTO orders VALUES (1, 'x', NULL)",
        "CREATE TABLE more (id INTEGER)",
        "DELETE FROM orders",
    ] {
        let (outcome, sent) = perform(&steps, &sql("query", text, "[]")).await;
        assert_eq!(word(&outcome), "refused", "{text}: {}", message(&outcome));
        assert_eq!(sent, 0);
    }
    assert_eq!(world.count("orders").await, "0");
}

async fn any_statement_is_run(kind: Kind) {
    let world = World::with_orders(kind).await;
    let steps = steps(&world.url);
    let insert = world.sql("INSERT INTO orders VALUES ($1, $2, NULL), ($3, $4, NULL)");
    let (outcome, sent) = perform(&steps, &sql("run", &insert, r#"[1,"a",2,"b"]"#)).await;
    assert_eq!(message(&outcome), r#"done: {"count":2,"rows":null}"#);
    assert_eq!(sent, 1);
    let delete = sql("run", "DELETE FROM orders WHERE id > 5", "[]");
    assert_eq!(done(&steps, &delete).await, "0");
    perform(&steps, &sql("run", "CREATE TABLE more (id INTEGER)", "[]")).await;
    assert_eq!(world.count("more").await, "0");
    // A statement that fails leaves nothing behind, not even its first row.
    let (outcome, _) = perform(&steps, &sql("run", &insert, r#"[3,"c",1,"d"]"#)).await;
    assert_eq!(word(&outcome), "refused", "{}", message(&outcome));
    assert_eq!(world.count("orders").await, "2");
}

fn upsert(state: &str) -> semel_act::Task {
    task(&format!(
        r#"{{"on":"shop","upsert":{{"into":"orders","on":{{"id":7}},"set":{{"state":{state},"note":"n"}}}}}}"#
    ))
}

async fn a_row_is_made_or_changed(kind: Kind) {
    let world = World::with_orders(kind).await;
    let steps = steps(&world.url);
    for state in ["open", "paid", "paid"] {
        assert_eq!(done(&steps, &upsert(&format!("\"{state}\""))).await, "1");
        assert_eq!(
            world.text("SELECT state FROM orders WHERE id = 7").await,
            state
        );
    }
    done(&steps, &upsert("null")).await;
    assert_eq!(world.text("SELECT state FROM orders").await, "NULL");
    assert_eq!(world.count("orders").await, "1");
}

async fn a_row_is_made_once(kind: Kind) {
    let world = World::with_orders(kind).await;
    let steps = steps(&world.url);
    let insert = |state: &str| {
        task(&format!(
            r#"{{"on":"shop","insert":{{"into":"orders","on":{{"id":7}},"values":{{"state":"{state}"}}}}}}"#
        ))
    };
    assert_eq!(done(&steps, &insert("first")).await, "1");
    assert_eq!(done(&steps, &insert("second")).await, "0");
    assert_eq!(world.text("SELECT state FROM orders").await, "first");
}

async fn rows_are_changed_if_they_are_as_expected(kind: Kind) {
    let world = World::with_orders(kind).await;
    world
        .exec("INSERT INTO orders VALUES (1, 'open', NULL), (2, 'open', NULL)")
        .await;
    let steps = steps(&world.url);
    let update = |filter: &str, expect: &str| {
        task(&format!(
            r#"{{"on":"shop","update":{{"table":"orders","set":{{"state":"paid"}},"where":{filter}{expect}}}}}"#
        ))
    };
    let swap = update(r#"{"id":1,"state":"open"}"#, "");
    assert_eq!(done(&steps, &swap).await, "1");
    let (again, sent) = perform(&steps, &swap).await;
    assert_eq!(word(&again), "refused");
    assert_eq!(sent, 0, "nothing that could commit was sent");
    assert_eq!(
        message(&again),
        "`update` found 0 rows, not the 1 of `expect`; nothing was changed"
    );
    let (too_many, _) = perform(&steps, &update(r#"{"note":null}"#, "")).await;
    assert_eq!(word(&too_many), "refused", "{}", message(&too_many));
    assert_eq!(
        world.text("SELECT state FROM orders WHERE id = 2").await,
        "open"
    );
    // A row that has the values already is found all the same.
    assert_eq!(
        done(&steps, &update(r#"{"note":null}"#, r#","expect":2"#)).await,
        "2"
    );
    assert_eq!(
        done(&steps, &update(r#"{"id":99}"#, r#","expect":0"#)).await,
        "0"
    );
}

/// A clash in a column that the step did not name is not the row it means.
async fn another_unique_column_is_not_taken_for_the_row(kind: Kind) {
    let world = World::with_orders(kind).await;
    world
        .exec("INSERT INTO orders VALUES (1, 'other', 'n')")
        .await;
    let steps = steps(&world.url);
    let insert =
        task(r#"{"on":"shop","insert":{"into":"orders","on":{"id":7},"values":{"note":"n"}}}"#);
    for task in [upsert("\"x\""), insert] {
        let (outcome, _) = perform(&steps, &task).await;
        assert_eq!(word(&outcome), "refused", "{}", message(&outcome));
    }
    // Nor may a row be known by what is not unique: two of them would be made at the same time.
    let loose =
        task(r#"{"on":"shop","upsert":{"into":"orders","on":{"state":"s"},"set":{"note":"m"}}}"#);
    let (outcome, _) = perform(&steps, &loose).await;
    assert_eq!(word(&outcome), "refused", "{}", message(&outcome));
    assert_eq!(world.text("SELECT state FROM orders").await, "other");
    assert_eq!(world.count("orders").await, "1");
}

async fn a_session_is_used_again(kind: Kind) {
    let world = World::with_orders(kind).await;
    let steps = steps(&world.url);
    let who = match kind {
        Kind::Postgres => "SELECT pg_backend_pid() AS id",
        Kind::Mariadb => "SELECT connection_id() AS id",
        Kind::Sqlite => return,
    };
    let first = done(&steps, &sql("query", who, "[]")).await;
    done(&steps, &upsert("\"x\"")).await;
    assert_eq!(done(&steps, &sql("query", who, "[]")).await, first);
    // What a statement may have changed in its session is not left for the next step.
    done(&steps, &sql("run", who, "[]")).await;
    assert_ne!(done(&steps, &sql("query", who, "[]")).await, first);
    // A session that the server has ended costs nothing.
    let id = done(&steps, &sql("query", who, "[]")).await;
    let id: String = id.chars().filter(char::is_ascii_digit).collect();
    world
        .exec(&match kind {
            Kind::Postgres => format!("SELECT pg_terminate_backend({id}, 5000)"),
            _ => format!("KILL {id}"),
        })
        .await;
    assert_eq!(done(&steps, &upsert("\"y\"")).await, "1");
}

async fn names_are_those_of_the_file(kind: Kind) {
    let world = World::new(kind).await;
    let name = match kind {
        Kind::Postgres => r#""Order-Lines""#,
        _ => "`Order-Lines`",
    };
    let key = if kind == Kind::Postgres {
        "\"key\""
    } else {
        "`key`"
    };
    world
        .exec(&format!(
            "CREATE TABLE {name} ({key} INTEGER PRIMARY KEY, size INTEGER)"
        ))
        .await;
    let steps = steps(&world.url);
    let row = |column: &str| {
        task(&format!(
            r#"{{"on":"shop","upsert":{{"into":"Order-Lines","on":{{"key":1}},"set":{{"{column}":2}}}}}}"#
        ))
    };
    assert_eq!(done(&steps, &row("size")).await, "1");
    let (outcome, _) = perform(&steps, &row("sise")).await;
    assert_eq!(word(&outcome), "refused", "{}", message(&outcome));
    assert!(message(&outcome).contains("sise"), "{}", message(&outcome));
    // A column that is not there is never taken for the text of its name.
    let everywhere = r#""table":"Order-Lines","set":{"size":9},"where":{"sise":"sise"}"#;
    let everywhere = task(&format!(r#"{{"on":"shop","update":{{{everywhere}}}}}"#));
    let (outcome, _) = perform(&steps, &everywhere).await;
    assert_eq!(word(&outcome), "refused", "{}", message(&outcome));
    assert!(message(&outcome).contains("sise"), "{}", message(&outcome));
}
