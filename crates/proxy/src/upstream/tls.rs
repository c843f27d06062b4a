//! Whom callgate trusts.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

/// The roots of trust and what is offered in the handshake. Cheap to copy.
#[derive(Clone)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
}

/// Why no TLS can be set up.
#[derive(Debug, thiserror::Error)]
#[error("TLS cannot be set up: {0}")]
pub(crate) struct TlsError(rustls::Error);

impl Tls {
    /// Trusts what the machine trusts, and the roots of Mozilla where the machine has none. `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR` name other roots: the way to trust a private authority.
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

    /// The provider of the cryptography is named here, so that it does not depend on what another crate made the
    /// default of the process.
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

/// The certificates that the system trusts; where it has none, those that browsers do.
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
