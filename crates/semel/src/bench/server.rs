//! Semel itself under load, in this process.

use std::path::PathBuf;
use std::sync::Arc;

use semel_act::SecretSet;
use semel_server::{App, DeployOptions, Idle, Settings, Vault, deploy};
use semel_steps::{OutgoingRules, Steps};
use semel_store::Store;
use tokio::net::TcpListener;

use super::flows::BENCH_SECRET;
use super::http;

/// What links to its runs are signed with.
const LINKS: (&str, &str) = (
    "semel links",
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
);

/// Semel itself, serving one ledger.
pub(super) struct Server {
    pub(super) target: http::Target,
    stop: tokio::sync::oneshot::Sender<()>,
    ended: tokio::task::JoinHandle<Result<(), semel_server::ServeError>>,
}

impl Server {
    /// Serves a ledger; no flow is run.
    pub(super) async fn start(store: Arc<Store>) -> anyhow::Result<Server> {
        let app = App::new(
            Arc::clone(&store),
            Settings::default(),
            Arc::new(Idle),
            Arc::new(Vault::of(Arc::new(SecretSet::default()))),
        );
        Server::serve(store, app.await?).await
    }

    /// Serves a flow whose steps may reach this machine; with no `runs` at a time it only accepts.
    pub(super) async fn of_flow(
        store: Arc<Store>,
        data: PathBuf,
        flow: &str,
        runs: usize,
    ) -> anyhow::Result<Server> {
        let secrets = SecretSet::from_iter([BENCH_SECRET, LINKS]);
        let vault = Arc::new(Vault::of(Arc::new(secrets)));
        let steps = Steps::new(semel_steps::Settings {
            rules: OutgoingRules::parse("127.0.0.0/8")?,
            ..semel_steps::Settings::new(Arc::clone(&vault) as _)
        });
        let settings = Settings {
            data: Some(data),
            runs,
            ..Settings::default()
        };
        let app = App::new(Arc::clone(&store), settings, Arc::new(steps), vault).await?;
        deploy(&app, flow, DeployOptions::default(), "bench").await?;
        Server::serve(store, app).await
    }

    async fn serve(store: Arc<Store>, app: Arc<App>) -> anyhow::Result<Server> {
        let (token, _) = semel_server::tokens::issue(&store, "bench").await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let target = http::Target {
            address: listener.local_addr()?,
            token: format!("Bearer {token}").into(),
        };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let ended = tokio::spawn(semel_server::serve(app, listener, async move {
            let _ = stopped.await;
        }));
        Ok(Server {
            target,
            stop,
            ended,
        })
    }

    pub(super) async fn stop(self) -> anyhow::Result<()> {
        let _ = self.stop.send(());
        Ok(self.ended.await??)
    }
}
