//! The server's certificate: where it is, and when it is read again.

use std::path::PathBuf;
use std::sync::Arc;

use semel_server::Tls;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::{Config, Name};
use crate::failure::Failure;

/// Reads the certificate that was named, if one was.
pub(super) fn load(config: &Config) -> anyhow::Result<Option<Arc<Tls>>> {
    let path = |name| config.text(name).map(PathBuf::from);
    let (certificate, key) = match (path(Name::TlsCert), path(Name::TlsKey)) {
        (Some(certificate), Some(key)) => (certificate, key),
        (None, None) => return Ok(None),
        (one, _) => {
            let (given, missing) = match one {
                Some(_) => ("--tls-cert", "--tls-key"),
                None => ("--tls-key", "--tls-cert"),
            };
            let message = format!("{given} needs {missing}: a certificate and its key go together");
            return Err(Failure::usage(message).into());
        }
    };
    // Visitors from another directory must find the certificate, too.
    let certificate = std::path::absolute(certificate)?;
    let tls = Tls::load(&certificate, &key).map_err(|error| {
        Failure::failed(format!("nothing is served: {error}"))
            .fix("both files are PEM; the certificate's file may have its chain behind it")
    })?;
    Ok(Some(Arc::new(tls)))
}

/// Reads the files again at every SIGHUP; what is wrong leaves the old certificate in force.
pub(super) fn reloaded(tls: Arc<Tls>) -> anyhow::Result<impl Future<Output = ()>> {
    let mut asked = signal(SignalKind::hangup())?;
    Ok(async move {
        while asked.recv().await.is_some() {
            match tls.reload() {
                Ok(()) => tracing::info!("the certificate was read again"),
                Err(error) => tracing::error!(%error, "the old certificate stays in force"),
            }
        }
    })
}
