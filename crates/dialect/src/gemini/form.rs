//! The one event format that every client reads.

use callgate_json::{Kind, Reader as Json};
use callgate_wire::Frame;

use crate::departure::{Leaving, Orders, Rest};
use crate::event::What;
use crate::json::{Edits, document, member};
use crate::leave::mask;

/// Whether every client reads the event unchanged: `data: `, one line, and the blank line (at least
/// its beginning); or nothing at all.
pub(crate) fn reads_alike(frame: &Frame<'_>) -> bool {
    if frame.is_bracket() {
        // An element of a list, or a bracket of it: all clients read the document the same way.
        return frame.clean();
    }
    let bytes = frame.bytes();
    let Some(data) = frame.data_span() else {
        return frame.data().is_none() && bytes.trim_ascii().is_empty();
    };
    let behind = bytes.get(data.end..).unwrap_or_default();
    let is_one_end = matches!(behind, b"\n\n" | b"\r\n\r\n" | b"\r\r");
    frame.clean()
        && bytes.starts_with(b"data: ")
        && data.start == 6
        && (is_one_end || !frame.terminated())
}

/// Whether the lines are an error without `data:`. One client reads it, and the others would take
/// the response for complete without it.
pub(crate) fn is_bare_error(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let is_object = text.trim_start().starts_with('{');
    let error = is_object.then(|| member(text, document(text), "error")).flatten();
    error.is_some_and(|span| Json::at(text, span).kind().is_ok_and(|kind| kind != Kind::Null))
}

/// Whether one line of data contains nothing that some client takes for a line end.
pub(super) fn is_one_line(data: &str) -> bool {
    let plain = data.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=0x7f));
    plain || !data.contains(is_line_end)
}

fn is_line_end(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Writes the frame with the edits. Without edits it writes the original bytes, if every client
/// reads those.
pub(super) fn leave(leaving: &Leaving<'_>, mut edits: Edits, out: &mut Vec<u8>) {
    let Leaving { frame, data, reading, orders: Orders { departure, .. } } = *leaving;
    mask(departure, &mut edits);
    if departure.rest == Rest::Text {
        return frame.another(None, &one_line(&edits.apply(data)), out);
    }
    let carries = reading.parts.iter().any(|part| matches!(part.what, What::Piece(_)));
    let must_end = !frame.terminated() && carries;
    let in_list = frame.is_bracket();
    if edits.is_empty() && !must_end && reads_alike(frame) && (in_list || is_one_line(data)) {
        return frame.keep(out);
    }
    match in_list {
        true => frame.rewrite(None, edits.apply(data).as_bytes(), out),
        false => frame.another(None, &one_line(&edits.apply(data)), out),
    }
}

/// The document on one line. Outside of strings a line end is white space; inside them it is one of
/// those that JSON allows, and is escaped.
fn one_line(data: &str) -> String {
    let mut line = String::with_capacity(data.len());
    for c in data.chars() {
        match c {
            '\n' | '\r' => line.push(' '),
            c if is_line_end(c) => line.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => line.push(c),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use callgate_wire::{Framing, Splitter};

    use super::*;

    fn alike(text: &str) -> bool {
        let mut splitter = Splitter::new(Framing::Sse, 1 << 20);
        splitter.push(text.as_bytes());
        let frame = match splitter.next_frame().unwrap() {
            Some(frame) => frame.to_owned(),
            None => splitter.finish().unwrap().to_owned(),
        };
        reads_alike(&frame.as_frame())
    }

    #[test]
    fn only_one_form_passes() {
        for text in ["data: {}\n\n", "data: {}\r\n\r\n", "data: {}\r\rx", "data: {}", "\n", "\r\n"]
        {
            assert!(alike(text), "{text:?}");
        }
        for text in [
            "data:{}\n\n",
            "data: {}\ndata: \n\n",
            "data: {}\n\r\n",
            "data: {}\r\n\n",
            "event: x\ndata: {}\n\n",
            "data: {}\nid: 1\n\n",
            ": x\ndata: {}\n\n",
            ": x\n\n",
            "{}\n\n",
            "\u{feff}\u{feff}data: {}\n\n",
        ] {
            assert!(!alike(text), "{text:?}");
        }
    }

    #[test]
    fn a_document_fits_one_line() {
        assert_eq!(one_line("{\r\n\"a\":\"\u{2028}\u{85}é\"\n}"), "{  \"a\":\"\\u2028\\u0085é\" }");
        assert!(is_one_line("{\"a\":\"é\"}") && !is_one_line("{\"a\":\"\u{2029}\"}"));
    }

    #[test]
    fn errors_come_without_a_field() {
        assert!(is_bare_error(b"{\n \"error\": {\"code\": 500}\n}\n\n"));
        for text in ["{\"error\":null}", "{\"errors\":1}", "error", "[{\"error\":1}]", "{\"x\":"] {
            assert!(!is_bare_error(text.as_bytes()), "{text}");
        }
    }
}
