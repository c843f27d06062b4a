//! Where a rule is written.

use callgate_document::{Node, Problems, Source, SourceSpan, Yaml, parse};

/// A rule in a file.
pub(crate) struct LocatedRule {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) span: SourceSpan,
    /// Its condition as JSON.
    pub(crate) when: Option<String>,
}

impl LocatedRule {
    /// The rule of this policy and id, in one of these files.
    pub(crate) fn find(sources: &[Source], policy: &str, rule: &str) -> Option<Self> {
        sources.iter().find_map(|source| {
            let tree = parse(source, &mut Problems::new(source))?;
            let policies = match get(&tree, "policies").map(|node| &node.value) {
                Some(Yaml::List(entries)) => entries.iter().collect(),
                _ => vec![&tree],
            };
            let named = |node: &&&Node| get(node, "policy").and_then(text) == Some(policy);
            let found = policies.iter().find(named)?;
            let Yaml::List(rules) = &get(found, "rules")?.value else { return None };
            let found = rules.iter().find(|node| get(node, "id").and_then(text) == Some(rule))?;
            let when = get(found, "when").map(Node::to_json);
            Some(Self { file: source.name.clone(), line: found.span.line, span: found.span, when })
        })
    }
}

fn get<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Yaml::Map(entries) = &node.value else { return None };
    entries.iter().find(|(known, _)| known.name == key).map(|(_, value)| value)
}

fn text(node: &Node) -> Option<&str> {
    match &node.value {
        Yaml::String(text) => Some(text),
        _ => None,
    }
}
