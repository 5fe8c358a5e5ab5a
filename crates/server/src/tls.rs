//! The server's own TLS: a certificate and its key from two files, read again when they are replaced.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

/// Why TLS cannot be offered.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate cannot be used.
    #[error("the certificate {} cannot be used: {why}", path.display())]
    Certificate {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The key cannot be used.
    #[error("the key {} cannot be used: {why}", path.display())]
    Key {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

/// A certificate in force, and how connections are made with it.
#[derive(Debug)]
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    current: Arc<Current>,
    config: Arc<rustls::ServerConfig>,
}

#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&current))
    }
}

impl Tls {
    /// Reads both files (PEM). They must belong together.
    ///
    /// # Errors
    /// [`TlsError`] says which file is wrong, and how.
    pub fn load(certificate: &Path, key: &Path) -> Result<Tls, TlsError> {
        let found = read(certificate, key)?;
        let current = Arc::new(Current(RwLock::new(found)));
        let provider = Arc::new(ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| TlsError::Certificate {
                path: certificate.to_owned(),
                why: error.to_string(),
            })?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&current) as _);
        Ok(Tls {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            current,
            config: Arc::new(config),
        })
    }

    /// Reads the files again. What is wrong leaves the certificate in force as it is.
    ///
    /// # Errors
    /// [`TlsError`], as in [`Tls::load`].
    pub fn reload(&self) -> Result<(), TlsError> {
        let found = read(&self.certificate, &self.key)?;
        *self
            .current
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner) = found;
        Ok(())
    }

    /// Where the certificate lies.
    #[must_use]
    pub fn certificate(&self) -> &Path {
        &self.certificate
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}

fn read(certificate: &Path, key: &Path) -> Result<Arc<CertifiedKey>, TlsError> {
    let of_certificate = |why: String| TlsError::Certificate {
        path: certificate.to_owned(),
        why,
    };
    let of_key = |why: String| TlsError::Key {
        path: key.to_owned(),
        why,
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| of_certificate(error.to_string()))?;
    if chain.is_empty() {
        return Err(of_certificate("no PEM certificate is in it".to_owned()));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| of_key(error.to_string()))?;
    let signing =
        ring::sign::any_supported_type(&private).map_err(|error| of_key(error.to_string()))?;
    let found = CertifiedKey::new(chain, signing);
    match found.keys_match() {
        Ok(()) => Ok(Arc::new(found)),
        Err(rustls::Error::InconsistentKeys(_)) => {
            let why = format!("it is not the key of {}", certificate.display());
            Err(of_key(why))
        }
        Err(error) => Err(of_certificate(error.to_string())),
    }
}
