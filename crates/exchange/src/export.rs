//! Policies to the rules of agents.

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod globs;
mod native;
mod opencode;
mod rules;

use callgate_document::{Diagnostic, Node, Problems, Source, Yaml, parse};

use crate::change::RuleDifference;
use crate::format::Format;
use crate::import::import;
use crate::read::get;
use native::Native;

/// An agent that has rules of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code: `settings.json`.
    ClaudeCode,
    /// Codex: a `.rules` file.
    Codex,
    /// Gemini CLI: `policies/*.toml`.
    Gemini,
    /// Cursor: `.cursor/cli.json`.
    Cursor,
    /// opencode: `opencode.json`.
    Opencode,
}

impl Agent {
    /// Every agent.
    pub const ALL: [Self; 5] =
        [Self::ClaudeCode, Self::Codex, Self::Gemini, Self::Cursor, Self::Opencode];

    /// The word on the command line, which is also the name that rules use for the agent.
    pub fn as_str(self) -> &'static str {
        self.format().as_str()
    }

    /// The agent of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.as_str() == word)
    }

    /// The format of its rules.
    pub fn format(self) -> Format {
        match self {
            Self::ClaudeCode => Format::ClaudeCode,
            Self::Codex => Format::CodexRules,
            Self::Gemini => Format::Gemini,
            Self::Cursor => Format::Cursor,
            Self::Opencode => Format::Opencode,
        }
    }

    /// Where its rules belong.
    pub fn place(self) -> &'static str {
        match self {
            Self::ClaudeCode => ".claude/settings.json, or managed-settings.json",
            Self::Codex => "~/.codex/rules/callgate.rules",
            Self::Gemini => "~/.gemini/policies/callgate.toml",
            Self::Cursor => ".cursor/cli.json",
            Self::Opencode => "opencode.json",
        }
    }
}

/// The policies to export, as they are written.
#[derive(Debug, Default)]
pub struct WrittenPolicies {
    sources: Vec<Source>,
    policies: Vec<(usize, Node)>,
}

impl WrittenPolicies {
    /// Adds the policies of a file, or returns every problem of its syntax.
    pub fn add_file(&mut self, source: Source) -> Result<(), Vec<Diagnostic>> {
        let mut problems = Problems::new(&source);
        let root = parse(&source, &mut problems);
        let found = problems.into_list();
        if !found.is_empty() {
            return Err(found);
        }
        let nodes = match root.as_ref().and_then(|root| get(root, "policies")) {
            Some(Node { value: Yaml::List(list), .. }) => list.clone(),
            _ => root.into_iter().collect(),
        };
        self.add_nodes(source, nodes);
        Ok(())
    }

    /// Adds policies that were read before.
    pub fn add_nodes(&mut self, source: Source, nodes: Vec<Node>) {
        let at = self.sources.len();
        self.policies.extend(nodes.into_iter().map(|node| (at, node)));
        self.sources.push(source);
    }

    /// The files.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }
}

/// The rules of an agent.
#[derive(Debug)]
pub struct Exported {
    /// The text of the file.
    pub text: String,
    /// The number of rules of the policies that it covers, at least in part.
    pub rules: usize,
    /// The number of rules in it.
    pub native_rules: usize,
    /// What it does not cover, in the order of the files.
    pub changes: Vec<RuleDifference>,
}

/// Writes what the policies deny and ask about as rules of an agent.
///
/// The result is read back before it is returned; a problem then is a defect of this function.
pub fn export(policies: &WrittenPolicies, agent: Agent) -> Result<Exported, Vec<Diagnostic>> {
    let mut changes = Vec::new();
    let mut natives = Vec::new();
    let mut rules = 0;
    for (source, policy) in &policies.policies {
        for rule in rules::of_policy(policy, *source, agent, &mut changes) {
            let fits = rule.natives(agent, &mut changes);
            rules += usize::from(!fits.is_empty());
            natives.extend(fits);
        }
    }
    natives.sort_by_key(|native: &Native| std::cmp::Reverse(native.decision));
    let text = match agent {
        Agent::ClaudeCode => claude_code::text(&natives),
        Agent::Codex => codex::text(&natives),
        Agent::Gemini => gemini::text(&natives),
        Agent::Cursor => cursor::text(&natives),
        Agent::Opencode => opencode::text(&natives),
    };
    let written = Source { name: agent.as_str().to_owned(), text: text.clone() };
    if !natives.is_empty() {
        import(&written, Some(agent.format()))?;
    }
    changes.sort_by_key(|change| (change.source, change.span.start));
    Ok(Exported { text, rules, native_rules: natives.len(), changes })
}
