//! Decodes content codings while the body streams.
//!
//! A body that cannot be decoded cannot be judged, so an unknown coding is an error and never
//! passes through. Decoding is live: as soon as the last byte of a flush has arrived, the flushed
//! data is available.
//!
//! Each coding is a [`Layer`] that decodes into a small fixed buffer, step by step. A stack of
//! codings passes each such buffer to the next layer, so memory stays constant however deep the
//! stack and however dense the data.

mod brotli;
mod deflate;
mod gzip;
mod zstd;

use std::fmt;

use thiserror::Error;

use crate::limits::ReadLimits;

/// Decodes the codings in a `Content-Encoding` header.
#[derive(Debug)]
pub struct Decoder {
    /// Outermost first: the reverse of the order in the header.
    layers: Vec<Layer>,
    bounds: OutputLimits,
    /// Once set, the rest of the body cannot be decoded either.
    failed: Option<CodingError>,
}

impl Decoder {
    /// Parses the header's value. Several header lines count as one, joined with commas.
    ///
    /// Knows `gzip`, `x-gzip`, `deflate`, `br`, `zstd` and `identity`, in any case and stacked.
    pub fn for_header(
        content_encoding: Option<&str>,
        limits: &ReadLimits,
    ) -> Result<Self, UnknownCoding> {
        let mut layers = Vec::new();
        let names = content_encoding.unwrap_or_default().split(',').map(str::trim);
        for name in names.filter(|name| !name.is_empty()) {
            if name.eq_ignore_ascii_case("identity") {
                continue;
            }
            let Some(coding) = Coding::from_name(name) else {
                return Err(UnknownCoding::Name(name.to_owned()));
            };
            if layers.len() == MAX_LAYERS {
                return Err(UnknownCoding::TooDeep);
            }
            layers.push(Layer::new(coding));
        }
        layers.reverse();
        Ok(Self { layers, bounds: OutputLimits::new(limits), failed: None })
    }

    /// Whether there is nothing to decode: [`Self::push`] would only copy.
    pub fn is_identity(&self) -> bool {
        self.layers.is_empty()
    }

    /// Decodes the next bytes, appending everything that the input so far determines to `out`.
    ///
    /// After an error the decoder cannot be used. What it appended before failing is correct.
    pub fn push(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<(), CodingError> {
        self.check()?;
        self.bounds.received(input.len());
        let done = pump(&mut self.layers, &self.bounds, input, out);
        self.keep(done)
    }

    /// Ends the body. An error if a coding is truncated: the client would have noticed, and half a
    /// response may read like a different one.
    ///
    /// An empty body is fine, coded or not: servers name a coding there too.
    pub fn finish(&mut self) -> Result<(), CodingError> {
        self.check()?;
        // Nothing to append: push leaves no data in a layer.
        let cut = self.layers.iter().find(|layer| layer.fed && !layer.codec.at_end());
        let done = cut.map_or(Ok(()), |layer| Err(CodingError::Truncated(layer.coding)));
        self.keep(done)
    }

    fn check(&self) -> Result<(), CodingError> {
        self.failed.map_or(Ok(()), Err)
    }

    fn keep(&mut self, done: Result<(), CodingError>) -> Result<(), CodingError> {
        self.failed = done.err();
        done
    }
}

/// A coding that this crate can decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952, any number of members.
    Gzip,
    /// RFC 1950, or the bare RFC 1951 stream that some servers send under the same name.
    Deflate,
    /// RFC 7932.
    Brotli,
    /// RFC 8878, any number of frames, with the window that RFC 9659 allows.
    Zstd,
}

impl Coding {
    fn from_name(name: &str) -> Option<Self> {
        let known = [
            ("gzip", Self::Gzip),
            ("x-gzip", Self::Gzip),
            ("deflate", Self::Deflate),
            ("br", Self::Brotli),
            ("zstd", Self::Zstd),
        ];
        known.into_iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, it)| it)
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        })
    }
}

/// A `Content-Encoding` that cannot be decoded. The response must be refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnknownCoding {
    /// An unknown coding, as spelled in the header.
    #[error("unknown content coding `{0}`")]
    Name(String),
    /// More stacked codings than any server needs.
    #[error("more than {MAX_LAYERS} stacked content codings")]
    TooDeep,
}

/// A body that does not match its `Content-Encoding`, or decodes to too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CodingError {
    /// Not valid in this coding, or with a wrong checksum.
    #[error("the body is not valid {0}")]
    Corrupt(Coding),
    /// The body ended before the coding did.
    #[error("the {0} body ends too early")]
    Truncated(Coding),
    /// Bytes after the end of the coded data, which clients handle in different ways.
    #[error("the {0} body has bytes after its end")]
    Trailing(Coding),
    /// More than [`ReadLimits::decoded_total`].
    #[error("the body decodes to more than {limit} bytes")]
    TooMuch {
        /// The limit that was exceeded.
        limit: u64,
    },
    /// Denser than [`ReadLimits::decoded_ratio`].
    #[error("the body decodes to more than {ratio} times its size")]
    TooDense {
        /// The limit that was exceeded.
        ratio: u64,
    },
}

/// Runs `input` through the layers, outermost first, and appends the output of the last.
fn pump(
    layers: &mut [Layer],
    bounds: &OutputLimits,
    mut input: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), CodingError> {
    let Some((layer, inner)) = layers.split_first_mut() else {
        out.extend_from_slice(input);
        return Ok(());
    };
    if input.is_empty() {
        return Ok(());
    }
    layer.fed = true;
    loop {
        let step = layer.codec.step(input, &mut layer.buf)?;
        input = input.get(step.consumed..).unwrap_or_default();
        if step.produced > 0 {
            layer.produced = layer.produced.saturating_add(step.produced as u64);
            bounds.check(layer.produced)?;
            pump(inner, bounds, layer.buf.get(..step.produced).unwrap_or_default(), out)?;
        }
        // Codecs keep output back when the buffer is full; inflate also does where its window
        // wraps. Only a step that does nothing shows that a layer is drained.
        if step.consumed == 0 && step.produced == 0 {
            return if input.is_empty() { Ok(()) } else { Err(CodingError::Corrupt(layer.coding)) };
        }
    }
}

/// One coding and its state.
struct Layer {
    coding: Coding,
    codec: Codec,
    /// The output buffer of one step.
    buf: Box<[u8]>,
    /// The number of output bytes so far.
    produced: u64,
    /// Whether it has had any input.
    fed: bool,
}

impl Layer {
    fn new(coding: Coding) -> Self {
        let codec = match coding {
            Coding::Gzip => Codec::Gzip(gzip::Gzip::new()),
            Coding::Deflate => Codec::Deflate(deflate::Deflate::new()),
            Coding::Brotli => Codec::Brotli(brotli::Brotli::new()),
            Coding::Zstd => Codec::Zstd(zstd::Zstd::new()),
        };
        Self { coding, codec, buf: vec![0; STEP].into(), produced: 0, fed: false }
    }
}

impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layer")
            .field("coding", &self.coding)
            .field("produced", &self.produced)
            .finish_non_exhaustive()
    }
}

enum Codec {
    Gzip(gzip::Gzip),
    Deflate(deflate::Deflate),
    Brotli(brotli::Brotli),
    Zstd(zstd::Zstd),
}

impl Codec {
    /// Consumes some of `input` and fills some of `out`.
    ///
    /// Called again with the rest of the input until it does neither. With input left, doing
    /// neither is an error.
    fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<CodingStep, CodingError> {
        match self {
            Self::Gzip(it) => it.step(input, out),
            Self::Deflate(it) => it.step(input, out),
            Self::Brotli(it) => it.step(input, out),
            Self::Zstd(it) => it.step(input, out),
        }
    }

    /// Whether the body may end here.
    fn at_end(&self) -> bool {
        match self {
            Self::Gzip(it) => it.at_end(),
            Self::Deflate(it) => it.at_end(),
            Self::Brotli(it) => it.at_end(),
            Self::Zstd(it) => it.at_end(),
        }
    }
}

/// The result of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CodingStep {
    consumed: usize,
    produced: usize,
}

/// The limits on the output, given the size of the input.
#[derive(Debug)]
struct OutputLimits {
    received: u64,
    total: u64,
    ratio: u64,
    free: u64,
}

impl OutputLimits {
    fn new(limits: &ReadLimits) -> Self {
        Self {
            received: 0,
            total: limits.decoded_total,
            ratio: limits.decoded_ratio,
            free: limits.decoded_free,
        }
    }

    fn received(&mut self, len: usize) {
        self.received = self.received.saturating_add(len as u64);
    }

    /// Applies to each layer alone: an inner layer cannot compensate for the bomb around it.
    fn check(&self, produced: u64) -> Result<(), CodingError> {
        if produced > self.total {
            return Err(CodingError::TooMuch { limit: self.total });
        }
        if produced > self.free && produced > self.received.saturating_mul(self.ratio) {
            return Err(CodingError::TooDense { ratio: self.ratio });
        }
        Ok(())
    }
}

/// Servers stack one coding, rarely two. More would only cost time.
const MAX_LAYERS: usize = 4;

/// The output of one step: the size of a few events, so that a layer needs little memory.
const STEP: usize = 16 * 1024;

#[cfg(test)]
mod tests;
