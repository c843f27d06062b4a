use super::*;

/// A frame as text: event, data, and its irregularities.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    bytes: String,
    event: Option<String>,
    data: Option<String>,
    terminated: bool,
    clean: bool,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn see(frame: Frame<'_>) -> Seen {
    if let Some(span) = frame.data_span() {
        assert_eq!(span.get(frame.bytes()), frame.data());
    }
    let owned = frame.to_owned();
    assert_eq!(owned.bytes(), frame.bytes());
    assert_eq!(owned.event(), frame.event());
    assert_eq!(owned.data(), frame.data());
    assert_eq!(owned.data_span(), frame.data_span());
    assert_eq!(owned.line_end(), frame.line_end());
    assert_eq!((owned.clean(), owned.terminated()), (frame.clean(), frame.terminated()));
    Seen {
        bytes: text(frame.bytes()),
        event: frame.event().map(text),
        data: frame.data().map(text),
        terminated: frame.terminated(),
        clean: frame.clean(),
    }
}

fn split(pieces: &[&[u8]]) -> Vec<Seen> {
    let mut splitter = Splitter::new(Framing::Sse, 1 << 20);
    let mut seen = Vec::new();
    for piece in pieces {
        splitter.push(piece);
        while let Some(frame) = splitter.next_frame().unwrap() {
            seen.push(see(frame));
        }
    }
    while let Some(frame) = splitter.finish() {
        seen.push(see(frame));
    }
    assert_eq!(splitter.buffered(), 0);
    seen
}

/// Events of a stream as (event, data), after checking that no split changes them.
fn events(stream: &str) -> Vec<(Option<String>, Option<String>)> {
    let stream = stream.as_bytes();
    let whole = split(&[stream]);
    for cut in 0..=stream.len() {
        let (left, right) = stream.split_at(cut);
        assert_eq!(split(&[left, right]), whole, "cut at {cut}: {:?}", text(stream));
    }
    assert_eq!(split(&stream.chunks(1).collect::<Vec<_>>()), whole);
    let joined: String = whole.iter().map(|seen| seen.bytes.as_str()).collect();
    assert_eq!(joined.as_bytes(), stream.strip_prefix(BOM).unwrap_or(stream));
    whole.into_iter().map(|seen| (seen.event, seen.data)).collect()
}

fn only(stream: &str) -> Seen {
    let mut seen = split(&[stream.as_bytes()]);
    assert_eq!(seen.len(), 1, "{stream:?}");
    seen.remove(0)
}

#[test]
fn grammar() {
    type Event<'a> = (Option<&'a str>, Option<&'a str>);
    let table: &[(&str, &[Event<'_>])] = &[
        ("", &[]),
        ("data: a\n\n", &[(None, Some("a"))]),
        ("data: a\r\n\r\n", &[(None, Some("a"))]),
        ("data: a\r\r", &[(None, Some("a"))]),
        ("data: a\r\n\n", &[(None, Some("a"))]),
        ("data: a\n\r\n", &[(None, Some("a"))]),
        ("data: a\n\rdata: b\n\n", &[(None, Some("a")), (None, Some("b"))]),
        ("data: a\r\rdata: b\r\r", &[(None, Some("a")), (None, Some("b"))]),
        ("data: a\r\r\ndata: b\n\n", &[(None, Some("a")), (None, Some("b"))]),
        ("event: x\ndata:a\n\n", &[(Some("x"), Some("a"))]),
        ("event: x\nevent: y\ndata:  a\n\n", &[(Some("y"), Some(" a"))]),
        ("data: a\nevent\n\n", &[(Some(""), Some("a"))]),
        ("data: a\ndata: b\n\n", &[(None, Some("a\nb"))]),
        ("data: a\n: c\ndata\ndata:\r\ndata: b\n\n", &[(None, Some("a\n\n\nb"))]),
        ("data: a\ndata: b\n\ndata: c\ndata: d", &[(None, Some("a\nb")), (None, Some("c\nd"))]),
        ("data\n\n", &[(None, Some(""))]),
        (": ping\n\n", &[(None, None)]),
        ("\n\r\n\r", &[(None, None), (None, None), (None, None)]),
        ("id: 1\nretry: 5\n\n", &[(None, None)]),
        ("data: a", &[(None, Some("a"))]),
        ("data: a\n", &[(None, Some("a"))]),
        ("data: a\r", &[(None, Some("a"))]),
        ("data: a\n\nevent: x", &[(None, Some("a")), (Some("x"), None)]),
        ("\u{feff}data: a\n\n", &[(None, Some("a"))]),
        ("\u{feff}", &[]),
        ("data: a\n\n\u{feff}data: b\n\n", &[(None, Some("a")), (None, Some("b"))]),
        ("Data: a\n\n", &[(None, None)]),
        ("{\"a\":1}\n\n", &[(None, None)]),
    ];
    for (stream, expected) in table {
        let seen = events(stream);
        let seen: Vec<_> = seen.iter().map(|(e, d)| (e.as_deref(), d.as_deref())).collect();
        assert_eq!(&seen, expected, "{stream:?}");
    }
}

#[test]
fn mark_at_the_start_is_no_part_of_a_frame() {
    let mut splitter = Splitter::new(Framing::Sse, 100);
    splitter.push(b"\xef\xbb");
    assert!(splitter.next_frame().unwrap().is_none());
    splitter.push(b"\xbf\n");
    assert_eq!(splitter.next_frame().unwrap().unwrap().bytes(), b"\n");
    assert!(splitter.had_bom());

    let mut splitter = Splitter::new(Framing::Sse, 100);
    splitter.push(b"\xef\xbb");
    assert_eq!(splitter.finish().unwrap().bytes(), b"\xef\xbb");
    assert!(!splitter.had_bom());
}

#[test]
fn clean() {
    for stream in ["data: a\n\n", ": x\nid: 1\nretry: 2\nevent: e\ndata\n\n", "\u{feff}data: a\n\n"]
    {
        assert!(only(stream).clean, "{stream:?}");
    }
    for stream in [
        "data: a\n\u{feff}data: b\n\n",
        "\u{feff}\u{feff}data: a\n\n",
        "data: a\n\u{feff}\n\n",
        "data: {\n\"a\":1}\n\n",
        "DATA: a\n\n",
        ": a\u{b}data: b\n\n",
        "nonsense",
    ] {
        assert!(!only(stream).clean, "{stream:?}");
    }
}

#[test]
fn unterminated() {
    assert!(only("data: a\n\n").terminated);
    assert!(only("data: a\r\r").terminated);
    assert!(!only("data: a\n").terminated);
    assert!(!only("data: a\r").terminated);
    assert!(!only("data: a").terminated);
}

#[test]
fn rewrite() {
    let table: &[(&str, Option<&str>, &str, &str)] = &[
        ("data: a\n\n", None, "b", "data: b\n\n"),
        ("data:a", None, "b", "data: b\n\n"),
        ("event:x\r\ndata:a\r\n\r\n", None, "b", "event: x\r\ndata: b\r\n\r\n"),
        ("event: x\rdata: a\r\r", Some("y"), "b", "event: y\rdata: b\r\r"),
        ("id: 1\ndata: a\n\n", Some("y"), "b", "id: 1\nevent: y\ndata: b\n\n"),
        ("data: a\nevent: x\n: c\n\n", None, "b", "data: b\nevent: x\n: c\n\n"),
        ("event: x\nevent: y\ndata: a\n\n", None, "b", "event: y\ndata: b\n\n"),
        (
            ": c\ndata: {\nid:1\ndata: }\nretry: 3\n\n",
            None,
            "{}",
            ": c\ndata: {}\nid:1\nretry: 3\n\n",
        ),
        ("data: a\nnonsense\n{\"b\":1}\n\n", None, "b", "data: b\n\n"),
        ("data: a\n\u{feff}data: a\n\u{feff}: c\n\n", None, "b", "data: b\n: c\n\n"),
        ("\u{feff}\u{feff}event: x\ndata: a\n\n", None, "b", "event: x\ndata: b\n\n"),
        (": a\u{2028}data: x\nid: \u{c}\ndata: a\n\n", None, "b", "data: b\n\n"),
        ("event: x\u{b}data: evil\ndata: a\n\n", None, "b", "data: b\n\n"),
        (": c\n\n", None, "b", ": c\ndata: b\n\n"),
        ("event: x\nid: 1\n\n", None, "b", "event: x\nid: 1\ndata: b\n\n"),
        ("data: a\n\n", None, "b\nc\r\nd\re", "data: b\ndata: c\ndata: d\ndata: e\n\n"),
        ("data: a\n\n", Some("x\ndata: evil"), "b", "data: b\n\n"),
        ("data: a\n\n", None, "", "data: \n\n"),
        ("data: a\r\nid: 1\n\n", None, "b", "data: b\r\nid: 1\r\n\r\n"),
    ];
    for (stream, event, data, expected) in table {
        let mut splitter = Splitter::new(Framing::Sse, 1000);
        splitter.push(stream.as_bytes());
        let frame = splitter.finish().unwrap();
        let mut out = b"kept".to_vec();
        frame.to_owned().rewrite(event.map(str::as_bytes), data.as_bytes(), &mut out);
        assert_eq!(text(&out), format!("kept{expected}"), "{stream:?}");
    }
}

#[test]
fn frame_limit() {
    // Ten bytes, blank line included.
    let stream = b"data: ab\n\n";
    for pieces in [vec![&stream[..]], stream.chunks(1).collect(), stream.chunks(3).collect()] {
        let mut fits = Splitter::new(Framing::Sse, 10);
        let mut short = Splitter::new(Framing::Sse, 9);
        for piece in pieces {
            fits.push(piece);
            short.push(piece);
            let _ = short.next_frame();
        }
        assert_eq!(fits.next_frame().unwrap().unwrap().bytes(), stream);
        for _ in 0..2 {
            assert_eq!(short.next_frame().unwrap_err(), FrameError::TooLarge { limit: 9 });
            short.push(b"data: c\n\n");
        }
        assert!(short.finish().is_none());
        assert_eq!(short.buffered(), 0);
    }
}

#[test]
fn frames_before_a_large_one_still_come() {
    let mut splitter = Splitter::new(Framing::Sse, 12);
    splitter.push(b"data: ab\n\ndata: ab\n\ndata: much too long");
    assert!(splitter.next_frame().unwrap().is_some());
    assert!(splitter.next_frame().unwrap().is_some());
    assert!(splitter.next_frame().is_err());
}

#[test]
fn large_frame_byte_by_byte_is_linear() {
    // A search from the frame's start on every push would look at half a million megabytes.
    let mut splitter = Splitter::new(Framing::Sse, 4 << 20);
    splitter.push(b"data: ");
    for _ in 0..1 << 20 {
        splitter.push(b"x");
        assert!(splitter.next_frame().unwrap().is_none());
    }
    splitter.push(b"\n\n");
    assert_eq!(splitter.next_frame().unwrap().unwrap().data().unwrap().len(), 1 << 20);
}

#[test]
fn memory_is_given_back() {
    let mut splitter = Splitter::new(Framing::Sse, 4 << 20);
    for line in [vec![b'x'; 1 << 20], b"\ndata: ".to_vec(), vec![b'y'; 1 << 20]] {
        splitter.push(b"data: ");
        splitter.push(&line);
    }
    splitter.push(b"\n\ndata: z");
    assert!(splitter.next_frame().unwrap().is_some());
    assert!(splitter.next_frame().unwrap().is_none());
    assert!(splitter.buf.capacity() <= KEEP);
    assert!(splitter.joined.capacity() <= KEEP);
    assert_eq!(splitter.finish().unwrap().data(), Some(&b"z"[..]));
}

#[test]
fn spent_bytes_do_not_pile_up() {
    let mut splitter = Splitter::new(Framing::Sse, 1000);
    for _ in 0..10_000 {
        // Always half a frame ahead.
        splitter.push(b"a: 1\n\ndata: 23");
        while splitter.next_frame().unwrap().is_some() {}
        splitter.push(b"45\n\n");
        splitter.next_frame().unwrap().unwrap();
    }
    assert!(splitter.buf.capacity() < 200);
}
