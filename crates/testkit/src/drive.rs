//! Runs responses through the gate.

use callgate_call::{Origin, Surface, ToolCall};
use callgate_dialect::Dialect;
use callgate_document::Source;
use callgate_effects::Catalogue;
use callgate_gate::{Close, Decision, Ending, Gate, NameDecision, Note, OnDeny, Step};
use callgate_policy::{
    Judgement, Moment, NameJudgement, Policies, Recorded, Settled, SpentLimits, Weekday,
};

/// What a run gave.
#[derive(Debug)]
pub struct Run {
    /// The client's bytes.
    pub out: Vec<u8>,
    /// The calls that were judged whole or denied by name: name, arguments, whether allowed.
    pub judged: Vec<(String, String, bool)>,
    /// What was noted.
    pub notes: Vec<Note>,
    /// How it ended.
    pub ending: Ending,
}

impl Run {
    /// The client's bytes as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

/// Compiles policies from YAML.
pub fn policies(yaml: &str) -> Policies {
    let source = Source { name: "test.yaml".into(), text: yaml.into() };
    match Policies::compile(&[source], &Catalogue::builtin()) {
        Ok((policies, _)) => policies,
        Err(problems) => panic!("{problems:?}"),
    }
}

/// A policy that allows everything by name.
pub fn allow_all() -> Policies {
    policies("policy: allow-all\nrules: []\n")
}

/// A policy that allows everything, but only after it has seen the arguments.
pub fn allow_all_held() -> Policies {
    policies(
        "policy: held\nrules:\n  - { id: never, when: { arg: callgate_absent, equals: 'no such value' }, verdict: deny, reason: never }\n",
    )
}

/// A policy that denies tools by name.
pub fn deny_names(names: &[&str]) -> Policies {
    let names: Vec<String> =
        names.iter().map(|name| serde_json::to_string(name).unwrap()).collect();
    policies(&format!(
        "policy: names\nrules:\n  - {{ id: no-such-tool, tool: [{}], verdict: deny, reason: not here }}\n",
        names.join(", ")
    ))
}

/// A policy that denies every call, but only after it has seen the arguments.
pub fn deny_all_by_arguments() -> Policies {
    policies(
        "policy: arguments\nrules:\n  - { id: no-arguments, when: { arg: callgate_absent, exists: false }, verdict: deny, reason: not with these }\n",
    )
}

/// The defaults, with or without a notice.
pub fn settings(on_deny: OnDeny) -> callgate_gate::Settings {
    callgate_gate::Settings {
        on_deny,
        ..callgate_gate::Settings::new(Origin::at(Surface::Response))
    }
}

/// A moment for judging.
pub fn moment() -> Moment {
    Moment::on(Weekday::Monday, 12)
}

/// Runs the chunks through a gate, every question answered at once.
pub fn run<'a>(
    dialect: Dialect,
    settings: callgate_gate::Settings,
    policies: &Policies,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Run {
    let mut gate = Gate::new(dialect, settings);
    let mut run = Run {
        out: Vec::new(),
        judged: Vec::new(),
        notes: Vec::new(),
        ending: Ending::Error("never ended".into()),
    };
    for chunk in chunks {
        gate.push(chunk);
        steps(&mut gate, policies, &mut run);
    }
    gate.close(Close::End);
    steps(&mut gate, policies, &mut run);
    run
}

/// What a gate is answered where nothing is recorded.
pub fn answer(judgement: Judgement, call: &ToolCall) -> Decision {
    match judgement.settle(call) {
        Settled::Pass(permit) => Decision::Allow(Recorded::without_a_store(permit)),
        Settled::Wait(ticket) => Decision::Deny(ticket.refuse("Nobody is asked.")),
        Settled::Stop(denial) => Decision::Deny(denial),
    }
}

/// Takes steps until the gate wants more, answering every question from the policies.
pub fn steps(gate: &mut Gate, policies: &Policies, run: &mut Run) {
    let (moment, limits) = (moment(), SpentLimits::default());
    loop {
        match gate.step(&mut run.out) {
            Step::Name(question) => {
                let answer = match policies.judge_name(&question.call, &moment, &limits) {
                    NameJudgement::Allow(permit, _) => NameDecision::Stream(permit),
                    NameJudgement::Deny(judgement) => {
                        let name = question.call.name.raw().to_owned();
                        run.judged.push((name, String::new(), false));
                        NameDecision::Deny(judgement.denial(&question.call).unwrap())
                    }
                    NameJudgement::NeedArguments => NameDecision::NeedArguments,
                };
                gate.answer_name(question.slot, answer);
            }
            Step::Judge(question) => {
                let call = &question.call;
                let answer = answer(policies.judge(call, &moment, &limits), call);
                let allowed = matches!(answer, Decision::Allow(_));
                let arguments = call.arguments.raw().to_owned();
                run.judged.push((call.name.raw().to_owned(), arguments, allowed));
                gate.answer(question.slot, answer);
            }
            Step::OnlyDenied(_) => gate.conclude(),
            Step::Note(note) => run.notes.push(note),
            Step::NeedMore => return,
            Step::Waiting => panic!("every question was answered, and the gate waits"),
            Step::Ended(ending) => {
                run.ending = ending;
                return;
            }
        }
    }
}

/// The ways a body may be cut: whole, byte by byte, and in two at each of the given places.
pub fn cuttings(body: &[u8], cuts: impl IntoIterator<Item = usize>) -> Vec<Vec<&[u8]>> {
    let mut all = vec![vec![body], body.chunks(1).collect()];
    all.extend(cuts.into_iter().map(|at| {
        let (head, tail) = body.split_at(at.min(body.len()));
        vec![head, tail]
    }));
    all
}

/// Cuttings that between them cut a body at every byte, besides whole and byte by byte.
///
/// In pieces of 64 bytes, the first of which has every length up to that. `cargo xtask test
/// --all` cuts the body in two at every single place instead, which takes minutes.
pub fn at_every_byte(body: &[u8]) -> Vec<Vec<&[u8]>> {
    if runs_everything() {
        return cuttings(body, places(body));
    }
    let mut all = cuttings(body, []);
    all.extend((1..=PIECE.min(body.len())).map(|first| {
        let (head, tail) = body.split_at(first);
        std::iter::once(head).chain(tail.chunks(PIECE)).collect()
    }));
    all
}

/// Shorter than most frames, so that most of them are cut in every run.
const PIECE: usize = 64;

/// Whether this is the long run that a release needs: `cargo xtask test --all`.
pub fn runs_everything() -> bool {
    std::env::var_os("CALLGATE_TEST_ALL").is_some()
}

/// The places to cut a body in two: all of them up to 16 KB; above that, all inside frames that
/// mention calls and four to each side of every frame border.
fn places(body: &[u8]) -> Vec<usize> {
    const ALL: usize = 16 << 10;
    if body.len() <= ALL {
        return (0..=body.len()).collect();
    }
    let text = String::from_utf8_lossy(body);
    let mut places = Vec::new();
    let mut start = 0;
    for frame in text.split_inclusive("\n\n") {
        let end = start + frame.len();
        if frame.contains("tool") || frame.contains("function") || frame.contains("input_json") {
            places.extend(start..end.min(start + 400));
        }
        places.extend(end.saturating_sub(4)..(end + 4).min(body.len()));
        start = end;
    }
    places.sort_unstable();
    places.dedup();
    places.truncate(20_000);
    places
}
