//! With `receipt: true`, once is once, whatever happens in between.

use std::sync::Arc;

use semel_act::Task;
use semel_ledger::Scope;
use semel_steps::{Database, receipts_sql};

use crate::world::{Kind, World, on_every_database};
use crate::{done, message, perform, sql, steps, task, word};

on_every_database!(
    the_second_time_reads_the_mark,
    the_mark_and_the_effect_are_one,
    two_at_once_are_one,
    every_scope_has_its_own_marks,
    the_table_is_the_one_that_is_printed,
    every_form_can_leave_a_mark,
    secrets_are_not_kept_in_the_mark,
);

/// A task with a mark: each time it is run it would add a row.
pub(crate) fn add(world: &World) -> Task {
    let text = match world.kind {
        Kind::Mariadb => "INSERT INTO entries (what) VALUES (?)",
        _ => "INSERT INTO entries (what) VALUES ($1) RETURNING what",
    };
    with_receipt(sql("run", text, r#"["x"]"#))
}

pub(crate) fn with_receipt(mut task: Task) -> Task {
    let semel_flow::Value::Map(members) = &mut task.input else {
        panic!("no fields");
    };
    Arc::make_mut(members).insert("receipt".into(), semel_flow::Value::Bool(true));
    task
}

pub(crate) async fn world_with_entries(kind: Kind) -> World {
    let world = World::new(kind).await;
    world.exec("CREATE TABLE entries (what VARCHAR(50))").await;
    world
}

async fn the_second_time_reads_the_mark(kind: Kind) {
    let world = world_with_entries(kind).await;
    let add = add(&world);
    let (first, sent) = perform(&steps(&world.url), &add).await;
    assert_eq!(sent, 1);
    // Another process, which knows nothing of the first.
    let (second, sent) = perform(&steps(&world.url), &add).await;
    assert_eq!(word(&first), "done", "{}", message(&first));
    assert_eq!(first, second);
    assert_eq!(sent, 0);
    assert_eq!(world.count("entries").await, "1");
    assert_eq!(world.count("semel_receipts").await, "1");
}

async fn the_mark_and_the_effect_are_one(kind: Kind) {
    let world = world_with_entries(kind).await;
    world
        .exec("CREATE UNIQUE INDEX one ON entries (what)")
        .await;
    world.exec("INSERT INTO entries VALUES ('x')").await;
    let steps = steps(&world.url);
    let add = add(&world);
    let (refused, _) = perform(&steps, &add).await;
    assert_eq!(word(&refused), "refused", "{}", message(&refused));
    assert_eq!(world.count("semel_receipts").await, "0");
    world.exec("DELETE FROM entries").await;
    assert_eq!(word(&perform(&steps, &add).await.0), "done");
    assert_eq!(world.count("semel_receipts").await, "1");
}

/// Also while the table of marks is being made.
async fn two_at_once_are_one(kind: Kind) {
    let world = world_with_entries(kind).await;
    let add = add(&world);
    let (one, other) = (steps(&world.url), steps(&world.url));
    let (a, b, c, d) = tokio::join!(
        perform(&one, &add),
        perform(&other, &add),
        perform(&one, &add),
        perform(&other, &add),
    );
    let all = [a.0, b.0, c.0, d.0];
    for outcome in &all {
        assert_eq!(word(outcome), "done", "{}", message(outcome));
    }
    assert!(all.iter().all(|outcome| *outcome == all[0]));
    assert_eq!(world.count("entries").await, "1");
}

async fn every_scope_has_its_own_marks(kind: Kind) {
    let world = world_with_entries(kind).await;
    let steps = steps(&world.url);
    let one = add(&world);
    let mut other = add(&world);
    other.scope = Some(Scope::new("other-flow/order").expect("a scope"));
    done(&steps, &one).await;
    done(&steps, &other).await;
    assert_eq!(world.count("entries").await, "2");
    let keys = "SELECT count(DISTINCT effect_key) FROM semel_receipts";
    assert_eq!(world.text(keys).await, "1");
}

async fn the_table_is_the_one_that_is_printed(kind: Kind) {
    let world = world_with_entries(kind).await;
    let database = match kind {
        Kind::Postgres => Database::Postgres,
        Kind::Mariadb => Database::Mysql,
        Kind::Sqlite => Database::Sqlite,
    };
    world.exec(receipts_sql(database)).await;
    let steps = steps(&world.url);
    done(&steps, &add(&world)).await;
    done(&steps, &add(&world)).await;
    assert_eq!(world.count("entries").await, "1");
}

async fn every_form_can_leave_a_mark(kind: Kind) {
    let world = World::with_orders(kind).await;
    let steps = steps(&world.url);
    let forms = [
        (
            r#""insert":{"into":"orders","on":{"id":1},"values":{"state":"a"}}"#,
            "a",
        ),
        (
            r#""upsert":{"into":"orders","on":{"id":1},"set":{"state":"b"}}"#,
            "b",
        ),
        (
            r#""update":{"table":"orders","set":{"state":"c"},"where":{"state":"b"}}"#,
            "c",
        ),
    ];
    for (index, (form, state)) in forms.iter().enumerate() {
        let mut task = with_receipt(task(&format!(r#"{{"on":"shop",{form}}}"#)));
        task.key = Some(format!("order/{index}").parse().expect("a key"));
        let first = done(&steps, &task).await;
        // A compare-and-swap too is told what came of it, although it would find nothing now.
        assert_eq!(done(&steps, &task).await, first);
        assert_eq!(world.text("SELECT state FROM orders").await, *state);
    }
}

async fn secrets_are_not_kept_in_the_mark(kind: Kind) {
    let world = world_with_entries(kind).await;
    let steps = steps(&world.url);
    let text = match kind {
        Kind::Mariadb => "INSERT INTO entries (what) VALUES (?)",
        _ => "INSERT INTO entries (what) VALUES ($1) RETURNING what",
    };
    let outcome = perform(&steps, &with_receipt(sql("run", text, r#"["{{TOKEN}}"]"#)))
        .await
        .0;
    assert_eq!(world.text("SELECT what FROM entries").await, "s3cret-t0ken");
    let kept = world.text("SELECT result FROM semel_receipts").await;
    assert!(!kept.contains("s3cret"), "{kept}");
    assert!(
        !message(&outcome).contains("s3cret"),
        "{}",
        message(&outcome)
    );
}
