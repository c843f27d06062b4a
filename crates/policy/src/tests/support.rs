//! Helpers to write policies and calls.

use callgate_call::{Arguments, CallId, Origin, OriginFields, Surface, ToolCall, ToolName};
use callgate_effects::Catalogue;

use crate::{
    Diagnostic, Judgement, Moment, NameJudgement, Permit, Policies, Settled, Source, SpentLimits,
    Verdict, Warning, Weekday,
};

pub(super) const NOON: Moment = Moment::on(Weekday::Monday, 12);

pub(super) fn source(text: &str) -> Source {
    Source { name: "test.yaml".into(), text: text.into() }
}

pub(super) fn compile(texts: &[&str]) -> (Policies, Vec<Warning>) {
    let sources: Vec<_> = texts.iter().map(|text| source(text)).collect();
    match Policies::compile(&sources, &Catalogue::builtin()) {
        Ok(compiled) => compiled,
        Err(problems) => {
            let shown: Vec<_> =
                problems.iter().map(|p| callgate_document::render(p, &sources[0], false)).collect();
            panic!("{}", shown.join("\n\n"));
        }
    }
}

pub(super) fn policies(text: &str) -> Policies {
    compile(&[text]).0
}

pub(super) fn problems(text: &str) -> Vec<Diagnostic> {
    Policies::compile(&[source(text)], &Catalogue::builtin()).unwrap_err()
}

/// A policy of these rules, each in flow style without the braces.
pub(super) fn rules(lines: &[&str]) -> Policies {
    policies(&policy_text("test", "", lines))
}

pub(super) fn policy_text(name: &str, head: &str, lines: &[&str]) -> String {
    let rules: String = lines.iter().map(|line| format!("  - {{ {line} }}\n")).collect();
    format!("policy: {name}\n{head}\nrules:\n{rules}")
}

pub(super) fn call_at(surface: Surface, name: &str, input: &str) -> ToolCall {
    call_of(OriginFields::at(surface), name, input)
}

pub(super) fn call_of(facts: OriginFields, name: &str, input: &str) -> ToolCall {
    ToolCall {
        id: CallId::from("call_1"),
        name: ToolName::parse(name).unwrap(),
        arguments: Arguments::json(input),
        origin: Origin::new(facts),
        caller: None,
    }
}

pub(super) fn call(name: &str, input: &str) -> ToolCall {
    call_at(Surface::Response, name, input)
}

impl Judgement {
    pub(super) fn permit(self, call: &ToolCall) -> Option<Permit> {
        match self.settle(call) {
            Settled::Pass(permit) => Some(permit),
            Settled::Wait(_) | Settled::Stop(_) => None,
        }
    }
}

impl Policies {
    pub(super) fn ask(&self, call: &ToolCall) -> Judgement {
        self.judge(call, &NOON, &SpentLimits::none())
    }

    pub(super) fn verdict(&self, name: &str, input: &str) -> Verdict {
        self.ask(&call(name, input)).verdict
    }

    /// `allow`, `deny` or `open`.
    pub(super) fn by_name(&self, name: &str) -> &'static str {
        self.by_name_of(&call(name, ""))
    }

    pub(super) fn by_name_of(&self, call: &ToolCall) -> &'static str {
        match self.judge_name(call, &NOON, &SpentLimits::none()) {
            NameJudgement::Allow(permit, judgement) => {
                assert!(permit.covers(&call.id, &call.name));
                assert!(judgement.verdict.passes());
                "allow"
            }
            NameJudgement::Deny(judgement) => {
                assert_eq!(judgement.verdict, Verdict::Deny);
                "deny"
            }
            NameJudgement::NeedArguments => "open",
        }
    }
}

/// Reports that a test is skipped. Fails instead under `cargo xtask test`, which installs
/// everything that tests need.
pub(super) fn skipped(why: &str) {
    assert!(std::env::var_os("CALLGATE_REQUIRE_PEERS").is_none(), "must not be skipped: {why}");
    eprintln!("skipped: {why}");
}
