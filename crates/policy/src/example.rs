//! The examples of a rule: calls that it must and must not match. They are checked whenever the
//! rule is loaded.

use callgate_call::{
    Arguments, CallId, Origin, OriginFields, Principal, Surface, ToolCall, ToolName,
};
use callgate_document::{Problems, SourceSpan, Yaml};
use callgate_scan::inspect::Finding;

use crate::finding::Findings;
use crate::limit::SpentLimits;
use crate::moment::{Moment, Weekday};
use crate::policy::Policy;
use crate::rule::{Match, NameCheck, Question, Rule};
use crate::source::{ExampleSource, PolicySource, RuleSource};
use crate::spelling::Servers;

/// The examples of one policy, taken before its rules are compiled.
#[derive(Debug)]
pub(crate) struct Examples {
    list: Vec<Example>,
}

#[derive(Debug)]
struct Example {
    rule: String,
    span: SourceSpan,
    expected: ExpectedMatch,
    call: ExampleCall,
    /// The findings that the example states; empty if it states none.
    findings: Vec<Finding>,
    moment: Moment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedMatch {
    Match,
    NoMatch,
}

impl Examples {
    pub(crate) fn of(policy: &PolicySource) -> Self {
        let mut list = Vec::new();
        for rule in &policy.rules {
            let Some(id) = &rule.id else { continue };
            let matching = rule.examples.matching.iter().map(|e| (e, ExpectedMatch::Match));
            let not_matching =
                rule.examples.not_matching.iter().map(|e| (e, ExpectedMatch::NoMatch));
            list.extend(matching.chain(not_matching).map(|(example, expected)| Example {
                rule: id.value.clone(),
                span: example.span,
                expected,
                call: ExampleCall::of(example, rule),
                findings: example.finding.iter().cloned().collect(),
                moment: example.time.unwrap_or(NOON),
            }));
        }
        Self { list }
    }

    /// Reports every example that does not hold. Rules that did not compile are skipped.
    pub(crate) fn check(&self, policy: &Policy, servers: &Servers, problems: &mut Problems<'_>) {
        for example in &self.list {
            let Some(rule) = policy.rules.iter().find(|rule| rule.id == example.rule) else {
                continue;
            };
            match example.call.build(rule) {
                Err(why) => {
                    problems.add(example.span, format!("this example is not a call: {why}"));
                }
                Ok(call) => example.compare(rule, &call, servers, problems),
            }
        }
    }
}

impl Example {
    fn compare(
        &self,
        rule: &Rule,
        call: &ToolCall,
        servers: &Servers,
        problems: &mut Problems<'_>,
    ) {
        let limits = SpentLimits::none();
        let question = Question::new(call, &self.moment, &limits, servers);
        let question = question.with(Findings::Of(&self.findings));
        let matched = matches(rule, &question);
        let (message, hint) = match (self.expected, matched) {
            (ExpectedMatch::Match, Match::No | Match::Disregarded) => (
                format!("rule `{}` does not match this example", self.rule),
                why_not(rule, &question),
            ),
            (ExpectedMatch::NoMatch, Match::Yes) => (
                format!("rule `{}` matches this example, which it must not", self.rule),
                "narrow the rule, or move the example to `match`",
            ),
            (ExpectedMatch::NoMatch, Match::Unknown) => (
                format!("rule `{}` matches this example, which it must not", self.rule),
                "a condition is unknown here, which counts as a match in a rule that restricts",
            ),
            _ => return,
        };
        problems.add(self.span, message).hint(hint);
    }
}

/// An example is compared with its rule alone, with the rule's limit used up and every claim
/// proven.
fn matches(rule: &Rule, question: &Question<'_>) -> Match {
    match rule.applies_at(question.call.origin.surface) {
        true => rule.matches(question, NameCheck::Needed),
        false => Match::No,
    }
}

const NOON: Moment = Moment::on(Weekday::Monday, 12);

fn why_not(rule: &Rule, question: &Question<'_>) -> &'static str {
    if !rule.applies_at(question.call.origin.surface) {
        "the rule does not apply on that surface"
    } else if !rule.names(question) {
        "its tool or server is a different one"
    } else {
        "its `when`, `agent` or `who` does not match"
    }
}

/// The call of an example, whose surface may depend on the compiled rule.
#[derive(Debug)]
struct ExampleCall {
    name: String,
    arguments: Arguments,
    /// The surface that the example or the rule names.
    surface: Option<Surface>,
    agent: Option<String>,
    who: Principal,
    cwd: Option<String>,
}

impl ExampleCall {
    fn of(example: &ExampleSource, rule: &RuleSource) -> Self {
        let name = match &example.server {
            Some(server) => format!("mcp__{server}__{}", example.tool.value),
            None => example.tool.value.clone(),
        };
        let arguments = match example.input.as_ref().map(|node| (node, &node.value)) {
            None => Arguments::json(""),
            Some((_, Yaml::String(text))) => Arguments::text(text.as_str()),
            Some((node, _)) => Arguments::json(node.to_json()),
        };
        let of_rule = || rule.surfaces.as_ref().and_then(|surfaces| surfaces.first().copied());
        Self {
            name,
            arguments,
            surface: example.surface.or_else(of_rule),
            agent: example.agent.clone(),
            who: example.who.clone(),
            cwd: example.cwd.clone(),
        }
    }

    /// The call, on the first surface where the rule applies unless a surface is named.
    fn build(&self, rule: &Rule) -> Result<ToolCall, String> {
        let surface = self.surface.or_else(|| rule.surfaces.first().copied());
        let mut origin = OriginFields::at(surface.unwrap_or(Surface::Response));
        origin.agent = self.agent.clone();
        origin.agent_proven = true;
        origin.who = self.who.clone();
        origin.cwd = self.cwd.clone();
        Ok(ToolCall {
            id: CallId::default(),
            name: ToolName::parse(&self.name).map_err(|error| error.to_string())?,
            arguments: self.arguments.clone(),
            origin: Origin::new(origin),
            caller: None,
        })
    }
}
