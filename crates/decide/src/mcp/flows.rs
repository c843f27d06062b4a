//! Checks for suspicious sequences of calls within a session.

use callgate_audit::RecordId;

use super::settings::{CheckAction, FlowSettings, ServerEntry};
use crate::checks::{Check, CheckFailure};
use crate::session_steps::before;

/// What a tool does with data, from the operator's settings and the server's hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ToolRole {
    pub(crate) reads: bool,
    pub(crate) sends: bool,
}

/// What a server declares about its tool. Hints only tighten: they can make a tool one that reads
/// or sends, and never the opposite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ToolHints {
    pub(crate) read_only: bool,
    pub(crate) open_world: bool,
}

impl ToolRole {
    pub(crate) fn of(entry: Option<&ServerEntry>, tool: &str, hints: ToolHints) -> Self {
        let named = |globs: fn(&ServerEntry) -> &callgate_policy::Globs| {
            entry.is_some_and(|entry| globs(entry).matches(tool))
        };
        Self {
            reads: named(|entry| &entry.reads) || hints.read_only,
            sends: named(|entry| &entry.sends) || hints.open_world,
        }
    }
}

impl ToolRole {
    /// The union of both roles.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { reads: self.reads || other.reads, sends: self.sends || other.sends }
    }

    const WORDS: [(Self, &'static str); 4] = [
        (Self { reads: false, sends: false }, ""),
        (Self { reads: true, sends: false }, "reads"),
        (Self { reads: false, sends: true }, "sends"),
        (Self { reads: true, sends: true }, "reads sends"),
    ];

    /// The word in the store.
    pub(crate) fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(role, _)| *role == self).map_or("", |(_, word)| word)
    }

    pub(crate) fn from_word(word: &str) -> Self {
        let found = Self::WORDS.iter().find(|(_, known)| *known == word);
        found.map(|(role, _)| *role).unwrap_or_default()
    }
}

/// A call that was allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PastCall {
    /// The time in microseconds since 1970.
    pub(crate) at: i64,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) role: ToolRole,
    pub(crate) record: RecordId,
}

/// The call that is being decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NextCall<'a> {
    pub(crate) at: i64,
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) role: ToolRole,
    /// The server that offered this tool name first, if it is a different one.
    pub(crate) first_owner: Option<&'a str>,
}

/// The start of the time window that this call looks back on; `None` for most calls, which need no
/// history.
pub(crate) fn since(settings: &FlowSettings, next: NextCall<'_>) -> Option<i64> {
    let sends = settings.read_then_send != CheckAction::Allow && next.role.sends;
    let taken = settings.take_over != CheckAction::Allow && next.first_owner.is_some();
    let window = (sends || taken).then_some(settings.window);
    let burst = settings.burst.map(|burst| burst.window);
    window.max(burst).map(|window| before(next.at, window))
}

/// Whether later calls look back at a call with this role. Every remembered call costs a write.
pub(crate) fn is_remembered(settings: &FlowSettings, role: ToolRole) -> bool {
    let reads = role.reads && settings.read_then_send != CheckAction::Allow;
    reads || settings.burst.is_some() || settings.take_over == CheckAction::Block
}

/// The strictest configured action, for a history that cannot be read.
pub(crate) fn strictest(settings: &FlowSettings) -> CheckAction {
    let burst = settings.burst.map_or(CheckAction::Allow, |burst| burst.then);
    settings.read_then_send.max(settings.take_over).max(burst)
}

/// Checks the next call against the earlier calls of its session, which are in order of time.
pub(crate) fn check(
    settings: &FlowSettings,
    past: &[PastCall],
    next: NextCall<'_>,
) -> Vec<CheckFailure> {
    let found = [
        read_then_send(settings, past, next),
        burst(settings, past, next),
        take_over(settings, past, next),
    ];
    found.into_iter().flatten().collect()
}

fn read_then_send(
    settings: &FlowSettings,
    past: &[PastCall],
    next: NextCall<'_>,
) -> Option<CheckFailure> {
    if settings.read_then_send == CheckAction::Allow || !next.role.sends {
        return None;
    }
    let since = before(next.at, settings.window);
    let sources: Vec<&PastCall> = past
        .iter()
        .filter(|it| it.role.reads && it.server != next.server && it.at >= since)
        .collect();
    let last = sources.last()?;
    let seconds = next.at.saturating_sub(last.at) / 1_000_000;
    let mut failure = CheckFailure::new(
        Check::Flow,
        settings.read_then_send,
        format!(
            "`{}` of `{}` would send data, and {} to another server read data {} s before: {}.",
            next.tool,
            next.server,
            counted(sources.len(), "call", "calls"),
            seconds,
            named(&sources),
        ),
        "Do not send data that was read from another server. If it is needed, ask the user to send it.",
    );
    failure.earlier = sources.iter().rev().take(MAX_NAMED).map(|it| it.record).collect();
    Some(failure)
}

fn burst(settings: &FlowSettings, past: &[PastCall], next: NextCall<'_>) -> Option<CheckFailure> {
    let burst = settings.burst?;
    let since = before(next.at, burst.window);
    let recent: Vec<&PastCall> = past.iter().filter(|it| it.at >= since).collect();
    let allowed = usize::try_from(burst.calls).unwrap_or(usize::MAX);
    if recent.len() < allowed {
        return None;
    }
    let mut failure = CheckFailure::new(
        Check::Flow,
        burst.then,
        format!(
            "This session made {} within {} s, and {} are allowed. The last were: {}.",
            counted(recent.len(), "call", "calls"),
            burst.window.as_secs(),
            burst.calls,
            named(&recent),
        ),
        "Wait, and make fewer calls.",
    );
    failure.earlier = recent.iter().rev().take(MAX_NAMED).map(|it| it.record).collect();
    Some(failure)
}

/// Detects a call to a server that took over a tool name, after calls to the first owner of that
/// name.
pub(crate) fn take_over(
    settings: &FlowSettings,
    past: &[PastCall],
    next: NextCall<'_>,
) -> Option<CheckFailure> {
    let owner = next.first_owner?;
    let to_owner = |it: &&PastCall| it.server == owner && same(&it.tool, next.tool);
    let earlier: Vec<&PastCall> = past.iter().filter(to_owner).collect();
    let evidence = match earlier.is_empty() {
        true => String::new(),
        false => format!(" Earlier calls went to that server: {}.", named(&earlier)),
    };
    let mut failure = CheckFailure::new(
        Check::Flow,
        settings.take_over,
        format!(
            "`{}` offers a tool `{}`, a name that `{owner}` used first.{evidence}",
            next.server, next.tool
        ),
        "Use the tool of the server that used the name first, or ask the user which one is meant.",
    );
    failure.earlier = earlier.iter().rev().take(MAX_NAMED).map(|it| it.record).collect();
    Some(failure)
}

pub(crate) fn same(a: &str, b: &str) -> bool {
    callgate_call::fold(a.trim()) == callgate_call::fold(b.trim())
}

/// Maximum number of calls in a reason. A person finds the others with these.
const MAX_NAMED: usize = 4;

/// The last few calls, latest first.
fn named(calls: &[&PastCall]) -> String {
    let describe =
        |it: &&PastCall| format!("`{}` of `{}` (record {})", it.tool, it.server, it.record);
    let described: Vec<String> = calls.iter().rev().take(MAX_NAMED).map(describe).collect();
    described.join(", ")
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::settings::{Burst, McpSettings};
    use super::*;

    const SECOND: i64 = 1_000_000;

    fn past(at: i64, server: &str, tool: &str, role: ToolRole) -> PastCall {
        let (server, tool) = (server.to_owned(), tool.to_owned());
        PastCall { at: at * SECOND, server, tool, role, record: RecordId::new() }
    }

    fn next<'a>(at: i64, server: &'a str, tool: &'a str, role: ToolRole) -> NextCall<'a> {
        NextCall { at: at * SECOND, server, tool, role, first_owner: None }
    }

    const READS: ToolRole = ToolRole { reads: true, sends: false };
    const SENDS: ToolRole = ToolRole { reads: false, sends: true };
    const NEITHER: ToolRole = ToolRole { reads: false, sends: false };

    fn settings() -> FlowSettings {
        let window = Duration::from_secs(60);
        let read_then_send = CheckAction::Block;
        FlowSettings { read_then_send, window, ..McpSettings::default().flows }
    }

    #[test]
    fn reading_there_and_sending_here() {
        for (history, server, role, stopped) in [
            (past(0, "files", "read", READS), "mail", SENDS, true),
            // A server may send its own data.
            (past(0, "mail", "read", READS), "mail", SENDS, false),
            (past(0, "files", "list", NEITHER), "mail", SENDS, false),
            (past(0, "files", "read", READS), "mail", READS, false),
            // Outside the time window.
            (past(-100, "files", "read", READS), "mail", SENDS, false),
        ] {
            let found =
                check(&settings(), std::slice::from_ref(&history), next(10, server, "x", role));
            assert_eq!(!found.is_empty(), stopped, "{history:?} {server} {role:?}");
            if stopped {
                assert_eq!(found[0].action, CheckAction::Block);
                assert_eq!(found[0].earlier, [history.record]);
                let record = history.record.to_string();
                assert!(found[0].reason.contains(&record) && found[0].reason.contains("`files`"));
            }
        }
    }

    #[test]
    fn hints_tighten_and_never_relax() {
        let globs = |patterns: &[&str]| callgate_policy::Globs::new(patterns);
        let entry = ServerEntry {
            id: "a".into(),
            kind: super::super::settings::ServerKind::Stdio,
            address: String::new(),
            reads: globs(&["get_*"]),
            sends: globs(&["post_*"]),
            rate: None,
        };
        let none = ToolHints::default();
        let only_reads = ToolHints { read_only: true, open_world: false };
        let open = ToolHints { read_only: false, open_world: true };
        for (tool, hints, expected) in [
            ("get_file", none, READS),
            ("post_mail", none, SENDS),
            // Hints do not override the operator's settings.
            ("post_mail", only_reads, ToolRole { reads: true, sends: true }),
            ("other", open, SENDS),
            // The name of a tool proves nothing.
            ("send_everything", none, NEITHER),
        ] {
            assert_eq!(ToolRole::of(Some(&entry), tool, hints), expected, "{tool}");
        }
        assert_eq!(ToolRole::of(None, "read_file", none), NEITHER);
    }

    #[test]
    fn a_burst_stops_the_call_that_is_one_too_many() {
        let burst = Burst { calls: 3, window: Duration::from_secs(10), then: CheckAction::Block };
        let settings = FlowSettings { burst: Some(burst), ..settings() };
        let history: Vec<PastCall> = (0..3).map(|at| past(at, "a", "x", NEITHER)).collect();
        assert_eq!(check(&settings, &history[..2], next(3, "a", "x", NEITHER)), []);
        let found = check(&settings, &history, next(3, "a", "x", NEITHER));
        assert_eq!((found[0].action, found[0].earlier.len()), (CheckAction::Block, 3));
        assert_eq!(check(&settings, &history, next(30, "a", "x", NEITHER)), []);
    }

    #[test]
    fn a_name_that_was_taken_over() {
        let settings = FlowSettings { take_over: CheckAction::Block, ..settings() };
        let history = [past(0, "files", "read", NEITHER)];
        let next = NextCall { first_owner: Some("files"), ..next(1, "evil", "Read", NEITHER) };
        let found = check(&settings, &history, next);
        assert_eq!(found[0].action, CheckAction::Block);
        assert_eq!(found[0].earlier, [history[0].record]);
        assert!(found[0].reason.contains("used first"), "{}", found[0].reason);
    }
}
