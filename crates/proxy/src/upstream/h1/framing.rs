//! Finds the body of a response among the received bytes (RFC 9112, sections 6 and 7). No I/O.
//!
//! ```text
//!  Size ──► Extension ──► SizeEnd ──► Data ──► DataCr ──► DataLf ──► Size …
//!                            │ size 0
//!                            ▼
//!                        TrailerStart ──► Trailer ──► TrailerEnd ──► TrailerStart …
//!                            └──► LastLf ──► Ended
//! ```
//!
//! Lines must end with CRLF: a reader that accepts a bare LF can be made to see another body than one that
//! does not.

/// Reads a body, piece by piece.
#[derive(Debug)]
pub(super) struct BodyReader(FramingState);

#[derive(Debug)]
enum FramingState {
    /// This many bytes are left.
    Length(u64),
    /// Everything until the peer closes.
    UntilClose,
    Chunked(Chunk),
    Ended,
    /// It is invalid from here on.
    Broken(&'static str),
}

/// What was read of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BodyRead {
    /// How many of them were read: fewer than all only if the body ends among them.
    pub(super) read: usize,
    /// How many of them belong to the body. They now come first.
    pub(super) body: usize,
}

/// A position in a chunked body.
#[derive(Debug)]
struct Chunk {
    at: ChunkState,
    /// The size of the chunk, and then how much of it is left.
    left: u64,
    /// Bytes of extensions and trailers so far.
    ignored: usize,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkState {
    /// The first digit of a size.
    SizeStart,
    /// Another digit, or the end of the size.
    Size,
    /// Ignored text until CR.
    Extension,
    /// The LF after a size.
    SizeEnd,
    Data,
    /// The CR after the data.
    DataCr,
    /// The LF after the data.
    DataLf,
    /// A trailer, or the CR of the last line.
    TrailerStart,
    /// Ignored text until CR.
    Trailer,
    /// The LF after a trailer.
    TrailerEnd,
    /// The LF of the last line.
    LastLf,
}

impl BodyReader {
    pub(super) fn empty() -> Self {
        Self(FramingState::Ended)
    }

    pub(super) fn of_length(length: u64) -> Self {
        Self(if length == 0 { FramingState::Ended } else { FramingState::Length(length) })
    }

    pub(super) fn chunked() -> Self {
        Self(FramingState::Chunked(Chunk { at: ChunkState::SizeStart, left: 0, ignored: 0 }))
    }

    pub(super) fn until_close() -> Self {
        Self(FramingState::UntilClose)
    }

    pub(super) fn is_ended(&self) -> bool {
        matches!(self.0, FramingState::Ended)
    }

    /// The rest of the length, if the head named one.
    pub(super) fn remaining(&self) -> Option<u64> {
        match self.0 {
            FramingState::Ended => Some(0),
            FramingState::Length(left) => Some(left),
            FramingState::UntilClose | FramingState::Chunked(_) | FramingState::Broken(_) => None,
        }
    }

    /// The peer has closed. Whether the body is complete.
    pub(super) fn close(&mut self) -> bool {
        if matches!(self.0, FramingState::UntilClose) {
            self.0 = FramingState::Ended;
        }
        self.is_ended()
    }

    /// Moves the bytes of the body to the front of `bytes`, so that they can be passed on together.
    /// What came before an invalid byte is valid; the next call returns the error.
    pub(super) fn read(&mut self, bytes: &mut [u8]) -> Result<BodyRead, &'static str> {
        let whole = BodyRead { read: bytes.len(), body: bytes.len() };
        match &mut self.0 {
            FramingState::Ended => Ok(BodyRead { read: 0, body: 0 }),
            FramingState::Broken(why) => Err(why),
            FramingState::UntilClose => Ok(whole),
            FramingState::Length(left) => {
                let count = up_to(left, bytes.len());
                if *left == 0 {
                    self.0 = FramingState::Ended;
                }
                Ok(BodyRead { read: count, body: count })
            }
            FramingState::Chunked(chunk) => {
                let (taken, progress) = chunk.read(bytes);
                match progress {
                    ChunkProgress::NeedMore => {}
                    ChunkProgress::LastChunk => self.0 = FramingState::Ended,
                    ChunkProgress::Broken(why) => self.0 = FramingState::Broken(why),
                }
                match progress {
                    ChunkProgress::Broken(why) if taken.body == 0 => Err(why),
                    _ => Ok(taken),
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChunkProgress {
    NeedMore,
    LastChunk,
    Broken(&'static str),
}

impl Chunk {
    fn read(&mut self, bytes: &mut [u8]) -> (BodyRead, ChunkProgress) {
        let (mut read, mut body) = (0, 0);
        while let Some(&byte) = bytes.get(read) {
            if self.at == ChunkState::Data {
                let count = up_to(&mut self.left, bytes.len() - read);
                if body != read {
                    bytes.copy_within(read..read + count, body);
                }
                (read, body) = (read + count, body + count);
                if self.left == 0 {
                    self.at = ChunkState::DataCr;
                }
                continue;
            }
            let is_last = self.at == ChunkState::LastLf;
            match self.step(byte) {
                Ok(next) => self.at = next,
                Err(why) => return (BodyRead { read, body }, ChunkProgress::Broken(why)),
            }
            read += 1;
            if is_last {
                return (BodyRead { read, body }, ChunkProgress::LastChunk);
            }
        }
        (BodyRead { read, body }, ChunkProgress::NeedMore)
    }

    /// The state after `byte`, which is not part of the data.
    fn step(&mut self, byte: u8) -> Result<ChunkState, &'static str> {
        Ok(match self.at {
            ChunkState::SizeStart => {
                self.left = 0;
                self.digit(byte)?
            }
            ChunkState::Size => match byte {
                b'\r' => ChunkState::SizeEnd,
                b';' | b' ' | b'\t' => self.ignore(ChunkState::Extension)?,
                _ => self.digit(byte)?,
            },
            ChunkState::Extension => match byte {
                b'\r' => ChunkState::SizeEnd,
                b'\n' => return Err("the size of a chunk does not end with CRLF"),
                _ => self.ignore(ChunkState::Extension)?,
            },
            ChunkState::SizeEnd => {
                expect(byte, b'\n', "the size of a chunk does not end with CRLF")?;
                if self.left == 0 { ChunkState::TrailerStart } else { ChunkState::Data }
            }
            ChunkState::DataCr => {
                expect(byte, b'\r', "a chunk is longer than its size")?;
                ChunkState::DataLf
            }
            ChunkState::DataLf => {
                expect(byte, b'\n', "a chunk does not end with CRLF")?;
                ChunkState::SizeStart
            }
            ChunkState::TrailerStart => match byte {
                b'\r' => ChunkState::LastLf,
                b'\n' => return Err("a trailer does not end with CRLF"),
                _ => self.ignore(ChunkState::Trailer)?,
            },
            ChunkState::Trailer => match byte {
                b'\r' => ChunkState::TrailerEnd,
                b'\n' => return Err("a trailer does not end with CRLF"),
                _ => self.ignore(ChunkState::Trailer)?,
            },
            ChunkState::TrailerEnd => {
                expect(byte, b'\n', "a trailer does not end with CRLF")?;
                ChunkState::TrailerStart
            }
            ChunkState::LastLf => {
                expect(byte, b'\n', "the last chunk does not end with CRLF")?;
                ChunkState::LastLf
            }
            // `read` handles it.
            ChunkState::Data => ChunkState::Data,
        })
    }

    fn digit(&mut self, byte: u8) -> Result<ChunkState, &'static str> {
        let digit = char::from(byte).to_digit(16).ok_or("the size of a chunk is not a number")?;
        if self.left > MAX_CHUNK >> 4 {
            return Err("the size of a chunk is too large");
        }
        self.left = (self.left << 4) | u64::from(digit);
        Ok(ChunkState::Size)
    }

    fn ignore(&mut self, next: ChunkState) -> Result<ChunkState, &'static str> {
        self.ignored += 1;
        match self.ignored > MAX_IGNORED {
            true => Err("its chunk extensions and trailers are too long"),
            false => Ok(next),
        }
    }
}

/// How many of `available` bytes are among the `left` ones, which are counted down.
fn up_to(left: &mut u64, available: usize) -> usize {
    let count = usize::try_from(*left).unwrap_or(usize::MAX).min(available);
    *left -= count as u64;
    count
}

fn expect(byte: u8, expected: u8, why: &'static str) -> Result<(), &'static str> {
    if byte == expected { Ok(()) } else { Err(why) }
}

/// Far above any real chunk, and far below an overflow.
const MAX_CHUNK: u64 = 1 << 48;
/// How much of a response may consist of extensions and trailers, which nobody reads.
const MAX_IGNORED: usize = 16 << 10;
