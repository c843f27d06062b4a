//! Verifies servers: by the system's roots, or by a pinned certificate.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, RootCertStore,
    SignatureScheme,
};
use sha2::{Digest as _, Sha256};

use super::hex;

/// The TLS configuration for one server. `pin` is the SHA-256 of its certificate. If set, exactly
/// that certificate is required, regardless of its issuer.
pub(super) fn config(roots: &RootCertStore, pin: Option<&str>) -> Result<ClientConfig, Error> {
    // Named explicitly, so that it does not depend on the process default that another crate may
    // have set.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    Ok(match pin {
        None => builder.with_root_certificates(roots.clone()).with_no_client_auth(),
        Some(pin) => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Pinned { pin: pin.to_owned(), provider }))
            .with_no_client_auth(),
    })
}

/// The server presented another certificate.
#[derive(Debug, thiserror::Error)]
#[error("its certificate does not match `tls_fingerprint`: its SHA-256 is {0}")]
struct NotPinned(String);

/// Accepts exactly one certificate.
#[derive(Debug)]
struct Pinned {
    pin: String,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let shown = hex(&Sha256::digest(shown));
        match shown == self.pin {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::Other(OtherError(Arc::new(NotPinned(shown)))).into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
