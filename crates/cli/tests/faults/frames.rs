//! Long runs: what has left is forgotten.

use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use callgate_testkit::gateway::Gateway;
use callgate_testkit::http::Exchange;
use callgate_testkit::upstream::{Answer, AnswerStep, Upstream};

use crate::load::{HELD, Seen, numbered_server};
use crate::process::{MIB, memory};
use crate::support::{ALLOW, CHAT, MESSAGES, ask, gateway, turns};

/// Frames in one write of the upstream.
const BLOCK: usize = 100;

/// Text frames of an API, all a little different.
pub(crate) fn block(path: &str) -> Vec<u8> {
    let mut block = String::new();
    for number in 0..BLOCK {
        match path {
            MESSAGES => write!(block, "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\" word {number}\"}}}}\n\n"),
            _ => write!(block, "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"scripted\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\" word {number}\"}},\"finish_reason\":null}}]}}\n\n"),
        }
        .unwrap();
    }
    block.into_bytes()
}

/// A turn with this many frames of text in it before its call: the answer, and how long it is.
pub(crate) fn long_turn(path: &str, frames: usize) -> (Answer, usize) {
    let turn = turns("read_file", r#"{"path":"a file"}"#).into_iter().find(|turn| turn.0 == path);
    let (answer, body) = crate::support::emptied(turn.unwrap().1);
    let text = String::from_utf8(body).unwrap();
    // Behind the first piece of text.
    let cut = text.find("Here").unwrap();
    let cut = cut + text[cut..].find("\n\n").unwrap() + 2;
    let (block, blocks) = (block(path), frames / BLOCK);
    let length = text.len() + block.len() * blocks;
    let answer = answer.send(&text[..cut]).step(AnswerStep::Repeat(block, blocks, Duration::ZERO));
    (answer.send(&text[cut..]), length)
}

/// Reads a stream of this many bytes to its end, and forgets it; looks at the memory of the gateway
/// after a tenth, and then for the most there is.
fn read_long(gateway: &Gateway, path: &str, length: usize) -> (usize, usize) {
    let mut exchange = Exchange::open(gateway.address(), &ask(path)).unwrap();
    let (mut read, mut early, mut most, mut looked) = (0, 0, 0, 0);
    while exchange.more() {
        read += exchange.take().len();
        if early == 0 && read >= length / 10 {
            early = memory(gateway);
        }
        if read - looked >= length / 50 {
            looked = read;
            most = most.max(memory(gateway));
        }
    }
    assert!(exchange.reply().is_whole, "{path}: cut off after {read} bytes");
    assert_eq!(read, length, "{path}");
    (early, most.max(memory(gateway)))
}

#[test]
fn a_million_frames_in_one_stream_leave_no_trace() {
    for (path, policy) in [(MESSAGES, ALLOW), (CHAT, HELD)] {
        let (answer, length) = long_turn(path, 1_000_000);
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, policy, "");
        let (early, most) = read_long(&gateway, path, length);
        eprintln!("{path}: {} KiB after 100,000 frames, {} KiB at most", early >> 10, most >> 10);
        assert!(most < early + 8 * MIB, "{path}: from {early} to {most} bytes");
        assert_eq!(gateway.calls().len(), 1);
    }
}

#[test]
fn a_million_frames_in_many_streams_leave_no_trace() {
    const STREAMS: usize = 500;
    let (answer, length) = long_turn(MESSAGES, 2000);
    let upstream = Upstream::always(answer);
    let gateway = gateway(&upstream, ALLOW, "");
    let run = |streams: usize| {
        in_parallel(8, streams / 8, |_| {
            let mut exchange = Exchange::open(gateway.address(), &ask(MESSAGES)).unwrap();
            let mut read = 0;
            while exchange.more() {
                read += exchange.take().len();
            }
            assert_eq!((read, exchange.reply().is_whole), (length, true));
        });
        memory(&gateway)
    };
    let early = run(STREAMS / 10);
    let late = run(STREAMS - STREAMS / 10);
    eprintln!("{} KiB after 50 streams, {} KiB after 500", early >> 10, late >> 10);
    assert!(late < early + 8 * MIB, "from {early} to {late} bytes");
}

#[test]
fn thousands_of_calls_leave_no_trace_but_their_records() {
    let upstream = numbered_server();
    let gateway = gateway(&upstream, HELD, "audit: { durability: process }");
    let (address, seen) = (gateway.address(), Seen::default());
    let run = |calls: usize| {
        in_parallel(8, calls / 8, |_| assert!(seen.ask_once(address)));
        memory(&gateway)
    };
    let early = run(400);
    let late = run(3600);
    eprintln!("{} KiB after 400 calls, {} KiB after 4000", early >> 10, late >> 10);
    assert!(late < early + 8 * MIB, "from {early} to {late} bytes");
    assert_eq!(gateway.calls().len(), 4000);
}

fn in_parallel(threads: usize, times: usize, run: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for thread in 0..threads {
            let run = &run;
            scope.spawn(move || (0..times).for_each(|time| run(thread * times + time)));
        }
    });
}
