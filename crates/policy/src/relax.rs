//! A built-in policy with some of its rules disabled, or with exceptions:
//! `{ use: builtin:starter, disable: [no-shutdown], except: [{ rule: no-sending, when: { connects: ci.example.com } }] }`.

use callgate_document::{
    At, Key, Mapping, Node, Problems, Source, SourceSpan, Yaml, did_you_mean, list, parse, text,
    texts,
};

use crate::condition;

/// What is taken away from a built-in policy.
#[derive(Debug, Clone)]
pub struct Relaxation {
    /// The built-in policy.
    pub policy: At<String>,
    disable: Vec<At<String>>,
    except: Vec<RuleException>,
}

/// Calls that some rules do not match.
#[derive(Debug, Clone)]
struct RuleException {
    rules: Vec<At<String>>,
    when: Node,
}

impl Relaxation {
    /// The built-in policy as it is.
    pub fn none(policy: At<String>) -> Self {
        Self { policy, disable: Vec::new(), except: Vec::new() }
    }

    /// Whether an entry of `policies` is one: it has the key `use`.
    pub fn is_one(node: &Node) -> bool {
        matches!(&node.value, Yaml::Map(entries) if entries.iter().any(|(key, _)| key.name == "use"))
    }

    /// Reads an entry of `policies` that has the key `use`.
    pub fn read(node: &Node, problems: &mut Problems<'_>) -> Option<Self> {
        let fields = Mapping::of(node, "an entry of `policies`", problems)?;
        fields.check(&["use", "disable", "except"], &[], problems);
        let disable = match fields.get("disable") {
            Some(Node { value: Yaml::List(items), .. }) if items.is_empty() => Vec::new(),
            Some(node) => texts(node, "`disable`", problems),
            None => Vec::new(),
        };
        let except: Vec<RuleException> = fields
            .get("except")
            .map(|node| list(node, "`except`", problems))
            .unwrap_or_default()
            .iter()
            .filter_map(|node| RuleException::read(node, problems))
            .collect();
        let policy = text(fields.get("use")?, "`use`", problems)?;
        Some(Self { policy, disable, except })
    }

    /// What is taken away, in a few words; `None` if nothing is.
    pub fn describe(&self) -> Option<String> {
        let names = |list: &[At<String>]| {
            list.iter().map(|at| at.value.as_str()).collect::<Vec<_>>().join(", ")
        };
        let without =
            (!self.disable.is_empty()).then(|| format!("without {}", names(&self.disable)));
        let except = self
            .except
            .iter()
            .map(|it| format!("{} except {}", names(&it.rules), it.when.to_json()));
        let parts: Vec<String> = without.into_iter().chain(except).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// The policy that is left. It has no examples: those are about the whole policy, and callgate's
    /// own tests check them. Reports ids of rules that do not exist.
    pub fn apply(&self, builtin: &Source, problems: &mut Problems<'_>) -> Option<Node> {
        let text = without_examples(&builtin.text);
        let short = Source { name: builtin.name.clone(), text };
        let mut tree = parse(&short, &mut Problems::new(&short))?;
        let rules = rules_of(&mut tree)?;
        let ids: Vec<String> = rules.iter().filter_map(id_of).collect();
        let named = self.disable.iter().chain(self.except.iter().flat_map(|it| &it.rules));
        for name in named.filter(|name| !ids.contains(&name.value)) {
            let hint = did_you_mean(&name.value, ids.iter().map(String::as_str))
                .unwrap_or_else(|| format!("its rules are {}", ids.join(", ")));
            problems
                .add(name.span, format!("no rule `{}` in `{}`", name.value, self.policy.value))
                .hint(hint);
        }
        rules.retain(|rule| !names_rule(&self.disable, rule));
        for rule in rules {
            let except: Vec<Node> = self
                .except
                .iter()
                .filter(|it| names_rule(&it.rules, rule))
                .map(|it| placed(&it.when, rule.span))
                .collect();
            if !except.is_empty() {
                narrow(rule, except);
            }
        }
        Some(tree)
    }
}

impl RuleException {
    fn read(node: &Node, problems: &mut Problems<'_>) -> Option<Self> {
        let fields = Mapping::of(node, "an entry of `except`", problems)?;
        fields.check(&["rule", "when"], &[], problems);
        let (Some(rule), Some(when)) = (fields.get("rule"), fields.get("when")) else {
            problems
                .add(node.span, "an exception needs `rule` and `when`")
                .hint("for example `{ rule: no-sending, when: { connects: ci.example.com } }`");
            return None;
        };
        // What is wrong with it is reported here, where its place is known.
        condition::compile(when, problems)?;
        Some(Self { rules: texts(rule, "`rule`", problems), when: when.clone() })
    }
}

/// A built-in policy with blanks instead of its examples, which are half of its text: reading
/// them would take as long as reading the rules. Everything else keeps its place.
pub(crate) fn without_examples(text: &str) -> String {
    let mut is_example = false;
    let mut short = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        is_example = line.trim_end() == "    examples:" || is_example && line.starts_with("      ");
        match is_example {
            true => short.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' })),
            false => short.push_str(line),
        }
    }
    short
}

/// Adds exceptions to the condition of a rule.
fn narrow(rule: &mut Node, except: Vec<Node>) {
    let span = rule.span;
    let Yaml::Map(entries) = &mut rule.value else { return };
    let key = |name: &str| Key { name: name.to_owned(), span };
    let map = |name, value| Node { span, value: Yaml::Map(vec![(key(name), value)]) };
    let items = |items| Node { span, value: Yaml::List(items) };
    let not = map("not", map("any", items(except)));
    match entries.iter_mut().find(|(key, _)| key.name == "when") {
        Some((_, when)) => *when = map("all", items(vec![when.clone(), not])),
        None => entries.push((key("when"), not)),
    }
}

/// A node of the config in the text of the built-in policy, where warnings about it can point.
fn placed(node: &Node, span: SourceSpan) -> Node {
    let value = match &node.value {
        Yaml::List(items) => Yaml::List(items.iter().map(|item| placed(item, span)).collect()),
        Yaml::Map(entries) => Yaml::Map(
            entries
                .iter()
                .map(|(key, value)| (Key { span, ..key.clone() }, placed(value, span)))
                .collect(),
        ),
        other => other.clone(),
    };
    Node { span, value }
}

fn rules_of(tree: &mut Node) -> Option<&mut Vec<Node>> {
    let Yaml::Map(entries) = &mut tree.value else { return None };
    let (_, rules) = entries.iter_mut().find(|(key, _)| key.name == "rules")?;
    match &mut rules.value {
        Yaml::List(rules) => Some(rules),
        _ => None,
    }
}

fn names_rule(names: &[At<String>], rule: &Node) -> bool {
    id_of(rule).is_some_and(|id| names.iter().any(|name| name.value == id))
}

fn id_of(rule: &Node) -> Option<String> {
    let Yaml::Map(entries) = &rule.value else { return None };
    match entries.iter().find(|(key, _)| key.name == "id").map(|(_, node)| &node.value) {
        Some(Yaml::String(id)) => Some(id.clone()),
        _ => None,
    }
}
