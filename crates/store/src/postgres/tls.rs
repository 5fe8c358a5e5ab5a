//! Encryption towards PostgreSQL, and whom to believe.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::OpenError;

/// Which certificates are believed.
#[derive(Debug, Default)]
pub(super) struct Trust {
    /// Check who the server is.
    pub(super) verify: bool,
    /// Believe these roots instead of the system's; implies checking.
    pub(super) root: Option<PathBuf>,
}

/// Makes what the driver encrypts with.
pub(super) fn connector(trust: &Trust, encrypted: bool) -> Result<MakeRustlsConnect, OpenError> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> =
        if encrypted && (trust.verify || trust.root.is_some()) {
            WebPkiServerVerifier::builder_with_provider(roots(trust)?.into(), Arc::clone(&provider))
                .build()
                .map_err(super::refused)?
        } else {
            Arc::new(Anybody(Arc::clone(&provider)))
        };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(super::refused)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn roots(trust: &Trust) -> Result<RootCertStore, OpenError> {
    let mut roots = RootCertStore::empty();
    let Some(path) = &trust.root else {
        // Certificates of the system that cannot be read are no reason to refuse the others.
        let native = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(native.certs);
        return Ok(roots);
    };
    for certificate in CertificateDer::pem_file_iter(path).map_err(super::refused)? {
        let certificate = certificate.map_err(super::refused)?;
        roots.add(certificate).map_err(super::refused)?;
    }
    Ok(roots)
}

/// Encrypts with whoever answers, as `sslmode=require` does everywhere; the handshake's
/// signatures are checked all the same.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            cert,
            dss,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
