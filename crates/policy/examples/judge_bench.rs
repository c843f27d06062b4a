//! Prints what one judgement costs, in nanoseconds, for growing policies of which no rule matches:
//! the smallest of many rounds. Run with `cargo run --release -p callgate-policy --example
//! judge_bench`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use callgate_call::{Arguments, CallId, Origin, Surface, ToolCall, ToolName};
use callgate_effects::Catalogue;
use callgate_policy::{Moment, NameJudgement, Policies, Source, SpentLimits, Weekday, starter};

const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];
const NOON: Moment = Moment::on(Weekday::Monday, 12);
const COMMAND: &str = "cd /srv/project && cargo test --workspace --all-features -- --nocapture \
                       2>&1 | tee target/test.log | grep -E 'test result|FAILED|panicked' | sort | uniq -c";

type Rule = fn(usize) -> String;

fn main() {
    println!("{:<34}{:>9}{:>9}{:>9}{:>9}", "ns per judgement", 10, 100, "1k", "10k");
    by_name("name: exact, prefix, suffix", |i| match i % 3 {
        0 => format!("tool: tool_number_{i}, verdict: deny"),
        1 => format!("tool: 'prefix_{i}_*', verdict: deny"),
        _ => format!("tool: '*_suffix_{i}', verdict: deny"),
    });
    by_name("name: in the middle", |i| format!("tool: '*middle{i}x*', verdict: deny"));
    by_argument("argument: contains", |i| test(&format!("contains: 'needle number {i}'")));
    by_argument("argument: matches", |i| test(&format!("matches: 'program{i} +--flag'")));
    by_argument("argument: equals", |i| test(&format!("equals: 'command {i}'")));
    by_argument("argument: starts_with", |i| test(&format!("starts_with: 'cd /srv/{i}'")));
    by_argument("argument: glob", |i| test(&format!("glob: '/srv/data{i}/**/*.key'")));
    loading("µs to load: name rules", |i| format!("tool: tool_number_{i}, verdict: deny"));
    loading("µs to load: regular expressions", |i| {
        test(&format!("matches: 'program{i} +--flag'"))
    });
    starter_policy();
}

fn test(operator: &str) -> String {
    format!("tool: '@shell', verdict: deny, when: {{ arg: command, {operator} }}")
}

fn by_name(title: &str, rule: Rule) {
    let call = call("Bash", Arguments::pending());
    row(title, rule, |policies| {
        let judgement = policies.judge_name(&call, &NOON, &SpentLimits::none());
        assert!(matches!(black_box(judgement), NameJudgement::Allow(..)));
    });
    let title = format!("{title}, MCP");
    let call = self::call("mcp__github__create_issue", Arguments::pending());
    row(&title, rule, |policies| {
        let judgement = policies.judge_name(&call, &NOON, &SpentLimits::none());
        assert!(matches!(black_box(judgement), NameJudgement::Allow(..)));
    });
}

fn by_argument(title: &str, rule: Rule) {
    let call = bash();
    row(title, rule, |policies| {
        assert!(black_box(policies.judge(&call, &NOON, &SpentLimits::none())).uncovered);
    });
}

fn row(title: &str, rule: Rule, judge: impl Fn(&Policies)) {
    print!("{title:<34}");
    for size in SIZES {
        let text = rules(size, rule);
        let policies = compile(Source { name: "bench".into(), text });
        print!("{:>9}", nanoseconds(|| judge(&policies)));
    }
    println!();
}

fn rules(size: usize, rule: Rule) -> String {
    let mut text = "policy: bench\nrules:\n".to_owned();
    for i in 0..size {
        let _ = writeln!(text, "  - {{ id: rule-{i}, {} }}", rule(i));
    }
    text
}

fn loading(title: &str, rule: Rule) {
    print!("{title:<34}");
    for size in SIZES {
        let text = rules(size, rule);
        let start = Instant::now();
        black_box(compile(Source { name: "bench".into(), text }));
        print!("{:>9}", start.elapsed().as_micros());
    }
    println!();
}

fn starter_policy() {
    let start = Instant::now();
    let policies = compile(starter());
    println!("{:<34}{:>9}", "µs to load the starter", start.elapsed().as_micros());
    let call = bash();
    let ns = nanoseconds(|| {
        black_box(policies.judge(&call, &NOON, &SpentLimits::none()));
    });
    println!("{:<34}{ns:>9}", "starter, Bash");
    let ns = nanoseconds(|| {
        black_box(policies.judge_name(&call, &NOON, &SpentLimits::none()));
    });
    println!("{:<34}{ns:>9}", "starter, Bash by name");
}

fn nanoseconds(work: impl Fn()) -> u128 {
    let mut best = Duration::MAX;
    let mut per_round = 1u32;
    for _ in 0..30 {
        let start = Instant::now();
        for _ in 0..per_round {
            work();
        }
        let took = start.elapsed();
        best = best.min(took / per_round);
        per_round =
            (Duration::from_millis(3).as_nanos() / best.as_nanos().max(1)).clamp(1, 20_000) as u32;
    }
    best.as_nanos()
}

fn compile(source: Source) -> Policies {
    match Policies::compile(&[source], &Catalogue::builtin()) {
        Ok((policies, _)) => policies,
        Err(problems) => {
            eprintln!("{problems:?}");
            std::process::exit(1);
        }
    }
}

fn bash() -> ToolCall {
    let call = call("Bash", Arguments::json(format!(r#"{{"command":"{COMMAND}"}}"#)));
    assert!(call.arguments.value().is_ok());
    call
}

fn call(name: &str, arguments: Arguments) -> ToolCall {
    let name = ToolName::parse(name).unwrap_or_else(|_| std::process::exit(1));
    ToolCall {
        id: CallId::from("call_1"),
        name,
        arguments,
        origin: Origin::at(Surface::Response),
        caller: None,
    }
}
