//! The formats that can be imported, and how their files are recognised.

use callgate_document::{Node, Problems, Source, Yaml};

use crate::read::{self, get, has};

/// A format of another system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `settings.json` of Claude Code.
    ClaudeCode,
    /// `.rules` files of Codex.
    CodexRules,
    /// `requirements.toml` of Codex.
    CodexRequirements,
    /// `policies/*.toml` of Gemini CLI.
    Gemini,
    /// `cli-config.json`, `cli.json` and `permissions.json` of Cursor.
    Cursor,
    /// `opencode.json`.
    Opencode,
    /// `sandbox.mcp` of agentsh.
    Agentsh,
    /// `rules.yaml` of superego.
    Superego,
    /// Tool policies of arfa, as JSON or CSV.
    Arfa,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 9] = [
        Self::ClaudeCode,
        Self::CodexRules,
        Self::CodexRequirements,
        Self::Gemini,
        Self::Cursor,
        Self::Opencode,
        Self::Agentsh,
        Self::Superego,
        Self::Arfa,
    ];

    /// The word on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::CodexRules => "codex",
            Self::CodexRequirements => "codex-requirements",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::Opencode => "opencode",
            Self::Agentsh => "agentsh",
            Self::Superego => "superego",
            Self::Arfa => "arfa",
        }
    }

    /// The format of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str() == word)
    }

    /// The format of a text, by what is in it.
    pub fn sniff(source: &Source) -> Option<Self> {
        let text = source.text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with(['{', '[', '/']) && !looks_like_toml(text) {
            return Self::of_json(&tree(source, read::json::read)?);
        }
        if text.lines().any(is_rule_call) {
            return Some(Self::CodexRules);
        }
        let header = text.lines().next().unwrap_or_default();
        if header.contains(',')
            && header.split(',').any(|name| name.trim().trim_matches('"') == "tool_name")
        {
            return Some(Self::Arfa);
        }
        if let Some(node) = tree(source, read::toml::read) {
            return Self::of_toml(&node);
        }
        Self::of_yaml(&tree(source, callgate_document::parse)?)
    }

    fn of_json(node: &Node) -> Option<Self> {
        if let Yaml::List(items) = &node.value {
            return items.iter().any(|item| has(item, &["tool_name"])).then_some(Self::Arfa);
        }
        if has(node, &["tool_policies", "policies"]) {
            return Some(Self::Arfa);
        }
        if has(node, &["permission"]) || is_opencode(node) {
            return Some(Self::Opencode);
        }
        if has(node, &["mcpAllowlist", "terminalAllowlist"]) {
            return Some(Self::Cursor);
        }
        match get(node, "permissions") {
            Some(permissions) if is_cursor(permissions, node) => Some(Self::Cursor),
            Some(_) => Some(Self::ClaudeCode),
            None => Self::of_yaml(node),
        }
    }

    fn of_toml(node: &Node) -> Option<Self> {
        if has(node, &["rule", "safety_checker"]) {
            return Some(Self::Gemini);
        }
        let of_requirements = |key: &str| key.starts_with("allowed_") || key.starts_with("allow_");
        let keys = match &node.value {
            Yaml::Map(entries) => entries.as_slice(),
            _ => &[],
        };
        let known = ["rules", "experimental_network", "feature_requirements"];
        keys.iter()
            .any(|(key, _)| of_requirements(&key.name) || known.contains(&key.name.as_str()))
            .then_some(Self::CodexRequirements)
    }

    fn of_yaml(node: &Node) -> Option<Self> {
        if get(node, "sandbox").is_some_and(|sandbox| has(sandbox, &["mcp"])) {
            return Some(Self::Agentsh);
        }
        if has(node, &["tool_policies"]) {
            return Some(Self::Arfa);
        }
        let rules = get(node, "rules").map(read::items).unwrap_or_default();
        rules.iter().any(|rule| has(rule, &["conditions", "action"])).then_some(Self::Superego)
    }
}

/// The functions of Codex' rule files.
const RULE_CALLS: [&str; 3] = ["prefix_rule", "network_rule", "host_executable"];

/// Whether a line begins a call of one of them.
fn is_rule_call(line: &str) -> bool {
    let line = line.trim_start();
    let after = RULE_CALLS.iter().find_map(|call| line.strip_prefix(call));
    after.is_some_and(|after| after.trim_start().starts_with('('))
}

/// `[rules]` and `[[rule]]` begin a table, and not a list.
fn looks_like_toml(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().trim();
    let inner = line.trim_start_matches('[');
    inner.len() < line.len()
        && inner.split(']').next().is_some_and(|name| {
            !name.is_empty()
                && name.chars().all(|it| it.is_ascii_alphanumeric() || "_-. \"".contains(it))
                && !name.starts_with(['"', ' '])
                && line.contains(']')
        })
}

/// opencode's other keys of rules.
fn is_opencode(node: &Node) -> bool {
    let schema = get(node, "$schema").and_then(read::text).unwrap_or_default();
    schema.contains("opencode.ai")
}

/// Both have `permissions` with `allow` and `deny`. Cursor's rules name `Shell` and `Mcp`.
fn is_cursor(permissions: &Node, root: &Node) -> bool {
    let rules = ["allow", "deny"].into_iter().filter_map(|key| get(permissions, key));
    let mut rules = rules.flat_map(read::items).filter_map(read::text);
    rules.any(|rule| rule.starts_with("Shell(") || rule.starts_with("Mcp("))
        || has(root, &["editor", "approvalMode"])
}

fn tree(
    source: &Source,
    parse: impl Fn(&Source, &mut Problems<'_>) -> Option<Node>,
) -> Option<Node> {
    parse(source, &mut Problems::new(source))
}
