//! Signs requests to Amazon. A client's own signature covers the host that it connects to, which is
//! the gateway, so the gateway signs again with its own credentials or refuses the request.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign as signature};
use aws_sigv4::sign::v4;
use bytes::Bytes;
use callgate_dialect::Signing;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method};

use crate::provider_request;
use crate::refusal::Refusal;
use crate::route::ProviderRoute;
use crate::settings::{ApiKey, AwsAccess};
use crate::upstream::RequestBody;

/// The service name in signatures for Bedrock.
const SERVICE: &str = "bedrock";

/// Headers of the client's own signature.
const OF_SIGNATURE: [&str; 4] =
    ["authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"];

/// The request to sign.
#[derive(Clone, Copy)]
pub(crate) struct SigningRequest<'a> {
    pub(crate) route: &'a ProviderRoute,
    pub(crate) method: &'a Method,
    pub(crate) path: &'a PathAndQuery,
}

/// Signs the request, if `credentials` holds signing credentials. The signature covers the complete body,
/// so the body is read first, up to `limit` bytes.
pub(crate) async fn sign(
    signing: SigningRequest<'_>,
    credentials: Option<&ApiKey>,
    limit: usize,
    headers: &mut HeaderMap,
    body: RequestBody,
) -> Result<RequestBody, Refusal> {
    let Some(access) = credentials.and_then(ApiKey::signs) else {
        let is_amazon = signing.route.dialect.http().signing == Signing::Amazon;
        return match is_amazon && is_signed(headers, signing.path) {
            true => Err(Refusal::Signed),
            false => Ok(body),
        };
    };
    if is_presigned(signing.path) {
        return Err(Refusal::Signed);
    }
    let body = match body {
        RequestBody::Empty => Bytes::new(),
        RequestBody::Whole(body) => body,
        RequestBody::Streamed(body) => provider_request::collect(body, limit).await?,
    };
    for name in OF_SIGNATURE {
        headers.remove(name);
    }
    put_signature(signing, access, SystemTime::now(), headers, &body)
        .ok_or(Refusal::Internal("the request cannot be signed"))?;
    Ok(RequestBody::Whole(body))
}

fn put_signature(
    signing: SigningRequest<'_>,
    access: &AwsAccess,
    now: SystemTime,
    headers: &mut HeaderMap,
    body: &[u8],
) -> Option<()> {
    let AwsAccess { key_id, secret, session, region } = access.clone();
    let identity = Credentials::new(key_id, secret, session, None, "callgate").into();
    let params = v4::SigningParams::builder()
        .identity(&identity)
        .region(&region)
        .name(SERVICE)
        .time(now)
        .settings(SigningSettings::default())
        .build()
        .ok()?
        .into();
    let uri = format!("{}{}", signing.route.site.target.origin(), signing.path);
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let covered = content_type.map(|value| (CONTENT_TYPE.as_str(), value)).into_iter();
    let request =
        SignableRequest::new(signing.method.as_str(), uri, covered, SignableBody::Bytes(body))
            .ok()?;
    let (instructions, _) = signature(request, &params).ok()?.into_parts();
    let (added, _) = instructions.into_parts();
    for header in added {
        let mut value = HeaderValue::from_str(header.value()).ok()?;
        value.set_sensitive(true);
        headers.insert(header.name(), value);
    }
    Some(())
}

/// Whether the client signed the request, in a header or in the query.
fn is_signed(headers: &HeaderMap, path: &PathAndQuery) -> bool {
    let signed = |value: &HeaderValue| {
        value.as_bytes().get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"AWS4-"))
    };
    headers.get_all(AUTHORIZATION).iter().any(signed) || is_presigned(path)
}

fn is_presigned(path: &PathAndQuery) -> bool {
    path.query().is_some_and(|query| query.to_ascii_lowercase().contains("x-amz-signature="))
}
