//! What a frame costs on its way through the gate.
//!
//! `frames` prints a table; `frames CASE ROUNDS` runs one case that often, for instruction counts.
//! `text-API` is a stream of text, `masked-API` the same with rules that mask secrets and personal
//! data, `live-API` that with one frame to a push; `many-masked` is one body with hundreds of
//! masked texts. A turn is as long as a long answer, and then another one begins;
//! `endless-messages` is one turn.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a benchmark that cannot go on must stop"
)]

mod streams;

use std::hint::black_box;
use std::time::Instant;

use callgate_dialect::Dialect;
use callgate_gate::{Gate, OnDeny};
use callgate_policy::{Direction, Policies};
use callgate_testkit::drive::{self, Run};
use callgate_wire::{Framing, Splitter};
use streams::{STREAMS, Stream};

/// Frames in one push: what a busy connection delivers at once.
const BATCH: usize = 20;

/// Batches of one turn: 160 frames, or fifteen thousand letters of Messages.
const TURN: usize = 8;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [case, rounds] = args.as_slice() {
        let rounds = rounds.parse().unwrap();
        return match Case::ALL.into_iter().find(|c| c.name() == case) {
            Some(case) => case.run(rounds),
            None => named(case, rounds),
        };
    }
    println!("{:<24} {:>10} {:>8}", "case", "ns/frame", "GB/s");
    for case in Case::ALL {
        let best = (0..12).map(|_| case.time(4_000)).fold(f64::MAX, f64::min);
        println!("{:<24} {best:>10.0} {:>8.2}", case.name(), case.frame().len() as f64 / best);
    }
    println!("\n{:<24} {:>10} {:>10} {:>8}", "text", "ns/frame", "masked", "ratio");
    for stream in &STREAMS {
        // In turns, so that a busy machine slows both alike.
        let (mut plain, mut masked) = (f64::MAX, f64::MAX);
        for _ in 0..12 {
            plain = plain.min(time(stream, None, 2_000));
            masked = masked.min(time(stream, Some(MASK), 2_000));
        }
        let ratio = masked / plain;
        println!("{:<24} {plain:>10.0} {masked:>10.0} {ratio:>8.2}", stream.name);
    }
}

/// What an operator would write to keep secrets and personal data out of answers.
const MASK: &str =
    "policy: mask\ntext:\n  - { id: data, detect: [secret, personal], verdict: mask }\n";

/// Runs `text-API`, `masked-API` or `live-API`.
fn named(case: &str, rounds: usize) {
    if case == "many-masked" {
        return many(rounds);
    }
    let (mask, at_once, api) = match case.split_once('-').expect("a case") {
        ("text", api) => (None, BATCH, api),
        ("masked", api) => (Some(MASK), BATCH, api),
        (_, api) => (Some(MASK), 1, api),
    };
    let stream = STREAMS.iter().find(|stream| stream.name == api).expect("a case");
    flow(stream, mask, at_once, rounds);
}

/// Texts of one body. Enough that the cost would show if each were compared with all others.
const TEXTS: usize = 300;

/// One body with many texts, each of them masked.
fn many(rounds: usize) {
    let policies = drive::policies(MASK);
    let part = r#"{"type":"text","text":"ann@acme.org"}"#;
    let parts = vec![part; TEXTS].join(",");
    let body = format!(
        r#"{{"id":"m","type":"message","role":"assistant","model":"m","content":[{parts}],"stop_reason":"end_turn","usage":{{"input_tokens":1,"output_tokens":2}}}}"#
    );
    for _ in 0..rounds {
        let mut settings = drive::settings(OnDeny::Continue);
        settings.text = policies.text_guard(Direction::Response, &settings.origin);
        let run = drive::run(Dialect::Anthropic, settings, &policies, [body.as_bytes()]);
        black_box(&run.out);
    }
}

fn time(stream: &Stream, mask: Option<&str>, rounds: usize) -> f64 {
    let start = Instant::now();
    flow(stream, mask, BATCH, rounds);
    start.elapsed().as_nanos() as f64 / (rounds * BATCH) as f64
}

/// A stream of text, this many frames to a push; a round is as many pushes as make a batch.
fn flow(stream: &Stream, mask: Option<&str>, at_once: usize, rounds: usize) {
    let policies = mask.map_or_else(drive::allow_all, drive::policies);
    let mut settings = drive::settings(OnDeny::Continue);
    settings.text = policies.text_guard(Direction::Response, &settings.origin);
    let mut gate = Gate::new(stream.dialect, settings.clone());
    let mut run = empty();
    let (open, batch) = (stream.open(), stream.frame().repeat(at_once));
    for push in 0..rounds * BATCH / at_once {
        if push % (TURN * BATCH / at_once) == 0 {
            gate = Gate::new(stream.dialect, settings.clone());
            gate.push(&open);
        }
        gate.push(&batch);
        run.out.clear();
        drive::steps(&mut gate, &policies, &mut run);
        black_box(&run.out);
    }
}

#[derive(Clone, Copy)]
enum Case {
    SplitMessages,
    TextMessages,
    EndlessMessages,
    TextChat,
    FullMessages,
    FullChat,
    HeldMessages,
    AllowedMessages,
}

impl Case {
    const ALL: [Self; 8] = [
        Self::SplitMessages,
        Self::TextMessages,
        Self::EndlessMessages,
        Self::TextChat,
        Self::FullMessages,
        Self::FullChat,
        Self::HeldMessages,
        Self::AllowedMessages,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::SplitMessages => "split-messages",
            Self::TextMessages => "text-messages",
            Self::EndlessMessages => "endless-messages",
            Self::TextChat => "text-chat",
            Self::FullMessages => "full-messages",
            Self::FullChat => "full-chat",
            Self::HeldMessages => "held-call-messages",
            Self::AllowedMessages => "allowed-call-messages",
        }
    }

    /// One frame, shaped and sized like the real ones.
    fn frame(self) -> String {
        match self {
            Self::TextChat | Self::FullChat => "data: {\"id\":\"chatcmpl-9xYbLwRcDLkGq2tQmJ3vH0pZ\",\"object\":\"chat.completion.chunk\",\"created\":1756221269,\"model\":\"gpt-4o-2024-08-06\",\"system_fingerprint\":\"fp_07871e2ad8\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"},\"finish_reason\":null}]}\n\n".into(),
            _ => "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" and then the answer goes on for a while with words that nobody reads at this hour, \\\"quoted\\\"\"}     }\n\n".into(),
        }
    }

    fn time(self, rounds: usize) -> f64 {
        let start = Instant::now();
        self.run(rounds);
        start.elapsed().as_nanos() as f64 / (rounds * BATCH) as f64
    }

    fn run(self, rounds: usize) {
        let frame = self.frame();
        let batch = match self {
            // No two frames in a row are alike, so that each is read in full.
            Self::FullMessages | Self::FullChat => {
                (frame.clone() + &frame.replace("data: {\"", "data: { \"")).repeat(BATCH / 2)
            }
            _ => frame.repeat(BATCH),
        };
        match self {
            Self::SplitMessages => {
                let mut splitter = Splitter::new(Framing::Sse, 1 << 20);
                for _ in 0..rounds {
                    splitter.push(batch.as_bytes());
                    while let Some(frame) = splitter.next_frame().unwrap() {
                        black_box(frame.data());
                    }
                }
            }
            Self::TextMessages | Self::FullMessages => {
                pump(Dialect::Anthropic, OPEN_TEXT, &batch, (rounds, TURN));
            }
            Self::EndlessMessages => {
                pump(Dialect::Anthropic, OPEN_TEXT, &batch, (rounds, usize::MAX));
            }
            Self::TextChat | Self::FullChat => {
                pump(Dialect::OpenAiChat, "", &batch, (rounds, TURN));
            }
            // What is not one document is refused.
            Self::HeldMessages => calls(&piece("some more of it").repeat(BATCH - 2), rounds),
            Self::AllowedMessages => {
                let more = piece("some more of it").repeat(BATCH - 4);
                let pieces = format!("{}{more}{}", piece(r#"{\"a\":\""#), piece(r#"\"}"#));
                calls(&pieces, rounds);
            }
        }
    }
}

const OPEN_TEXT: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
const OPEN_CALL: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"Bash\",\"input\":{}}}\n\n";

/// A frame with a piece of a call's arguments.
fn piece(raw: &str) -> String {
    format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"input_json_delta\",\"partial_json\":\"{raw}\"}}}}\n\n"
    )
}

/// A call that is held, judged and released or removed, once a round.
fn calls(pieces: &str, rounds: usize) {
    let call = format!("{OPEN_CALL}{pieces}");
    let stop = "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n";
    let policies = drive::allow_all_held();
    for _ in 0..rounds {
        let mut gate = gate(Dialect::Anthropic);
        let mut run = empty();
        gate.push(call.as_bytes());
        gate.push(stop.as_bytes());
        drive::steps(&mut gate, &policies, &mut run);
        black_box(&run.out);
    }
}

fn gate(dialect: Dialect) -> Gate {
    Gate::new(dialect, drive::settings(OnDeny::Continue))
}

fn empty() -> Run {
    Run {
        out: Vec::new(),
        judged: Vec::new(),
        notes: Vec::new(),
        ending: callgate_gate::Ending::Clean,
    }
}

/// Batches of text, a new turn after this many.
fn pump(dialect: Dialect, open: &str, batch: &str, (rounds, turn): (usize, usize)) {
    let policies: Policies = drive::allow_all();
    let mut gate = self::gate(dialect);
    let mut run = empty();
    for round in 0..rounds {
        if round % turn == 0 {
            gate = self::gate(dialect);
            gate.push(open.as_bytes());
        }
        gate.push(batch.as_bytes());
        run.out.clear();
        drive::steps(&mut gate, &policies, &mut run);
        black_box(&run.out);
    }
}
