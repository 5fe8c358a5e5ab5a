//! Whatever a value says, it arrives as that value, and nothing else happens.

use semel_flow::Value;

use crate::shared::corpus::SQL;
use crate::world::{Kind, World, on_every_database};
use crate::{done, sql, steps, task};

/// A table to write to, and one that must stay as it is.
async fn world(kind: Kind) -> World {
    let world = World::new(kind).await;
    let text = match kind {
        Kind::Mariadb => "TEXT CHARACTER SET utf8mb4",
        Kind::Postgres | Kind::Sqlite => "TEXT",
    };
    world
        .exec(&format!(
            "CREATE TABLE notes (id INTEGER PRIMARY KEY, body {text})"
        ))
        .await;
    world.exec("CREATE TABLE guarded (a INTEGER)").await;
    world.exec("INSERT INTO guarded VALUES (7)").await;
    world
}

fn json(text: &str) -> String {
    Value::text(text).to_json()
}

/// How many tables there are.
async fn tables(world: &World) -> String {
    let sql = match world.kind {
        Kind::Postgres => {
            "SELECT count(*) FROM pg_tables WHERE schemaname = ANY(current_schemas(false))"
        }
        Kind::Mariadb => {
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = database()"
        }
        Kind::Sqlite => "SELECT count(*) FROM sqlite_master WHERE type = 'table'",
    };
    world.text(sql).await
}

/// The corpus is there, each text where it belongs, and nothing but it.
async fn only_the_corpus(world: &World, way: &str) {
    for (id, text) in SQL.iter().enumerate() {
        let body = world
            .text(&format!("SELECT body FROM notes WHERE id = {id}"))
            .await;
        assert_eq!(body, *text, "{way}: {text:?}");
    }
    assert_eq!(world.count("notes").await, SQL.len().to_string(), "{way}");
    let guarded = world.text("SELECT a FROM guarded").await;
    assert_eq!(
        (guarded.as_str(), &*world.count("guarded").await),
        ("7", "1"),
        "{way}"
    );
    assert_eq!(tables(world).await, "2", "{way}");
}

async fn in_statements(kind: Kind) {
    let world = world(kind).await;
    let steps = steps(&world.url);
    let insert = world.sql("INSERT INTO notes (id, body) VALUES ($1, $2)");
    for (id, text) in SQL.iter().enumerate() {
        let params = format!("[{id},{}]", json(text));
        done(&steps, &sql("run", &insert, &params)).await;
    }
    only_the_corpus(&world, "run").await;
    let query = world.sql("SELECT count(*) AS n FROM notes WHERE body = $1 AND id = $2");
    for (id, text) in SQL.iter().enumerate() {
        let params = format!("[{},{id}]", json(text));
        let found = done(&steps, &sql("query", &query, &params)).await;
        assert_eq!(found, r#"[{"n":1}]"#, "{text:?}");
    }
    only_the_corpus(&world, "query").await;
}

async fn in_forms(kind: Kind) {
    let world = world(kind).await;
    let steps = steps(&world.url);
    let form = |form: String| task(&format!(r#"{{"on":"shop",{form}}}"#));
    for (id, text) in SQL.iter().enumerate() {
        let text = json(text);
        let insert =
            format!(r#""insert":{{"into":"notes","on":{{"id":{id}}},"values":{{"body":{text}}}}}"#);
        done(&steps, &form(insert)).await;
    }
    only_the_corpus(&world, "insert").await;
    for (id, text) in SQL.iter().enumerate() {
        let text = json(text);
        let update = format!(
            r#""update":{{"table":"notes","set":{{"body":{text}}},"where":{{"id":{id},"body":{text}}}}}"#
        );
        done(&steps, &form(update)).await;
        let upsert =
            format!(r#""upsert":{{"into":"notes","on":{{"id":{id}}},"set":{{"body":{text}}}}}"#);
        done(&steps, &form(upsert)).await;
    }
    only_the_corpus(&world, "update and upsert").await;
}

on_every_database!(in_statements, in_forms);
