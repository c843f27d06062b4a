//! gzip members around deflate. flate2's push interface has no gzip in pure Rust, so this reads the
//! few bytes around the stream.

use flate2::{Crc, Decompress};

use super::deflate::inflate;
use super::{Coding, CodingError, CodingStep};

pub(super) struct Gzip {
    state: GzipState,
    inflate: Decompress,
    crc: Crc,
}

enum GzipState {
    Header(MemberHeader),
    Body,
    Trailer {
        bytes: [u8; 8],
        filled: usize,
    },
    /// A member is complete: the body may end, or another member may follow.
    Between,
    /// Zero padding, as appended by some tools. Nothing else may follow.
    Padding,
}

impl Gzip {
    pub(super) fn new() -> Self {
        Self {
            state: GzipState::Header(MemberHeader::new()),
            inflate: Decompress::new(false),
            crc: Crc::new(),
        }
    }

    pub(super) fn at_end(&self) -> bool {
        matches!(self.state, GzipState::Between | GzipState::Padding)
    }

    pub(super) fn step(&mut self, input: &[u8], out: &mut [u8]) -> Result<CodingStep, CodingError> {
        if let GzipState::Body = self.state {
            let (step, ended) = inflate(&mut self.inflate, input, out)
                .map_err(|_| CodingError::Corrupt(Coding::Gzip))?;
            self.crc.update(out.get(..step.produced).unwrap_or_default());
            if ended {
                self.state = GzipState::Trailer { bytes: [0; 8], filled: 0 };
            }
            if !ended || step.consumed > 0 || step.produced > 0 {
                return Ok(step);
            }
        }
        let mut consumed = 0;
        for &byte in input {
            self.byte(byte)?;
            consumed += 1;
            if let GzipState::Body = self.state {
                break;
            }
        }
        Ok(CodingStep { consumed, produced: 0 })
    }

    /// Consumes a byte from outside the compressed part.
    fn byte(&mut self, byte: u8) -> Result<(), CodingError> {
        match &mut self.state {
            GzipState::Header(header) => {
                header.byte(byte)?;
                if header.is_complete() {
                    self.inflate.reset(false);
                    self.crc.reset();
                    self.state = GzipState::Body;
                }
            }
            GzipState::Trailer { bytes, filled } => {
                if let Some(slot) = bytes.get_mut(*filled) {
                    *slot = byte;
                }
                *filled += 1;
                if *filled == bytes.len() {
                    let [a, b, c, d, len @ ..] = *bytes;
                    let fits = u32::from_le_bytes([a, b, c, d]) == self.crc.sum()
                        && u32::from_le_bytes(len) == self.crc.amount();
                    if !fits {
                        return Err(CodingError::Corrupt(Coding::Gzip));
                    }
                    self.state = GzipState::Between;
                }
            }
            GzipState::Between if byte == MAGIC[0] => {
                let mut header = MemberHeader::new();
                header.byte(byte)?;
                self.state = GzipState::Header(header);
            }
            GzipState::Between | GzipState::Padding if byte == 0 => self.state = GzipState::Padding,
            GzipState::Between | GzipState::Padding => {
                return Err(CodingError::Trailing(Coding::Gzip));
            }
            // Not reached: the caller stops at the compressed part.
            GzipState::Body => return Err(CodingError::Corrupt(Coding::Gzip)),
        }
        Ok(())
    }
}

/// The header of a member, RFC 1952 section 2.3. Only its length matters here, and its checksum.
struct MemberHeader {
    at: HeaderPart,
    flags: u8,
    crc: Crc,
}

#[derive(Clone, Copy)]
enum HeaderPart {
    /// The ten bytes that every header has; how many have arrived.
    Fixed(u8),
    ExtraLength(Option<u8>),
    Extra(u16),
    Name,
    Comment,
    /// The header's checksum; its first byte, if it has arrived.
    Check(Option<u8>),
    Complete,
}

impl MemberHeader {
    fn new() -> Self {
        Self { at: HeaderPart::Fixed(0), flags: 0, crc: Crc::new() }
    }

    fn is_complete(&self) -> bool {
        matches!(self.at, HeaderPart::Complete)
    }

    fn byte(&mut self, byte: u8) -> Result<(), CodingError> {
        if !matches!(self.at, HeaderPart::Check(_)) {
            self.crc.update(&[byte]);
        }
        self.at = match self.at {
            HeaderPart::Fixed(at) => {
                let fits = match at {
                    0 | 1 => MAGIC.get(usize::from(at)) == Some(&byte),
                    2 => byte == METHOD_DEFLATE,
                    3 => byte & FLAGS_RESERVED == 0,
                    _ => true,
                };
                if !fits {
                    return Err(CodingError::Corrupt(Coding::Gzip));
                }
                if at == 3 {
                    self.flags = byte;
                }
                if at == 9 { self.extra() } else { HeaderPart::Fixed(at + 1) }
            }
            HeaderPart::ExtraLength(None) => HeaderPart::ExtraLength(Some(byte)),
            HeaderPart::ExtraLength(Some(low)) => match u16::from_le_bytes([low, byte]) {
                0 => self.name(),
                len => HeaderPart::Extra(len),
            },
            HeaderPart::Extra(0 | 1) => self.name(),
            HeaderPart::Extra(left) => HeaderPart::Extra(left - 1),
            HeaderPart::Name if byte == 0 => self.comment(),
            HeaderPart::Name => HeaderPart::Name,
            HeaderPart::Comment if byte == 0 => self.check(),
            HeaderPart::Comment => HeaderPart::Comment,
            HeaderPart::Check(None) => HeaderPart::Check(Some(byte)),
            HeaderPart::Check(Some(low)) => {
                let sum = u32::from(u16::from_le_bytes([low, byte]));
                if sum != self.crc.sum() & 0xffff {
                    return Err(CodingError::Corrupt(Coding::Gzip));
                }
                HeaderPart::Complete
            }
            HeaderPart::Complete => HeaderPart::Complete,
        };
        Ok(())
    }

    // Each part exists if its flag is set; otherwise the next part follows.

    fn extra(&self) -> HeaderPart {
        if self.flags & FLAG_EXTRA != 0 { HeaderPart::ExtraLength(None) } else { self.name() }
    }

    fn name(&self) -> HeaderPart {
        if self.flags & FLAG_NAME != 0 { HeaderPart::Name } else { self.comment() }
    }

    fn comment(&self) -> HeaderPart {
        if self.flags & FLAG_COMMENT != 0 { HeaderPart::Comment } else { self.check() }
    }

    fn check(&self) -> HeaderPart {
        if self.flags & FLAG_CHECK != 0 { HeaderPart::Check(None) } else { HeaderPart::Complete }
    }
}

const MAGIC: [u8; 2] = [0x1f, 0x8b];
const METHOD_DEFLATE: u8 = 8;
const FLAG_CHECK: u8 = 1 << 1;
const FLAG_EXTRA: u8 = 1 << 2;
const FLAG_NAME: u8 = 1 << 3;
const FLAG_COMMENT: u8 = 1 << 4;
const FLAGS_RESERVED: u8 = 0b1110_0000;
