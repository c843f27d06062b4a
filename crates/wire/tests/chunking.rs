//! How a stream is split must not change what is read from it, in any framing, for recorded and for
//! random streams.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a panic is a failed test"
)]

use std::fs;
use std::path::{Path, PathBuf};

use callgate_wire::{ByteRange, Frame, FrameError, Framing, OwnedFrame, Splitter, Style};
use proptest::prelude::*;

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    bytes: Vec<u8>,
    event: Option<Vec<u8>>,
    data: Option<Vec<u8>>,
    data_span: Option<ByteRange>,
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

/// Writes something that leaves.
type Leaving<'a> = &'a dyn Fn(&mut Vec<u8>);

/// The result of splitting a stream: its frames, and the error that ended it.
type Split = (Vec<Seen>, Option<FrameError>);

fn split<'p>(framing: Framing, pieces: impl IntoIterator<Item = &'p [u8]>) -> Split {
    let mut splitter = Splitter::new(framing, 1 << 24);
    let mut seen = Vec::new();
    for piece in pieces {
        splitter.push(piece);
        loop {
            match splitter.next_frame() {
                Ok(Some(frame)) => seen.push(see(frame)),
                Ok(None) => break,
                Err(error) => return (seen, Some(error)),
            }
        }
    }
    while let Some(frame) = splitter.finish() {
        seen.push(see(frame));
    }
    (seen, None)
}

/// Checks the laws that hold for any bytes.
fn check(framing: Framing, stream: &[u8], cuts: impl IntoIterator<Item = usize>) {
    let whole = split(framing, [stream]);
    let (seen, error) = &whole;
    let joined: Vec<u8> = seen.iter().flat_map(|seen| seen.bytes.iter().copied()).collect();
    let text = match framing {
        Framing::EventStream => stream,
        _ => stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream),
    };
    match error {
        Some(_) => assert!(text.starts_with(&joined)),
        None => assert_eq!(joined, text),
    }
    assert!(framing != Framing::Sse || error.is_none(), "events cannot be broken");
    let closed = |seen: &&Seen| seen.terminated || seen.data.is_none();
    assert!(seen.iter().rev().skip(1).all(|seen| closed(&seen)), "only the last may be open");
    for cut in cuts {
        let (left, right) = stream.split_at(cut);
        assert_eq!(split(framing, [left, right]), whole, "cut at {cut}");
    }
    for size in [1, 2, 3, 7] {
        assert_eq!(split(framing, stream.chunks(size)), whole, "pieces of {size}");
    }
    check_rewrites(framing, stream);
}

/// A rewritten frame must read as exactly one clean frame with the new data, and so must an added
/// frame.
fn check_rewrites(framing: Framing, stream: &[u8]) {
    let mut splitter = Splitter::new(framing, 1 << 24);
    splitter.push(stream);
    let mut frames: Vec<OwnedFrame> = Vec::new();
    while let Some(frame) = splitter.finish() {
        // There is nothing to rewrite in a bracket, nor in the rest of a message.
        if framing == Framing::Sse || frame.data().is_some() {
            frames.push(frame.to_owned());
        }
    }
    for frame in frames {
        let mut out = Vec::new();
        frame.rewrite(None, b"{}", &mut out);
        frame.as_frame().another(Some("own"), "{\"own\":1}", &mut out);
        let again = reread(framing, &mut out);
        assert_eq!(again.len(), 2, "{:?}", String::from_utf8_lossy(&out));
        assert!(again.iter().all(|seen| seen.clean && seen.terminated));
        assert_eq!(again[0].data.as_deref(), Some(&b"{}"[..]));
        assert_eq!(again[1].data.as_deref(), Some(&b"{\"own\":1}"[..]));
        assert_eq!(again[0].data_span.is_some(), again[1].data_span.is_some());
        if frame.clean() {
            assert_eq!(again[0].event.as_deref(), frame.event());
        }
    }
}

/// Reads the frames with data from the output of a gate.
fn reread(framing: Framing, out: &mut Vec<u8>) -> Vec<Seen> {
    let mut style = Style::default_of(framing);
    style.join(0, out);
    let (mut seen, error) = split(framing, [out.as_slice()]);
    assert_eq!(error, None, "{:?}", String::from_utf8_lossy(out));
    seen.retain(|seen| seen.data.is_some());
    seen
}

/// Splits where something can go wrong, near line ends and marks, and some elsewhere. All of them
/// if the stream is short.
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

fn streams(dir: &Path, found: &mut Vec<(PathBuf, Framing)>) {
    for entry in fs::read_dir(dir).expect("the corpus is readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            streams(&path, found);
        } else if let Some(framing) = path.extension().and_then(|ext| match ext.to_str() {
            Some("sse") => Some(Framing::Sse),
            Some("ndjson") => Some(Framing::Lines),
            Some("eventstream") => Some(Framing::EventStream),
            _ => None,
        }) {
            found.push((path, framing));
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
    for (path, framing) in found {
        let stream = fs::read(&path).expect("the corpus is readable");
        eprintln!("{}", path.display());
        check(framing, &stream, cuts(&stream));
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
        check(Framing::Sse, sample.as_bytes(), 0..=sample.len());
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

#[test]
fn inline_lines() {
    for sample in [
        "{\"a\":1}\n{\"b\":\"grüße\"}\r\n\n \r\n{\"c\":3}",
        "\u{feff}{\"a\":\"x\u{2028}y\"}\n{\"a\":\r1}\n{}{}\n",
    ] {
        check(Framing::Lines, sample.as_bytes(), 0..=sample.len());
    }
}

#[test]
fn inline_arrays() {
    for sample in [
        "[{\"a\":\"]},{\\\"\"},\r\n{\"b\":[{},[1]]}\n,\n{}\n]\n",
        " [ ] ",
        "[{\"a\":1},{\"b\":",
        "[{\"a\":1},",
        "[{},,{}]",
        "[{} {}]",
        "[{}]{}",
        "[[{}]]",
        "[{},]",
        "{}",
    ] {
        check(Framing::Array, sample.as_bytes(), 0..=sample.len());
    }
}

fn array_soup() -> impl Strategy<Value = Vec<u8>> {
    let scrap = prop::sample::select(vec![
        "[",
        "]",
        ",",
        ",{\"a\":1}",
        ",{\"a\":\"}\"}",
        "{",
        "}",
        "{}",
        "\"",
        "\\",
        " ",
        "\n",
        "x",
    ]);
    prop::collection::vec(scrap, 0..30)
        .prop_map(|scraps| format!("[{{}}{}", scraps.concat()).into())
}

/// Messages as a server writes them, some of them corrupted.
fn message_soup() -> impl Strategy<Value = Vec<u8>> {
    let style = Style::default_of(Framing::EventStream);
    let message = (0..4usize, any::<bool>(), 0..400usize).prop_map(move |(kind, whole, spoilt)| {
        let mut out = Vec::new();
        match kind {
            0 => style.event(Some("messageStart"), "{\"role\":\"assistant\"}", &mut out),
            1 => style.event(Some("chunk"), "{\"bytes\":\"e30=\",\"p\":\"abc\"}", &mut out),
            2 => style.event(Some("chunk"), "{\"bytes\":\"e3\\u0030=\"}", &mut out),
            _ => style.failure(Some("validationException"), "{\"message\":\"no\"}", &mut out),
        }
        if let (false, Some(byte)) = (whole, out.get_mut(spoilt)) {
            *byte ^= 1;
        }
        out
    });
    prop::collection::vec(message, 0..5).prop_map(|messages| messages.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn line_soup(stream in soup()) {
        check(Framing::Sse, &stream, 0..=stream.len());
        check(Framing::Lines, &stream, 0..=stream.len());
        check(Framing::EventStream, &stream, 0..=stream.len());
    }

    #[test]
    fn elements_in_soup(stream in array_soup()) {
        check(Framing::Array, &stream, 0..=stream.len());
    }

    #[test]
    fn messages(stream in message_soup()) {
        check(Framing::EventStream, &stream, (0..=stream.len()).step_by(7));
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
        for framing in [Framing::Sse, Framing::Lines, Framing::Array] {
            let whole = split(framing, [stream.as_slice()]);
            prop_assert_eq!(split(framing, pieces.iter().copied()), whole);
        }
    }
}

/// Frames are left out, overtake and are added: the array stays valid, however its pieces leave.
#[test]
fn an_array_stays_whole_whatever_leaves() {
    let mut splitter = Splitter::new(Framing::Array, 1 << 20);
    splitter.push(b"[{\"n\":1}\n,\n{\"n\":2},{\"n\":3}]\n");
    let mut frames = Vec::new();
    while let Some(frame) = splitter.finish() {
        frames.push(frame.to_owned());
    }
    assert!(splitter.is_whole());
    let [open, first, second, third, close, blank] = frames.as_slice() else {
        panic!("{} frames", frames.len());
    };
    let leave = |steps: &[Leaving<'_>]| {
        let mut style = Style::default_of(Framing::Array);
        let mut out = Vec::new();
        for step in steps {
            let start = out.len();
            step(&mut out);
            style.join(start, &mut out);
        }
        String::from_utf8(out).expect("text")
    };
    let kept = |frame: &OwnedFrame, out: &mut Vec<u8>| frame.as_frame().keep(out);
    let all: [Leaving<'_>; 6] = [
        &|out| kept(open, out),
        &|out| kept(first, out),
        &|out| kept(second, out),
        &|out| kept(third, out),
        &|out| kept(close, out),
        &|out| kept(blank, out),
    ];
    assert_eq!(leave(&all), "[{\"n\":1}\n,\n{\"n\":2},{\"n\":3}]\n", "as it came");
    assert_eq!(leave(&[all[0], all[3], all[1], all[4]]), "[{\"n\":3},{\"n\":1}]", "overtaken");
    assert_eq!(leave(&[all[0], all[4]]), "[]", "all left out");
    let hole = |out: &mut Vec<u8>| first.as_frame().leave_out(out);
    assert_eq!(leave(&[all[0], &hole, all[3], all[4]]), "[{},{\"n\":3}]", "an empty one");
    let own = |out: &mut Vec<u8>| {
        first.as_frame().another(None, "{\"own\":1}", out);
        kept(first, out);
    };
    assert_eq!(leave(&[all[0], &own, all[4]]), "[{\"own\":1},{\"n\":1}]", "one of our own");
    let fail = |out: &mut Vec<u8>| {
        Style::default_of(Framing::Array).failure(None, "{\"error\":1}", out);
    };
    assert_eq!(leave(&[&fail]), "[{\"error\":1}]", "nothing but a failure");
    assert_eq!(leave(&[all[0], all[1], &fail, all[2]]), "[{\"n\":1},{\"error\":1}]");
}

#[test]
fn lines_that_some_clients_cut_are_written_as_one() {
    let mut splitter = Splitter::new(Framing::Lines, 1 << 20);
    splitter.push("{\"a\":\"x\u{2028}y\u{85}\"\r}\r\n\n{}".as_bytes());
    let mut out = Vec::new();
    let mut clean = Vec::new();
    while let Some(frame) = splitter.finish() {
        clean.push(frame.clean());
        if let Some(data) = frame.data() {
            frame.rewrite(None, data, &mut out);
        }
    }
    assert_eq!(clean, [false, false, true]);
    assert_eq!(String::from_utf8_lossy(&out), "{\"a\":\"x\\u2028y\\u0085\" }\r\n{}\n");
}

#[test]
fn messages_are_checked_to_the_last_bit() {
    let mut message = Vec::new();
    let style = Style::default_of(Framing::EventStream);
    style.event(Some("messageStop"), "{\"stopReason\":\"end_turn\"}", &mut message);
    for bit in 0..message.len() * 8 {
        let mut spoilt = message.clone();
        spoilt[bit / 8] ^= 1 << (bit % 8);
        let (seen, error) = split(Framing::EventStream, [spoilt.as_slice()]);
        // A length may now promise more than comes: then the rest is not a frame with data.
        assert!(error.is_some() || seen.iter().all(|seen| seen.data.is_none()), "bit {bit}");
    }
    let (seen, _) = split(Framing::EventStream, [message.as_slice()]);
    assert_eq!(seen[0].event.as_deref(), Some(&b"messageStop"[..]));
}
