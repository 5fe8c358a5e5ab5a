//! Over TLS: who is not trusted gets not a byte of a request.

use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use semel_steps::{OutgoingRules, Settings, Steps};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use crate::sink::{ok, read};
use crate::{perform, post, settings, word};

pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) seen: mpsc::UnboundedReceiver<usize>,
}

/// Answers over TLS; tells the number of the connection of every request.
pub(crate) async fn server(name: &str) -> Server {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec![name.to_owned()]).expect("a certificate");
    let certificate = cert.der().clone();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .expect("a configuration");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (tell, seen) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        for connection in 0.. {
            let (stream, _) = listener.accept().await.expect("a connection");
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let tell = tell.clone();
            tokio::spawn(async move {
                while read(&mut stream, connection).await.is_some() {
                    tell.send(connection).expect("a listener");
                    stream.write_all(ok().as_bytes()).await.expect("an answer");
                    stream.flush().await.expect("an answer");
                }
            });
        }
    });
    Server {
        port,
        certificate,
        seen,
    }
}

fn trusting(server: &Server) -> Steps {
    Steps::new(Settings {
        rules: OutgoingRules::parse("127.0.0.0/8,::1").expect("ranges"),
        roots: vec![server.certificate.clone()],
        ..settings()
    })
}

#[tokio::test]
async fn a_stranger_is_never_sent_anything() {
    let mut server = server("localhost").await;
    let steps = Steps::new(Settings {
        rules: OutgoingRules::parse("127.0.0.0/8,::1").expect("ranges"),
        ..settings()
    });
    let url = format!("https://localhost:{}/", server.port);
    let (outcome, sent) = perform(&steps, &post(&url)).await;
    assert_eq!((word(&outcome), sent), ("never_sent", 0), "{outcome:?}");
    assert!(server.seen.try_recv().is_err());
}

#[tokio::test]
async fn another_name_is_a_stranger() {
    let mut server = server("other.example").await;
    let url = format!("https://localhost:{}/", server.port);
    let (outcome, sent) = perform(&trusting(&server), &post(&url)).await;
    assert_eq!((word(&outcome), sent), ("never_sent", 0), "{outcome:?}");
    assert!(server.seen.try_recv().is_err());
}

#[tokio::test]
async fn who_is_trusted_is_spoken_to_over_one_connection() {
    let mut server = server("localhost").await;
    let steps = trusting(&server);
    let url = format!("https://localhost:{}/", server.port);
    for _ in 0..5 {
        let (outcome, sent) = perform(&steps, &post(&url)).await;
        assert_eq!((word(&outcome), sent), ("done", 1), "{outcome:?}");
        assert_eq!(server.seen.recv().await, Some(0));
    }
}

#[tokio::test]
async fn what_does_not_speak_tls_is_never_sent_anything() {
    let sink = crate::sink::Sink::new(crate::sink::Manner::ResetUnread).await;
    let url = format!("https://localhost:{}/", sink.address.port());
    let (outcome, sent) = perform(&crate::steps(), &post(&url)).await;
    assert_eq!((word(&outcome), sent), ("never_sent", 0), "{outcome:?}");
}
