//! Other bodies that say the same: every response of the corpus can be made harder to read.

use callgate_dialect::Dialect;
use callgate_wire::{Frame, Framing, ReadLimits, Sniffer, Splitter};

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As it is in the corpus.
    AsItCame,
    /// Every key written with escapes, so that no search for text finds it.
    Escaped,
    /// The whole stream once more after its end.
    Twice,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::AsItCame, Self::Escaped, Self::Twice];

    /// The body in this shape. `None` if it has no such shape.
    pub fn of(self, dialect: Dialect, body: &[u8]) -> Option<Vec<u8>> {
        let framing = framing(dialect, body)?;
        match (self, framing) {
            (Self::AsItCame, _) => Some(body.to_vec()),
            (Self::Escaped, Framing::Unreadable) => None,
            (Self::Escaped, Framing::Body) => Some(escaped(body)),
            (Self::Escaped, _) => escaped_stream(framing, body),
            (Self::Twice, Framing::Sse | Framing::Lines | Framing::EventStream) => {
                Some([body, body].concat())
            }
            (Self::Twice, _) => None,
        }
    }
}

/// How a body is framed. `None` if there is nothing in it.
pub fn framing(dialect: Dialect, body: &[u8]) -> Option<Framing> {
    let mut sniffer = Sniffer::new(dialect.framings());
    sniffer.push(body).or_else(|| sniffer.finish())
}

/// The data of every frame; of a body, all of it.
pub fn frames(dialect: Dialect, body: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    match framing(dialect, body) {
        None | Some(Framing::Body | Framing::Unreadable) => frames.push(body.to_vec()),
        Some(framing) => {
            each_frame(framing, body, |frame| frames.extend(frame.data().map(<[u8]>::to_vec)));
        }
    }
    frames
}

/// Hands every frame to `see`. `None` if the stream cannot be cut into frames.
pub(crate) fn each_frame(
    framing: Framing,
    body: &[u8],
    mut see: impl FnMut(&Frame<'_>),
) -> Option<()> {
    let mut splitter = Splitter::new(framing, ReadLimits::default().frame);
    splitter.push(body);
    while let Some(frame) = splitter.next_frame().ok()? {
        see(&frame);
    }
    while let Some(frame) = splitter.finish() {
        see(&frame);
    }
    Some(())
}

/// The stream with the keys of every frame escaped. `None` if it cannot be cut into frames.
fn escaped_stream(framing: Framing, body: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    each_frame(framing, body, |frame| match frame.data() {
        Some(data) if data.trim_ascii_start().starts_with(b"{") => {
            frame.rewrite(frame.event(), &escaped(data), &mut out);
        }
        _ => out.extend_from_slice(frame.bytes()),
    })?;
    Some(out)
}

/// JSON with its keys escaped. The result for other input does not matter.
fn escaped(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let mut rest = json;
    while let Some(start) = rest.iter().position(|byte| *byte == b'"') {
        let (before, text) = rest.split_at(start + 1);
        let end = closing_quote(text);
        let (text, after) = text.split_at(end);
        out.extend_from_slice(before);
        let is_key = after.get(1..).is_some_and(|after| after.trim_ascii_start().starts_with(b":"));
        if is_key && !text.contains(&b'\\') {
            for byte in text {
                match byte.is_ascii() {
                    true => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
                    false => out.push(*byte),
                }
            }
        } else {
            out.extend_from_slice(text);
        }
        let quote = after.len().min(1);
        out.extend_from_slice(&after[..quote]);
        rest = &after[quote..];
    }
    out.extend_from_slice(rest);
    out
}

/// Where a string ends.
fn closing_quote(text: &[u8]) -> usize {
    let mut at = 0;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_escaped_and_nothing_else() {
        let json = br#"{"a":"b:","c\"":["d",{ "e" : "f\"g:" }]}"#;
        let want = br#"{"\u0061":"b:","c\"":["d",{ "\u0065" : "f\"g:" }]}"#;
        assert_eq!(String::from_utf8_lossy(&escaped(json)), String::from_utf8_lossy(want));
        let value = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
        assert_eq!(value(&escaped(json)), value(json));
        assert_eq!(escaped(b"{\"a"), b"{\"a");
    }

    #[test]
    fn every_frame_is_written_differently() {
        let stream = b"event: x\ndata: {\"a\":1}\n\n: c\n\ndata: [DONE]\n\n";
        let got = Shape::Escaped.of(Dialect::OpenAiChat, stream).unwrap();
        let want = "event: x\ndata: {\"\\u0061\":1}\n\n: c\n\ndata: [DONE]\n\n";
        assert_eq!(String::from_utf8_lossy(&got), want);
        let twice = Shape::Twice.of(Dialect::OpenAiChat, stream).unwrap();
        assert_eq!(twice.len(), 2 * stream.len());
        assert_eq!(Shape::Twice.of(Dialect::OpenAiChat, b"{}"), None);
    }
}
