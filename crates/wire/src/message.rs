//! One message of an AWS event stream: lengths, headers, payload, two checksums.
//!
//! ```text
//! total u32 | headers u32 | crc32 of both | headers | payload | crc32 of all before it
//! ```

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::frame::ByteRange;

/// The length of the prelude, which comes before the headers.
pub(crate) const PRELUDE: usize = 12;

/// The length of the checksum at the end.
const CHECKSUM: usize = 4;

/// The longest headers, as in clients.
const MAX_HEADERS: usize = 128 * 1024;

/// The type of a text header.
const TEXT: u8 = 7;

/// The parts of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AwsMessage {
    /// The name of its event, exception or error.
    pub(crate) name: ByteRange,
    /// Its payload.
    pub(crate) payload: ByteRange,
    /// It is a chunk, and its content was decoded.
    pub(crate) is_chunk: bool,
}

/// The length of the message with this prelude.
pub(crate) fn total(prelude: &[u8; PRELUDE]) -> Result<usize, &'static str> {
    let [a, b, c, d, e, f, g, h, sum @ ..] = *prelude;
    let lengths = [a, b, c, d, e, f, g, h];
    if crc32fast::hash(&lengths) != u32::from_be_bytes(sum) {
        return Err("the checksum of a message's lengths is wrong");
    }
    let total = length([a, b, c, d])?;
    let headers = length([e, f, g, h])?;
    if headers > MAX_HEADERS {
        return Err("the headers of a message are longer than the limit");
    }
    if total < PRELUDE + headers + CHECKSUM {
        return Err("a message is shorter than its declared length");
    }
    Ok(total)
}

/// Parses a complete message. The content of a chunk is decoded into `inside`.
pub(crate) fn read(message: &[u8], inside: &mut Vec<u8>) -> Result<AwsMessage, &'static str> {
    const SHORT: &str = "a message is shorter than its declared length";
    let (all, sum) = message.split_last_chunk::<CHECKSUM>().ok_or(SHORT)?;
    if crc32fast::hash(all) != u32::from_be_bytes(*sum) {
        return Err("the checksum of a message is wrong");
    }
    let headers = headers_span(message).ok_or(SHORT)?;
    let payload = payload_span(message).ok_or(SHORT)?;
    let known = TypeHeaders::read(message, headers)?;
    let name = known.name(message)?;
    let is_chunk = name.get(message) == Some(b"chunk");
    if is_chunk {
        let payload = payload.get(message).ok_or(SHORT)?;
        let bytes = chunk_bytes(payload).and_then(|span| span.get(payload));
        inside.clear();
        bytes
            .and_then(|bytes| STANDARD.decode_vec(bytes, inside).ok())
            .ok_or("a chunk does not contain base64")?;
    }
    Ok(AwsMessage { name, payload, is_chunk })
}

/// The span of the headers of a complete message.
pub(crate) fn headers_span(message: &[u8]) -> Option<ByteRange> {
    let headers = usize::try_from(u32::from_be_bytes(*message.get(4..)?.first_chunk()?)).ok()?;
    Some(ByteRange { start: PRELUDE, end: PRELUDE.checked_add(headers)? })
}

/// The span of the payload of a complete message.
pub(crate) fn payload_span(message: &[u8]) -> Option<ByteRange> {
    let end = message.len().checked_sub(CHECKSUM)?;
    Some(ByteRange { start: headers_span(message)?.end, end })
}

/// Appends a message with these headers.
pub(crate) fn write(headers: &[u8], payload: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    let total = PRELUDE + headers.len() + payload.len() + CHECKSUM;
    for length in [total, headers.len()] {
        out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    }
    seal(start, out);
    out.extend_from_slice(headers);
    out.extend_from_slice(payload);
    seal(start, out);
}

/// Appends a message of the gate itself.
pub(crate) fn write_own(kind: AwsMessageKind, name: &str, payload: &[u8], out: &mut Vec<u8>) {
    let (key, kind) = match kind {
        AwsMessageKind::Event => (":event-type", "event"),
        AwsMessageKind::Exception => (":exception-type", "exception"),
    };
    let mut headers = Vec::new();
    for (key, value) in
        [(key, name), (":content-type", "application/json"), (":message-type", kind)]
    {
        write_header(key.as_bytes(), value.as_bytes(), &mut headers);
    }
    write(&headers, payload, out);
}

/// Appends a chunk of the gate itself with this content.
pub(crate) fn write_own_chunk(data: &[u8], out: &mut Vec<u8>) {
    let payload = format!("{{\"bytes\":\"{}\"}}", STANDARD.encode(data));
    write_own(AwsMessageKind::Event, "chunk", payload.as_bytes(), out);
}

/// The payload of a chunk with other content; its other members stay.
pub(crate) fn chunk_with(payload: &[u8], data: &[u8]) -> Vec<u8> {
    let Some(span) = chunk_bytes(payload) else { return Vec::new() };
    let before = payload.get(..span.start).unwrap_or_default();
    let behind = payload.get(span.end..).unwrap_or_default();
    [before, STANDARD.encode(data).as_bytes(), behind].concat()
}

/// The headers of a message with another event name.
pub(crate) fn headers_with(message: &[u8], name: ByteRange, event: &[u8]) -> Vec<u8> {
    let Some(headers) = headers_span(message) else { return Vec::new() };
    let length = name.start.saturating_sub(2);
    let before = message.get(headers.start..length).unwrap_or_default();
    let behind = message.get(name.end..headers.end).unwrap_or_default();
    let event = event.get(..usize::from(u16::MAX)).unwrap_or(event);
    let count = u16::try_from(event.len()).unwrap_or(u16::MAX).to_be_bytes();
    [before, &count, event, behind].concat()
}

/// The two kinds of messages that the gate writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AwsMessageKind {
    Event,
    Exception,
}

/// The values of the headers that define what a message is.
#[derive(Default)]
struct TypeHeaders {
    kind: Option<ByteRange>,
    event: Option<ByteRange>,
    exception: Option<ByteRange>,
    error: Option<ByteRange>,
}

impl TypeHeaders {
    fn read(message: &[u8], headers: ByteRange) -> Result<Self, &'static str> {
        let mut known = Self::default();
        let mut at = headers.start;
        while at < headers.end {
            let all = message.get(at..headers.end).unwrap_or_default();
            let header = AwsHeader::read(all).ok_or("a message has an invalid header")?;
            let slot = match header.name {
                b":message-type" => Some(&mut known.kind),
                b":event-type" => Some(&mut known.event),
                b":exception-type" => Some(&mut known.exception),
                b":error-code" => Some(&mut known.error),
                _ => None,
            };
            if let Some(slot) = slot {
                let text = header.text.ok_or("the type of a message is not text")?;
                let span = ByteRange { start: at + text.start, end: at + text.end };
                if slot.replace(span).is_some() {
                    return Err("a message has a duplicate header");
                }
            }
            at += header.len;
        }
        Ok(known)
    }

    /// The name of the message. Clients differ if it could be two things.
    fn name(&self, message: &[u8]) -> Result<ByteRange, &'static str> {
        let kind = self.kind.and_then(|kind| kind.get(message));
        let (name, others) = match kind {
            Some(b"event") => (self.event, [self.exception, self.error]),
            Some(b"exception") => (self.exception, [self.event, self.error]),
            Some(b"error") => (self.error, [self.event, self.exception]),
            _ => return Err("a message is neither event nor exception"),
        };
        match (name, others) {
            (Some(name), [None, None]) => Ok(name),
            _ => Err("the type of a message is ambiguous"),
        }
    }
}

struct AwsHeader<'h> {
    name: &'h [u8],
    /// The span of its value, if that is text.
    text: Option<ByteRange>,
    len: usize,
}

impl<'h> AwsHeader<'h> {
    fn read(bytes: &'h [u8]) -> Option<Self> {
        let (count, rest) = bytes.split_first()?;
        let name = rest.get(..usize::from(*count))?;
        let kind = *rest.get(name.len())?;
        let start = 1 + name.len() + 1;
        let value = bytes.get(start..)?;
        let len = match kind {
            0 | 1 => 0,
            2 => 1,
            3 => 2,
            4 => 4,
            5 | 8 => 8,
            6 | TEXT => 2 + usize::from(u16::from_be_bytes(*value.first_chunk()?)),
            9 => 16,
            _ => return None,
        };
        value.get(..len)?;
        let end = start + len;
        let text = (kind == TEXT).then_some(ByteRange { start: start + 2, end });
        (!name.is_empty()).then_some(Self { name, text, len: end })
    }
}

/// The span of the base64 text in a chunk's payload: an object of plain strings, one of which is
/// `bytes`. A chunk is never anything else, so any other payload is refused.
fn chunk_bytes(payload: &[u8]) -> Option<ByteRange> {
    let mut found = None;
    let mut at = skip(payload, 0, b'{')?;
    loop {
        let key = plain_string(payload, at)?;
        let value = plain_string(payload, skip(payload, key.end + 1, b':')?)?;
        if key.get(payload)? == b"bytes" && found.replace(value).is_some() {
            return None;
        }
        match skip(payload, value.end + 1, b',') {
            Some(next) => at = next,
            None => {
                let end = skip(payload, value.end + 1, b'}')?;
                return found.filter(|_| payload.get(end..).is_some_and(is_blank));
            }
        }
    }
}

/// The offset after the next byte that is not white space, if it is this one.
fn skip(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    let rest = text.get(at..)?;
    let behind = rest.trim_ascii_start().strip_prefix(&[byte])?;
    Some(text.len() - behind.len())
}

/// The inside of a string without escapes.
fn plain_string(text: &[u8], at: usize) -> Option<ByteRange> {
    let start = skip(text, at, b'"')?;
    let rest = text.get(start..)?;
    let len = memchr::memchr2(b'"', b'\\', rest)?;
    (rest.get(len) == Some(&b'"')).then_some(ByteRange { start, end: start + len })
}

fn is_blank(text: &[u8]) -> bool {
    text.trim_ascii().is_empty()
}

fn length(bytes: [u8; 4]) -> Result<usize, &'static str> {
    usize::try_from(u32::from_be_bytes(bytes)).map_err(|_| "a message is too long")
}

fn write_header(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    let name = name.get(..usize::from(u8::MAX)).unwrap_or(name);
    let value = value.get(..usize::from(u16::MAX)).unwrap_or(value);
    out.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(name);
    out.push(TEXT);
    out.extend_from_slice(&u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes());
    out.extend_from_slice(value);
}

/// Appends the checksum of everything from `start` on.
fn seal(start: usize, out: &mut Vec<u8>) {
    let sum = crc32fast::hash(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&sum.to_be_bytes());
}
