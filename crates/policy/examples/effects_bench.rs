//! What rules on effects cost: `cargo run --release -p callgate-policy --example effects_bench` prints
//! microseconds, the best of several rounds. With `<case> <rounds>` it does one case that often and prints
//! nothing, for instruction counts.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use callgate_call::{Arguments, CallId, Origin, Surface, ToolCall, ToolName};
use callgate_document::{At, Problems, SourceSpan};
use callgate_effects::Catalogue;
use callgate_json::quote;
use callgate_policy::{
    Moment, Policies, PolicyDocument, Protection, Relaxation, SpentLimits, Weekday, starter,
};

const NOON: Moment = Moment::on(Weekday::Monday, 12);

/// Commands that are judged by the starter policy and self-protection.
const COMMANDS: &[(&str, &str)] = &[
    ("short", "ls -la"),
    ("git", "git add -A && git commit -m 'Fix the parser' && git push origin main"),
    (
        "script",
        "cd /proj/app && git fetch origin && for f in $(git diff --name-only HEAD~1); do if [ -f \"$f\" ]; then sed -i 's/foo/bar/g' \"$f\" && echo \"done $f\" >> log.txt; fi; done | tee /tmp/out && rm -rf build/*.o",
    ),
    (
        "wrapped",
        "sudo env A=1 timeout 5 bash -c 'echo cm0gLXJmIC8= | base64 -d | sh' && find . -name '*.ts' -exec grep -l foo {} + | xargs rm -f",
    ),
    (
        "pipe",
        "cd /srv/project && cargo test --workspace --all-features -- --nocapture 2>&1 | tee target/test.log | grep -E 'test result|FAILED|panicked' | sort | uniq -c",
    ),
];

const ROUNDS: u32 = 20;

fn main() {
    let mut args = std::env::args().skip(1);
    if let (Some(case), Some(rounds)) = (args.next(), args.next()) {
        let rounds = rounds.parse().unwrap_or(1);
        let Some(mut run) = find(&case) else { std::process::exit(2) };
        return (0..rounds).for_each(|_| run());
    }
    for case in ["load", "load-protected", "plain"] {
        print(case);
    }
    COMMANDS.iter().for_each(|(case, _)| print(case));
}

fn print(case: &str) {
    if let Some(run) = find(case) {
        println!("{case:<16} {:>8.1} µs", best(run));
    }
}

/// One case; what comes before the rounds is done.
fn find(case: &str) -> Option<Box<dyn FnMut()>> {
    match case {
        "load" => Some(Box::new(|| drop(black_box(starter_policy())))),
        "load-protected" => Some(Box::new(|| drop(black_box(protected(starter_policy()))))),
        // Plain words, as a model's text: nothing but self-protection looks at them.
        "plain" => Some(judging(protected(compile(&[])), &words())),
        _ => {
            let (_, command) = COMMANDS.iter().find(|(name, _)| *name == case)?;
            Some(judging(protected(starter_policy()), command))
        }
    }
}

fn judging(policies: Policies, command: &str) -> Box<dyn FnMut()> {
    let call = ToolCall {
        id: CallId::from("call_1"),
        name: ToolName::parse("Bash").unwrap_or_else(|_| std::process::exit(1)),
        arguments: Arguments::json(format!("{{\"command\":{}}}", quote(command))),
        origin: Origin::at(Surface::Response),
        caller: None,
    };
    Box::new(move || drop(black_box(policies.judge(&call, &NOON, &SpentLimits::none()))))
}

/// 2,000 bytes in 50 pieces, each with a mark in front.
fn words() -> String {
    const FILL: &str = "the quick brown fox jumps over the lazy dog while the model keeps on \
                        streaming its tokens, one by one; ";
    let mut text = String::new();
    for piece in 0..50 {
        let _ = write!(text, "~A{:019}~", 0);
        text.extend(FILL.chars().cycle().skip(piece * 7).take(18));
    }
    text
}

/// As a config with `policies: [builtin:starter]` loads it.
fn starter_policy() -> Policies {
    let source = starter();
    let name = At { value: source.name.clone(), span: SourceSpan::default() };
    let tree = Relaxation::none(name).apply(&source, &mut Problems::new(&source));
    compile(&[PolicyDocument::part(&source, tree.into_iter().collect())])
}

fn compile(documents: &[PolicyDocument<'_>]) -> Policies {
    let compiled =
        Policies::compile_documents(documents, &Catalogue::builtin(), &[Surface::Response]);
    compiled.map_or_else(|_| std::process::exit(1), |(policies, _)| policies)
}

fn protected(policies: Policies) -> Policies {
    let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect();
    let protection = Protection {
        files: paths(&["/srv/gate/gate.yaml", "/home/me/.config/callgate/callgate.yaml"]),
        folders: paths(&["/home/me/.local/state/callgate"]),
        prefixes: paths(&["/srv/gate/records.db"]),
        programs: paths(&["/opt/bin/callgate"]),
        home: Some("/home/me".into()),
        pid: 4711,
        port: 8484,
    };
    policies.protected(&protection).unwrap_or_else(|_| std::process::exit(1))
}

/// Microseconds for one run.
fn best(mut run: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for _ in 0..100 {
            run();
        }
        best = best.min(started.elapsed().as_secs_f64() * 1e6 / 100.0);
    }
    best
}
