//! All policies in force, and how they are loaded.

use std::sync::Arc;

use callgate_call::{OriginFields, Surface};
use callgate_effects::Catalogue;

use crate::condition::Condition;
use crate::diagnostic::{Diagnostic, Problems, Warning};
use crate::document::Document;
use crate::policy::Policy;
use crate::rule::{Rule, RuleRole};
use crate::source::{self, Source};
use crate::spelling::Servers;
use crate::text::{self, Direction, Guards, TextGuard, TextRule, TextRuleInfo};
use crate::{Verdict, compile, example, lint};

/// One or more compiled policies. Each is judged on its own and the strictest result wins, so
/// one policy can tighten another and never relax it.
#[derive(Debug, Default)]
pub struct Policies {
    policies: Vec<Policy>,
    texts: TextRules,
    servers: Servers,
    pub(crate) digest: String,
}

/// The rules about text, of all policies together.
#[derive(Debug, Default)]
struct TextRules {
    rules: Vec<Arc<TextRule>>,
    request: Guards,
    response: Guards,
}

/// A rule, for people who list them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInfo {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub id: String,
    /// Whom the policy is for: each key with its globs. Nothing is everybody.
    pub audience: Vec<(&'static str, Vec<String>)>,
    /// Whom the rule is for, likewise.
    pub who: Vec<(&'static str, Vec<String>)>,
    /// What it says.
    pub verdict: Verdict,
    /// The lowest number decides.
    pub priority: i64,
    /// Whether the rule, or its whole policy, is only recorded.
    pub shadow: bool,
    /// The tools it names, as written. Nothing is every tool.
    pub tools: Vec<String>,
    /// Whether it looks at the arguments.
    pub needs_arguments: bool,
    /// Where it applies.
    pub surfaces: Vec<Surface>,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// The kind of action that it blocks, as it states it.
    pub blocks: Option<String>,
}

impl Policies {
    /// Compiles rule files. Whatever is wrong in any of them is told at once; then nothing is in
    /// force.
    pub fn compile(
        sources: &[Source],
        catalogue: &Catalogue,
    ) -> Result<(Self, Vec<Warning>), Vec<Diagnostic>> {
        Self::compile_for(sources, catalogue, &Surface::ALL)
    }

    /// The same, with a warning for each rule on surfaces of which none is `served`.
    pub fn compile_for(
        sources: &[Source],
        catalogue: &Catalogue,
        served: &[Surface],
    ) -> Result<(Self, Vec<Warning>), Vec<Diagnostic>> {
        let documents: Vec<_> = sources.iter().map(Document::file).collect();
        Self::compile_documents(&documents, catalogue, served)
    }

    /// The same for policies that may stand in files of another kind.
    pub fn compile_documents(
        documents: &[Document<'_>],
        catalogue: &Catalogue,
        served: &[Surface],
    ) -> Result<(Self, Vec<Warning>), Vec<Diagnostic>> {
        let mut policies: Vec<Policy> = Vec::new();
        let mut servers = Servers::new(catalogue);
        let mut texts: Vec<Arc<TextRule>> = Vec::new();
        let (mut diagnostics, mut warnings) = (Vec::new(), Vec::new());
        for document in documents {
            let source = document.source();
            let mut problems = Problems::new(source);
            for mut written in source::policies(document, &mut problems) {
                let known = policies.iter().any(|known| {
                    written.name.as_ref().is_some_and(|name| name.value == known.name)
                });
                if let (true, Some(name)) = (known, &written.name) {
                    problems
                        .add(name.span, format!("a second policy `{}`", name.value))
                        .hint("give each policy a name of its own");
                }
                let spans = lint::RuleSpans::of(&written);
                let examples = example::Examples::of(&written);
                compile::unique_ids(&written, &mut problems);
                let about_text = std::mem::take(&mut written.text);
                let policy = compile::policy(written, catalogue, &mut problems);
                let rules = text::rules(&about_text, &policy, &mut problems);
                text::examples(&about_text, &rules, &mut problems);
                warnings.extend(text::warnings(&about_text, &rules, source));
                texts.extend(rules.into_iter().map(Arc::new));
                policy.rules.iter().for_each(|rule| servers.add_rule(&rule.names));
                examples.check(&policy, &servers, &mut problems);
                warnings.extend(spans.check(&policy, source, served));
                policies.push(policy);
            }
            diagnostics.extend(problems.into_list());
        }
        let texts = TextRules::of(texts, &mut diagnostics);
        match diagnostics.is_empty() {
            true => {
                let digest = Self::digest_of(&policies);
                Ok((Self { policies, texts, servers, digest }, warnings))
            }
            false => Err(diagnostics),
        }
    }

    /// The same policies where these MCP servers are known to exist: a name that may mean a tool of
    /// theirs is read like that too by rules that restrict.
    pub fn with_servers<T: AsRef<str>>(mut self, declared: impl IntoIterator<Item = T>) -> Self {
        declared.into_iter().for_each(|server| self.servers.add(server.as_ref()));
        self
    }

    /// No policy: every call passes, uncovered.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether any policy has something to say about this surface.
    pub fn concern(&self, surface: Surface) -> bool {
        let concerned = |policy: &Policy| {
            policy.at(surface).next().is_some() || policy.default_at(surface) != Verdict::Allow
        };
        self.policies.iter().any(concerned)
    }

    /// Every rule, in the order of the files.
    pub fn rules(&self) -> impl Iterator<Item = RuleInfo> {
        self.policies.iter().flat_map(|policy| policy.rules.iter().map(|rule| info(rule, policy)))
    }

    /// How many rules were written. One that is compiled in two parts counts once.
    pub fn rule_count(&self) -> usize {
        let ids = |policy: &Policy| {
            let mut ids: Vec<&str> = policy.rules.iter().map(|rule| rule.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.len()
        };
        self.policies.iter().map(ids).sum()
    }

    /// What reads the texts of a direction that this actor sends or gets; `None` if no rule does.
    pub fn text_guard(&self, direction: Direction, actor: &OriginFields) -> Option<TextGuard> {
        match direction {
            Direction::Request => self.texts.request.find(actor),
            Direction::Response => self.texts.response.find(actor),
        }
    }

    /// Every rule about text, in the order of the files.
    pub fn text_rules(&self) -> impl Iterator<Item = TextRuleInfo> {
        self.texts.rules.iter().map(|rule| rule.info())
    }

    pub(crate) fn texts(&self) -> &[Arc<TextRule>] {
        &self.texts.rules
    }

    pub(crate) fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Every policy, whomever it applies to.
    pub(crate) fn policies(&self) -> &[Policy] {
        &self.policies
    }

    /// The policies that apply to whoever acts.
    pub(crate) fn policies_for(&self, actor: &OriginFields) -> impl Iterator<Item = &Policy> {
        self.policies.iter().filter(|policy| policy.applies_to(actor))
    }
}

impl TextRules {
    fn of(rules: Vec<Arc<TextRule>>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut guard = |direction| {
            Guards::new(&rules, direction).unwrap_or_else(|error| {
                // Each rule is fit for itself, so together they are too many.
                diagnostics.push(Diagnostic {
                    source: String::new(),
                    span: crate::Span::default(),
                    message: format!("the text rules cannot be used together: {error}"),
                    label: String::new(),
                    hint: Some("use fewer or smaller patterns".to_owned()),
                });
                Guards::default()
            })
        };
        let (request, response) = (guard(Direction::Request), guard(Direction::Response));
        Self { rules, request, response }
    }
}

fn info(rule: &Rule, policy: &Policy) -> RuleInfo {
    RuleInfo {
        policy: rule.policy.clone(),
        id: rule.id.clone(),
        audience: policy.audience.written(),
        who: rule.actors.written(),
        verdict: rule.verdict,
        priority: rule.priority,
        shadow: policy.shadow || rule.role == RuleRole::Shadow,
        tools: rule.tools.clone(),
        needs_arguments: rule.when.as_ref().is_some_and(Condition::needs_arguments),
        surfaces: rule.surfaces.clone(),
        reason: rule.reason.clone(),
        hint: rule.hint.clone(),
        blocks: rule.blocks.clone(),
    }
}
