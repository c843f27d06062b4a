//! Content codings: no input panics, none decodes past the limits, and what comes out does not
//! depend on how the input was cut.

use callgate_wire::{CodingError, Decoder, ReadLimits};

/// Checks one input.
pub fn check(data: &[u8]) {
    // The first two bytes choose the coding and the cuts.
    let [coding, cut, input @ ..] = data else { return };
    let header = HEADERS[usize::from(*coding) % HEADERS.len()];

    let (whole, end) = decode(header, input, input.len().max(1));
    let (pieces, pieces_end) = decode(header, input, usize::from(*cut) + 1);
    match (end, pieces_end) {
        (Ok(()), Ok(())) => assert_eq!(whole, pieces, "cuts change the text"),
        // A failure may be noticed a step earlier or later; what came before it is genuine.
        _ => assert!(whole.starts_with(&pieces) || pieces.starts_with(&whole)),
    }
}

fn decode(header: &str, input: &[u8], piece: usize) -> (Vec<u8>, Result<(), CodingError>) {
    let limits = ReadLimits {
        decoded_total: 1 << 18,
        decoded_ratio: 50,
        decoded_free: 1 << 12,
        ..ReadLimits::default()
    };
    let mut out = Vec::new();
    let mut decoder = Decoder::for_header(Some(header), &limits).expect("a known coding");
    let mut end = Ok(());
    for piece in input.chunks(piece) {
        end = end.and_then(|()| decoder.push(piece, &mut out));
    }
    end = end.and_then(|()| decoder.finish());
    if !decoder.is_identity() {
        assert!(out.len() as u64 <= limits.decoded_total, "{} bytes", out.len());
        let dense = limits.decoded_free.max(limits.decoded_ratio * input.len() as u64);
        assert!(out.len() as u64 <= dense, "{} bytes of {}", out.len(), input.len());
    }
    (out, end)
}

const HEADERS: [&str; 7] =
    ["gzip", "deflate", "br", "zstd", "identity", "gzip, br", "zstd, deflate"];
