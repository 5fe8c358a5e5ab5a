//! A server's whole life: join, recover, serve, do the duties, stop in good order.

use std::sync::Arc;

use semel_store::{Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::app::App;
use crate::router::Front;
use crate::{connection, deploy, duties};

/// Why a server ended other than by being told to.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It could not join the other nodes.
    #[error("the server could not join the store")]
    Join {
        /// Why.
        source: StoreError,
    },
    /// The store can no longer promise durability.
    #[error("the store failed; start again to recover what is on disk")]
    StoreFailed,
    /// A duty ended, which none may: without it the answers would be wrong by and by.
    #[error("a background duty ended; start again")]
    DutyEnded,
    /// What waited to be written when the server ended was not.
    #[error("the last receipts could not be written")]
    Close {
        /// Why.
        source: StoreError,
    },
}

/// Serves until `shutdown` is ready: connections end within their time, the store is left and closed.
///
/// # Errors
/// [`ServeError`]; on [`ServeError::StoreFailed`] the process must exit.
pub async fn serve(
    app: Arc<App>,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    join(&app)
        .await
        .map_err(|source| ServeError::Join { source })?;
    let (mut duties, mut engine) = (duties::start(&app), app.engine.duties());
    let (stop, stopping) = watch::channel(false);
    let serving = tokio::spawn({
        let (front, app) = (Front::new(&app), Arc::clone(&app));
        async move { connection::accept(listener, front, &app.settings, stopping).await }
    });
    let duty_ended = tokio::select! {
        () = shutdown => false,
        () = app.store.failed() => false,
        ended = async { tokio::select! {
            ended = duties.join_next() => ended,
            ended = engine.join_next() => ended,
        } } => {
            tracing::error!(?ended, "a duty ended, which none may; the server stops");
            true
        }
    };
    stop.send_replace(true);
    app.stopping.send_replace(true);
    if let Err(error) = serving.await {
        tracing::error!(%error, "the accept loop ended badly");
    }
    // Nothing new comes in now: what is under way ends, so that a restart finds nothing unknown.
    app.engine.stop().await;
    drop((duties, engine));
    if let Err(error) = duties::counts::write(&app).await {
        tracing::debug!(%error, "the last counts were not written");
    }
    // Also if it failed only while connections ended.
    let failed = tokio::select! {
        biased;
        () = app.store.failed() => true,
        () = std::future::ready(()) => false,
    };
    if failed {
        return Err(ServeError::StoreFailed);
    }
    let left = leave(&app.store).await;
    if duty_ended {
        return Err(ServeError::DutyEnded);
    }
    left.map_err(|source| ServeError::Close { source })
}

async fn join(app: &App) -> Result<(), StoreError> {
    let node = app.store.join(&app.settings.node).await?;
    tracing::info!(node = node.node, epoch = node.epoch, name = %node.name, "joined");
    // Only PostgreSQL is shared: elsewhere a lock says that every other node is dead.
    let alone = app.store.kind() != "postgres";
    app.engine.recover(alone).await?;
    app.engine.flows().refresh(&app.store).await?;
    deploy::ready_live(app).await;
    Ok(())
}

async fn leave(store: &Store) -> Result<(), StoreError> {
    if let Err(error) = store.leave().await {
        tracing::warn!(%error, "could not leave in good order; others will notice");
    }
    store.close().await
}
