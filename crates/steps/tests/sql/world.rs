//! A database of a test's own, and a second client that reads what is really in it.

use std::sync::atomic::{AtomicU32, Ordering};

use mysql_async::prelude::Queryable as _;
use tempfile::TempDir;
use tokio_postgres::{NoTls, SimpleQueryMessage};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Postgres,
    Mariadb,
    Sqlite,
}

pub(crate) struct World {
    pub(crate) kind: Kind,
    /// The address that steps are given.
    pub(crate) url: String,
    /// Where the server listens, if there is one.
    pub(crate) server: Option<String>,
    dir: TempDir,
}

fn from_environment(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; run ./test"))
}

/// A name that no other test has.
fn fresh() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("sql_{}_{count}", std::process::id())
}

/// `host:port` of an address.
fn authority(url: &str) -> String {
    let rest = url.split_once('@').expect("a user").1;
    rest.split_once('/').expect("a database").0.to_owned()
}

impl World {
    pub(crate) async fn new(kind: Kind) -> World {
        let dir = TempDir::new().expect("a directory");
        let name = fresh();
        let (url, server) = match kind {
            Kind::Postgres => {
                let base = from_environment("SEMEL_TEST_POSTGRES");
                let url =
                    format!("{base}?options=-c%20search_path%3D{name}&application_name={name}");
                (url, Some(authority(&base)))
            }
            Kind::Mariadb => {
                let base = from_environment("SEMEL_TEST_MARIADB");
                let server = authority(&base);
                (format!("{base}{name}"), Some(server))
            }
            Kind::Sqlite => {
                let path = dir.path().join("shop.db");
                rusqlite::Connection::open(&path)
                    .and_then(|it| it.execute_batch("PRAGMA journal_mode = WAL"))
                    .expect("a file");
                (format!("sqlite:{}", path.display()), None)
            }
        };
        let world = World {
            kind,
            url,
            server,
            dir,
        };
        match kind {
            Kind::Postgres => world.exec(&format!("CREATE SCHEMA {name}")).await,
            Kind::Mariadb => {
                let base = from_environment("SEMEL_TEST_MARIADB");
                let opts = mysql_async::Opts::from_url(&base).expect("an address");
                let mut conn = mysql_async::Conn::new(opts).await.expect("MariaDB");
                let create = format!("CREATE DATABASE {name}");
                conn.query_drop(create).await.expect("a database");
            }
            Kind::Sqlite => {}
        }
        world
    }

    /// With a table of orders.
    pub(crate) async fn with_orders(kind: Kind) -> World {
        let world = World::new(kind).await;
        world
            .exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, state VARCHAR(50), note VARCHAR(50) UNIQUE)")
            .await;
        world
    }

    /// The address with another server in its place.
    pub(crate) fn through(&self, other: &str) -> String {
        let server = self.server.as_deref().expect("a server");
        self.url.replace(server, other)
    }

    /// SQL with the placeholders of this database.
    pub(crate) fn sql(&self, sql: &str) -> String {
        if self.kind != Kind::Mariadb {
            return sql.to_owned();
        }
        let mut text = sql.to_owned();
        for number in 1..10 {
            text = text.replace(&format!("${number}"), "?");
        }
        text
    }

    pub(crate) async fn exec(&self, sql: &str) {
        self.ask(sql).await;
    }

    /// The first value of the answer, as text.
    pub(crate) async fn text(&self, sql: &str) -> String {
        self.ask(sql).await.unwrap_or_else(|| "NULL".to_owned())
    }

    pub(crate) async fn count(&self, table: &str) -> String {
        self.text(&format!("SELECT count(*) FROM {table}")).await
    }

    async fn ask(&self, sql: &str) -> Option<String> {
        match self.kind {
            Kind::Postgres => {
                let connected = tokio_postgres::connect(&self.url, NoTls).await;
                let (client, connection) = connected.expect("PostgreSQL");
                let task = tokio::spawn(connection);
                let answer = client.simple_query(sql).await.expect(sql);
                task.abort();
                answer.into_iter().find_map(|message| match message {
                    SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or("NULL").to_owned()),
                    _ => None,
                })
            }
            Kind::Mariadb => {
                let opts = mysql_async::Opts::from_url(&self.url).expect("an address");
                let mut conn = mysql_async::Conn::new(opts).await.expect("MariaDB");
                let row: Option<mysql_async::Row> = conn.query_first(sql).await.expect(sql);
                row.map(|row| match &row[0] {
                    mysql_async::Value::NULL => "NULL".to_owned(),
                    value => mysql_async::from_value(value.clone()),
                })
            }
            Kind::Sqlite => {
                let path = self.dir.path().join("shop.db");
                let connection = rusqlite::Connection::open(path).expect("the file");
                let mut statement = connection.prepare(sql).expect(sql);
                let mut rows = statement.query([]).expect(sql);
                let row = rows.next().expect(sql)?;
                let value: rusqlite::types::Value = row.get(0).expect("a value");
                Some(match value {
                    rusqlite::types::Value::Null => "NULL".to_owned(),
                    rusqlite::types::Value::Integer(int) => int.to_string(),
                    rusqlite::types::Value::Text(text) => text,
                    other => format!("{other:?}"),
                })
            }
        }
    }
}

/// Gives each case one test for each database.
macro_rules! on_every_database {
    ($($case:ident),* $(,)?) => {
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() { super::$case(crate::world::Kind::Postgres).await; })*
        }
        mod mariadb {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() { super::$case(crate::world::Kind::Mariadb).await; })*
        }
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() { super::$case(crate::world::Kind::Sqlite).await; })*
        }
    };
}
pub(crate) use on_every_database;
