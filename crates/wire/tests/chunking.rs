//! How a stream is cut must not change what is read from it, for recorded streams and for line
//! soup.

#![allow(clippy::expect_used, clippy::indexing_slicing, reason = "a panic is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};

use callgate_wire::{Frame, OwnedFrame, Span, Splitter};
use proptest::prelude::*;

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    bytes: Vec<u8>,
    event: Option<Vec<u8>>,
    data: Option<Vec<u8>>,
    data_span: Option<Span>,
    terminated: bool,
    clean: bool,
    line_end: &'static [u8],
}

fn see(frame: Frame<'_>) -> Seen {
    Seen {
        bytes: frame.bytes().to_vec(),
        event: frame.event().map(<[u8]>::to_vec),
        data: frame.data().map(<[u8]>::to_vec),
        data_span: frame.data_span(),
        terminated: frame.terminated(),
        clean: frame.clean(),
        line_end: frame.line_end(),
    }
}

fn split<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<Seen> {
    let mut splitter = Splitter::new(1 << 24);
    let mut seen = Vec::new();
    for piece in pieces {
        splitter.push(piece);
        while let Some(frame) = splitter.next_frame().expect("no frame is that long") {
            seen.push(see(frame));
        }
    }
    while let Some(frame) = splitter.finish() {
        seen.push(see(frame));
    }
    seen
}

/// Checks the laws that hold for any bytes whatever.
fn check(stream: &[u8], cuts: impl IntoIterator<Item = usize>) {
    let whole = split([stream]);
    let joined: Vec<u8> = whole.iter().flat_map(|seen| seen.bytes.iter().copied()).collect();
    assert_eq!(joined, stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream));
    assert!(whole.iter().rev().skip(1).all(|seen| seen.terminated), "only the last may be open");
    for cut in cuts {
        let (left, right) = stream.split_at(cut);
        assert_eq!(split([left, right]), whole, "cut at {cut}");
    }
    for size in [1, 2, 3, 7] {
        assert_eq!(split(stream.chunks(size)), whole, "pieces of {size}");
    }
    check_rewrites(stream);
}

/// A rewritten frame must read as exactly one clean frame with the new data.
fn check_rewrites(stream: &[u8]) {
    let mut splitter = Splitter::new(1 << 24);
    splitter.push(stream);
    let mut frames: Vec<OwnedFrame> = Vec::new();
    while let Some(frame) = splitter.finish() {
        frames.push(frame.to_owned());
    }
    for frame in frames {
        let mut out = Vec::new();
        frame.rewrite(None, b"{}", &mut out);
        let again = split([out.as_slice()]);
        assert_eq!(again.len(), 1, "{:?}", String::from_utf8_lossy(&out));
        assert!(again[0].clean && again[0].terminated);
        assert_eq!(again[0].data.as_deref(), Some(&b"{}"[..]));
        assert!(again[0].data_span.is_some());
        if frame.clean() {
            assert_eq!(again[0].event.as_deref(), frame.event());
        }
    }
}

/// Cuts where something can go wrong, near line ends and marks, and some elsewhere. All of them if
/// the stream is short.
fn cuts(stream: &[u8]) -> Vec<usize> {
    if stream.len() <= 600 {
        return (0..=stream.len()).collect();
    }
    let odd = |at: usize| stream.get(at).is_some_and(|byte| b"\n\r\xef\xbb\xbf".contains(byte));
    let mut cuts: Vec<usize> = (1..stream.len()).filter(|&at| odd(at) || odd(at - 1)).collect();
    let thin_out = cuts.len() / 200 + 1;
    cuts = cuts.into_iter().step_by(thin_out).collect();
    cuts.extend((0..=stream.len()).step_by(stream.len() / 50 + 1));
    cuts
}

fn streams(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("the corpus is readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            streams(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "sse") {
            found.push(path);
        }
    }
}

#[test]
fn recorded_streams() {
    let corpus = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus"));
    let mut found = Vec::new();
    if corpus.is_dir() {
        streams(corpus, &mut found);
    }
    for path in found {
        let stream = fs::read(&path).expect("the corpus is readable");
        eprintln!("{}", path.display());
        check(&stream, cuts(&stream));
    }
}

#[test]
fn inline_streams() {
    let samples = [
        concat!(
            "event: message_start\r\ndata: {\"type\":\"message_start\"}\r\n\r\n",
            "event: ping\r\ndata: {\"type\": \"ping\"}\r\n\r\n",
            ": keep-alive\r\n\r\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0}\n\n",
            "event: message_stop\rdata: {\"type\":\"message_stop\"}\r\r",
        ),
        concat!(
            "\u{feff}data: {\"choices\":[{\"delta\":{\"content\":\"grüße\"}}]}\n\n",
            "\u{feff}data: {\"choices\":[]}\n\n",
            "data: {\"a\":\ndata: 1}\n\n",
            "data: [DONE]\n\n",
            "data: {\"late\":true}",
        ),
        "\r\n\r\n\n\n\r\r: \r\r\n\ndata\r\n\revent\r",
        "\u{feff}\u{feff}\r\n\u{feff}\n\n",
    ];
    for sample in samples {
        check(sample.as_bytes(), 0..=sample.len());
    }
}

fn soup() -> impl Strategy<Value = Vec<u8>> {
    let scrap = prop_oneof![
        6 => prop::sample::select(vec![
            "\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n", "data", "data:", "data: ", "event: ",
            "event", ":", " ", "id: 1", "retry: 9", "\u{feff}", "\u{2028}", "\u{b}", "Data: x",
            "{\"a\":1}", "x",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(scrap, 0..40).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn line_soup(stream in soup()) {
        check(&stream, 0..=stream.len());
    }

    #[test]
    fn any_pieces(stream in soup(), sizes in prop::collection::vec(0usize..9, 1..20)) {
        let mut rest = stream.as_slice();
        let mut pieces = Vec::new();
        for size in sizes.iter().cycle().take(stream.len()) {
            let (piece, behind) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = behind;
        }
        pieces.push(rest);
        prop_assert_eq!(split(pieces), split([stream.as_slice()]));
    }
}
