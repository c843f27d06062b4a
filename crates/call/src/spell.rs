//! How agents spell the name of a server's tool: one table, shared by rules, lists and the
//! registry. It is used to look up names of known servers and tools. On its own it never decides
//! where the server part of a name ends.

use crate::name::{NameReading, fold};

/// One spelling: what precedes the server, what separates it from the tool, and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SpellingPattern {
    before: &'static str,
    between: &'static str,
    after: &'static str,
}

const fn pattern(before: &'static str, between: &'static str) -> SpellingPattern {
    SpellingPattern { before, between, after: "" }
}

/// Every known spelling, and who uses it.
const PATTERNS: [SpellingPattern; 17] = [
    // Claude Code, Codex, Amp
    pattern("mcp__", "__"),
    // Gemini CLI, VS Code, Cursor, Crush
    pattern("mcp_", "_"),
    // Copilot CLI, LiteLLM
    pattern("", "-"),
    // opencode, Continue, FastMCP
    pattern("", "_"),
    // goose, MetaMCP
    pattern("", "__"),
    // Amazon's gateways, MCProxy
    pattern("", "___"),
    // LobeChat
    pattern("", "____"),
    SpellingPattern { before: "", between: "____", after: "____mcp" },
    // SDKs and other gateways
    pattern("", "."),
    pattern("", "/"),
    pattern("", ":"),
    // Roo Code
    pattern("mcp--", "--"),
    pattern("mcp-", "-"),
    pattern("mcp.", "."),
    pattern("mcp/", "/"),
    pattern("mcp:", ":"),
    // Kiro
    pattern("@", "/"),
];

/// LibreChat writes the tool first: `<tool>_mcp_<server>`.
const TOOL_FIRST: &str = "_mcp_";

/// Namespaces in which models see all of their tools. Models put them before a tool's name, and
/// clients remove them: OpenAI's, then Gemini's.
const NAMESPACES_OF_ALL: [&str; 3] = ["functions.", "default_api.", "default_api:"];

/// Prefixes that some clients put before all their tools, including those without a server, and
/// remove from the model's answer: opencode with a Claude login, hermes-agent.
const MARKS_OF_ALL: [&str; 2] = ["mcp__", "mcp_"];

/// LobeChat's separator: `<server>____<tool>____<kind>`. LobeChat ignores anything after the kind.
const LOBE: &str = "____";

/// The most words of a server's name when a name is split. Servers have one to four.
const MAX_SERVER_WORDS: usize = 16;

/// The prefixes of a namespace, for agents that send it separately from the name.
const NAMESPACES: [&str; 3] = ["", "mcp__", "mcp_"];

/// Agents shorten names that are longer than their API accepts: 60 to 64 characters.
const MAX_UNSHORTENED: usize = 60;
/// The possible lengths of a shortened name: agents use most of the space they have.
const MIN_SHORTENED: usize = 48;
const MAX_SHORTENED: usize = 64;
/// How many characters every agent keeps at the start when it shortens a name: Codex keeps 24,
/// Gemini CLI 28. Fewer here, for other agents.
const KEPT_PREFIX: usize = 20;

/// Every spelling, folded, each once.
pub fn spellings(server: &str, tool: &str) -> Vec<String> {
    let (servers, tools) = (part(server), part(tool));
    let mut all = Vec::new();
    let mut add = |spelling: String| {
        if !all.contains(&spelling) {
            all.push(spelling);
        }
    };
    for server in &servers {
        for tool in &tools {
            for SpellingPattern { before, between, after } in PATTERNS {
                add(format!("{before}{server}{between}{tool}{after}"));
            }
            add(format!("{tool}{TOOL_FIRST}{server}"));
        }
    }
    all
}

/// Every way in which one of the spellings splits a name into server and tool. Most of them are
/// meaningless: the caller keeps those whose server it knows.
pub fn splits(name: &str) -> Vec<NameReading<'_>> {
    let is_spelled = name.strip_prefix("mcp__").is_some_and(|rest| rest.contains("__"));
    // Nothing else is spelled like that.
    let mut all = splits_of(name, |pattern| !is_spelled || pattern.before == "mcp__");
    // A mark and a separator of two different spellings.
    let marked = name.strip_prefix("mcp").filter(|rest| rest.starts_with(SEPARATORS));
    if let (Some(rest), false) = (marked, is_spelled) {
        let rest = rest.trim_start_matches(SEPARATORS);
        let mixed = splits_of(rest, |pattern| pattern.before.is_empty());
        mixed.into_iter().for_each(|it| push_reading(&mut all, it.server, it.tool));
    }
    if let Some((tool, server)) = name.rsplit_once(TOOL_FIRST) {
        push_reading(&mut all, server, tool);
        let server = server.trim_start_matches(SEPARATORS);
        push_reading(&mut all, server, tool.trim_end_matches(SEPARATORS));
    }
    all
}

/// Separators between the parts of a name. Some clients treat several in a row as one.
const SEPARATORS: [char; 5] = ['_', '-', '.', '/', ':'];

/// Like [`splits`], only for spellings with a mark before the server.
pub fn marked_splits(name: &str) -> Vec<NameReading<'_>> {
    splits_of(name, |pattern| !pattern.before.is_empty())
}

fn splits_of(name: &str, is_tried: impl Fn(&SpellingPattern) -> bool) -> Vec<NameReading<'_>> {
    let mut all = Vec::new();
    for SpellingPattern { before, between, after } in
        PATTERNS.iter().filter(|pattern| is_tried(pattern))
    {
        let rest = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        let Some(rest) = rest else { continue };
        let mut words = 0;
        for (at, _) in rest.char_indices() {
            let (Some(server), Some(after)) = (rest.get(..at), rest.get(at..)) else { continue };
            let Some(tool) = after.strip_prefix(between) else { continue };
            if words == MAX_SERVER_WORDS {
                break;
            }
            words += 1;
            push_reading(&mut all, server, tool);
            let server = server.trim_matches(SEPARATORS);
            push_reading(&mut all, server, tool.trim_start_matches(SEPARATORS));
        }
    }
    all
}

fn push_reading<'a>(all: &mut Vec<NameReading<'a>>, server: &'a str, tool: &'a str) {
    let reading = NameReading { server, tool };
    if !server.is_empty() && !tool.is_empty() && !all.contains(&reading) {
        all.push(reading);
    }
}

/// A name without the namespace of all tools; `None` if it has none.
pub fn without_namespace(folded: &str) -> Option<&str> {
    let rest = NAMESPACES_OF_ALL.iter().find_map(|namespace| folded.strip_prefix(namespace))?;
    Some(rest).filter(|rest| !rest.is_empty())
}

/// A name without the mark that some clients put before all of their tools. The rest may also be a
/// server and its tool: the caller decides whether it is a name on its own.
pub fn without_mark(folded: &str) -> Option<&str> {
    let rest = MARKS_OF_ALL.iter().find_map(|mark| folded.strip_prefix(mark))?;
    Some(rest).filter(|rest| !rest.is_empty())
}

/// Server and tool of a name that ends with the kind of tool, as in LobeChat.
pub fn with_kind(folded: &str) -> Option<NameReading<'_>> {
    let mut parts = folded.split(LOBE);
    let (server, tool, _kind) = (parts.next()?, parts.next()?, parts.next()?);
    let is_one = !server.is_empty() && !tool.is_empty();
    is_one.then_some(NameReading { server, tool })
}

/// Two nested namespaces are already odd. More than this many are not removed.
pub const MAX_NAMESPACES: usize = 4;

/// A name without all of its namespaces.
pub fn without_namespaces(folded: &str) -> &str {
    (0..MAX_NAMESPACES).fold(folded, |name, _| without_namespace(name).unwrap_or(name))
}

/// A server or a tool as it appears in names: unchanged, and with `_` for characters that some APIs
/// reject in a name. `*` and `?` of a pattern are kept.
pub fn part(name: &str) -> Vec<String> {
    let name = name.trim();
    let strict = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*' | '?');
    let mut all = vec![fold(name)];
    for sanitized in [
        sanitized(name, strict, char::len_utf16),
        sanitized(name, strict, |_| 1),
        // Gemini CLI
        sanitized(name, |c| strict(c) || matches!(c, '.' | ':'), char::len_utf16),
        sanitized(name, |c| strict(c) && c != '-', char::len_utf16),
        // Roo Code
        sanitized(name, strict, |_| 0),
        sanitized(name, strict, |_| 0).replace('-', "___"),
    ] {
        if !all.contains(&sanitized) {
            all.push(sanitized);
        }
    }
    all
}

/// `units` is the number of `_` for a character: in JavaScript one for each UTF-16 unit.
fn sanitized(name: &str, keeps: impl Fn(char) -> bool, units: fn(char) -> usize) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match keeps(c) {
            true => out.push(c.to_ascii_lowercase()),
            false => out.extend(std::iter::repeat_n('_', units(c))),
        }
    }
    out
}

/// The servers that a namespace may mean, as they appear in names.
pub fn servers_of(namespace: &str) -> impl Iterator<Item = &str> {
    let bare = namespace.strip_suffix("__").unwrap_or(namespace);
    let without = NAMESPACES.into_iter().filter_map(|before| bare.strip_prefix(before));
    without.filter(|server| !server.is_empty())
}

/// Claude Code names a server that a plugin brings `mcp__plugin_<plugin>_<server>__<tool>`.
const PLUGIN: &str = "mcp__plugin_";
/// The most words that are tried as the plugin's name. No API accepts a name of more words.
const MAX_PLUGIN_WORDS: usize = 64;
/// And one that an account brings `mcp__claude_ai_<server>__<tool>`.
const CONNECTOR: &str = "mcp__claude_ai_";

/// The names that remain without a plugin or connector prefix. A name does not show where the
/// plugin's name ends, so every possibility is returned.
pub fn without_plugin(folded: &str) -> impl Iterator<Item = String> {
    let rest = folded.strip_prefix(PLUGIN).unwrap_or("");
    let ends = rest.match_indices('_').filter(|(at, _)| *at > 0).take(MAX_PLUGIN_WORDS);
    let plugin = ends.filter_map(|(at, _)| Some(format!("mcp__{}", rest.get(at + 1..)?)));
    plugin.chain(folded.strip_prefix(CONNECTOR).map(|rest| format!("mcp__{rest}")))
}

/// The prefix by which to find a spelling that agents shorten; `None` if it is short enough.
pub fn beginning(spelling: &str) -> Option<&str> {
    (spelling.len() > MAX_UNSHORTENED).then(|| spelling.get(..KEPT_PREFIX)).flatten()
}

/// The same prefix of a name that may have been shortened.
pub fn beginning_of_shortened(name: &str) -> Option<&str> {
    let may_be_shortened = name.is_ascii() && name.len() <= MAX_SHORTENED;
    may_be_shortened.then(|| name.get(..KEPT_PREFIX)).flatten()
}

/// Whether an agent may have shortened this spelling to this name: truncated it, replaced its end
/// with a hash, or removed part of its middle.
pub fn is_shortened(spelling: &str, name: &str) -> bool {
    if spelling.len() <= MAX_UNSHORTENED
        || name.len() >= spelling.len()
        || name.len() < MIN_SHORTENED
    {
        return false;
    }
    let same = spelling.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let rest = name.get(same..).unwrap_or("");
    let cut = rest.is_empty() && name.len() >= MAX_UNSHORTENED;
    let hash = rest.trim_start_matches(['_', '-']);
    let hashed =
        same >= KEPT_PREFIX && hash.len() >= 4 && hash.bytes().all(|c| c.is_ascii_hexdigit());
    cut || hashed || has_gap(spelling, name)
}

/// Gemini CLI puts `___` or `...` where it removed something.
fn has_gap(spelling: &str, name: &str) -> bool {
    let gap = |mark: &str| {
        name.match_indices(mark).any(|(at, _)| {
            let (before, after) = (name.get(..at), name.get(at + mark.len()..));
            let (Some(before), Some(after)) = (before, after) else { return false };
            before.len() >= KEPT_PREFIX && spelling.starts_with(before) && spelling.ends_with(after)
        })
    };
    gap("___") || gap("...")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_split(name: &str, server: &str, tool: &str) -> bool {
        splits(name).contains(&NameReading { server, tool })
    }

    #[test]
    fn every_spelling_splits_into_its_parts() {
        for spelling in spellings("github", "delete_repo") {
            assert!(is_split(&spelling, "github", "delete_repo"), "{spelling}");
        }
        for spelling in spellings("my-server", "read.file") {
            let parts = |name| part(name).into_iter();
            let mut pairs =
                parts("my-server").flat_map(|s| parts("read.file").map(move |t| (s.clone(), t)));
            assert!(pairs.any(|(s, t)| is_split(&spelling, &s, &t)), "{spelling}");
        }
    }

    #[test]
    fn a_name_is_split_at_separators_only() {
        assert_eq!(splits("Bash"), []);
        assert!(!is_split("githubdelete_repo", "github", "delete_repo"));
        assert!(!is_split("mcp__git_tools__status", "git", "tools__status"));
        assert_eq!(splits(&"a_".repeat(200)).iter().filter(|it| it.tool.len() > 250).count(), 16);
    }

    #[test]
    fn separators_of_two_spellings_in_one_name() {
        for name in [
            "github____delete_repo",
            "github____delete_repo____mcp",
            "github_-_delete_repo",
            "github_________________________delete_repo",
            "mcp__github_delete_repo",
            "mcp__github.delete_repo",
            "mcp_github__delete_repo",
            "mcp____github____delete_repo",
            "mcp.github/delete_repo",
            "delete_repo__mcp__github",
        ] {
            assert!(is_split(name, "github", "delete_repo"), "{name}");
        }
        for name in ["mcp__github_x__delete_repo", "mcp__my_github__delete_repo"] {
            assert!(!is_split(name, "github", "delete_repo"), "{name}");
        }
    }

    #[test]
    fn servers_that_plugins_and_accounts_bring() {
        let is_left = |name: &str| without_plugin(name).any(|it| it == "mcp__github__delete_repo");
        assert!(is_left("mcp__plugin_x_github__delete_repo"));
        assert!(is_left("mcp__plugin_a_b_c_d_e_f_g_h_i_j_k_l_m_n_o_github__delete_repo"));
        assert!(is_left("mcp__claude_ai_github__delete_repo"));
        assert!(!is_left("mcp__claude_github__delete_repo"));
    }

    #[test]
    fn the_namespace_of_all_tools_is_taken_off() {
        assert_eq!(without_namespace("functions.bash"), Some("bash"));
        assert_eq!(without_namespace("default_api:x.y"), Some("x.y"));
        assert_eq!(without_namespace("functions."), None);
        assert_eq!(without_namespace("myfunctions.bash"), None);
    }

    #[test]
    fn names_that_say_their_kind() {
        let read = |name| with_kind(name).map(|it| (it.server, it.tool));
        assert_eq!(read("github____delete_repo____mcp"), Some(("github", "delete_repo")));
        assert_eq!(read("github____delete_repo____mcp____x"), Some(("github", "delete_repo")));
        assert_eq!(read("github____delete_repo"), None);
        assert_eq!(read("____x____mcp"), None);
    }

    #[test]
    fn a_short_name_is_not_a_shortened_one() {
        let spelling = "mcp__internal-documentation-server__search_all_pages_and_attachments";
        assert!(is_shortened(spelling, &spelling[..60]));
        assert!(!is_shortened(spelling, "mcp__internal-documentation-server__added"));
    }
}
