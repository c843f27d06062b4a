//! Every bound of this crate, with its reason and what happens at the bound.
//!
//! Each bound fails closed: the response ends with an error, and unread input is not forwarded.

/// The limits for reading one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Longest single event, in bytes. Recorded events reach 100 KB and inline images some
    /// megabytes; a frame has to be complete in memory before it can be judged. Beyond it:
    /// [`FrameError::TooLarge`](crate::FrameError::TooLarge), permanently.
    pub frame: usize,

    /// Longest unstreamed body, in bytes. It is buffered whole, so this is also the memory that one
    /// request can claim. Beyond it: [`BodyTooLarge`](crate::BodyTooLarge), and the bytes are
    /// dropped.
    pub body: usize,

    /// Most bytes that a coded body may decode to in total. They are not all held at once; the
    /// bound only ends streams that no real response resembles. Beyond it:
    /// [`CodingError::TooMuch`](crate::CodingError::TooMuch).
    pub decoded_total: u64,

    /// Most decoded bytes per received byte, once beyond [`Self::decoded_free`]. Real responses,
    /// even very repetitive ones, stay below 50; a gzip bomb reaches 1000 and a brotli bomb
    /// millions. Beyond it: [`CodingError::TooDense`](crate::CodingError::TooDense).
    pub decoded_ratio: u64,

    /// Decoded bytes that the ratio does not apply to, because a short and repetitive body may be
    /// dense. Small enough not to be an attack.
    pub decoded_free: u64,
}

impl Default for ReadLimits {
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
