//! All policies in force, and how they are loaded.

use std::fmt;
use std::sync::{Arc, OnceLock};

use callgate_call::{OriginFields, Surface, ToolCall};
use callgate_document::{At, Diagnostic, Source, Warning};
use callgate_effects::{Catalogue, Entry, Resolver};

use crate::condition::Condition;
use crate::document::PolicyDocument;
use crate::limit::{LimitBy, Rate, SpentLimits};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rule::{Question, Rule, RuleRole};
use crate::source;
use crate::spelling::Servers;
use crate::text::{self, Direction, Guards, TextGuard, TextRule, TextRuleInfo};
use crate::tri::Tri;
use crate::{Verdict, compile, example, lint, packs, protect};

/// Compiled policies. Each judges on its own and the strictest result counts, so one policy can
/// tighten another but never relax it.
#[derive(Debug, Default)]
pub struct Policies {
    policies: Vec<Policy>,
    texts: TextRuleSet,
    servers: Servers,
    /// The tools that the operator added to the catalogue.
    pub(crate) tools: Vec<Entry>,
    pub(crate) digest: String,
    disk: Option<Disk>,
    /// Whether they concern tools that requests offer. Asked for each request.
    concern_offers: OnceLock<bool>,
}

/// Looks at the disk of the agent's machine.
#[derive(Clone)]
struct Disk(Arc<dyn Resolver + Send>);

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Disk")
    }
}

/// The text rules of all policies.
#[derive(Debug, Default)]
struct TextRuleSet {
    rules: Vec<Arc<TextRule>>,
    request: Guards,
    response: Guards,
}

/// A rule, for lists of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleInfo {
    /// The rule's policy.
    pub policy: String,
    /// The rule's id.
    pub id: String,
    /// The callers that the policy applies to: each key with its globs. Empty for every caller.
    pub audience: Vec<(&'static str, Vec<String>)>,
    /// The callers that the rule applies to, in the same form.
    pub who: Vec<(&'static str, Vec<String>)>,
    /// Its verdict.
    pub verdict: Verdict,
    /// The rule with the lowest number decides.
    pub priority: i64,
    /// Whether the rule, or its whole policy, is only recorded.
    pub shadow: bool,
    /// The tools it names, as written. Empty for every tool.
    pub tools: Vec<String>,
    /// The MCP servers it names. Nothing is every server, and tools without one.
    pub servers: Vec<String>,
    /// Whether it needs the arguments.
    pub needs_arguments: bool,
    /// The rate above which it matches, and what that is counted by.
    pub limit: Option<(Rate, Vec<LimitBy>)>,
    /// The surfaces on which it applies.
    pub surfaces: Vec<Surface>,
    /// Why.
    pub reason: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// The kind of action that it blocks, as it states it.
    pub blocks: Option<String>,
}

/// A rule, for a caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerRule {
    /// The rule.
    pub info: RuleInfo,
    /// Whether it certainly applies to the caller. A rule that restricts also applies if that is not
    /// known.
    pub is_certain: bool,
}

/// How many examples a rule has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleCount {
    /// The policy.
    pub policy: String,
    /// The rule.
    pub rule: String,
    /// The number of its examples.
    pub examples: usize,
}

/// What a policy does with calls that none of its rules decides, for people who list rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultInfo {
    /// The policy.
    pub policy: String,
    /// The callers that the policy applies to: each key with its globs. Empty for every caller.
    pub audience: Vec<(&'static str, Vec<String>)>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the policy is only recorded.
    pub shadow: bool,
    /// Where this verdict is the default.
    pub surfaces: Vec<Surface>,
}

impl Policies {
    /// Compiles rule files, or returns every problem in all of them.
    pub fn compile(
        sources: &[Source],
        catalogue: &Catalogue,
    ) -> Result<(Self, Vec<Warning>), Vec<Diagnostic>> {
        Self::compile_for(sources, catalogue, &Surface::ALL)
    }

    /// Like [`Self::compile`], with a warning for each rule whose surfaces are all missing from
    /// `served`.
    pub fn compile_for(
        sources: &[Source],
        catalogue: &Catalogue,
        served: &[Surface],
    ) -> Result<(Self, Vec<Warning>), Vec<Diagnostic>> {
        let documents: Vec<_> = sources.iter().map(PolicyDocument::file).collect();
        Self::compile_documents(&documents, catalogue, served)
    }

    /// Like [`Self::compile_for`], for policies that may be part of other files.
    pub fn compile_documents(
        documents: &[PolicyDocument<'_>],
        catalogue: &Catalogue,
        served: &[Surface],
    ) -> Result<(Self, Vec<Warning>), Vec<Diagnostic>> {
        let mut policies: Vec<Policy> = Vec::new();
        let mut servers = Servers::new(catalogue);
        let mut texts: Vec<Arc<TextRule>> = Vec::new();
        let (mut diagnostics, mut warnings) = (Vec::new(), Vec::new());
        for document in documents {
            let source = document.source();
            let mut problems = packs::problems(source);
            for mut written in source::policies(document, &mut problems) {
                let known = policies.iter().any(|known| {
                    written.name.as_ref().is_some_and(|name| name.value == known.name)
                });
                if let (true, Some(name)) = (known, &written.name) {
                    problems
                        .add(name.span, format!("duplicate policy name `{}`", name.value))
                        .hint("give each policy a name of its own");
                }
                let is_reserved = |name: &&At<String>| name.value == protect::NAME;
                if let Some(name) = written.name.as_ref().filter(is_reserved) {
                    problems
                        .add(name.span, format!("the name `{}` is reserved", name.value))
                        .hint("it is the name of the rules that protect callgate itself");
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
                warnings.extend(lint::unknown_arguments(&policy, catalogue, source));
                policies.push(policy);
            }
            diagnostics.extend(problems.into_list());
        }
        let texts = TextRuleSet::of(texts, &mut diagnostics);
        match diagnostics.is_empty() {
            true => {
                let tools = catalogue.extra().to_vec();
                let digest = Self::digest_of(&policies, &tools);
                let concern_offers = OnceLock::new();
                let disk = None;
                let loaded = Self { policies, texts, servers, tools, digest, disk, concern_offers };
                Ok((loaded, warnings))
            }
            false => Err(diagnostics),
        }
    }

    /// The same policies, knowing that these MCP servers exist: rules that restrict also read a
    /// name as a tool of theirs if it may mean one.
    pub fn with_servers<T: AsRef<str>>(mut self, declared: impl IntoIterator<Item = T>) -> Self {
        declared.into_iter().for_each(|server| self.servers.add_declared(server.as_ref()));
        self
    }

    /// The same policies at a door on the agent's machine: paths in calls are followed through
    /// symbolic links, and scripts that calls run are read. Judging a call then reads the disk.
    pub fn with_disk(mut self, disk: Arc<dyn Resolver + Send>) -> Self {
        self.disk = Some(Disk(disk));
        self
    }

    /// A question about a call.
    pub(crate) fn question<'c>(
        &'c self,
        call: &'c ToolCall,
        moment: &'c Moment,
        limits: &'c SpentLimits,
    ) -> Question<'c> {
        let disk = self.disk.as_ref().map(|Disk(disk)| &**disk as &dyn Resolver);
        Question::new(call, moment, limits, &self.servers).with_disk(disk)
    }

    /// Adds a policy that judges in addition to the others.
    pub(crate) fn push(&mut self, policy: Policy) {
        self.policies.push(policy);
        self.digest = Self::digest_of(&self.policies, &self.tools);
    }

    /// No policies: every call passes, covered by no rule.
    pub fn none() -> Self {
        Self::default()
    }

    /// Whether any policy has a rule or a default other than allow for this surface.
    pub fn concern(&self, surface: Surface) -> bool {
        match surface {
            Surface::Inbound => *self.concern_offers.get_or_init(|| self.has_rules_at(surface)),
            _ => self.has_rules_at(surface),
        }
    }

    fn has_rules_at(&self, surface: Surface) -> bool {
        let concerned = |policy: &Policy| {
            policy.at(surface).next().is_some() || policy.default_at(surface) != Verdict::Allow
        };
        self.policies.iter().any(concerned)
    }

    /// Whether any rule or default could deny a call at this surface.
    pub fn may_deny(&self, surface: Surface) -> bool {
        let denies = |verdict: Verdict| !matches!(verdict, Verdict::Allow | Verdict::Audit);
        self.policies.iter().any(|policy| {
            denies(policy.default_at(surface))
                || policy.at(surface).any(|(_, rule)| denies(rule.verdict))
        })
    }

    /// Every rule, in the order of the files.
    pub fn rules(&self) -> impl Iterator<Item = RuleInfo> {
        self.policies.iter().flat_map(|policy| policy.rules.iter().map(|rule| info(rule, policy)))
    }

    /// Every rule and default that applies to a caller, or may apply.
    pub fn for_caller(&self, caller: &OriginFields) -> (Vec<CallerRule>, Vec<DefaultInfo>) {
        let (mut rules, mut defaults) = (Vec::new(), Vec::new());
        for policy in self.policies_for(caller) {
            defaults.extend(self::defaults(policy));
            for rule in &policy.rules {
                let applies = policy.audience.include(caller).and(rule.actors.include(caller));
                let may_apply = match applies {
                    Tri::True => true,
                    Tri::Unknown => rule.restricts(),
                    Tri::False => false,
                };
                if may_apply {
                    let is_certain = applies == Tri::True;
                    rules.push(CallerRule { info: info(rule, policy), is_certain });
                }
            }
        }
        // A rule that is compiled into two parts counts once.
        rules.dedup_by(|one, other| {
            (&one.info.policy, &one.info.id) == (&other.info.policy, &other.info.id)
        });
        (rules, defaults)
    }

    /// The defaults of every policy, in the order of the files.
    pub fn defaults(&self) -> impl Iterator<Item = DefaultInfo> {
        self.policies.iter().flat_map(defaults)
    }

    /// The number of rules as written, without those that protect callgate. A rule that is compiled
    /// into two parts counts once.
    pub fn rule_count(&self) -> usize {
        let ids = |policy: &Policy| {
            let mut ids: Vec<&str> = policy.rules.iter().map(|rule| rule.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            ids.len()
        };
        self.policies.iter().filter(|policy| policy.name != protect::NAME).map(ids).sum()
    }

    /// The examples inside the rules, for each rule that has some. All of them hold, or the policy
    /// would not have compiled.
    pub fn example_counts(&self) -> Vec<ExampleCount> {
        let rules = self.policies.iter().flat_map(|policy| &policy.rules);
        let mut counts: Vec<ExampleCount> = rules
            .filter(|rule| rule.examples > 0)
            .map(|rule| ExampleCount {
                policy: rule.policy.clone(),
                rule: rule.id.clone(),
                examples: rule.examples,
            })
            .collect();
        // A rule that is compiled into two parts has the same examples in both.
        counts.dedup();
        counts
    }

    /// The text rules for this caller and direction; `None` if there are none.
    pub fn text_guard(&self, direction: Direction, actor: &OriginFields) -> Option<TextGuard> {
        match direction {
            Direction::Request => self.texts.request.find(actor),
            Direction::Response => self.texts.response.find(actor),
        }
    }

    /// Every text rule, in the order of the files.
    pub fn text_rules(&self) -> impl Iterator<Item = TextRuleInfo> {
        self.texts.rules.iter().map(|rule| rule.info())
    }

    pub(crate) fn texts(&self) -> &[Arc<TextRule>] {
        &self.texts.rules
    }

    /// Every policy, whichever callers it applies to.
    pub(crate) fn policies(&self) -> &[Policy] {
        &self.policies
    }

    /// Replaces each policy.
    pub(crate) fn map_policies(&mut self, change: impl FnMut(Policy) -> Policy) {
        self.policies = std::mem::take(&mut self.policies).into_iter().map(change).collect();
    }

    /// The policies that apply to this caller.
    pub(crate) fn policies_for(&self, actor: &OriginFields) -> impl Iterator<Item = &Policy> {
        self.policies.iter().filter(|policy| policy.applies_to(actor))
    }
}

impl TextRuleSet {
    fn of(rules: Vec<Arc<TextRule>>, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut guard = |direction| {
            Guards::new(&rules, direction).unwrap_or_else(|error| {
                // Each rule compiled on its own, so together they are too large.
                diagnostics.push(Diagnostic {
                    source: String::new(),
                    span: callgate_document::SourceSpan::default(),
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
        servers: rule.names.servers.iter().flatten().map(|glob| glob.text().to_owned()).collect(),
        limit: rule.limit.as_ref().map(|limit| (limit.rate, limit.by.clone())),
        needs_arguments: rule.when.as_ref().is_some_and(Condition::needs_arguments),
        surfaces: rule.surfaces.clone(),
        reason: rule.reason.clone(),
        hint: rule.hint.clone(),
        blocks: rule.blocks.clone(),
    }
}

/// One entry for each verdict that is a default somewhere. Where there are no calls, everything is
/// allowed unless the policy sets another default; that is not worth an entry.
fn defaults(policy: &Policy) -> Vec<DefaultInfo> {
    let mut found: Vec<DefaultInfo> = Vec::new();
    for surface in Surface::ALL {
        let verdict = policy.default_at(surface);
        let has_calls = matches!(surface, Surface::Response | Surface::Mcp | Surface::Hook);
        if !has_calls && verdict == Verdict::Allow {
            continue;
        }
        match found.iter_mut().find(|info| info.verdict == verdict) {
            Some(info) => info.surfaces.push(surface),
            None => found.push(DefaultInfo {
                policy: policy.name.clone(),
                audience: policy.audience.written(),
                verdict,
                shadow: policy.shadow,
                surfaces: vec![surface],
            }),
        }
    }
    found
}
