//! What an MCP server says over HTTP, as events and as JSON: nothing panics, what a client gets is whole
//! messages that every client reads alike, it does not depend on how the input was cut, and what is
//! withheld in the one form is withheld in the other.
#![no_main]

use callgate_fuzz::mcp::{asked, comparable};
use callgate_mcp::probe::{MAX_MESSAGE, is_message};
use callgate_wire::{Framing, Splitter};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // The first two bytes choose the cuts and the form.
    let [cut, form, input @ ..] = data else { return };
    match form % 4 {
        0 => message(input),
        _ => events(input, usize::from(*cut) + 1),
    }
});

fn events(input: &[u8], piece: usize) {
    let whole = asked().events(input.chunks(input.len().max(1)));
    let pieces = asked().events(input.chunks(piece));
    assert_eq!(comparable(&whole), comparable(&pieces), "cuts change what a client gets");
    for data in data(&whole) {
        let shown = String::from_utf8_lossy(&data).into_owned();
        assert!(is_message(&data), "a client gets {shown:?}");
        assert!(!shown.contains(SEPARATORS), "some clients end a line within {shown:?}");
    }
}

/// A line ends at these for some clients.
const SEPARATORS: [char; 8] =
    ['\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

fn message(input: &[u8]) {
    let answer = asked().answer(input);
    if let Some(answer) = &answer {
        assert!(is_message(answer), "a client gets {:?}", String::from_utf8_lossy(answer));
    }
    // As an event it is the same, if it can stand on one line of one that is not too large.
    let ends_a_line = input.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0));
    if input.is_empty() || ends_a_line || input.len() + 100 > MAX_MESSAGE {
        return;
    }
    let event = [b"data: ", input, b"\n\n"].concat();
    let events = asked().events(std::iter::once(event.as_slice()));
    assert_eq!(answer.is_some(), !data(&events).is_empty(), "the form decides what passes");
}

/// The data of events that are more than comments and numbers.
fn data(out: &[u8]) -> Vec<Vec<u8>> {
    let mut splitter = Splitter::new(Framing::Sse, usize::MAX);
    splitter.push(out);
    let mut found = Vec::new();
    while let Ok(Some(frame)) = splitter.next_frame() {
        found.extend(frame.data().map(<[u8]>::to_vec));
    }
    // A carriage return at the end may be half of a line end.
    while let Some(frame) = splitter.finish() {
        assert!(frame.terminated(), "an event is left unfinished");
        found.extend(frame.data().map(<[u8]>::to_vec));
    }
    found.retain(|data| !data.is_empty());
    found
}
