//! Framing and heads, byte by byte. Whole exchanges are tested with the other connections, in
//! `upstream/tests.rs`.

use http::{Method, Request};
use proptest::prelude::*;

use super::framing::BodyReader;
use super::head::{self, InvalidHead};
use super::{ExchangeError, H1Connection, H1Error, RequestBody, Stream};

/// What a reader makes of pieces: the body, the number of bytes that belong to it, and whether it ended.
fn read(
    mut reader: BodyReader,
    pieces: &[&[u8]],
) -> Result<(Vec<u8>, usize, BodyReader), &'static str> {
    let (mut body, mut consumed) = (Vec::new(), 0);
    for piece in pieces {
        let mut bytes = piece.to_vec();
        let mut taken = reader.read(&mut bytes)?;
        consumed += taken.read;
        body.extend_from_slice(&bytes[..taken.body]);
        if reader.is_ended() {
            break;
        }
        if taken.read < piece.len() {
            taken = reader.read(&mut [])?;
            assert_eq!(taken.read, 0);
        }
    }
    Ok((body, consumed, reader))
}

fn chunked(bytes: &[u8]) -> Result<Vec<u8>, &'static str> {
    let (body, _, reader) = read(BodyReader::chunked(), &[bytes])?;
    if reader.is_ended() { Ok(body) } else { Err("more is needed") }
}

#[test]
fn chunks_may_have_extensions_and_trailers() {
    let body = b"5;name=value\r\nhello\r\n06 \r\n world\r\n0;last\r\nx-end: 1\r\ny: 2\r\n\r\n";
    assert_eq!(chunked(body).unwrap(), b"hello world");
}

#[test]
fn chunks_that_readers_disagree_about_are_refused() {
    for (body, why) in [
        (&b"\r\n"[..], "the size of a chunk is not a number"),
        (b"+5\r\nhello\r\n0\r\n\r\n", "the size of a chunk is not a number"),
        (b"0x5\r\nhello\r\n0\r\n\r\n", "the size of a chunk is not a number"),
        (b"5\nhello\r\n0\r\n\r\n", "the size of a chunk is not a number"),
        (b"5;a\nhello\r\n0\r\n\r\n", "the size of a chunk does not end with CRLF"),
        (b"5\rhello\r\n0\r\n\r\n", "the size of a chunk does not end with CRLF"),
        (b"4\r\nhello\r\n0\r\n\r\n", "a chunk is longer than its size"),
        (b"5\r\nhello\rX0\r\n\r\n", "a chunk does not end with CRLF"),
        (b"0\r\n\n", "a trailer does not end with CRLF"),
        (b"0\r\na: b\n\r\n", "a trailer does not end with CRLF"),
        (b"0\r\n\rX", "the last chunk does not end with CRLF"),
        (b"1000000000000000\r\n", "the size of a chunk is too large"),
    ] {
        assert_eq!(chunked(body), Err(why), "{}", String::from_utf8_lossy(body));
    }
    let endless = [b"5;".to_vec(), vec![b'x'; 20 << 10]].concat();
    assert_eq!(chunked(&endless), Err("its chunk extensions and trailers are too long"));
}

#[test]
fn what_comes_before_an_invalid_byte_is_passed_on() {
    let mut reader = BodyReader::chunked();
    let mut bytes = b"5\r\nhello\r\n6\r\n world\r\nx".to_vec();
    let taken = reader.read(&mut bytes).unwrap();
    assert_eq!(&bytes[..taken.body], b"hello world");
    assert_eq!(reader.read(&mut []), Err("the size of a chunk is not a number"));
}

#[test]
fn a_body_by_length_leaves_what_follows() {
    let (body, consumed, reader) =
        read(BodyReader::of_length(5), &[b"he", b"llo, world", b"!"]).unwrap();
    assert_eq!((body.as_slice(), consumed), (&b"hello"[..], 5));
    assert!(reader.is_ended());
    assert_eq!(reader.remaining(), Some(0));
}

#[test]
fn a_body_without_length_ends_only_with_the_connection() {
    let (body, _, mut reader) = read(BodyReader::until_close(), &[b"all", b" of it"]).unwrap();
    assert_eq!((body.as_slice(), reader.is_ended()), (&b"all of it"[..], false));
    assert!(reader.close());
    assert!(!BodyReader::of_length(1).close());
    assert!(!BodyReader::chunked().close());
}

/// A body in chunks, as its payload and its bytes on the wire.
fn encoded() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let chunk = (proptest::collection::vec(any::<u8>(), 1..40), "(;[a-z]{0,5})?", 0..3_usize);
    (proptest::collection::vec(chunk, 0..6), "([a-z]{1,4}: [a-z]{0,4}\r\n){0,2}").prop_map(
        |(chunks, trailers)| {
            let (mut payload, mut wire) = (Vec::new(), Vec::new());
            for (data, extension, zeros) in chunks {
                let zeros = "0".repeat(zeros);
                wire.extend(format!("{zeros}{:x}{extension}\r\n", data.len()).bytes());
                wire.extend_from_slice(&data);
                wire.extend_from_slice(b"\r\n");
                payload.extend_from_slice(&data);
            }
            wire.extend(format!("0\r\n{trailers}\r\n").bytes());
            (payload, wire)
        },
    )
}

proptest! {
    #[test]
    fn every_cut_reads_the_same((payload, wire) in encoded()) {
        let with_more = [&wire[..], b"HTTP/1.1 200 OK"].concat();
        for cut in 0..=wire.len() {
            let (first, second) = with_more.split_at(cut);
            let (body, consumed, reader) = read(BodyReader::chunked(), &[first, second]).unwrap();
            prop_assert_eq!(&body, &payload, "cut at {}", cut);
            prop_assert_eq!((consumed, reader.is_ended()), (wire.len(), true));
        }
        let bytes: Vec<&[u8]> = wire.chunks(1).collect();
        prop_assert_eq!(read(BodyReader::chunked(), &bytes).unwrap().0, payload);
    }

    #[test]
    fn a_changed_byte_never_adds_bytes((_, mut wire) in encoded(), at: prop::sample::Index, byte: u8) {
        let at = at.index(wire.len());
        wire[at] = byte;
        if let Ok((body, consumed, _)) = read(BodyReader::chunked(), &[&wire]) {
            prop_assert!(body.len() <= consumed && consumed <= wire.len());
        }
    }

    #[test]
    fn heads_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), text in "HTTP/1.[01] [0-9]{3}[^\n]{0,9}\r\n([a-z-]{1,9}: ?[^\r]{0,9}\r\n){0,6}\r?\n?") {
        for bytes in [bytes.as_slice(), text.as_bytes()] {
            if let Ok(Some(head)) = head::read_response(bytes, &Method::GET) {
                prop_assert!(head.length <= bytes.len());
            }
        }
    }
}

#[test]
fn heads_that_readers_disagree_about_are_refused() {
    let read = |text: &str| head::read_response(text.as_bytes(), &Method::GET);
    let cases = [
        ("HTTP/1.1 200 OK\r\ncontent-length: +5\r\n\r\n", InvalidHead::Length),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\n\r\n", InvalidHead::Length),
        ("HTTP/1.1 200 OK\r\ncontent-length: \r\n\r\n", InvalidHead::Length),
        ("HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n", InvalidHead::Length),
        ("HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n", InvalidHead::Lengths),
        ("HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", InvalidHead::CodingInHttp10),
    ];
    for (text, why) in cases {
        assert_eq!(read(text).unwrap_err(), why, "{text}");
    }
    for text in ["HTTP/1.1 200 OK\r\na : b\r\n\r\n", "HTTP/1.1 200 OK\r\n a: b\r\n\r\n"] {
        assert!(matches!(read(text), Err(InvalidHead::Syntax(_))), "{text}");
    }
    let long = format!("HTTP/1.1 200 OK\r\na: {}", "x".repeat(70 << 10));
    assert_eq!(read(&long).unwrap_err(), InvalidHead::TooLong);
}

/// A connection on which every write fails.
async fn unwritable() -> H1Connection {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream = tokio::net::TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let stream = stream.into_std().unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    H1Connection::new(Stream::Plain(tokio::net::TcpStream::from_std(stream).unwrap()))
}

#[tokio::test]
async fn a_request_of_which_nothing_was_written_comes_back() {
    let body = RequestBody::Whole(bytes::Bytes::from_static(b"{}"));
    let request = Request::post("/v1/messages").header("x-a", "b").body(body).unwrap();
    let Err(ExchangeError::Unsent(request, error)) = unwritable().await.exchange(request).await
    else {
        panic!("the request was lost")
    };
    assert!(matches!(error, H1Error::Io(_)), "{error}");
    assert_eq!(
        (request.uri().path(), &request.headers()["x-a"]),
        ("/v1/messages", &"b".parse().unwrap())
    );
    assert!(matches!(request.into_body(), RequestBody::Whole(body) if body == "{}"));
}
