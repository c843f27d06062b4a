//! A fast path for text frames and for frames with a piece of a call's arguments: those of one
//! stream differ only in that string. A frame whose bytes before and after the string equal those of
//! the previous frame, which was read in full, means the same; only the string in between must be
//! read.
//!
//! This skips no check: every byte is either equal to one that was checked in the same place, or
//! checked now. Any other frame in between may change the meaning of an index, so a template
//! applies only from one such frame to the next.

use callgate_json::{Span, string_end};

use crate::event::{
    ArgumentsPiece, Block, BlockStep, Carrier, FollowedBy, Host, Lane, Order, Part, Piece,
    PieceRole, Reading, Slot, What,
};
use crate::side_text::SideText;

/// The previous frame, if it contained only text or only a piece of arguments.
#[derive(Debug, Default)]
pub(crate) struct Template {
    valid: bool,
    event: Vec<u8>,
    /// Everything up to the string.
    before: Vec<u8>,
    /// Everything from the quote that ends it.
    behind: Vec<u8>,
    /// After the quote there are only closing brackets. Some providers pad those with white space
    /// of varying length.
    only_closes: bool,
    order: Order,
    lane: Lane,
    block: Option<Block>,
    skipped_by_some_clients: bool,
    /// The channel of the text, if it has a separate one.
    side_text: Option<SideText>,
    /// The call that the string is a piece of, and its lane; `None` if the string is text.
    call: Option<(Slot, Lane)>,
}

impl Template {
    /// The reading of `data`, if it is the template with another string.
    #[inline]
    pub(crate) fn read(&self, event: Option<&[u8]>, data: &str) -> Option<Reading> {
        if !self.valid || event.unwrap_or(b"") != self.event {
            return None;
        }
        let length = self.string(data)?;
        let start = self.before.len();
        if let Some(call) = self.call {
            let at = Span { start, end: start + length };
            return Some(self.piece(call, data.get(at.start..at.end)?, at));
        }
        Some(Reading {
            order: self.order,
            block: self.block,
            text: (length > 0).then_some(Span { start, end: start + length }),
            text_lane: self.lane,
            skipped_by_some_clients: self.skipped_by_some_clients,
            side_texts: self
                .side_text
                .iter()
                .map(|side_text| SideText { at: Span { start, end: start + length }, ..*side_text })
                .filter(|_| length > 0)
                .collect(),
            ..Reading::default()
        })
    }

    /// The piece of a call in `data`, if it is the template with another one.
    #[inline]
    pub(crate) fn read_piece<'a>(
        &self,
        event: Option<&[u8]>,
        data: &'a str,
    ) -> Option<PieceFrame<'a>> {
        let (slot, _) = self.call?;
        if !self.valid || event.unwrap_or(b"") != self.event {
            return None;
        }
        let start = self.before.len();
        let raw = data.get(start..start + self.string(data)?)?;
        Some(PieceFrame { slot, raw, order: self.order, block: self.block })
    }

    /// The length of the string in `data`, if everything around it fits.
    #[inline]
    fn string(&self, data: &str) -> Option<usize> {
        let rest = data.as_bytes().strip_prefix(self.before.as_slice())?;
        let length = string_end(rest)?;
        let behind = rest.get(length..)?;
        let fits =
            behind == self.behind || (self.only_closes && closes_alike(behind, &self.behind));
        fits.then_some(length)
    }

    /// The reading of a frame that adds this piece to a call.
    fn piece(&self, (slot, lane): (Slot, Lane), raw: &str, at: Span) -> Reading {
        let arguments = ArgumentsPiece::Fragment(raw.to_owned());
        let piece = Piece { slot, arguments, ..Piece::default() };
        let parts = vec![Part { lane, at, what: What::Piece(piece) }];
        Reading { order: self.order, block: self.block, parts, ..Reading::default() }
    }

    /// Remembers a frame that was read in full. `pieces` says whether a frame that adds to a call
    /// changes the reader of this dialect.
    pub(crate) fn remember(
        &mut self,
        event: Option<&[u8]>,
        data: &str,
        reading: &Reading,
        pieces: Pieces,
    ) {
        self.valid = false;
        let added = match pieces {
            Pieces::Alike => added_to(reading),
            Pieces::Counted => None,
        };
        self.call = added.map(|(call, _)| call);
        let Some(text) = added.map(|(_, at)| at).or(reading.text) else { return };
        let plain = (reading.parts.is_empty() || added.is_some())
            && reading.is_plain()
            && !reading.repeats_texts
            // Text that is not part of the answer must be read.
            && reading.side_texts.iter().all(|side_text| side_text.at == text)
            // A block begins once, and the meaning of an index must be known to the byte.
            && reading.block.is_none_or(|block| {
                let before = block.index.is_some_and(|index| index.end <= text.start);
                before && block.does == BlockStep::Add
            });
        let (Some(before), Some(behind)) = (data.get(..text.start), data.get(text.end..)) else {
            return;
        };
        if !plain {
            return;
        }
        self.valid = true;
        set(&mut self.event, event.unwrap_or(b""));
        set(&mut self.before, before.as_bytes());
        set(&mut self.behind, behind.as_bytes());
        self.only_closes = closers(behind.as_bytes()).all(|byte| matches!(byte, b'}' | b']'));
        (self.order, self.lane, self.block) = (reading.order, reading.text_lane, reading.block);
        self.skipped_by_some_clients = reading.skipped_by_some_clients;
        self.side_text = reading.side_texts.first().copied();
    }

    /// Clears the template, because another frame was read.
    pub(crate) fn forget(&mut self) {
        self.valid = false;
    }
}

/// A frame that adds a piece of arguments to a call and has no other content. It differs from the
/// frame before only in that piece.
#[derive(Debug, Clone, Copy)]
pub struct PieceFrame<'a> {
    /// The call.
    pub slot: Slot,
    /// The piece: the raw content of a JSON string that contains a part of the JSON text.
    pub raw: &'a str,
    /// See [`Reading::order`].
    pub order: Order,
    /// See [`Reading::block`].
    pub block: Option<Block>,
}

/// Whether frames that add to a call may be read by a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pieces {
    /// They may: reading one changes nothing in the reader.
    Alike,
    /// They may not: the reader keeps count of them.
    Counted,
}

/// The call that a frame adds a piece of arguments to, and where the piece is, if the frame has no
/// other content.
fn added_to(reading: &Reading) -> Option<((Slot, Lane), Span)> {
    let [Part { lane, at, what: What::Piece(piece) }] = reading.parts.as_slice() else {
        return None;
    };
    // Complete, so that a new field must be considered.
    let Piece { slot, role, followed_by, name, id, arguments, host, carrier, original, refuse } =
        piece;
    let adds = matches!(arguments, ArgumentsPiece::Fragment(_))
        && *role == PieceRole::More
        && *followed_by == FollowedBy::More
        && name.is_none()
        && id.is_none()
        && original.is_none()
        && refuse.is_none()
        && *host == Host::Client
        && *carrier == Carrier::Listed;
    let alone = reading.is_plain()
        && reading.text.is_none()
        && reading.model.is_none()
        && !reading.skipped_by_some_clients
        && reading.side_texts.is_empty()
        && reading.taken.is_empty()
        && reading.tally.is_none();
    (adds && alone).then_some(((*slot, *lane), *at))
}

/// The bytes after the quote, without white space.
fn closers(behind: &[u8]) -> impl Iterator<Item = u8> + '_ {
    behind.iter().skip(1).copied().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// White space between brackets is irrelevant.
fn closes_alike(one: &[u8], other: &[u8]) -> bool {
    closers(one).eq(closers(other))
}

fn set(buffer: &mut Vec<u8>, bytes: &[u8]) {
    buffer.clear();
    buffer.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{Dialect, Limits, Reader};

    const START: &str = r#"{"type":"message_start","message":{"content":[]}}"#;
    const OPEN: &str =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    const OPEN_CALL: &str = r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}"#;
    const PIECE: &str = r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 1"}}"#;
    const MESSAGES: &str = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some \"text\""}  }"#;
    const CHAT: &str = r#"{"id":"c","choices":[{"index":0,"delta":{"content":"some text"},"finish_reason":null}],"usage":null}"#;

    fn reader(dialect: Dialect) -> Reader {
        let mut reader = dialect.reader(&Limits::default());
        if dialect == Dialect::Anthropic {
            reader.read(None, START).unwrap();
            reader.read(None, OPEN).unwrap();
            reader.read(None, OPEN_CALL).unwrap();
        }
        reader
    }

    /// The reading of the second frame, with the template and in full.
    fn both(dialect: Dialect, event: &[u8], first: &str, second: &str) -> (String, String) {
        let (mut quick, mut full) = (reader(dialect), reader(dialect));
        quick.read(Some(event), first).unwrap();
        full.read(Some(event), first).unwrap();
        full.template.forget();
        let mut quick = quick.read(Some(event), second);
        let mut full = full.read(Some(event), second);
        // The model and the tokens are reported once; a template does not repeat them.
        for reading in [&mut quick, &mut full].into_iter().flatten() {
            (reading.model, reading.tally) = (None, None);
        }
        (format!("{quick:?}"), format!("{full:?}"))
    }

    #[test]
    fn padding_may_differ() {
        let reader = &mut reader(Dialect::Anthropic);
        let event = Some(&b"content_block_delta"[..]);
        reader.read(event, MESSAGES).unwrap();
        let padded = MESSAGES.replace("  }", "       }").replace("some", "other");
        assert!(reader.template.read(event, &padded).is_some());
        assert!(reader.template.read(event, &padded.replace('}', "} ,")).is_none());
        assert!(reader.template.read(Some(b"ping"), &padded).is_none());
    }

    #[test]
    fn a_piece_of_arguments_is_read_by_the_template() {
        let reader = &mut reader(Dialect::Anthropic);
        let event = Some(&b"content_block_delta"[..]);
        let empty = PIECE.replace(r#"{\"a\": 1"#, "");
        reader.read(event, &empty).unwrap();
        assert!(reader.template.read(event, PIECE).is_some());
        let other = PIECE.replace("1\"", ",\\\"b\\\"\"");
        assert!(reader.template.read(event, &other).is_some());
        assert!(reader.template.read(event, &other.replace(":1,", ":0,")).is_none());
        // A piece that equals another string in the frame.
        reader.template.forget();
        reader.read(event, &PIECE.replace(r#"{\"a\": 1"#, "content_block_delta")).unwrap();
        assert!(reader.template.read(event, &other).is_some());
        assert!(reader.template.read(event, &other.replace("_block_delta\"", "_\"")).is_none());
    }

    /// Tokens in every chunk: a chunk with other counts does not match the template.
    #[test]
    fn other_tokens_are_read() {
        let reader = &mut reader(Dialect::OpenAiChat);
        let chunk = |count: u32, text: &str| {
            CHAT.replace("null}", &format!("{{\"completion_tokens\":{count}}}}}"))
                .replace("some text", text)
        };
        let tokens = |reader: &mut Reader, chunk: &str| {
            let reading = reader.read(None, chunk).unwrap();
            assert!(reading.text.is_some() && reading.parts.is_empty());
            reading.tally.and_then(|tally| tally.output)
        };
        assert_eq!(tokens(reader, &chunk(1, "a")), Some(1));
        assert_eq!(tokens(reader, &chunk(1, "b")), None, "nothing new, and not read again");
        assert_eq!(tokens(reader, &chunk(2, "c")), Some(2));
        assert_eq!(tokens(reader, &chunk(12, "d")), Some(12));
        // Before the text.
        let ahead = |count: u32| {
            let usage = format!("{{\"usage\":{{\"completion_tokens\":{count}}},\"id\"");
            CHAT.replace(",\"usage\":null", "").replace("{\"id\"", &usage)
        };
        assert_eq!(tokens(reader, &ahead(3)), Some(3));
        assert_eq!(tokens(reader, &ahead(4)), Some(4));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        /// However a frame is changed, the fast path and the full path read the same.
        #[test]
        fn the_template_reads_the_same_as_a_full_read(
            which in 0..3_usize,
            at in any::<prop::sample::Index>(),
            cut in 0..6_usize,
            new in prop::sample::select(vec![
                "", "x", " ", "\"", "\\", "\\\"", "\\u00e9", "\\u12", "}", "]", ",", "\n", "\u{1}", "é",
                "\",\"tool_calls\":[{\"index\":0}],\"x\":\"", "\",\"text\":\"", "0", "1",
                "\",\"partial_json\":\"", "\",\"name\":\"x\",\"input\":\"",
            ]),
        ) {
            let (dialect, frame) = match which {
                0 => (Dialect::OpenAiChat, CHAT),
                1 => (Dialect::Anthropic, PIECE),
                _ => (Dialect::Anthropic, MESSAGES),
            };
            let start = at.index(frame.len());
            let end = (start + cut).min(frame.len());
            let bent = format!("{}{new}{}", &frame[..start], &frame[end..]);
            let (quick, full) = both(dialect, b"content_block_delta", frame, &bent);
            prop_assert_eq!(quick, full, "{}", bent);
        }
    }
}
