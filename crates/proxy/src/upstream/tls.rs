//! The certificates that callgate trusts.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

/// The TLS configuration with its trusted roots. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
}

/// Why TLS cannot be set up.
#[derive(Debug, thiserror::Error)]
#[error("TLS cannot be set up: {0}")]
pub(crate) struct TlsError(rustls::Error);

impl Tls {
    /// Trusts the system's roots, or Mozilla's if the system has none. `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR` select other roots, for example to trust a private authority.
    pub(crate) fn system() -> Result<Self, TlsError> {
        Self::new(system_roots())
    }

    /// Trusts one more certificate.
    #[cfg(test)]
    pub(super) fn trusting(certificate: rustls::pki_types::CertificateDer<'static>) -> Self {
        let mut roots = system_roots();
        roots.add(certificate).unwrap();
        Self::new(roots).unwrap()
    }

    pub(super) fn connector(&self) -> TlsConnector {
        TlsConnector::from(Arc::clone(&self.config))
    }

    /// Names the cryptography provider explicitly, so that it does not depend on the process
    /// default that another crate may have set.
    fn new(roots: RootCertStore) -> Result<Self, TlsError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config) })
    }
}

/// The system's root certificates; if there are none, those that browsers trust.
pub fn system_roots() -> RootCertStore {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "some of the system's certificates cannot be read");
    }
    let mut roots = RootCertStore::empty();
    let (added, _unfit) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        tracing::info!("the system has no certificates; using the built-in roots");
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}
