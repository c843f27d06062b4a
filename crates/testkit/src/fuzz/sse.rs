//! The splitter: the frames laid end to end are the input without its byte order mark, and which
//! frames come out does not depend on how the input was cut.

use callgate_wire::{Frame, Framing, Splitter};

/// Checks one input.
pub fn check(data: &[u8]) {
    // The first two bytes choose the cuts and the limit.
    let [cut, limit, input @ ..] = data else { return };
    // No limit is so small that a byte order mark reaches it.
    let limit = if limit % 4 == 0 { usize::from(*limit) + 4 } else { usize::MAX };

    let whole = split(input, input.len().max(1), limit);
    assert_eq!(split(input, 1, limit), whole, "byte by byte");
    assert_eq!(split(input, usize::from(*cut) + 1, limit), whole, "in pieces of {cut} + 1");

    let joined: Vec<u8> = whole.frames.iter().flat_map(|frame| frame.bytes.clone()).collect();
    let text = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
    match whole.too_large {
        true => assert!(text.starts_with(&joined), "frames before the failure are the input"),
        false => assert_eq!(joined, text, "frames are the input"),
    }
}

#[derive(Debug, PartialEq)]
struct Split {
    frames: Vec<Seen>,
    too_large: bool,
}

#[derive(Debug, PartialEq)]
struct Seen {
    bytes: Vec<u8>,
    event: Option<Vec<u8>>,
    data: Option<Vec<u8>>,
    terminated: bool,
    clean: bool,
}

impl Seen {
    fn new(frame: &Frame<'_>) -> Self {
        Self {
            bytes: frame.bytes().to_vec(),
            event: frame.event().map(<[u8]>::to_vec),
            data: frame.data().map(<[u8]>::to_vec),
            terminated: frame.terminated(),
            clean: frame.clean(),
        }
    }
}

fn split(input: &[u8], piece: usize, limit: usize) -> Split {
    let mut splitter = Splitter::new(Framing::Sse, limit);
    let mut frames = Vec::new();
    for piece in input.chunks(piece) {
        splitter.push(piece);
        loop {
            match splitter.next_frame() {
                Ok(Some(frame)) => frames.push(Seen::new(&frame)),
                Ok(None) => break,
                Err(_) => return Split { frames, too_large: true },
            }
        }
    }
    while let Some(frame) = splitter.finish() {
        frames.push(Seen::new(&frame));
    }
    Split { frames, too_large: false }
}
