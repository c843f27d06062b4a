//! deflate, in the two formats that go by that name: the zlib format that the standard requires,
//! and the bare stream that some servers send.

use flate2::{Decompress, DecompressError, FlushDecompress, Status};

use super::{Coding, CodingError, CodingStep};

pub(super) struct Deflate {
    state: DeflateState,
}

enum DeflateState {
    /// Two bytes distinguish the formats; this is the first of them, if it has arrived.
    Unsure(Option<u8>),
    Body {
        /// The two bytes that were read to detect the format, and how many of them were decoded
        /// since.
        head: [u8; 2],
        fed: usize,
        inflate: Decompress,
    },
    Ended,
}

impl Deflate {
    pub(super) fn new() -> Self {
        Self { state: DeflateState::Unsure(None) }
    }

    pub(super) fn at_end(&self) -> bool {
        matches!(self.state, DeflateState::Ended)
    }

    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<CodingStep, CodingError> {
        match &mut self.state {
            DeflateState::Unsure(first) => {
                let Some(&byte) = input.first() else {
                    return Ok(CodingStep { consumed: 0, produced: 0 });
                };
                self.state = match *first {
                    None => DeflateState::Unsure(Some(byte)),
                    Some(first) => {
                        let head = [first, byte];
                        let inflate = Decompress::new(is_zlib(head));
                        DeflateState::Body { head, fed: 0, inflate }
                    }
                };
                Ok(CodingStep { consumed: 1, produced: 0 })
            }
            DeflateState::Body { head, fed, inflate: decompress } => {
                let corrupt = |_| CodingError::Corrupt(Coding::Deflate);
                while let Some(left) = head.get(*fed..).filter(|left| !left.is_empty()) {
                    let (step, ended) = inflate(decompress, left, out).map_err(corrupt)?;
                    if step.consumed == 0 && step.produced == 0 && !ended {
                        return Err(CodingError::Corrupt(Coding::Deflate));
                    }
                    *fed += step.consumed;
                    let step = CodingStep { consumed: 0, ..step };
                    if ended {
                        return self.end(step, input);
                    }
                    if step.produced > 0 {
                        return Ok(step);
                    }
                }
                let (step, ended) = inflate(decompress, input, out).map_err(corrupt)?;
                if ended { self.end(step, input) } else { Ok(step) }
            }
            DeflateState::Ended => self.end(CodingStep { consumed: 0, produced: 0 }, input),
        }
    }

    /// The stream has ended; `step` was its last step.
    fn end(&mut self, step: CodingStep, input: &[u8]) -> Result<CodingStep, CodingError> {
        self.state = DeflateState::Ended;
        if step == (CodingStep { consumed: 0, produced: 0 }) && !input.is_empty() {
            return Err(CodingError::Trailing(Coding::Deflate));
        }
        Ok(step)
    }
}

/// One step of a deflate stream, and whether it ended the stream.
pub(super) fn inflate(
    stream: &mut Decompress,
    input: &[u8],
    out: &mut [u8],
) -> Result<(CodingStep, bool), DecompressError> {
    let (consumed, produced) = (stream.total_in(), stream.total_out());
    let status = stream.decompress(input, out, FlushDecompress::None)?;
    let step = CodingStep {
        consumed: difference(consumed, stream.total_in()),
        produced: difference(produced, stream.total_out()),
    };
    Ok((step, status == Status::StreamEnd))
}

fn difference(before: u64, after: u64) -> usize {
    usize::try_from(after.saturating_sub(before)).unwrap_or(usize::MAX)
}

/// RFC 1950 section 2.2: method 8, a window of at most 32 KiB, no preset dictionary, and a check
/// that makes a multiple of 31 of both bytes.
fn is_zlib([method, flags]: [u8; 2]) -> bool {
    method & 0x0f == 8
        && method >> 4 <= 7
        && flags & 0x20 == 0
        && u16::from_be_bytes([method, flags]).is_multiple_of(31)
}
