//! Tool names: a folded form for comparison, and every way a name splits into server and tool.

use unicode_normalization::{UnicodeNormalization, is_nfc_quick};

/// A tool's name, as it arrived and folded for comparison.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolName {
    raw: String,
    folded: String,
    /// The server and the tool, if they are known and not just read from the name.
    known: Option<Box<KnownMeaning>>,
}

/// The server and tool that a name is known to mean, folded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct KnownMeaning {
    server: String,
    tool: String,
    certainty: Certainty,
}

/// How certain it is which server's tool a name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Certainty {
    /// It cannot mean another one.
    Certain,
    /// It is the only known one, but the name is not spelled exactly like it.
    Likely,
}

/// The prefix and the separator in callgate's own spelling of a server's tool.
const MCP: &str = "mcp__";
const BETWEEN: &str = "__";

/// One way to read a name as a server's tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameReading<'a> {
    /// The MCP server, folded.
    pub server: &'a str,
    /// The tool on that server, folded.
    pub tool: &'a str,
}

/// Why a name cannot be compared with rules. Such a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Only white space.
    #[error("the tool has no name")]
    Empty,
    /// Longer than [`ToolName::MAX_LEN`].
    #[error("the tool's name is longer than {} bytes", ToolName::MAX_LEN)]
    TooLong,
    /// Contains control characters or invisible formatting characters.
    #[error("the tool's name contains control characters")]
    Control,
}

impl ToolName {
    /// Providers allow 64 to 128 characters, and agents' MCP spellings stay below 200. A name of
    /// more than twice that length is not a real one.
    pub const MAX_LEN: usize = 512;

    /// Parses a name. Comparison ignores surrounding white space, case and Unicode composition:
    /// agents repair the first two, and people cannot see the third.
    pub fn parse(raw: &str) -> Result<Self, NameError> {
        let folded = fold(comparable(raw)?);
        Ok(Self { raw: raw.to_owned(), folded, known: None })
    }

    /// The name of a tool on a server, if both are known and not just read from a name. It is
    /// spelled `mcp__server__tool` and has only this reading, whatever characters the two contain.
    pub fn on(server: &str, tool: &str) -> Result<Self, NameError> {
        let (known, on_it) = (fold(comparable(server)?), fold(comparable(tool)?));
        let raw = format!("{MCP}{server}{BETWEEN}{tool}");
        if raw.len() > Self::MAX_LEN {
            return Err(NameError::TooLong);
        }
        let folded = format!("{MCP}{known}{BETWEEN}{on_it}");
        let known = KnownMeaning { server: known, tool: on_it, certainty: Certainty::Certain };
        Ok(Self { raw, folded, known: Some(Box::new(known)) })
    }

    /// The same name, knowing which server's tool it means. It keeps its spelling for comparison,
    /// and has only this reading.
    pub fn meaning(
        self,
        server: &str,
        tool: &str,
        certainty: Certainty,
    ) -> Result<Self, NameError> {
        let (server, tool) = (fold(comparable(server)?), fold(comparable(tool)?));
        Ok(Self { known: Some(Box::new(KnownMeaning { server, tool, certainty })), ..self })
    }

    /// How certain it is which server's tool this is; `None` if that is just read from the name.
    pub fn certainty(&self) -> Option<Certainty> {
        self.known.as_ref().map(|known| known.certainty)
    }

    /// The name exactly as it arrived.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The name for comparison: trimmed, NFC, lower case.
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// Every way the name splits into server and tool, in the spellings agents use:
    /// `mcp__server__tool`, `mcp_server_tool`, `server__tool`, `server.tool`, `server/tool`,
    /// `server:tool`. A name without a server has none. If there is more than one, the name is
    /// ambiguous: a rule that restricts tries them all, a rule that allows trusts none.
    pub fn readings(&self) -> Vec<NameReading<'_>> {
        match self.known.as_deref() {
            Some(KnownMeaning { server, tool, .. }) => vec![NameReading { server, tool }],
            None => split(&self.folded),
        }
    }
}

/// The part of a name that is compared, if it can be compared.
fn comparable(raw: &str) -> Result<&str, NameError> {
    if raw.len() > ToolName::MAX_LEN {
        return Err(NameError::TooLong);
    }
    let trimmed = raw.trim();
    if trimmed.is_empty() {
        return Err(NameError::Empty);
    }
    if trimmed.chars().any(is_unprintable) {
        return Err(NameError::Control);
    }
    Ok(trimmed)
}

/// Splits a folded name into every server and tool it may mean. Names in rules are split the same
/// way.
pub fn split(folded: &str) -> Vec<NameReading<'_>> {
    if let Some(rest) = folded.strip_prefix(MCP) {
        return splits_at(rest, BETWEEN);
    }
    if folded.contains(BETWEEN) {
        return splits_at(folded, BETWEEN);
    }
    for separator in ["/", ".", ":"] {
        if folded.contains(separator) {
            return splits_at(folded, separator);
        }
    }
    match folded.strip_prefix("mcp_") {
        Some(rest) => splits_at(rest, "_"),
        None => Vec::new(),
    }
}

fn splits_at<'a>(text: &'a str, separator: &str) -> Vec<NameReading<'a>> {
    let mut readings = Vec::new();
    for (at, _) in text.char_indices() {
        let (Some(server), Some(rest)) = (text.get(..at), text.get(at..)) else { continue };
        if let Some(tool) = rest.strip_prefix(separator)
            && !server.is_empty()
            && !tool.is_empty()
        {
            readings.push(NameReading { server, tool });
        }
    }
    readings
}

/// Folds a name or a name pattern for comparison.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).nfc().collect();
    match is_nfc_quick(text.chars()) {
        unicode_normalization::IsNormalized::Yes => lower(text),
        _ => lower(&text.nfc().collect::<String>()),
    }
}

/// Control characters, and invisible characters that make two names look the same.
fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}'
            | '\u{FEFF}' | '\u{00AD}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(name: &str) -> Vec<(String, String)> {
        let name = ToolName::parse(name).unwrap();
        name.readings().iter().map(|r| (r.server.into(), r.tool.into())).collect()
    }

    fn pair(server: &str, tool: &str) -> (String, String) {
        (server.into(), tool.into())
    }

    #[test]
    fn names_fold_to_one_spelling() {
        for raw in ["Bash", "BASH", " bash\n", "bash "] {
            assert_eq!(ToolName::parse(raw).unwrap().folded(), "bash");
        }
        let composed = ToolName::parse("caf\u{e9}").unwrap();
        let decomposed = ToolName::parse("CAFE\u{301}").unwrap();
        assert_eq!(composed.folded(), decomposed.folded());
        assert_eq!(decomposed.raw(), "CAFE\u{301}");
    }

    #[test]
    fn names_no_rule_can_read_are_refused() {
        assert_eq!(ToolName::parse("  "), Err(NameError::Empty));
        assert_eq!(ToolName::parse("a\u{0}b"), Err(NameError::Control));
        assert_eq!(ToolName::parse("ba\u{200b}sh"), Err(NameError::Control));
        assert_eq!(ToolName::parse(&"x".repeat(513)), Err(NameError::TooLong));
    }

    #[test]
    fn agents_spellings_of_a_servers_tool() {
        assert_eq!(readings("mcp__github__create_issue"), [pair("github", "create_issue")]);
        assert_eq!(readings("github.create_issue"), [pair("github", "create_issue")]);
        assert_eq!(readings("github/create_issue"), [pair("github", "create_issue")]);
        assert_eq!(readings("Bash"), []);
        assert_eq!(readings("read_file"), []);
    }

    #[test]
    fn a_tool_on_a_known_server_has_one_reading() {
        for (server, tool) in [
            ("fs", "read_file"),
            ("a", "b__c"),
            ("a__b", "c"),
            ("fs", "read.file"),
            ("my.server", "a/b:c"),
            ("fs", "__"),
            ("GitHub", "Create_Issue"),
            ("caf\u{e9}", "\u{301}x"),
        ] {
            let name = ToolName::on(server, tool).unwrap();
            assert_eq!(name.raw(), format!("mcp__{server}__{tool}"));
            let expected = (fold(server), fold(tool));
            let readings: Vec<_> = name.readings();
            assert_eq!(readings.len(), 1, "{server} {tool}");
            assert_eq!((readings[0].server.to_owned(), readings[0].tool.to_owned()), expected);
            assert_eq!(name.folded(), ToolName::parse(name.raw()).unwrap().folded());
        }
        assert_ne!(ToolName::on("a", "b__c").unwrap(), ToolName::on("a__b", "c").unwrap());
    }

    #[test]
    fn a_name_keeps_its_spelling_when_its_meaning_is_known() {
        let name = ToolName::parse("Git-Hub-Push")
            .unwrap()
            .meaning("Git-Hub", "Push", Certainty::Certain)
            .unwrap();
        assert_eq!((name.raw(), name.folded()), ("Git-Hub-Push", "git-hub-push"));
        let readings = name.readings();
        assert_eq!((readings.len(), readings[0].server, readings[0].tool), (1, "git-hub", "push"));
    }

    #[test]
    fn a_server_or_tool_that_no_rule_can_read_is_refused() {
        for (server, tool, why) in [
            ("", "x", NameError::Empty),
            ("x", " ", NameError::Empty),
            ("x\u{200b}", "x", NameError::Control),
            ("x", "x\u{7}", NameError::Control),
        ] {
            assert_eq!(ToolName::on(server, tool), Err(why), "{server:?} {tool:?}");
        }
        let long = "x".repeat(300);
        assert_eq!(ToolName::on(&long, &long), Err(NameError::TooLong));
    }

    #[test]
    fn a_name_that_splits_twice_says_so() {
        assert_eq!(readings("mcp__a__b__c"), [pair("a", "b__c"), pair("a__b", "c")]);
        assert_eq!(readings("mcp_git_hub_push").len(), 2);
    }
}
