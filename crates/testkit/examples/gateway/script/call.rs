//! Streams that end with a call.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use super::{Api, Script, TEXTS, messages_ending, messages_frame, messages_text, stop, text};

/// Arguments come in pieces of this many bytes; long ones in about this many longer pieces.
/// Real pieces are shorter; with these a call arrives in a time worth waiting for.
const PIECE: usize = 200;
const PIECES: usize = 50;

/// Bytes of a text, and of a piece of the arguments, in an answer with both.
const SHORT: usize = 40;

impl Script {
    /// A stream of `frames` text frames and a call with about `bytes` of arguments.
    pub(crate) fn call(frames: usize, bytes: usize) -> Self {
        let arguments = arguments(bytes);
        let pieces: Vec<&[u8]> = arguments.as_bytes().chunks(PIECE.max(bytes / PIECES)).collect();
        Self::text(Api::Messages, frames).then_call(&pieces)
    }

    /// A stream of `frames` short text frames and a call whose arguments come in exactly `pieces`
    /// frames.
    ///
    /// Each is made once: hundreds of streams end and begin again at about the same time, and to
    /// make their scripts just then would delay the frames that are timed.
    pub(crate) fn mixed(frames: usize, pieces: usize) -> Self {
        static MADE: Mutex<BTreeMap<(usize, usize), Script>> = Mutex::new(BTreeMap::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        made.entry((frames, pieces)).or_insert_with(|| Self::make_mixed(frames, pieces)).clone()
    }

    fn make_mixed(frames: usize, pieces: usize) -> Self {
        let arguments = arguments(SHORT * pieces);
        let border = |at: usize| arguments.len() * at / pieces;
        let pieces: Vec<&[u8]> = (0..pieces)
            .filter_map(|at| arguments.as_bytes().get(border(at)..border(at + 1)))
            .collect();
        let texts = (0..TEXTS.min(frames)).map(|at| messages_text(&text(at, SHORT))).collect();
        Self { texts, ..Self::text(Api::Messages, frames) }.then_call(&pieces)
    }

    /// Replaces the ending by a call and the end of an answer with a call.
    fn then_call(self, pieces: &[&[u8]]) -> Self {
        let mut ending = vec![
            stop(0),
            messages_frame(
                "content_block_start",
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_01A09q90qw90lq917835lq9","name":"Bash","input":{}}}"#,
            ),
        ];
        let first = ending.len();
        for piece in pieces {
            let piece = String::from_utf8_lossy(piece).replace('\\', "\\\\").replace('"', "\\\"");
            let data = format!(
                r#"{{"type":"content_block_delta","index":1,"delta":{{"type":"input_json_delta","partial_json":"{piece}"}}}}"#
            );
            ending.push(messages_frame("content_block_delta", &data));
        }
        let arguments = Some(first..ending.len());
        ending.extend(messages_ending(1, "tool_use"));
        Self { ending, arguments, ..self }
    }
}

/// A shell command that no rule of the benchmark minds.
fn arguments(bytes: usize) -> String {
    let mut command = String::from("cargo test --package gate");
    let mut line = 0;
    while command.len() + 80 < bytes {
        line += 1;
        let _ = write!(command, " && grep --count 'case {line:04}' report/{line:04}.txt");
    }
    format!(r#"{{"command":"{command}","description":"Run the tests, then count the cases"}}"#)
}
