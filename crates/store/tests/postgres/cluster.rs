//! Where the tests find PostgreSQL: the given server with a schema for each test, or a cluster of
//! their own that they may stop and break.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use semel_store::{Location, Options, Store};
use tokio_postgres::{Client, NoTls};

fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run ./test"))
}

/// The given server, with a schema that nobody else uses.
pub(crate) struct Place {
    base: String,
    pub(crate) schema: String,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place::at(setting("SEMEL_TEST_POSTGRES"))
    }

    pub(crate) fn at(base: String) -> Place {
        let random: [u8; 8] = semel_store::store::random_bytes();
        let schema = format!("t_{}", semel_store::blob::hex(&random));
        Place { base, schema }
    }

    fn with(&self, base: &str) -> String {
        let joint = if base.contains('?') { '&' } else { '?' };
        let schema = &self.schema;
        format!("{base}{joint}sslmode=disable&semel_schema={schema}&application_name={schema}")
    }

    pub(crate) fn url(&self) -> String {
        self.with(&self.base)
    }

    /// The same place behind another port of this machine.
    pub(crate) fn url_through(&self, port: u16) -> String {
        let config: tokio_postgres::Config = self.base.parse().unwrap();
        let user = config.get_user().unwrap();
        let name = config.get_dbname().unwrap_or(user);
        self.with(&format!("postgres://{user}@127.0.0.1:{port}/{name}"))
    }

    pub(crate) fn address(&self) -> (String, u16) {
        let config: tokio_postgres::Config = self.base.parse().unwrap();
        let host = match &config.get_hosts()[0] {
            tokio_postgres::config::Host::Tcp(host) => host.clone(),
            unix @ tokio_postgres::config::Host::Unix(_) => {
                panic!("the test server must be reached by TCP, not {unix:?}")
            }
        };
        (host, config.get_ports().first().copied().unwrap_or(5432))
    }

    pub(crate) async fn open(&self, options: Options) -> Store {
        let url = Location::Postgres(self.url());
        Store::open(&url, options).await.unwrap()
    }

    /// A plain connection, past Semel.
    pub(crate) async fn client(&self) -> Client {
        let (client, connection) = tokio_postgres::connect(&self.base, NoTls).await.unwrap();
        tokio::spawn(connection);
        let path = format!("SET search_path = {}", self.schema);
        client.batch_execute(&path).await.unwrap();
        client
    }

    pub(crate) async fn drop_schema(&self) {
        let client = self.client().await;
        let sql = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.schema);
        client.batch_execute(&sql).await.unwrap();
    }
}

/// A cluster of the test's own.
pub(crate) struct Cluster {
    directory: tempfile::TempDir,
    port: u16,
}

impl Cluster {
    pub(crate) fn start(settings: &str) -> Cluster {
        let directory = tempfile::tempdir().unwrap();
        if is_root() {
            let owned = Command::new("chown")
                .arg("postgres")
                .arg(directory.path())
                .status();
            assert!(owned.unwrap().success());
        }
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let cluster = Cluster { directory, port };
        cluster.run("initdb", &["-U", "postgres", "-A", "trust", "-E", "UTF8"]);
        let config = format!(
            "port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n{settings}\n"
        );
        let path = cluster.data().join("postgresql.auto.conf");
        std::fs::write(path, config).unwrap();
        cluster.resume();
        cluster
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let program = PathBuf::from(setting("SEMEL_TEST_PG_BIN")).join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(&program);
            command
        } else {
            Command::new(&program)
        };
        let log = std::fs::File::create(self.directory.path().join("output")).unwrap();
        let status = command
            .arg("-D")
            .arg(self.data())
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .status();
        assert!(status.unwrap().success(), "{}", program.display());
    }

    /// Starts it, and waits until it takes connections.
    pub(crate) fn resume(&self) {
        self.run("pg_ctl", &["-w", "-l", "log", "start"]);
    }

    /// Stops it as a crash would.
    pub(crate) fn crash(&self) {
        self.run("pg_ctl", &["-w", "-m", "immediate", "stop"]);
    }

    pub(crate) fn place(&self) -> Place {
        Place::at(format!(
            "postgres://postgres@127.0.0.1:{}/postgres",
            self.port
        ))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.data().join("postmaster.pid").exists() {
            self.crash();
        }
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
