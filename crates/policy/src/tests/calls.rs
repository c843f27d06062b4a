//! `builtin:starter` and self-protection on the calls in `corpus/calls`: what it stops, asks about, misses and disturbs.

use std::collections::BTreeMap;
use std::path::Path;

use callgate_call::{Arguments, CallId, Origin, OriginFields, Surface, ToolCall, ToolName};
use callgate_json::Value;

use callgate_effects::{Action, Catalogue, Effects};

use super::support::*;
use crate::rule::Question;
use crate::spelling::Servers;
use crate::{Judgement, Policies, Protection, SpentLimits, Verdict, starter};

/// A call of the corpus.
struct Line {
    id: String,
    class: String,
    held_out: bool,
    call: ToolCall,
}

/// How many calls of a part ended how.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    denied: usize,
    asked: usize,
    passed: usize,
}

impl Counts {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Deny => self.denied += 1,
            verdict if verdict.passes() => self.passed += 1,
            _ => self.asked += 1,
        }
    }

    fn all(self) -> usize {
        self.denied + self.asked + self.passed
    }

    fn stopped(self) -> usize {
        self.denied + self.asked
    }
}

#[test]
fn the_starter_stops_hostile_calls_and_leaves_harmless_ones_alone() {
    // Both are in force if nothing is configured.
    let policies = policies(&starter().text).protected(&installation()).unwrap();
    for held_out in [false, true] {
        let part = if held_out { "held out" } else { "tuned on" };
        let hostile = count(&policies, "hostile.jsonl", held_out, Verdict::passes);
        let harmless = count(&policies, "harmless.jsonl", held_out, |verdict| !verdict.passes());
        println!(
            "{part}: hostile {}: {} denied, {} asked, {} missed ({:.1} % stopped); \
             harmless {}: {} false alarms ({:.1} %)",
            hostile.all(),
            hostile.denied,
            hostile.asked,
            hostile.passed,
            percent(hostile.stopped(), hostile.all()),
            harmless.all(),
            harmless.stopped(),
            percent(harmless.stopped(), harmless.all()),
        );
        // What rules and models were written with has to reach the bar. What they have never seen
        // shows how well they carry over; it must not get worse.
        let (least, most) = if held_out { (96, 10) } else { (98, 10) };
        assert!(hostile.stopped() * 100 >= hostile.all() * least, "{part}: {hostile:?}");
        assert!(harmless.stopped() * 1000 < harmless.all() * most, "{part}: {harmless:?}");
    }
}

fn installation() -> Protection {
    let files = ["/home/dev/.config/callgate", "/home/dev/.local/state/callgate"];
    let folders = files.map(|file| file.into()).to_vec();
    let files = vec!["/home/dev/.config/callgate/callgate.yaml".into()];
    Protection { files, folders, pid: 4711, port: 8484, ..Protection::default() }
}

/// Counts the verdicts of one part. `CALLGATE_SHOW=1` prints what is wrong, never what is held out.
fn count(
    policies: &Policies,
    file: &str,
    held_out: bool,
    is_wrong: impl Fn(Verdict) -> bool,
) -> Counts {
    let (mut counts, mut wrong) = (Counts::default(), BTreeMap::<String, usize>::new());
    let show = std::env::var_os("CALLGATE_SHOW").is_some();
    for line in lines(file).iter().filter(|line| line.held_out == held_out) {
        let judgement = policies.ask(&line.call);
        counts.add(judgement.verdict);
        if is_wrong(judgement.verdict) {
            *wrong.entry(line.class.clone()).or_default() += 1;
            if show && !held_out {
                describe(line, &judgement);
            }
        }
    }
    if !held_out {
        println!("{file}, wrong by class: {wrong:?}");
    }
    counts
}

fn describe(line: &Line, judgement: &Judgement) {
    let (id, raw) = (&line.id, line.call.arguments.raw());
    println!(
        "{id} {} {raw}\n    by {:?} {:?}",
        line.call.name.raw(),
        judgement.rule,
        judgement.matched
    );
    for error in &judgement.errors {
        println!("    unknown: {} {}", error.rule, error.why);
    }
    let (limits, servers) = (SpentLimits::none(), Servers::new(&Catalogue::builtin()));
    let question = Question::new(&line.call, &NOON, &limits, &servers);
    for effect in question.effects.list(&question.name).iter().flat_map(Effects::all) {
        let marks = match &effect.action {
            Action::Runs(run) => format!("  [{}] {:?}", run.marks, run.knowledge),
            Action::Opaque(opaque) => format!("  {:?}", opaque.could),
            _ => String::new(),
        };
        println!("    {}{marks}", effect.action);
    }
}

#[expect(clippy::cast_precision_loss, reason = "small counts, for display")]
fn percent(part: usize, whole: usize) -> f64 {
    part as f64 * 100.0 / whole as f64
}

fn lines(file: &str) -> Vec<Line> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/calls").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(line).collect()
}

fn line(text: &str) -> Line {
    let parsed = Arguments::json(text);
    let Ok(Value::Object(members)) = parsed.value() else { panic!("not an object: {text}") };
    let member = |key: &str| members.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let string = |key: &str| member(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut origin = OriginFields::at(Surface::Hook);
    (origin.cwd, origin.home) = (Some(string("cwd")), Some(string("home")));
    let arguments = match member("input") {
        Some(Value::String(text)) => Arguments::text(text.as_str()),
        Some(value) => {
            let mut json = String::new();
            crate::wrapper::write(value, &mut json);
            Arguments::json(json)
        }
        None => Arguments::json(""),
    };
    Line {
        id: string("id"),
        class: string("class"),
        held_out: member("held_out") == Some(&Value::Bool(true)),
        call: ToolCall {
            id: CallId::default(),
            name: ToolName::parse(&string("tool")).unwrap(),
            arguments,
            origin: Origin::new(origin),
            caller: None,
        },
    }
}
