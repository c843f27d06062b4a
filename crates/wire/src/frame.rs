//! One event of a stream: its original bytes, and the spans of its meaningful parts.
//!
//! A frame that passes leaves with its original bytes. Only a frame that must be edited is
//! rewritten, by [`Frame::rewrite`], in the one form that every client reads the same way.

use crate::body::Framing;
use crate::line::{SseField, SseLine, has_stray_separator, split_lines};
use crate::message::{self, AwsMessage};
use crate::style::{Style, write_line};

/// A byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl ByteRange {
    /// The bytes it covers; `None` if it exceeds this text.
    pub fn get<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        bytes.get(self.start..self.end)
    }

    /// How many bytes it covers.
    pub fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether it covers no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One event, borrowed from the [`Splitter`](crate::Splitter) that found it. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    bytes: &'a [u8],
    /// The joined or decoded value, meaningful only if `parts.data` is [`FrameData::Many`].
    joined: &'a [u8],
    parts: FrameParts,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(bytes: &'a [u8], joined: &'a [u8], parts: FrameParts) -> Self {
        Self { bytes, joined, parts }
    }

    /// The original bytes, including the blank line that ends it and a comma before it. The bytes
    /// of all frames, concatenated, are the stream without its byte order mark.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The value of the last `event` line, or the type in the headers of a binary message.
    pub fn event(&self) -> Option<&'a [u8]> {
        self.parts.event?.get(self.bytes)
    }

    /// The value of the `data` lines, joined with LF. `None` if there is no such line at all, as in
    /// a keep-alive; an empty `data` line gives an empty value. In other framings: the line, the
    /// element, the payload of a message, or the content of a chunk.
    pub fn data(&self) -> Option<&'a [u8]> {
        match self.parts.data {
            FrameData::None => None,
            FrameData::InPlace(span) => span.get(self.bytes),
            FrameData::Joined | FrameData::DecodedChunk => Some(self.joined),
        }
    }

    /// The data, if it is UTF-8.
    #[inline]
    pub fn text(&self) -> Option<&'a str> {
        std::str::from_utf8(self.data()?).ok()
    }

    /// The span of [`Self::data`] in [`Self::bytes`], for edits in place. Only known if the data is
    /// there unencoded and in one piece.
    pub fn data_span(&self) -> Option<ByteRange> {
        match self.parts.data {
            FrameData::InPlace(span) => Some(span),
            FrameData::None | FrameData::Joined | FrameData::DecodedChunk => None,
        }
    }

    /// Whether it ends with a blank line. Without it (the stream ended), some clients use the event
    /// and some drop it: it must be judged like any other.
    pub fn terminated(&self) -> bool {
        self.parts.terminated
    }

    /// Whether all clients read the lines the same way. `false` if there is a byte order mark
    /// before a field name, a line that is neither a field nor a comment, or a line other than data
    /// that Python's `splitlines` would split. Such a frame must not be forwarded unchanged. If
    /// every line is a document, also `false` for any line that `splitlines` would split, and for a
    /// blank one.
    pub fn clean(&self) -> bool {
        self.parts.clean
    }

    /// The first line end in the frame, so that added lines match; LF if it has none.
    pub fn line_end(&self) -> &'static [u8] {
        self.parts.line_end.unwrap_or(LineEnd::Lf).bytes()
    }

    /// A copy that outlives the splitter's buffer, for held frames.
    pub fn to_owned(&self) -> OwnedFrame {
        let joined = match self.parts.data {
            FrameData::Joined | FrameData::DecodedChunk => self.joined.to_vec(),
            FrameData::None | FrameData::InPlace(_) => Vec::new(),
        };
        OwnedFrame { bytes: self.bytes.to_vec(), joined, parts: self.parts }
    }

    /// Whether it is one event that leaves with exactly its bytes, and that every client reads the
    /// same way.
    #[inline]
    pub fn is_plain(&self) -> bool {
        let FrameParts { clean, terminated, bare, data, .. } = self.parts;
        clean && terminated && !bare && matches!(data, FrameData::InPlace(_))
    }

    /// Everything known about the frame except its bytes, for a frame whose bytes are stored
    /// elsewhere.
    #[inline]
    pub fn outline(&self) -> Option<Outline> {
        match self.parts.data {
            FrameData::Joined | FrameData::DecodedChunk => None,
            FrameData::None | FrameData::InPlace(_) => {
                Some(Outline(FrameParts { bare: false, ..self.parts }))
            }
        }
    }

    /// Appends the frame with `new` in place of a part of its data. Everything else is copied
    /// unchanged, so the frame must be [clean](Self::clean), and `new` must fit on one line.
    pub fn splice(&self, part: ByteRange, new: &[u8], out: &mut Vec<u8>) {
        let Some(data) = self.data_span() else { return self.keep(out) };
        let (start, end) = (data.start + part.start, data.start + part.end);
        let before = self.bytes.get(..start).unwrap_or_default();
        let behind = self.bytes.get(end..).unwrap_or_default();
        if self.parts.framing == Framing::EventStream {
            // Its lengths and checksums change.
            let (payload, rest) =
                (before.get(data.start..), behind.len().checked_sub(self.bytes.len() - data.end));
            let rest = rest.and_then(|rest| behind.get(..rest)).unwrap_or_default();
            let payload = [payload.unwrap_or_default(), new, rest].concat();
            return self.rewrite_message(None, &payload, out);
        }
        self.separate(out);
        [before, new, behind].iter().for_each(|part| out.extend_from_slice(part));
    }

    /// Appends the frame to `out` with other data, in the one form that every client reads the same
    /// way.
    ///
    /// One `event` line (`event` if given, else the original name, if any) is written where the
    /// first one was, or before the data; one `data` line where the first one was. Comments, `id`
    /// and `retry` keep their places. Ambiguous lines and byte order marks are dropped, the line
    /// end is the frame's own, and a blank line ends it even if the original had none. Data that
    /// contains line ends becomes several data lines; an event name that contains one is left out.
    ///
    /// In the other framings only the data changes; a binary message also takes the event name.
    pub fn rewrite(&self, event: Option<&[u8]>, data: &[u8], out: &mut Vec<u8>) {
        match self.parts.framing {
            Framing::Sse | Framing::Body | Framing::Unreadable => {
                self.rewrite_event(event, data, out);
            }
            Framing::Lines => write_line(data, self.style().line_end(), out),
            Framing::Array => {
                let before = self.parts.data_start().and_then(|start| self.bytes.get(..start));
                self.separate(out);
                out.extend_from_slice(before.unwrap_or_default());
                out.extend_from_slice(data);
            }
            Framing::EventStream => self.rewrite_message(event, data, out),
        }
    }

    /// Appends the frame unchanged.
    #[inline]
    pub fn keep(&self, out: &mut Vec<u8>) {
        self.separate(out);
        out.extend_from_slice(self.bytes);
    }

    /// Whether `left` is what [`Self::keep`] appends.
    pub fn is_kept(&self, left: &[u8]) -> bool {
        match self.parts.bare {
            true => left.strip_prefix(b",") == Some(self.bytes),
            false => left == self.bytes,
        }
    }

    /// Whether it may not overtake anything although it has no data: a bracket of the list.
    pub fn is_bracket(&self) -> bool {
        self.parts.framing == Framing::Array
    }

    /// Appends the replacement for a frame that does not leave: nothing, or an empty element if
    /// elements are counted.
    pub fn leave_out(&self, out: &mut Vec<u8>) {
        if self.parts.framing == Framing::Array && self.data().is_some() {
            out.extend_from_slice(b",{}");
        }
    }

    /// Appends an event of the gate itself, in the same style as this one.
    pub fn another(&self, event: Option<&str>, data: &str, out: &mut Vec<u8>) {
        self.style().event(event, data, out);
    }

    /// The style of the frame.
    #[inline]
    pub fn style(&self) -> Style {
        let chunks = self.parts.is_chunk();
        let line_end = self.parts.line_end.unwrap_or(LineEnd::Lf);
        Style::of_frame(self.parts.framing, line_end, chunks)
    }

    /// Appends the separator that the first element of an array lacks, because it may not leave
    /// first.
    #[inline]
    fn separate(&self, out: &mut Vec<u8>) {
        if self.parts.bare {
            out.push(b',');
        }
    }

    fn rewrite_message(&self, event: Option<&[u8]>, data: &[u8], out: &mut Vec<u8>) {
        let headers = match (event, self.parts.event) {
            (Some(event), Some(name)) if !self.parts.is_chunk() => {
                message::headers_with(self.bytes, name, event)
            }
            _ => {
                let headers = message::headers_span(self.bytes);
                headers.and_then(|span| span.get(self.bytes)).unwrap_or_default().to_vec()
            }
        };
        match message::payload_span(self.bytes).and_then(|span| span.get(self.bytes)) {
            Some(payload) if self.parts.is_chunk() => {
                message::write(&headers, &message::chunk_with(payload, data), out);
            }
            _ => message::write(&headers, data, out),
        }
    }

    fn rewrite_event(&self, event: Option<&[u8]>, data: &[u8], out: &mut Vec<u8>) {
        let event = event.or_else(|| self.event()).filter(|name| is_one_line(name));
        let mut writer = FrameWriter { event, data: Some(data), end: self.line_end(), out };
        for line in split_lines(self.bytes).filter(|line| !line.is_empty()) {
            let read = SseLine::read(line);
            match read.field {
                SseField::Event => writer.event(),
                // If the event line is still to come, it keeps its place after the data.
                SseField::Data if self.parts.event.is_some() => writer.data(),
                SseField::Data => writer.event_and_data(),
                SseField::Unknown => {}
                SseField::Id | SseField::Retry | SseField::Comment if has_stray_separator(line) => {
                }
                SseField::Id | SseField::Retry | SseField::Comment => {
                    writer.line(line.get(read.mark..).unwrap_or_default());
                }
            }
        }
        writer.event_and_data();
        writer.line(b"");
    }
}

/// Everything known about a frame except its bytes. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Outline(FrameParts);

impl Outline {
    /// The frame again, over the bytes it was taken from. They do not include a separator that the
    /// frame appends when it leaves.
    pub fn over<'a>(&self, bytes: &'a [u8]) -> Frame<'a> {
        Frame::new(bytes, &[], self.0)
    }
}

/// A [`Frame`] with its own bytes.
#[derive(Clone, Debug)]
pub struct OwnedFrame {
    bytes: Vec<u8>,
    joined: Vec<u8>,
    parts: FrameParts,
}

impl OwnedFrame {
    /// The frame, to be read like one that was never copied.
    pub fn as_frame(&self) -> Frame<'_> {
        Frame::new(&self.bytes, &self.joined, self.parts)
    }

    /// Becomes a copy of another frame, reusing its memory.
    pub fn copy_from(&mut self, frame: &Frame<'_>) {
        self.bytes.clear();
        self.bytes.extend_from_slice(frame.bytes);
        self.joined.clear();
        if frame.parts.joins() {
            self.joined.extend_from_slice(frame.joined);
        }
        self.parts = frame.parts;
    }

    /// See [`Frame::bytes`].
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Consumes the frame and returns its original bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// See [`Frame::event`].
    pub fn event(&self) -> Option<&[u8]> {
        self.as_frame().event()
    }

    /// See [`Frame::data`].
    pub fn data(&self) -> Option<&[u8]> {
        self.as_frame().data()
    }

    /// See [`Frame::text`].
    pub fn text(&self) -> Option<&str> {
        self.as_frame().text()
    }

    /// See [`Frame::data_span`].
    pub fn data_span(&self) -> Option<ByteRange> {
        self.as_frame().data_span()
    }

    /// See [`Frame::terminated`].
    pub fn terminated(&self) -> bool {
        self.parts.terminated
    }

    /// See [`Frame::clean`].
    pub fn clean(&self) -> bool {
        self.parts.clean
    }

    /// See [`Frame::line_end`].
    pub fn line_end(&self) -> &'static [u8] {
        self.as_frame().line_end()
    }

    /// See [`Frame::rewrite`].
    pub fn rewrite(&self, event: Option<&[u8]>, data: &[u8], out: &mut Vec<u8>) {
        self.as_frame().rewrite(event, data, out);
    }
}

/// Everything known about a frame except its bytes, filled line by line. Spans count from its
/// start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameParts {
    event: Option<ByteRange>,
    data: FrameData,
    line_end: Option<LineEnd>,
    framing: Framing,
    clean: bool,
    terminated: bool,
    /// It is the first element of an array, without a comma before it.
    bare: bool,
}

impl FrameParts {
    pub(crate) const fn new(framing: Framing) -> Self {
        Self {
            event: None,
            data: FrameData::None,
            line_end: None,
            framing,
            clean: true,
            terminated: false,
            bare: false,
        }
    }

    pub(crate) fn set_data(&mut self, span: ByteRange) {
        self.data = FrameData::InPlace(span);
    }

    pub(crate) fn set_message(&mut self, message: &AwsMessage) {
        self.event = Some(message.name);
        self.data = match message.is_chunk {
            true => FrameData::DecodedChunk,
            false if message.payload.is_empty() => FrameData::None,
            false => FrameData::InPlace(message.payload),
        };
    }

    pub(crate) fn not_clean(&mut self) {
        self.clean = false;
    }

    pub(crate) fn no_separator(&mut self) {
        self.bare = true;
    }

    fn data_start(&self) -> Option<usize> {
        match self.data {
            FrameData::InPlace(span) => Some(span.start),
            FrameData::None | FrameData::Joined | FrameData::DecodedChunk => None,
        }
    }

    /// Adds the line that `span` covers in `frame`, without its line end. `joined` collects the
    /// value if there are several data lines.
    pub(crate) fn add_line(&mut self, frame: &[u8], span: ByteRange, joined: &mut Vec<u8>) {
        let text = span.get(frame).unwrap_or_default();
        let line = SseLine::read(text);
        self.clean &= !line.is_ambiguous(text);
        let value = ByteRange { start: span.start + line.value, end: span.end };
        match line.field {
            SseField::Data if matches!(self.data, FrameData::None) => {
                self.data = FrameData::InPlace(value)
            }
            SseField::Data => self.join(frame, value, joined),
            SseField::Event => self.event = Some(value),
            SseField::Id | SseField::Retry | SseField::Comment | SseField::Unknown => {}
        }
    }

    /// Whether the lines so far have only named the event.
    pub(crate) fn is_only_name(&self) -> bool {
        self.event.is_some() && matches!(self.data, FrameData::None)
    }

    pub(crate) fn note_line_end(&mut self, end: LineEnd) {
        self.line_end.get_or_insert(end);
    }

    pub(crate) fn terminate(&mut self) {
        self.terminated = true;
    }

    /// Whether the buffer for joined data is in use.
    pub(crate) fn joins(&self) -> bool {
        matches!(self.data, FrameData::Joined | FrameData::DecodedChunk)
    }

    /// Whether the data was decoded from a chunk of an AWS message.
    fn is_chunk(&self) -> bool {
        matches!(self.data, FrameData::DecodedChunk)
    }

    /// Several data lines are allowed, but no provider sends them.
    #[cold]
    fn join(&mut self, frame: &[u8], value: ByteRange, joined: &mut Vec<u8>) {
        if let FrameData::InPlace(first) = self.data {
            joined.clear();
            joined.extend_from_slice(first.get(frame).unwrap_or_default());
        }
        joined.push(b'\n');
        joined.extend_from_slice(value.get(frame).unwrap_or_default());
        self.data = FrameData::Joined;
    }
}

/// Where the data of a frame is.
#[derive(Clone, Copy, Debug)]
enum FrameData {
    /// There is none.
    None,
    /// In the bytes of the frame.
    InPlace(ByteRange),
    /// In the buffer for joined data: it had several lines.
    Joined,
    /// In that buffer too: it was decoded from a chunk of an AWS message.
    DecodedChunk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnd {
    Lf,
    CrLf,
    Cr,
}

impl LineEnd {
    pub(crate) fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
            Self::Cr => b"\r",
        }
    }

    pub(crate) fn len(self) -> usize {
        match self {
            Self::Lf | Self::Cr => 1,
            Self::CrLf => 2,
        }
    }
}

/// Writes each of event and data once, whichever is requested first.
struct FrameWriter<'w> {
    event: Option<&'w [u8]>,
    data: Option<&'w [u8]>,
    end: &'static [u8],
    out: &'w mut Vec<u8>,
}

impl FrameWriter<'_> {
    fn event(&mut self) {
        if let Some(name) = self.event.take() {
            self.out.extend_from_slice(b"event: ");
            self.line(name);
        }
    }

    fn data(&mut self) {
        for piece in self.data.take().into_iter().flat_map(split_lines) {
            self.out.extend_from_slice(b"data: ");
            self.line(piece);
        }
    }

    fn event_and_data(&mut self) {
        self.event();
        self.data();
    }

    fn line(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
        self.out.extend_from_slice(self.end);
    }
}

fn is_one_line(name: &[u8]) -> bool {
    split_lines(name).nth(1).is_none() && !has_stray_separator(name)
}
