//! What leaves of a response: what is allowed to the byte, of what is denied nothing.

use std::sync::atomic::{AtomicBool, Ordering};

use callgate_gate::OnDeny;
use callgate_policy::Policies;
use callgate_testkit::corpus::{self, Allow, Case};
use callgate_testkit::upstream::{
    Answer, AnswerFeed, AnswerStep, BodyCoding, BodyEnd, Upstream, gzip_pieces,
};
use callgate_testkit::{clients, drive};

use crate::support::{
    ALLOW, CHAT, MESSAGES, SAID, ask, ask_for, case, corpus_server, emptied, gateway, is_refusal,
    path_of, served, turns,
};

/// Allows everything, once the arguments are there.
const HELD: &str = "policy: held\nrules:\n  - { id: never, when: { arg: callgate_absent, equals: 'no such value' }, verdict: deny, reason: never }\n";

/// Denies everything, once the arguments are there.
const DENY_ARGUMENTS: &str = "policy: arguments\nrules:\n  - { id: r, when: { arg: callgate_absent, exists: false }, verdict: deny, reason: not with these }\n";

/// Denies everything.
const DENY_ALL: &str =
    "policy: all\nrules:\n  - { id: r, tool: \"*\", verdict: deny, reason: not here }\n";

/// Clients may read other letters than callgate, so these are refused before they are read.
fn is_foreign(case: &Case) -> bool {
    let kind = case.about.content_type.as_deref().unwrap_or_default().to_ascii_lowercase();
    kind.contains("charset=") && !kind.contains("charset=utf-8")
}

/// Sends every case through a gateway, as `model` names it, and gives what is wrong with what came.
fn through(
    policy: &str,
    settings: &str,
    model: impl Fn(usize, &Case) -> Option<String>,
    wrong: impl Fn(&Case, &[u8]) -> Option<String>,
) {
    let upstream = corpus_server();
    let gateway = gateway(&upstream, policy, settings);
    let mut failures = Vec::new();
    let mut count = 0;
    for (number, case) in corpus::all().iter().enumerate() {
        let Some(model) = model(number, case) else { continue };
        let reply = ask_for(case, &model).send(gateway.address());
        count += 1;
        if is_foreign(case) {
            is_refusal(&reply, path_of(case), 502);
        } else if let Some(what) = wrong(case, &reply.body) {
            failures.push(format!("{}: {what}: {} {}", case.name, reply.status, reply.text()));
        }
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 0);
}

/// Arguments that cannot be read could change callgate itself; these tests are about bytes.
const UNPROTECTED: &str = "protect: off";

fn plain(number: usize, _: &Case) -> Option<String> {
    Some(format!("case-{number}"))
}

/// What a gate that never waits makes of a case, and whether it allows every call of it.
fn at_once(policies: &Policies, case: &Case) -> (Vec<u8>, bool) {
    let settings = drive::settings(OnDeny::Explain);
    let run = drive::run(case.dialect, settings, policies, [&*case.body]);
    let allowed = run.judged.iter().all(|(_, _, allowed)| *allowed);
    (run.out, allowed)
}

/// Frames with text and a call, which are split while the call's record is written.
const SPLIT: [&str; 2] =
    ["openai-chat/evasion-content_and_tool", "openai-chat/evasion-content_parts_and_tool"];

/// What is wrong with what left, when all is allowed.
///
/// A call waits for its record, and what may overtake it does not: frames that are no part of it
/// may come before it. Else what leaves is what a gate makes of it that never waits: the same
/// bytes.
fn not_as_allowed(policies: &Policies, case: &Case, body: &[u8]) -> Option<String> {
    let (expected, allowed) = at_once(policies, case);
    if body == expected || (allowed && frames(body) == frames(&expected)) {
        return None;
    }
    if case.about.allow == Allow::Refused && ends_safely(case, body) {
        // How it is refused depends on whether it was allowed before the odd thing came.
        return None;
    }
    // A notice names the record, which a gate alone does not have.
    let readings = |body| clients::readings(case.dialect, body);
    let is_split = SPLIT.contains(&case.name.as_str()) || !allowed;
    (!is_split || readings(body) != readings(&expected)).then(|| "is not what was allowed".into())
}

/// Whether no client has a call in what left, or it says that it failed.
fn ends_safely(case: &Case, body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body);
    let failed = [r#""error":{"#, ":exception-type"].iter().any(|sign| text.contains(sign));
    failed || clients::readings(case.dialect, body).values().all(Vec::is_empty)
}

/// The frames of a stream, in no order.
fn frames(body: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(body).replace("\r\n", "\n");
    let mut frames: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
    frames.sort();
    frames
}

#[test]
fn the_allowed_corpus_leaves_byte_for_byte() {
    let policies = drive::allow_all();
    through(ALLOW, UNPROTECTED, plain, |case, body| {
        let changed = frames(body) != frames(&case.body) && !SPLIT.contains(&case.name.as_str());
        if case.about.allow == Allow::Identical && changed {
            return Some("is not the same".into());
        }
        not_as_allowed(&policies, case, body)
    });
}

#[test]
fn the_allowed_corpus_leaves_byte_for_byte_after_its_arguments_were_judged() {
    let policies = drive::allow_all_held();
    through(HELD, "", plain, |case, body| not_as_allowed(&policies, case, body));
}

/// A call in what left, by any client's reading.
fn a_call(case: &Case, body: &[u8]) -> Option<String> {
    let readings = clients::readings(case.dialect, body);
    let seen = readings.into_iter().find(|(_, calls)| !calls.is_empty())?;
    Some(format!("{} sees {:?}", seen.0, seen.1))
}

#[test]
fn no_client_can_read_a_call_that_was_denied_by_name() {
    through(DENY_ALL, "", plain, a_call);
}

#[test]
fn no_client_can_read_a_call_that_was_denied_silently() {
    through(DENY_ALL, "on_deny: silent", plain, a_call);
}

#[test]
fn no_client_can_read_a_call_that_was_denied_by_arguments() {
    through(DENY_ARGUMENTS, "", plain, a_call);
}

/// The longest body that is sent byte by byte: each is a write and a read of its own.
const DRIBBLED: usize = 6 << 10;

fn dribbled(number: usize, case: &Case) -> Option<String> {
    (case.body.len() <= DRIBBLED).then(|| format!("case-{number}-dribble"))
}

#[test]
fn a_dribbled_body_leaves_the_same() {
    let policies = drive::allow_all();
    through(ALLOW, UNPROTECTED, dribbled, |case, body| not_as_allowed(&policies, case, body));
}

#[test]
fn no_call_can_be_read_in_a_dribbled_body_that_was_denied() {
    through(DENY_ARGUMENTS, "", dribbled, a_call);
}

#[test]
fn every_coding_is_undone() {
    let codings = ["gzip", "deflate", "br", "zstd", "gzip-br", "zstd-gzip"];
    let policies = drive::allow_all();
    let model =
        |number, _: &Case| Some(format!("case-{number}-{}", codings[number % codings.len()]));
    through(ALLOW, UNPROTECTED, model, |case, body| not_as_allowed(&policies, case, body));
}

#[test]
fn no_call_can_be_read_in_a_coded_body_that_was_denied() {
    let codings = ["gzip", "deflate", "br", "zstd", "gzip-br", "zstd-gzip"];
    let model =
        |number, _: &Case| Some(format!("case-{number}-{}", codings[number % codings.len()]));
    through(DENY_ARGUMENTS, "", model, a_call);
}

#[test]
fn odd_forms_of_codings_are_undone_too() {
    let case = case("anthropic/text-then-tool");
    let half = case.body.len() / 2;
    let mut members = BodyCoding::Gzip.encode(&case.body[..half]);
    members.extend(BodyCoding::Gzip.encode(&case.body[half..]));
    let coded = |name: &str, body: Vec<u8>| {
        served(&case).map_body(|_| body).header("content-encoding", name)
    };
    for answer in [
        coded("gzip", members),
        coded("x-gzip", BodyCoding::Gzip.encode(&case.body)),
        coded("deflate", BodyCoding::RawDeflate.encode(&case.body)),
        coded("identity", case.body.clone()),
        coded("GZIP", BodyCoding::Gzip.encode(&case.body)),
    ] {
        let upstream = Upstream::always(answer);
        let gateway = gateway(&upstream, ALLOW, "");
        let reply = ask(MESSAGES).send(gateway.address());
        assert_eq!((reply.status, reply.header("content-encoding")), (200, None));
        assert_eq!(reply.body, case.body);
    }
}

#[test]
fn every_framing_leaves_the_same_body() {
    let case = case("openai-chat/openai-parallel-tools-gpt4o");
    for framing in [BodyEnd::Length, BodyEnd::Chunked, BodyEnd::Close] {
        let upstream = Upstream::always(served(&case).framed(framing));
        let gateway = gateway(&upstream, ALLOW, "");
        let reply = ask(CHAT).send(gateway.address());
        assert_eq!((reply.status, reply.is_whole, &reply.body), (200, true, &case.body));
    }
}

/// The places after each event of a stream.
fn events(body: &[u8]) -> Vec<&[u8]> {
    let mut events = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"\n\n") {
        let (event, behind) = rest.split_at(at + 2);
        events.push(event);
        rest = behind;
    }
    events
}

#[test]
fn text_is_not_delayed() {
    for (path, answer) in turns("read_file", "{}") {
        let (answer, whole) = emptied(answer);
        let all = events(&whole);
        let text = all.iter().rposition(|event| contains(event, SAID)).unwrap();
        let (now, later) = (all[..=text].concat(), all[text + 1..].concat());
        for answer in [
            answer.clone().send(now.clone()).step(AnswerStep::Stall).send(later.clone()),
            gzipped(answer, &[&now, &later]),
        ] {
            let upstream = Upstream::always(answer);
            let gateway = gateway(&upstream, ALLOW, "");
            let mut exchange =
                callgate_testkit::http::Exchange::open(gateway.address(), &ask(path)).unwrap();
            assert!(exchange.read_until(SAID), "{path}: the text did not come");
            upstream.release();
            assert_eq!(exchange.finish().unwrap().body, whole, "{path}");
        }
    }
}

/// A live stream in gzip, which stalls between its two pieces.
fn gzipped(answer: Answer, pieces: &[&[u8]; 2]) -> Answer {
    let coded = gzip_pieces(&pieces[..]);
    let answer = answer.header("content-encoding", "gzip").send(coded[0].clone());
    answer.step(AnswerStep::Stall).send(coded[1].clone()).send(coded[2].clone())
}

/// An event that may overtake a held call.
fn overtaking(path: &str, mark: &str) -> String {
    match path {
        MESSAGES => {
            format!("event: ping\ndata: {{\"type\":\"ping\",\"mark\":\"{mark}\"}}\n\n")
        }
        _ => format!(
            "data: {{\"object\":\"chat.completion.chunk\",\"choices\":\
             [{{\"index\":0,\"delta\":{{\"content\":\"{mark}\"}}}}]}}\n\n"
        ),
    }
}

#[test]
fn a_held_call_leaves_when_it_is_complete_and_not_before() {
    for (path, answer) in turns("read_file", r#"{"path":"secret.txt"}"#) {
        let (answer, whole) = emptied(answer);
        let all = events(&whole);
        // Without this event, the call is not complete.
        let mark = if path == MESSAGES { "content_block_stop" } else { "arguments" };
        let end = all.iter().rposition(|event| contains(event, mark)).unwrap();
        let feed = AnswerFeed::default();
        let stalled = answer.clone().send(all[..end].concat()).step(AnswerStep::Feed(feed.clone()));
        let stalled = stalled.send(all[end..].concat());
        let at_once = answer.send(whole.clone());
        let first = AtomicBool::new(true);
        let upstream = Upstream::start(move |_| match first.swap(false, Ordering::SeqCst) {
            true => stalled.clone(),
            false => at_once.clone(),
        });
        let gateway = gateway(&upstream, HELD, "");
        let mut exchange =
            callgate_testkit::http::Exchange::open(gateway.address(), &ask(path)).unwrap();
        assert!(exchange.read_until(SAID));
        // Records are written in order. Once this call has left, a record of the other one would
        // be durable too.
        assert_eq!(ask(path).send(gateway.address()).body, whole, "{path}");
        let passed = overtaking(path, "passes");
        feed.say(passed.clone());
        assert!(exchange.read_until("passes"), "{path}: nothing overtakes the call");
        assert!(!exchange.reply().text().contains("read_file"), "{}", exchange.reply().text());
        upstream.release();
        let text = exchange.finish().unwrap().text();
        assert_eq!(text.replace(&passed, ""), String::from_utf8_lossy(&whole), "{path}");
    }
}

#[test]
fn a_held_call_leaves_whole_or_not_at_all() {
    let case = case("openai-chat/evasion-cut_among_interleaved");
    let all = events(&case.body);
    // The first call is complete, the second has only begun. Behind it is a frame that cannot be
    // read.
    let (turns, rest) = all.split_at(all.len() - 2);
    let piece = r#"{"index":1,"function":{"arguments":"{}"}}"#;
    let last = format!(
        "data: {{\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\
         \"delta\":{{\"tool_calls\":[{piece}]}}}}]}}\n\ndata: [DONE]\n\n"
    );
    for (rest, is_cut) in [(rest.concat(), true), (last.into_bytes(), false)] {
        let (answer, _) = emptied(served(&case).framed(BodyEnd::Chunked));
        let feed = AnswerFeed::default();
        let stalled =
            answer.send(turns.concat()).step(AnswerStep::Feed(feed.clone())).send(rest.clone());
        let [_, (_, at_once)] = crate::support::turns("read_file", "{}");
        let first = AtomicBool::new(true);
        let upstream = Upstream::start(move |_| match first.swap(false, Ordering::SeqCst) {
            true => stalled.clone(),
            false => at_once.clone(),
        });
        let gateway = gateway(&upstream, HELD, "");
        let mut exchange =
            callgate_testkit::http::Exchange::open(gateway.address(), &ask(CHAT)).unwrap();
        assert!(exchange.read_until("assistant"));
        // Once this call has left, the record of the other one is durable too.
        ask(CHAT).send(gateway.address());
        let passed = overtaking(CHAT, "passes");
        feed.say(passed.clone());
        assert!(exchange.read_until("passes"), "nothing overtakes the calls");
        assert!(!exchange.reply().text().contains("call_"), "{}", exchange.reply().text());
        upstream.release();
        let text = exchange.finish().unwrap().text();
        let whole = [turns.concat(), rest].concat();
        match is_cut {
            true => assert!(!text.contains("call_") && text.contains("\"error\":{"), "{text}"),
            false => assert_eq!(text.replace(&passed, ""), String::from_utf8_lossy(&whole)),
        }
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(text)
}
