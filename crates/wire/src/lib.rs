//! Converts bytes to frames and back, for responses that a gate reads while it forwards them.
//!
//! A model's response arrives as encoded bytes, in pieces of any size. This crate decodes the content
//! coding ([`Decoder`]), distinguishes a stream from a plain body by its bytes ([`Sniffer`]), splits
//! the stream into events ([`Splitter`], [`Frame`]) or buffers the body whole ([`BodyBuffer`]).
//! Streams are server-sent events, lines of JSON, one long JSON array, or AWS event stream messages
//! ([`Framing`]). It keeps the original bytes of every event, so that events that pass leave
//! unchanged. It can write an edited event in the one form that all clients agree on
//! ([`Frame::rewrite`]), and added events in the style of the stream ([`Style`]).
//!
//! ```text
//!   bytes ──► Decoder ──► Sniffer ──┬─► Splitter ──► Frame ──► bytes(), or rewrite()
//!                                   └─► BodyBuffer
//! ```
//!
//! ```
//! use callgate_wire::{Decoder, Framing, Framings, ReadLimits, Sniffer, Splitter};
//!
//! let limits = ReadLimits::default();
//! let mut decoder = Decoder::for_header(None, &limits)?;
//! let mut sniffer = Sniffer::new(Framings::Events);
//! let mut splitter = Splitter::new(Framing::Sse, limits.frame);
//! let mut plain = Vec::new();
//! let mut sent = Vec::new();
//!
//! // Cuts fall anywhere, here inside a line end.
//! for piece in ["event: hi\r\ndata: {\"n\":1}\r", "\n\r\n: bye\r\n\r\n"] {
//!     decoder.push(piece.as_bytes(), &mut plain)?;
//!     assert_eq!(sniffer.push(&plain), Some(Framing::Sse));
//!     splitter.push(&plain);
//!     plain.clear();
//!     while let Some(frame) = splitter.next_frame()? {
//!         match frame.data() {
//!             Some(_) => frame.rewrite(None, br#"{"n":2}"#, &mut sent),
//!             None => sent.extend_from_slice(frame.bytes()),
//!         }
//!     }
//! }
//! assert!(splitter.finish().is_none());
//! assert_eq!(sent, b"event: hi\r\ndata: {\"n\":2}\r\n\r\n: bye\r\n\r\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It does not guess. An unknown content coding, a corrupt or endless body, an event beyond its
//! limit, UTF-16: each is an error, or a value that means "unreadable", and never a pass-through.
//! After an error a decoder or splitter stays failed. It does no I/O, knows no clock and no
//! provider, and does not look into the data: the next stage checks whether it is UTF-8 or JSON.

mod body;
mod coding;
mod frame;
mod limits;
mod line;
mod message;
mod nesting;
mod splitter;
mod style;

pub use body::{BodyBuffer, BodyTooLarge, Framing, Framings, Sniffer};
pub use coding::{Coding, CodingError, Decoder, UnknownCoding};
pub use frame::{ByteRange, Frame, Outline, OwnedFrame};
pub use limits::ReadLimits;
pub use splitter::{FrameError, Splitter};
pub use style::Style;
