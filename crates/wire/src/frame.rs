//! One event of a stream: its original bytes, and where in them the parts that mean something are.
//!
//! A frame that is let through leaves as the bytes it came as. Only a frame that must be edited is
//! written anew, by [`Frame::rewrite`], in the one form that every client reads the same way.

use crate::line::{Field, Line, has_stray_separator, split_lines};

/// A byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes it covers; `None` if it belongs to a longer text than this one.
    pub fn get<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        bytes.get(self.start..self.end)
    }

    /// How many bytes it covers.
    pub fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether it covers none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One event, borrowed from the [`Splitter`](crate::Splitter) that found it. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    bytes: &'a [u8],
    /// The joined value, meaningful only where `parts.data` is [`Data::Many`].
    joined: &'a [u8],
    parts: Parts,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(bytes: &'a [u8], joined: &'a [u8], parts: Parts) -> Self {
        Self { bytes, joined, parts }
    }

    /// The original bytes, blank line included. Those of all frames, laid end to end, are the
    /// stream without its byte order mark.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The value of the last `event` line.
    pub fn event(&self) -> Option<&'a [u8]> {
        self.parts.event?.get(self.bytes)
    }

    /// The value of the `data` lines, joined with LF. `None` if there is no such line at all, as in
    /// a keep-alive; an empty `data` line gives an empty value.
    pub fn data(&self) -> Option<&'a [u8]> {
        match self.parts.data {
            Data::None => None,
            Data::One(span) => span.get(self.bytes),
            Data::Many => Some(self.joined),
        }
    }

    /// Where [`Self::data`] stands in [`Self::bytes`], for edits in place. Only known if there is
    /// exactly one data line.
    pub fn data_span(&self) -> Option<Span> {
        match self.parts.data {
            Data::One(span) => Some(span),
            Data::None | Data::Many => None,
        }
    }

    /// Whether the blank line came. Without it (the stream ended), some clients take the event and
    /// some drop it: it must be judged like any other.
    pub fn terminated(&self) -> bool {
        self.parts.terminated
    }

    /// Whether all clients read the lines alike. `false` if there is a byte order mark before a
    /// field name, a line that is no field and no comment, or a line other than data that Python's
    /// `splitlines` would cut in two. Such a frame must not be forwarded as it came.
    pub fn clean(&self) -> bool {
        self.parts.clean
    }

    /// The first line end in the frame, so that what is written fits what came; LF if it has none.
    pub fn line_end(&self) -> &'static [u8] {
        self.parts.line_end.unwrap_or(LineEnd::Lf).bytes()
    }

    /// A copy that outlives the splitter's buffer, for frames that are held.
    pub fn to_owned(&self) -> OwnedFrame {
        let joined = match self.parts.data {
            Data::Many => self.joined.to_vec(),
            Data::None | Data::One(_) => Vec::new(),
        };
        OwnedFrame { bytes: self.bytes.to_vec(), joined, parts: self.parts }
    }

    /// Appends the frame to `out` with other data, in the one form that every client reads alike.
    ///
    /// One `event` line (`event` if given, else the original name, if any) stands where the first
    /// one stood, or before the data; one `data` line where the first one stood. Comments, `id` and
    /// `retry` keep their places. Ambiguous lines and byte order marks are dropped, the line end
    /// is the frame's own, and a blank line ends it even if the original had none. Data that holds
    /// line ends becomes several data lines; an event name that holds one is left out.
    pub fn rewrite(&self, event: Option<&[u8]>, data: &[u8], out: &mut Vec<u8>) {
        let event = event.or_else(|| self.event()).filter(|name| is_one_line(name));
        let mut writer = Writer { event, data: Some(data), end: self.line_end(), out };
        for line in split_lines(self.bytes).filter(|line| !line.is_empty()) {
            let read = Line::read(line);
            match read.field {
                Field::Event => writer.event(),
                // Where the event line is yet to come, it keeps its place behind the data.
                Field::Data if self.parts.event.is_some() => writer.data(),
                Field::Data => writer.event_and_data(),
                Field::Unknown => {}
                Field::Id | Field::Retry | Field::Comment if has_stray_separator(line) => {}
                Field::Id | Field::Retry | Field::Comment => {
                    writer.line(line.get(read.mark..).unwrap_or_default());
                }
            }
        }
        writer.event_and_data();
        writer.line(b"");
    }
}

/// A [`Frame`] with its own bytes.
#[derive(Clone, Debug)]
pub struct OwnedFrame {
    bytes: Vec<u8>,
    joined: Vec<u8>,
    parts: Parts,
}

impl OwnedFrame {
    /// The frame, to be read like one that was never copied.
    pub fn as_frame(&self) -> Frame<'_> {
        Frame::new(&self.bytes, &self.joined, self.parts)
    }

    /// See [`Frame::bytes`].
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The original bytes, given away.
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

    /// See [`Frame::data_span`].
    pub fn data_span(&self) -> Option<Span> {
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

/// What is known of a frame besides its bytes; filled line by line. Spans count from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    event: Option<Span>,
    data: Data,
    line_end: Option<LineEnd>,
    clean: bool,
    terminated: bool,
}

impl Parts {
    pub(crate) const fn new() -> Self {
        Self { event: None, data: Data::None, line_end: None, clean: true, terminated: false }
    }

    /// Notes the line that `span` covers in `frame`, without its line end. `joined` collects the
    /// value when there turn out to be several data lines.
    pub(crate) fn line(&mut self, frame: &[u8], span: Span, joined: &mut Vec<u8>) {
        let text = span.get(frame).unwrap_or_default();
        let line = Line::read(text);
        self.clean &= !line.is_ambiguous(text);
        let value = Span { start: span.start + line.value, end: span.end };
        match line.field {
            Field::Data if matches!(self.data, Data::None) => self.data = Data::One(value),
            Field::Data => self.join(frame, value, joined),
            Field::Event => self.event = Some(value),
            Field::Id | Field::Retry | Field::Comment | Field::Unknown => {}
        }
    }

    pub(crate) fn line_end(&mut self, end: LineEnd) {
        self.line_end.get_or_insert(end);
    }

    pub(crate) fn terminate(&mut self) {
        self.terminated = true;
    }

    /// Whether the buffer for joined data is in use.
    pub(crate) fn joins(&self) -> bool {
        matches!(self.data, Data::Many)
    }

    /// Several data lines are allowed, but no provider sends them.
    #[cold]
    fn join(&mut self, frame: &[u8], value: Span, joined: &mut Vec<u8>) {
        if let Data::One(first) = self.data {
            joined.clear();
            joined.extend_from_slice(first.get(frame).unwrap_or_default());
        }
        joined.push(b'\n');
        joined.extend_from_slice(value.get(frame).unwrap_or_default());
        self.data = Data::Many;
    }
}

#[derive(Clone, Copy, Debug)]
enum Data {
    None,
    One(Span),
    Many,
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

/// Writes each of event and data once, whoever asks first.
struct Writer<'w> {
    event: Option<&'w [u8]>,
    data: Option<&'w [u8]>,
    end: &'static [u8],
    out: &'w mut Vec<u8>,
}

impl Writer<'_> {
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
