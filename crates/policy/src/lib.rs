//! Judges tool calls by rule files: pure, fast, and with an explanation.
//!
//! [`Policies::compile`] reads rule files (YAML or JSON) and returns policies, or every problem at
//! once. [`Policies::judge`] judges a complete call and names the rule and the reason;
//! [`Policies::explain`] does so for every rule and condition. [`Policies::judge_name`] judges the
//! name alone, if no arguments could change the result. A judgement that lets a call pass yields
//! the [`Permit`] without which nothing releases the call, any other one the [`Denial`] with the
//! reason.
//!
//! ```
//! use callgate_call::{Arguments, CallId, Origin, Surface, ToolCall, ToolName};
//! use callgate_effects::Catalogue;
//! use callgate_policy::{DenialText, SpentLimits, Moment, Policies, Settled, Source, Verdict, Weekday};
//!
//! let text = r#"
//! policy: example
//! rules:
//!   - id: no-force-push
//!     tool: "@shell"
//!     when: { arg: command, matches: 'git push .*--force' }
//!     verdict: deny
//!     reason: History is shared.
//!     hint: Push to a branch of your own.
//! "#;
//! let source = Source { name: "example.yaml".into(), text: text.into() };
//! let (policies, warnings) = Policies::compile(&[source], &Catalogue::builtin()).unwrap();
//! assert!(warnings.is_empty());
//!
//! let call = ToolCall {
//!     id: CallId::from("call_1"),
//!     name: ToolName::parse("Bash").unwrap(),
//!     arguments: Arguments::json(r#"{"command":"git push --force"}"#),
//!     origin: Origin::at(Surface::Response),
//!     caller: None,
//! };
//! let noon = Moment::on(Weekday::Monday, 12);
//! let judgement = policies.judge(&call, &noon, &SpentLimits::none());
//! assert_eq!(judgement.verdict, Verdict::Deny);
//! assert_eq!(judgement.rule.as_deref(), Some("no-force-push"));
//! let Settled::Stop(denial) = judgement.settle(&call) else { panic!("it is denied") };
//! println!("{}", DenialText::default().notice(&denial));
//! ```
//!
//! This crate has no clock, files or tasks: the time and the spent limits are passed in. A
//! condition that cannot be evaluated never helps a call pass.

mod actors;
mod compile;
mod condition;
mod decision;
mod denial;
mod document;
mod effect_report;
mod effect_terms;
mod effects;
mod example;
mod exception;
mod explain;
mod extra;
mod finding;
mod index;
mod judge;
mod judgement;
mod lazy_regex;
mod limit;
mod lint;
mod moment;
mod names;
mod number;
mod operator;
mod packs;
mod path;
mod pattern;
mod permit;
mod policies;
mod policy;
mod protect;
mod relax;
mod roles;
mod rule;
mod sanitize;
mod server_offer;
mod sketch;
mod source;
mod spelling;
mod terms;
#[cfg(test)]
mod tests;
mod text;
mod ticket;
mod time_window;
mod tri;
mod verdict;
mod wrapper;

// What `Policies::compile` takes and returns.
pub use callgate_document::{Diagnostic, Source, Warning};
pub use condition::{KeyDoc, condition_keys};
pub use decision::{Decision, NameDecision};
pub use denial::{
    CALL_PLACES, CONTENT_PLACES, Denial, DenialScope, DenialText, DenialTextParts, TemplateError,
    TextTemplate,
};
pub use document::PolicyDocument;
pub use effect_report::{ArgumentEffects, EffectReport, ReportedEffect, ReportedExtent};
pub use effect_terms::EffectTerms;
pub use explain::{
    ConditionExplanation, ConditionKind, Contribution, Holds, LimitExplanation, RuleExplanation,
    RuleMismatch, RuleResult, TestExplanation,
};
pub use extra::{AlsoJudged, ExtraInput, OtherReading};
pub use finding::Findings;
pub use judgement::{
    Judgement, JudgementDetails, Matched, NameJudgement, RuleError, RuleHit, RuleName, Settled,
};
pub use limit::{LimitBy, LimitKey, Rate, SpentLimits};
pub use moment::{Moment, Weekday};
pub use packs::{builtin, builtins, starter};
pub use pattern::Globs;
pub use permit::{NamePermit, Permit, Recorded, WriteProof};
pub use policies::{CallerRule, DefaultInfo, ExampleCount, Policies, RuleInfo};
pub use protect::{NAME as SELF_PROTECTION, Protection};
pub use relax::Relaxation;
pub use sketch::PolicyChanges;
pub use source::{POLICY_KEYS, moment};
pub use spelling::{NameReader, NameReadings};
pub use terms::{AskTerms, Fallback, ReviewTerms, Terms, Unattended};
pub use text::{
    Direction, TextAction, TextChange, TextFlow, TextGuard, TextHit, TextOutcome, TextRuleInfo,
    TextSettled,
};
pub use ticket::Ticket;
pub use verdict::{Course, Verdict};
pub use wrapper::{may_wrap_calls, wrapped_calls};
