//! Content codings, as a provider would apply them.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyCoding {
    /// gzip.
    Gzip,
    /// deflate with its zlib frame, as the standard says.
    Deflate,
    /// deflate without it, as some send.
    RawDeflate,
    /// Brotli.
    Brotli,
    /// Zstandard.
    Zstd,
}

impl BodyCoding {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Gzip, Self::Deflate, Self::RawDeflate, Self::Brotli, Self::Zstd];

    /// Its name in a header.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate | Self::RawDeflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }

    /// The bytes in this coding.
    pub fn encode(self, bytes: &[u8]) -> Vec<u8> {
        let fast = Compression::fast();
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), fast);
                encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
            }
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), fast);
                encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
            }
            Self::RawDeflate => {
                let mut encoder = DeflateEncoder::new(Vec::new(), fast);
                encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
            }
            Self::Brotli => {
                let mut encoder = brotli::CompressorWriter::new(Vec::new(), 4096, 2, 20);
                encoder.write_all(bytes).unwrap();
                encoder.into_inner()
            }
            Self::Zstd => {
                let mut encoded = Vec::with_capacity(zstd_safe::compress_bound(bytes.len()));
                zstd_safe::compress(&mut encoded, bytes, 1).expect("zstd");
                encoded
            }
        }
    }
}

/// gzip, flushed after each piece, as a live stream comes.
pub fn gzip_pieces(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let mut out = Vec::new();
    for piece in pieces {
        encoder.write_all(piece).and_then(|()| encoder.flush()).unwrap();
        out.push(std::mem::take(encoder.get_mut()));
    }
    out.push(encoder.finish().unwrap());
    out
}
