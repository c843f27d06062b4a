use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer};

use super::*;

const CODINGS: [Kind; 5] = [Kind::Gzip, Kind::Zlib, Kind::Raw, Kind::Brotli, Kind::Zstd];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Gzip,
    Zlib,
    Raw,
    Brotli,
    Zstd,
}

impl Kind {
    fn header(self) -> &'static str {
        match self {
            Kind::Gzip => "gzip",
            Kind::Zlib | Kind::Raw => "deflate",
            Kind::Brotli => "br",
            Kind::Zstd => "zstd",
        }
    }

    /// Encodes each part and flushes after it; returns the bytes sent for each, and for the end.
    fn encode_flushed(self, parts: &[&[u8]]) -> Vec<Vec<u8>> {
        match self {
            Kind::Gzip => flushed(GzEncoder::new(Vec::new(), Compression::default()), parts),
            Kind::Zlib => flushed(ZlibEncoder::new(Vec::new(), Compression::default()), parts),
            Kind::Raw => flushed(DeflateEncoder::new(Vec::new(), Compression::default()), parts),
            Kind::Brotli => {
                flushed(::brotli::CompressorWriter::new(Vec::new(), 4096, 5, 22), parts)
            }
            Kind::Zstd => zstd_flushed(parts),
        }
    }

    fn encode(self, body: &[u8]) -> Vec<u8> {
        self.encode_flushed(&[body]).concat()
    }
}

/// An encoder that writes to memory and can report what it wrote so far.
trait Encoder: Write + Sized {
    fn written(&self) -> &Vec<u8>;
    fn end(self) -> Vec<u8>;
}

macro_rules! encoder {
    ($name:ty) => {
        impl Encoder for $name {
            fn written(&self) -> &Vec<u8> {
                self.get_ref()
            }
            fn end(self) -> Vec<u8> {
                self.finish().unwrap()
            }
        }
    };
}

encoder!(GzEncoder<Vec<u8>>);
encoder!(ZlibEncoder<Vec<u8>>);
encoder!(DeflateEncoder<Vec<u8>>);

impl Encoder for ::brotli::CompressorWriter<Vec<u8>> {
    fn written(&self) -> &Vec<u8> {
        self.get_ref()
    }
    fn end(self) -> Vec<u8> {
        self.into_inner()
    }
}

fn flushed(mut encoder: impl Encoder, parts: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    let mut sent = 0;
    for part in parts {
        encoder.write_all(part).unwrap();
        encoder.flush().unwrap();
        pieces.push(encoder.written()[sent..].to_vec());
        sent = encoder.written().len();
    }
    pieces.push(encoder.end()[sent..].to_vec());
    pieces
}

fn zstd_flushed(parts: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut context = CCtx::create();
    context.set_parameter(CParameter::ChecksumFlag(true)).unwrap();
    let mut pieces = Vec::new();
    for part in parts {
        let mut piece = Vec::with_capacity(part.len() + 1024);
        let mut out = OutBuffer::around(&mut piece);
        let mut input = InBuffer::around(part);
        while input.pos() < part.len() {
            context.compress_stream(&mut out, &mut input).unwrap();
        }
        assert_eq!(context.flush_stream(&mut out).unwrap(), 0);
        pieces.push(piece);
    }
    let mut piece = Vec::with_capacity(1024);
    assert_eq!(context.end_stream(&mut OutBuffer::around(&mut piece)).unwrap(), 0);
    pieces.push(piece);
    pieces
}

fn decoder(header: &str) -> Decoder {
    Decoder::for_header(Some(header), &ReadLimits::default()).unwrap()
}

fn decode<'p>(
    header: &str,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> Result<Vec<u8>, CodingError> {
    decode_within(header, &ReadLimits::default(), pieces).1
}

/// Also returns how much came out before an error.
fn decode_within<'p>(
    header: &str,
    limits: &ReadLimits,
    pieces: impl IntoIterator<Item = &'p [u8]>,
) -> (usize, Result<Vec<u8>, CodingError>) {
    let mut decoder = Decoder::for_header(Some(header), limits).unwrap();
    let mut out = Vec::new();
    for piece in pieces {
        if let Err(error) = decoder.push(piece, &mut out) {
            assert_eq!(decoder.push(b"", &mut out), Err(error), "errors are final");
            assert_eq!(decoder.finish(), Err(error), "errors are final");
            return (out.len(), Err(error));
        }
    }
    (out.len(), decoder.finish().map(|()| out))
}

/// Text that compresses, but not to nothing.
fn sample(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    let words = ["data: ", "{\"type\":", "\"content_block_delta\"", "grüße", "\n\n", "42", "abc"];
    let mut text = Vec::new();
    while text.len() < len {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.extend_from_slice(words[(state >> 24) as usize % words.len()].as_bytes());
        text.push((state >> 16) as u8);
    }
    text.truncate(len);
    text
}

#[test]
fn headers() {
    let limits = ReadLimits::default();
    let layers = |header: Option<&str>| {
        Decoder::for_header(header, &limits)
            .map(|it| it.layers.iter().map(|layer| layer.coding).collect::<Vec<_>>())
    };
    for header in [None, Some(""), Some(" , ,"), Some("identity"), Some("Identity, identity")] {
        assert_eq!(layers(header), Ok(vec![]), "{header:?}");
        assert!(Decoder::for_header(header, &limits).unwrap().is_identity());
    }
    assert_eq!(layers(Some("GZip")), Ok(vec![Coding::Gzip]));
    assert_eq!(layers(Some("x-gzip")), Ok(vec![Coding::Gzip]));
    assert_eq!(layers(Some("deflate,,identity , br")), Ok(vec![Coding::Brotli, Coding::Deflate]));
    assert_eq!(layers(Some("zstd,zstd,zstd,zstd")).unwrap().len(), 4);
    assert_eq!(layers(Some("zstd,zstd,zstd,zstd,br")), Err(UnknownCoding::TooDeep));
    for header in ["compress", "gzip;q=1", "gzip br", "dcb", "aws-chunked", "\"gzip\"", "gzip, x"] {
        assert!(matches!(layers(Some(header)), Err(UnknownCoding::Name(_))), "{header:?}");
    }
}

#[test]
fn identity_copies() {
    let mut out = b"a".to_vec();
    let mut decoder = Decoder::for_header(None, &ReadLimits::default()).unwrap();
    decoder.push(b"bc", &mut out).unwrap();
    decoder.finish().unwrap();
    assert_eq!(out, b"abc");
}

#[test]
fn flushed_parts_are_readable_at_once() {
    // Sizes around the step buffer and the deflate window, where codecs tend to keep bytes back.
    let sizes = [1, 30, 200, STEP - 1, STEP, STEP + 1, 32767, 32768, 32769, 100_000, 1_000_000, 5];
    let parts: Vec<Vec<u8>> = sizes.into_iter().map(sample).collect();
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    for kind in CODINGS {
        let mut decoder = decoder(kind.header());
        let pieces = kind.encode_flushed(&parts);
        let (end, flushes) = pieces.split_last().unwrap();
        for (piece, part) in flushes.iter().zip(&parts) {
            let mut out = Vec::new();
            decoder.push(piece, &mut out).unwrap();
            assert!(out == *part, "{kind:?}: {} of {} bytes came", out.len(), part.len());
        }
        let mut out = Vec::new();
        decoder.push(end, &mut out).unwrap();
        decoder.finish().unwrap();
        assert!(out.is_empty());
    }
}

#[test]
fn dense_parts_are_readable_at_once() {
    // Long matches end in the middle of the input's last byte.
    for len in [40_000, 65_536, 300_000, 999_999] {
        let part = vec![b'x'; len];
        for kind in CODINGS {
            let pieces = kind.encode_flushed(&[&part]);
            for size in [1, 2, pieces[0].len()] {
                let mut decoder = decoder(kind.header());
                let mut out = Vec::new();
                for piece in pieces[0].chunks(size) {
                    decoder.push(piece, &mut out).unwrap();
                }
                assert_eq!(out.len(), len, "{kind:?}, pieces of {size}");
            }
        }
    }
}

#[test]
fn every_cut() {
    let body = sample(700);
    for kind in CODINGS {
        let pieces = kind.encode_flushed(&[&body[..100], &body[100..101], &body[101..]]);
        let coded = pieces.concat();
        for cut in 0..=coded.len() {
            let (left, right) = coded.split_at(cut);
            assert_eq!(decode(kind.header(), [left, right]), Ok(body.clone()), "{kind:?} at {cut}");
        }
        assert_eq!(decode(kind.header(), coded.chunks(1)), Ok(body.clone()), "{kind:?}");
    }
}

#[test]
fn no_cut_keeps_output_back() {
    // A long match across the end of the deflate window: what can be known after each byte must not
    // depend on how the bytes before it came.
    let body = [sample(32_700), vec![b'x'; 40_000], sample(100)].concat();
    for kind in CODINGS {
        let coded = kind.encode(&body);
        let mut slow = decoder(kind.header());
        let mut came = Vec::new();
        for end in 1..=coded.len() {
            slow.push(&coded[end - 1..end], &mut came).unwrap();
            if end % 50 == 0 || end + 200 > coded.len() {
                let mut at_once = Vec::new();
                decoder(kind.header()).push(&coded[..end], &mut at_once).unwrap();
                assert_eq!(came.len(), at_once.len(), "{kind:?}: after {end} bytes");
            }
        }
        assert!(came == body);
    }
}

#[test]
fn stacks() {
    let body = sample(5000);
    for outer in CODINGS {
        for inner in CODINGS {
            let coded = outer.encode(&inner.encode(&body));
            let header = format!("{}, {}", inner.header(), outer.header());
            assert_eq!(decode(&header, [coded.as_slice()]), Ok(body.clone()), "{header}");
            assert_eq!(decode(&header, coded.chunks(1)), Ok(body.clone()), "{header}");
            let cut = outer.encode(&inner.encode(&body)[..50]);
            assert!(decode(&header, [cut.as_slice()]).is_err(), "{header}: inner cut short");
        }
    }
}

#[test]
fn truncated() {
    let body = sample(300);
    for kind in CODINGS {
        let coded = kind.encode(&body);
        for len in 1..coded.len() {
            let result = decode(kind.header(), [&coded[..len]]);
            assert!(matches!(result, Err(CodingError::Truncated(_))), "{kind:?} at {len}");
        }
        assert_eq!(decode(kind.header(), [&b""[..]]), Ok(vec![]), "no body at all is fine");
    }
}

#[test]
fn empty_body_coded() {
    for kind in CODINGS {
        let coded = kind.encode(b"");
        assert_eq!(decode(kind.header(), [coded.as_slice()]), Ok(vec![]), "{kind:?}");
        assert_eq!(decode(kind.header(), coded.chunks(1)), Ok(vec![]), "{kind:?}");
    }
}

#[test]
fn flipped_bits_are_noticed_or_harmless() {
    let body = sample(300);
    for kind in CODINGS {
        let coded = kind.encode(&body);
        for at in 0..coded.len() {
            for bit in 0..8 {
                let mut bad = coded.clone();
                bad[at] ^= 1 << bit;
                let result = decode(kind.header(), [bad.as_slice()]);
                // Brotli and bare deflate carry no checksum; gzip and zstd headers have bits that
                // mean nothing to the data.
                if let Ok(out) = &result
                    && !matches!(kind, Kind::Brotli | Kind::Raw)
                {
                    assert_eq!(out, &body, "{kind:?}: bit {bit} of byte {at}");
                }
                assert_eq!(result, decode(kind.header(), bad.chunks(1)), "{kind:?}: {at}/{bit}");
            }
        }
    }
}

#[test]
fn not_coded_at_all() {
    for kind in CODINGS {
        for body in [&b"{\"a\": 1, \"b\": \"some plain text\"}"[..], b"data: hello\n\n", &[0; 64]] {
            let result = decode(kind.header(), [body]);
            assert!(result.is_err(), "{kind:?}: {result:?}");
        }
    }
}

#[test]
fn bytes_after_the_end() {
    let body = sample(300);
    for kind in CODINGS {
        let mut coded = kind.encode(&body);
        coded.extend_from_slice(b"{}");
        assert!(decode(kind.header(), [coded.as_slice()]).is_err(), "{kind:?}");
        assert!(decode(kind.header(), coded.chunks(1)).is_err(), "{kind:?}");
    }
    let coded = Kind::Zlib.encode(&body);
    let garbage = [coded.as_slice(), b"x"];
    assert_eq!(decode("deflate", garbage), Err(CodingError::Trailing(Coding::Deflate)));
    let coded = Kind::Brotli.encode(&body);
    assert_eq!(decode("br", [&coded, &b"x"[..]]), Err(CodingError::Trailing(Coding::Brotli)));
}

#[test]
fn gzip_members_and_padding() {
    let (a, b) = (Kind::Gzip.encode(b"first "), Kind::Gzip.encode(b"second"));
    let both = [a.as_slice(), &b].concat();
    let expected = Ok(b"first second".to_vec());
    for cut in 0..=both.len() {
        let (left, right) = both.split_at(cut);
        assert_eq!(decode("gzip", [left, right]), expected);
    }
    assert_eq!(decode("gzip", [&both, &[0; 100][..]]), expected);
    assert_eq!(
        decode("gzip", [&a, &[0; 3][..], &b]),
        Err(CodingError::Trailing(Coding::Gzip)),
        "padding ends the body"
    );
    assert_eq!(decode("gzip", [&a, &[0x1f][..]]), Err(CodingError::Truncated(Coding::Gzip)));
    assert_eq!(decode("gzip", [&a, &[0x1f, 0][..]]), Err(CodingError::Corrupt(Coding::Gzip)));
}

#[test]
fn gzip_header_fields() {
    let plain = Kind::Gzip.encode(b"hello");
    let (fixed, rest) = plain.split_at(10);
    for flags in 0u8..=0xff {
        let mut header = fixed.to_vec();
        header[3] = flags;
        if flags & 4 != 0 {
            header.extend_from_slice(&[3, 0, 0, b'x', 0]);
        }
        if flags & 8 != 0 {
            header.extend_from_slice(b"name\0");
        }
        if flags & 16 != 0 {
            header.extend_from_slice(b"\0");
        }
        if flags & 2 != 0 {
            let mut crc = flate2::Crc::new();
            crc.update(&header);
            header.extend_from_slice(&crc.sum().to_le_bytes()[..2]);
        }
        header.extend_from_slice(rest);
        let expected = if flags < 32 {
            Ok(b"hello".to_vec())
        } else {
            Err(CodingError::Corrupt(Coding::Gzip))
        };
        assert_eq!(decode("gzip", [header.as_slice()]), expected, "{flags:08b}");
        assert_eq!(decode("gzip", header.chunks(1)), expected, "{flags:08b}");
    }
}

#[test]
fn zstd_frames() {
    let (a, b) = (Kind::Zstd.encode(b"first "), Kind::Zstd.encode(b"second"));
    let skip = [0x53, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
    let all = [&skip[..], &a, &skip, &b, &skip].concat();
    let expected = Ok(b"first second".to_vec());
    for cut in 0..=all.len() {
        let (left, right) = all.split_at(cut);
        assert_eq!(decode("zstd", [left, right]), expected);
    }
    assert_eq!(decode("zstd", all.chunks(1)), expected);
    let cut = &all[..all.len() - 1];
    assert_eq!(decode("zstd", [cut]), Err(CodingError::Truncated(Coding::Zstd)));
}

#[test]
fn zstd_window_is_bounded() {
    // Magic, no flags, a window of 16 MiB, one empty last block.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 14 << 3, 1, 0, 0];
    assert_eq!(decode("zstd", [&frame[..]]), Err(CodingError::Corrupt(Coding::Zstd)));
    let mut small = frame;
    small[5] = 13 << 3;
    assert_eq!(decode("zstd", [&small[..]]), Ok(vec![]));
}

#[test]
fn bombs() {
    let limits = ReadLimits::default();
    let body = vec![0; 64 << 20];
    for kind in CODINGS {
        let coded = kind.encode(&body);
        for size in [1 << 30, 64] {
            let (came, result) = decode_within(kind.header(), &limits, coded.chunks(size));
            assert_eq!(result, Err(CodingError::TooDense { ratio: 200 }), "{kind:?}");
            // All of the input counts as received when it comes at once.
            let most = (limits.decoded_ratio as usize * coded.len()).max(1 << 20);
            assert!(came <= most, "{kind:?}: {came} bytes from {}", coded.len());
        }
        // Wrapped once more, a bomb gets small; the inner layer is measured by the outer bytes.
        let twice = Kind::Gzip.encode(&coded);
        let header = format!("{}, gzip", kind.header());
        let (came, result) = decode_within(&header, &limits, [twice.as_slice()]);
        assert_eq!(result, Err(CodingError::TooDense { ratio: 200 }), "{header}");
        assert!(came <= (200 * twice.len()).max(1 << 20));
    }
}

#[test]
fn total_is_bounded() {
    let limits = ReadLimits { decoded_total: 1000, ..ReadLimits::default() };
    let fits = Kind::Gzip.encode(&sample(1000));
    let long = Kind::Gzip.encode(&sample(1001));
    assert!(decode_within("gzip", &limits, [fits.as_slice()]).1.is_ok());
    let (came, result) = decode_within("gzip", &limits, [long.as_slice()]);
    assert_eq!(result, Err(CodingError::TooMuch { limit: 1000 }));
    assert!(came <= 1000);
}

#[test]
fn short_dense_bodies_are_fine() {
    let body = vec![b' '; 1 << 20];
    for kind in CODINGS {
        let coded = kind.encode(&body);
        assert_eq!(decode(kind.header(), [coded.as_slice()]), Ok(body.clone()), "{kind:?}");
    }
}
