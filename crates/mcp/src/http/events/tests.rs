//! Whatever a server sends, no client finds a message in the forwarded bytes that was not judged.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::message::RpcMessage;

#[test]
fn characters_that_end_a_line_for_some_are_escaped() {
    let text = "{\"a\":\"x\u{2028}\u{2028}data: y\u{85}é—\"}";
    assert!(has_separator(text.as_bytes()));
    assert_eq!(without_separators(text.as_bytes()), "{\"a\":\"x\\u2028\\u2028data: y\\u0085é—\"}");
    assert!(!has_separator("{\"a\":\"é—\"}".as_bytes()));
}

/// The forwarded bytes of a stream that arrives in pieces, and every message that was allowed.
fn forwarded(stream: &[u8], piece: usize) -> (Vec<u8>, Vec<Value>) {
    let mut splitter = Splitter::new(Framing::Sse, 4096);
    let (mut out, mut passed) = (Vec::new(), Vec::new());
    for piece in stream.chunks(piece.max(1)) {
        splitter.push(piece);
        while let Ok(Some(frame)) = splitter.next_frame() {
            pass(&frame, |data| judge(data, &mut passed), &mut out);
        }
    }
    (out, passed)
}

/// Withholds evil messages, edits those that ask for it, and allows the rest.
fn judge(data: &[u8], passed: &mut Vec<Value>) -> Vec<Vec<u8>> {
    let Ok(message) = RpcMessage::of_body(data) else { return Vec::new() };
    let texts = match message.text {
        text if text.contains("evil") => Vec::new(),
        text if text.contains("edit") => vec![text.replace("edit", "done"), SECOND.to_owned()],
        text => vec![text.to_owned()],
    };
    passed.extend(texts.iter().filter_map(|text| serde_json::from_str(text).ok()));
    texts.into_iter().map(String::into_bytes).collect()
}

const SECOND: &str = r#"{"jsonrpc":"2.0","method":"second"}"#;

/// How clients split a stream into lines.
#[derive(Debug, Clone, Copy)]
enum Lines {
    /// As in the standard.
    Standard,
    /// Like Python's `splitlines`.
    Python,
    /// At line feeds only.
    LineFeeds,
}

impl Lines {
    fn of(self, text: &str) -> Vec<String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let text = match self {
            Self::Standard | Self::Python => text.replace("\r\n", "\n").replace('\r', "\n"),
            Self::LineFeeds => text.replace("\r\n", "\n"),
        };
        let ends = |c: char| c == '\n' || (matches!(self, Self::Python) && SEPARATORS.contains(&c));
        text.split(ends).map(str::to_owned).collect()
    }
}

/// The data of the events that a client finds, including an unfinished last one.
fn client(out: &[u8], lines: Lines) -> Vec<String> {
    let text = String::from_utf8_lossy(out);
    let (mut events, mut data) = (Vec::new(), Vec::<String>::new());
    for line in lines.of(&text).into_iter().chain([String::new()]) {
        if line.is_empty() {
            events.push(std::mem::take(&mut data).join("\n"));
        } else if let Some(value) = line.strip_prefix("data:") {
            data.push(value.strip_prefix(' ').unwrap_or(value).to_owned());
        }
    }
    events
}

/// Fragments of streams that clients tend to read differently.
fn fragment() -> impl Strategy<Value = Vec<u8>> {
    let texts = prop::sample::select(vec![
        "\n",
        "\n",
        "\n\n",
        "\r",
        "\r\r",
        "\r\n",
        "\r\n\r\n",
        "\u{2028}",
        "\u{2028}\u{2028}",
        "\u{85}",
        "\u{b}",
        "\u{1c}",
        "\u{feff}",
        "\0",
        " ",
        "data:",
        "data: ",
        "data",
        "Data: ",
        "dat",
        "a: ",
        "event: message",
        "event: ",
        "id: ",
        "id: 7",
        "retry: 1",
        ":",
        ": data: ",
        r#"{"jsonrpc":"2.0","method":"fine"}"#,
        r#"{"jsonrpc":"2.0","method":"evil"}"#,
        r#"{"jsonrpc":"2.0","method":"edit"}"#,
        r#"[{"jsonrpc":"2.0","method":"evil"}]"#,
        "{\"jsonrpc\":\"2.0\",\"method\":\"x\u{2028}\u{2028}data: [1]\u{2028}\u{2028}\"}",
        r#"{"jsonrpc":"2.0","#,
        r#""method":"fine"}"#,
        r#""method":"evil"}"#,
        "evil",
    ]);
    prop_oneof![
        20 => texts.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn no_client_reads_an_unjudged_message(
        fragments in prop::collection::vec(fragment(), 0..40),
        piece in 1..20usize,
    ) {
        let stream = fragments.concat();
        let (out, passed) = forwarded(&stream, stream.len());
        prop_assert_eq!(&forwarded(&stream, piece).0, &out, "cuts change what is forwarded");
        for lines in [Lines::Standard, Lines::Python, Lines::LineFeeds] {
            for data in client(&out, lines) {
                let Ok(read) = serde_json::from_str::<Value>(data.trim_start_matches('\u{feff}')) else { continue };
                let is_message = read.is_object() || read.is_array();
                prop_assert!(
                    !is_message || passed.contains(&read),
                    "{lines:?} reads {read}\nfrom {:?}\nof {:?}",
                    String::from_utf8_lossy(&out),
                    String::from_utf8_lossy(&stream),
                );
            }
        }
    }
}

/// An allowed message arrives at every client.
#[test]
fn allowed_messages_are_read_by_every_client() {
    let stream = b"id: 1\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"method\":\"fine\"}\r\n\r\n: x\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"edit\"}\n\n";
    let (out, passed) = forwarded(stream, 3);
    assert_eq!(passed.len(), 3);
    for lines in [Lines::Standard, Lines::Python, Lines::LineFeeds] {
        let read =
            client(&out, lines).into_iter().filter_map(|data| serde_json::from_str(&data).ok());
        assert_eq!(read.collect::<Vec<Value>>(), passed, "{lines:?}");
    }
}
