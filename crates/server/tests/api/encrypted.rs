//! Connections over the server's own TLS.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use semel_server::{Settings, Tls};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::common::Socket;

fn pem(label: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = (0..text.len())
        .step_by(64)
        .map(|at| &text[at..text.len().min(at + 64)])
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n")
}

#[tokio::test]
async fn connections_are_encrypted_with_the_certificate_of_now() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let write = |name: &str| {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        let (cert, key) = (made.cert.der(), made.signing_key.serialize_der());
        std::fs::write(path("cert.pem"), pem("CERTIFICATE", cert)).unwrap();
        std::fs::write(path("key.pem"), pem("PRIVATE KEY", &key)).unwrap();
        made.cert.der().clone()
    };
    let first = write("first.example");
    let tls = Tls::load(&path("cert.pem"), &path("key.pem")).unwrap();
    let tls = Arc::new(tls);
    let server = Socket::with(Settings {
        tls: Some(Arc::clone(&tls)),
        ..Settings::default()
    })
    .await;
    let healthy = async |root: &CertificateDer<'static>, name: &str| {
        let mut roots = RootCertStore::empty();
        roots.add(root.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(server.address).await.unwrap();
        let name = name.to_owned().try_into().unwrap();
        let connector = TlsConnector::from(Arc::new(config));
        let mut stream = connector.connect(name, stream).await.ok()?;
        let ask = b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        stream.write_all(ask).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        Some(String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 200"))
    };
    assert_eq!(healthy(&first, "first.example").await, Some(true));
    let plain = server
        .raw(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        .await;
    assert!(!plain.contains("200 OK"), "{plain}");
    // A pair that does not belong together changes nothing; one that does comes into force.
    let key = std::fs::read(path("key.pem")).unwrap();
    let second = write("second.example");
    let right = std::fs::read(path("key.pem")).unwrap();
    for (content, word) in [(&key[..], "is not the key of"), (b"x", "cannot be used")] {
        std::fs::write(path("key.pem"), content).unwrap();
        let error = tls.reload().unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("key.pem"), "{error}");
    }
    assert_eq!(healthy(&first, "first.example").await, Some(true));
    std::fs::write(path("key.pem"), right).unwrap();
    tls.reload().unwrap();
    assert_eq!(healthy(&first, "first.example").await, None);
    assert_eq!(healthy(&second, "second.example").await, Some(true));
    server.stop().await.unwrap();
}
