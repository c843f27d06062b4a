//! Reads and decodes bodies, within limits.

use std::time::{Duration, Instant};

use bytes::Bytes;
use callgate_wire::{Decoder, ReadLimits};
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::Body;
use http_body_util::BodyExt as _;

/// Why a body cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyReadError {
    #[error("it is larger than the limit of {0} bytes")]
    TooLarge(usize),
    #[error("it was cut off")]
    Broken,
    #[error("it stalled")]
    Late,
    #[error("it cannot be decoded: {0}")]
    Coding(String),
}

impl BodyReadError {
    /// The status for the client who sent the body.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::Late => StatusCode::REQUEST_TIMEOUT,
            Self::Coding(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        }
    }
}

/// The decoder for the body's content encoding.
pub(super) fn decoder(headers: &HeaderMap) -> Result<Decoder, BodyReadError> {
    let values = headers.get_all(CONTENT_ENCODING).iter().map(HeaderValue::to_str);
    let coding = values.collect::<Result<Vec<_>, _>>();
    let coding = coding.map_err(|error| BodyReadError::Coding(error.to_string()))?.join(",");
    // Streams of a conversation last for days, so the total is unlimited. Suspicious compression
    // ratios are still refused.
    let limits = ReadLimits { decoded_total: u64::MAX, ..ReadLimits::default() };
    Decoder::for_header(Some(&coding), &limits)
        .map_err(|error| BodyReadError::Coding(error.to_string()))
}

/// How long a client may pause within a message by default.
pub(crate) const CLIENT: Duration = Duration::from_secs(60);

/// The maximum total duration of a body, as a multiple of one pause.
const PAUSES: u32 = 10;

/// Reads a complete body. Its sender may pause for `timeout`, and take ten times as long in total.
pub(crate) async fn whole<B: Body<Data = Bytes> + Unpin>(
    headers: &HeaderMap,
    mut body: B,
    limit: usize,
    timeout: Duration,
) -> Result<Vec<u8>, BodyReadError> {
    let (mut decoder, mut read) = (decoder(headers)?, Vec::new());
    let end = Instant::now().checked_add(timeout.saturating_mul(PAUSES));
    let next = async |body: &mut B| {
        let left = end.map_or(timeout, |end| end.saturating_duration_since(Instant::now()));
        tokio::time::timeout(timeout.min(left), body.frame()).await
    };
    while let Some(frame) = next(&mut body).await.map_err(|_| BodyReadError::Late)? {
        let frame = frame.map_err(|_| BodyReadError::Broken)?;
        let Ok(data) = frame.into_data() else { continue };
        decoder.push(&data, &mut read).map_err(|error| BodyReadError::Coding(error.to_string()))?;
        if read.len() > limit {
            return Err(BodyReadError::TooLarge(limit));
        }
    }
    decoder.finish().map_err(|error| BodyReadError::Coding(error.to_string()))?;
    Ok(read)
}
