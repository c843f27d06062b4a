//! Calls of one session that together mean more than each alone.

use callgate_audit::RecordId;

use super::check::{Check, Objection};
use super::join::before;
use super::settings::{FlowSettings, ServerEntry, Watch};

/// What a tool does with data: what the operator says, and what the server admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Role {
    pub(crate) reads: bool,
    pub(crate) sends: bool,
}

/// What a server says of its tool. It is believed only where that tightens: a hint may make a tool
/// one that reads or sends, and never makes it one that does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Hints {
    pub(crate) read_only: bool,
    pub(crate) open_world: bool,
}

impl Role {
    pub(crate) fn of(entry: Option<&ServerEntry>, tool: &str, hints: Hints) -> Self {
        let named = |globs: fn(&ServerEntry) -> &callgate_policy::Globs| {
            entry.is_some_and(|entry| globs(entry).matches(tool))
        };
        Self {
            reads: named(|entry| &entry.reads) || hints.read_only,
            sends: named(|entry| &entry.sends) || hints.open_world,
        }
    }
}

impl Role {
    /// What either of two is.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { reads: self.reads || other.reads, sends: self.sends || other.sends }
    }

    const WORDS: [(Self, &'static str); 4] = [
        (Self { reads: false, sends: false }, ""),
        (Self { reads: true, sends: false }, "reads"),
        (Self { reads: false, sends: true }, "sends"),
        (Self { reads: true, sends: true }, "reads sends"),
    ];

    /// As it is stored.
    pub(crate) fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(role, _)| *role == self).map_or("", |(_, word)| word)
    }

    pub(crate) fn from_word(word: &str) -> Self {
        let found = Self::WORDS.iter().find(|(_, known)| *known == word);
        found.map(|(role, _)| *role).unwrap_or_default()
    }
}

/// A call that was let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Past {
    /// When, in microseconds since 1970.
    pub(crate) at: i64,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) role: Role,
    pub(crate) record: RecordId,
}

/// A call that is about to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Next<'a> {
    pub(crate) at: i64,
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) role: Role,
    /// The server that had this tool name first, if that is another one.
    pub(crate) first_owner: Option<&'a str>,
}

/// Since when earlier calls count for the next one, if they do: most calls need not look.
pub(crate) fn since(settings: &FlowSettings, next: Next<'_>) -> Option<i64> {
    let sends = settings.read_then_send != Watch::Allow && next.role.sends;
    let taken = settings.take_over != Watch::Allow && next.first_owner.is_some();
    let window = (sends || taken).then_some(settings.window);
    let burst = settings.burst.map(|burst| burst.window);
    window.max(burst).map(|window| before(next.at, window))
}

/// Whether later calls look back at one of this role. Each that is remembered is a write.
pub(crate) fn matters(settings: &FlowSettings, role: Role) -> bool {
    let reads = role.reads && settings.read_then_send != Watch::Allow;
    reads || settings.burst.is_some() || settings.take_over == Watch::Block
}

/// The strictest of what is watched: what cannot be read is taken for the worst.
pub(crate) fn strictest(settings: &FlowSettings) -> Watch {
    let burst = settings.burst.map_or(Watch::Allow, |burst| burst.then);
    settings.read_then_send.max(settings.take_over).max(burst)
}

/// What the earlier calls of the session have against the next one. They are in the order of time.
pub(crate) fn check(settings: &FlowSettings, past: &[Past], next: Next<'_>) -> Vec<Objection> {
    let found = [
        read_then_send(settings, past, next),
        burst(settings, past, next),
        take_over(settings, past, next),
    ];
    found.into_iter().flatten().collect()
}

fn read_then_send(settings: &FlowSettings, past: &[Past], next: Next<'_>) -> Option<Objection> {
    if settings.read_then_send == Watch::Allow || !next.role.sends {
        return None;
    }
    let since = before(next.at, settings.window);
    let sources: Vec<&Past> = past
        .iter()
        .filter(|it| it.role.reads && it.server != next.server && it.at >= since)
        .collect();
    let last = sources.last()?;
    let seconds = next.at.saturating_sub(last.at) / 1_000_000;
    let mut objection = Objection::new(
        Check::Flow,
        settings.read_then_send,
        format!(
            "`{}` of `{}` sends, and {} of another server read {} s before: {}.",
            next.tool,
            next.server,
            counted(sources.len(), "call", "calls"),
            seconds,
            named(&sources),
        ),
        "Send nothing that was read from another server; ask the user to do it if it is needed.",
    );
    objection.earlier = sources.iter().rev().take(MAX_NAMED).map(|it| it.record).collect();
    Some(objection)
}

fn burst(settings: &FlowSettings, past: &[Past], next: Next<'_>) -> Option<Objection> {
    let burst = settings.burst?;
    let since = before(next.at, burst.window);
    let recent: Vec<&Past> = past.iter().filter(|it| it.at >= since).collect();
    let allowed = usize::try_from(burst.calls).unwrap_or(usize::MAX);
    if recent.len() < allowed {
        return None;
    }
    let mut objection = Objection::new(
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
    objection.earlier = recent.iter().rev().take(MAX_NAMED).map(|it| it.record).collect();
    Some(objection)
}

/// The call goes to a server that took over the name; earlier ones went to its first owner.
pub(crate) fn take_over(
    settings: &FlowSettings,
    past: &[Past],
    next: Next<'_>,
) -> Option<Objection> {
    let owner = next.first_owner?;
    let to_owner = |it: &&Past| it.server == owner && same(&it.tool, next.tool);
    let earlier: Vec<&Past> = past.iter().filter(to_owner).collect();
    let told = match earlier.is_empty() {
        true => String::new(),
        false => format!(" Earlier calls went there: {}.", named(&earlier)),
    };
    let mut objection = Objection::new(
        Check::Flow,
        settings.take_over,
        format!(
            "`{}` offers a tool `{}`, a name that `{owner}` had first.{told}",
            next.server, next.tool
        ),
        "Use the tool of the server that had the name first, or ask the user which one is meant.",
    );
    objection.earlier = earlier.iter().rev().take(MAX_NAMED).map(|it| it.record).collect();
    Some(objection)
}

pub(crate) fn same(a: &str, b: &str) -> bool {
    callgate_call::fold(a.trim()) == callgate_call::fold(b.trim())
}

/// A reason is read by a person: a few calls are enough to find the others.
const MAX_NAMED: usize = 4;

/// The last few, the latest first.
fn named(calls: &[&Past]) -> String {
    let tell = |it: &&Past| format!("`{}` of `{}` (record {})", it.tool, it.server, it.record);
    let told: Vec<String> = calls.iter().rev().take(MAX_NAMED).map(tell).collect();
    told.join(", ")
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

    fn past(at: i64, server: &str, tool: &str, role: Role) -> Past {
        let (server, tool) = (server.to_owned(), tool.to_owned());
        Past { at: at * SECOND, server, tool, role, record: RecordId::new() }
    }

    fn next<'a>(at: i64, server: &'a str, tool: &'a str, role: Role) -> Next<'a> {
        Next { at: at * SECOND, server, tool, role, first_owner: None }
    }

    const READS: Role = Role { reads: true, sends: false };
    const SENDS: Role = Role { reads: false, sends: true };
    const NEITHER: Role = Role { reads: false, sends: false };

    fn settings() -> FlowSettings {
        let window = Duration::from_secs(60);
        let read_then_send = Watch::Block;
        FlowSettings { read_then_send, window, ..McpSettings::default().flows }
    }

    #[test]
    fn reading_there_and_sending_here() {
        for (history, server, role, stopped) in [
            (past(0, "files", "read", READS), "mail", SENDS, true),
            // The same server may send what it has anyway.
            (past(0, "mail", "read", READS), "mail", SENDS, false),
            (past(0, "files", "list", NEITHER), "mail", SENDS, false),
            (past(0, "files", "read", READS), "mail", READS, false),
            // Too long ago.
            (past(-100, "files", "read", READS), "mail", SENDS, false),
        ] {
            let found =
                check(&settings(), std::slice::from_ref(&history), next(10, server, "x", role));
            assert_eq!(!found.is_empty(), stopped, "{history:?} {server} {role:?}");
            if stopped {
                assert_eq!(found[0].watch, Watch::Block);
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
        let none = Hints::default();
        let only_reads = Hints { read_only: true, open_world: false };
        let open = Hints { read_only: false, open_world: true };
        for (tool, hints, expected) in [
            ("get_file", none, READS),
            ("post_mail", none, SENDS),
            // What the server says does not take back what the operator says.
            ("post_mail", only_reads, Role { reads: true, sends: true }),
            ("other", open, SENDS),
            // A name alone says nothing.
            ("send_everything", none, NEITHER),
        ] {
            assert_eq!(Role::of(Some(&entry), tool, hints), expected, "{tool}");
        }
        assert_eq!(Role::of(None, "read_file", none), NEITHER);
    }

    #[test]
    fn a_burst_stops_the_call_that_is_one_too_many() {
        let burst = Burst { calls: 3, window: Duration::from_secs(10), then: Watch::Block };
        let settings = FlowSettings { burst: Some(burst), ..settings() };
        let history: Vec<Past> = (0..3).map(|at| past(at, "a", "x", NEITHER)).collect();
        assert_eq!(check(&settings, &history[..2], next(3, "a", "x", NEITHER)), []);
        let found = check(&settings, &history, next(3, "a", "x", NEITHER));
        assert_eq!((found[0].watch, found[0].earlier.len()), (Watch::Block, 3));
        assert_eq!(check(&settings, &history, next(30, "a", "x", NEITHER)), []);
    }

    #[test]
    fn a_name_that_was_taken_over() {
        let settings = FlowSettings { take_over: Watch::Block, ..settings() };
        let history = [past(0, "files", "read", NEITHER)];
        let next = Next { first_owner: Some("files"), ..next(1, "evil", "Read", NEITHER) };
        let found = check(&settings, &history, next);
        assert_eq!(found[0].watch, Watch::Block);
        assert_eq!(found[0].earlier, [history[0].record]);
        assert!(found[0].reason.contains("had first"), "{}", found[0].reason);
    }
}
