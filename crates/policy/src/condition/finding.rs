//! The condition `finding`: whether an inspection of an MCP server's texts found something.

use callgate_document::{Mapping, Node, Problems, Yaml};
use callgate_json::quote;
use callgate_scan::inspect::{Finding, FindingClass, Severity};

use super::{Evidence, KeyDoc, LeafCondition, Scene};
use crate::denial::cut;
use crate::explain::TestExplanation;
use crate::finding::{Findings, describe};
use crate::judgement::Matched;
use crate::source::finding::{classes, severity};
use crate::tri::Tri;

/// Which findings a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FindingCondition {
    /// The class is one of these; any class if empty.
    classes: Vec<FindingClass>,
    /// The severity is at least this.
    severity: Option<Severity>,
}

/// Stands for every finding.
const ANY: &str = "any";

impl LeafCondition for FindingCondition {
    const HEADS: &'static [&'static str] = &["finding"];

    const KEYS: &'static [KeyDoc] = &[KeyDoc {
        keys: &["finding"],
        meaning: "`any`, or [which findings](#keys-of-finding): inspection found something \
                  like this in text from an MCP server; takes no operator",
    }];

    /// `finding: any`, or `finding: { class: [..], severity: high }` with either left out.
    fn compile(fields: &Mapping<'_>, problems: &mut Problems<'_>) -> Option<Self> {
        let node = fields.get("finding")?;
        if let Yaml::String(written) = &node.value {
            return any(written, node, problems);
        }
        let fields = Mapping::of(node, "`finding`", problems)?;
        let before = problems.len();
        fields.check(&["class", "severity"], &[], problems);
        if fields.entries.is_empty() {
            problems.add(node.span, "`finding` names nothing").hint("write `finding: any`");
        }
        let classes = fields.get("class").map(|node| classes(node, problems)).unwrap_or_default();
        let severity = fields.get("severity").and_then(|node| severity(node, problems));
        (problems.len() == before).then_some(Self { classes, severity })
    }

    fn evidence(&self) -> Evidence {
        Evidence::Findings
    }

    fn holds(&self, scene: &Scene<'_>) -> Tri {
        match scene.findings {
            Findings::NotInspected => Tri::Unknown,
            Findings::Of(list) => list.iter().any(|finding| self.wants(finding)).into(),
        }
    }

    /// Names the class of the worst finding. The model reads this, and must not be given the very
    /// text that was found.
    fn matched(&self, scene: &Scene<'_>) -> Option<Matched> {
        let Findings::Of(list) = scene.findings else { return None };
        let wanted = list.iter().filter(|finding| self.wants(finding));
        let worst = wanted.max_by_key(|finding| finding.severity)?;
        let value = format!("{} ({})", worst.class, worst.severity);
        Some(Matched { path: "finding".to_owned(), value })
    }

    fn why_unknown(&self, scene: &Scene<'_>) -> Option<String> {
        let unknown = scene.findings == Findings::NotInspected;
        unknown.then(|| "nothing of the tool was inspected".to_owned())
    }

    fn explain(&self, scene: &Scene<'_>) -> TestExplanation {
        let found = match scene.findings {
            Findings::Of(list) => list,
            Findings::NotInspected => &[],
        };
        let shown = found.iter().map(|it| quote(&cut(&describe(it), Matched::MAX_CHARS)));
        TestExplanation::new("finding", "in", self.as_json(), shown)
    }

    fn canonical(&self) -> String {
        format!("finding {}", self.as_json())
    }
}

impl FindingCondition {
    fn wants(&self, finding: &Finding) -> bool {
        (self.classes.is_empty() || self.classes.contains(&finding.class))
            && self.severity.is_none_or(|least| finding.severity >= least)
    }

    /// The value of `finding` in the rule, as JSON.
    fn as_json(&self) -> String {
        let classes: Vec<String> = self.classes.iter().map(|class| quote(class.word())).collect();
        let class = (!classes.is_empty()).then(|| format!("\"class\":[{}]", classes.join(",")));
        let severity = self.severity.map(|least| format!("\"severity\":{}", quote(least.word())));
        let parts: Vec<String> = class.into_iter().chain(severity).collect();
        match parts.is_empty() {
            true => quote(ANY),
            false => format!("{{{}}}", parts.join(",")),
        }
    }
}

fn any(written: &str, node: &Node, problems: &mut Problems<'_>) -> Option<FindingCondition> {
    if written == ANY {
        return Some(FindingCondition { classes: Vec::new(), severity: None });
    }
    problems
        .add(node.span, format!("`finding` cannot be `{written}`"))
        .hint("write `finding: any`, or `finding: { class: [directive], severity: high }`");
    None
}
