//! Every bound of this crate, with its reason and what happens at the bound.
//!
//! Each bound fails closed: the answer is cut with an error, and what had not been read is not
//! forwarded.

/// The bounds one answer is read under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest single event, in bytes. Recorded events reach 100 KB and inline images some
    /// megabytes; a frame has to be whole in memory before it can be judged. Past it:
    /// [`FrameError::TooLarge`](crate::FrameError::TooLarge), for good.
    pub frame: usize,

    /// Longest unstreamed body, in bytes. It is held whole, so this is also the memory one request
    /// can claim. Past it: [`BodyTooLarge`](crate::BodyTooLarge), and the bytes are dropped.
    pub body: usize,

    /// Most bytes a coded body may decode to, over its whole life. Nothing is held that long; the
    /// bound only ends streams no real answer resembles. Past it:
    /// [`CodingError::TooMuch`](crate::CodingError::TooMuch).
    pub decoded_total: u64,

    /// Most decoded bytes per received byte, once past [`Self::decoded_free`]. Real answers, even
    /// very repetitive ones, stay below 50; a gzip bomb reaches 1000 and a brotli bomb millions.
    /// Past it: [`CodingError::TooDense`](crate::CodingError::TooDense).
    pub decoded_ratio: u64,

    /// Decoded bytes that the ratio does not apply to, since a short and dull body may well be
    /// dense. Small enough to be no attack.
    pub decoded_free: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: 16 * MIB,
            body: 32 * MIB,
            decoded_total: 256 * MIB as u64,
            decoded_ratio: 200,
            decoded_free: MIB as u64,
        }
    }
}

const MIB: usize = 1024 * 1024;
