//! Digests of policies, and what changed from one set to the next.

use super::support::*;
use crate::PolicyChanges;

const OLD: &str = "
policy: p
default: deny
rules:
  - { id: no-mail, tool: send_mail, verdict: deny, reason: No mail. }
  - { id: ask-push, tool: push, verdict: ask }
  - { id: read, tool: Read, verdict: allow }
  - { id: seen, tool: Bash, verdict: audit }
text:
  - { id: keys, detect: [secret], verdict: mask }
";

fn changes(new: &str) -> PolicyChanges {
    policies(new).changes_since(&policies(OLD))
}

/// What became weaker when `old` was replaced by `new`.
fn weakened(old: &str, new: &str) -> Vec<String> {
    assert!(OLD.contains(old), "{old}");
    changes(&OLD.replace(old, new)).weakened
}

#[test]
fn a_digest_covers_the_meaning_and_not_the_layout() {
    let digest = policies(OLD).digest().to_owned();
    assert_eq!(digest.len(), 32);
    let other_order = OLD.replace(
        "id: no-mail, tool: send_mail, verdict: deny, reason: No mail.",
        "reason: 'No mail.', verdict: deny, tool: send_mail, id: no-mail",
    );
    assert_eq!(policies(&other_order).digest(), digest);
    for (old, new) in [("No mail.", "No."), ("Bash", "Zsh"), ("deny\nrules", "audit\nrules")] {
        assert_ne!(policies(&OLD.replace(old, new)).digest(), digest, "{new}");
    }
}

#[test]
fn changes_name_their_rules() {
    let new = OLD
        .replace("  - { id: seen, tool: Bash, verdict: audit }\n", "")
        .replace("No mail.", "Never.")
        .replace("default: deny", "default: audit")
        .replace("text:", "  - { id: more, tool: x, verdict: deny }\ntext:");
    let found = changes(&new);
    assert_eq!(found.added, ["p/more"]);
    assert_eq!(found.removed, ["p/seen"]);
    assert_eq!(found.changed, ["p", "p/no-mail"]);
    let same = changes(OLD);
    assert_eq!(same, PolicyChanges::default());
}

#[test]
fn what_stops_less_is_reported() {
    for (old, new, expected) in [
        (
            "  - { id: no-mail, tool: send_mail, verdict: deny, reason: No mail. }\n",
            "",
            "rule p/no-mail (deny) was removed",
        ),
        ("send_mail, verdict: deny", "send_mail, verdict: ask", "rule p/no-mail: deny became ask"),
        (
            "send_mail, verdict: deny",
            "send_mail, verdict: deny, mode: shadow",
            "rule p/no-mail is only in shadow mode",
        ),
        (
            "tool: send_mail",
            "tool: send_fax",
            "rule p/no-mail (deny) now matches something else",
        ),
        ("tool: Read", "tool: 'R*'", "rule p/read now allows something else"),
        (
            "rules:",
            "for: { user: nobody }\nrules:",
            "policy p applies to different callers than before",
        ),
        (
            "rules:",
            "for: { user: nobody }\nrules:",
            "text rule p/keys applies to different callers than before",
        ),
        (
            "Bash, verdict: audit",
            "Bash, verdict: allow",
            "rule p/seen now allows something else",
        ),
        (
            "push, verdict: ask",
            "push, verdict: allow",
            "rule p/ask-push now allows something else",
        ),
        (
            "text:",
            "  - { id: first, priority: 1, tool: send_mail, verdict: ask }\ntext:",
            "rule p/first takes precedence over no-mail",
        ),
        ("rules:", "mode: shadow\nrules:", "policy p is only in shadow mode"),
        ("policy: p", "policy: q", "policy p was removed"),
        ("verdict: mask", "verdict: audit", "text rule p/keys: mask became audit"),
        ("detect: [secret]", "detect: [email]", "text rule p/keys now looks for something else"),
    ] {
        let found = weakened(old, new);
        assert!(found.iter().any(|it| it == expected), "{new}: {found:?}");
    }
    let default = weakened("default: deny", "default: audit");
    assert_eq!(default.len(), 3, "{default:?}");
    assert_eq!(default[0], "the default of policy p for response: deny became audit");
}

#[test]
fn what_stops_more_or_the_same_is_not() {
    for (old, new) in [
        ("No mail.", "Never."),
        ("push, verdict: ask", "push, verdict: deny"),
        ("text:", "  - { id: more, tool: x, verdict: deny }\ntext:"),
        ("  - { id: seen, tool: Bash, verdict: audit }\n", ""),
        ("  - { id: read, tool: Read, verdict: allow }\n", ""),
        ("verdict: mask", "verdict: block"),
    ] {
        assert_eq!(weakened(old, new), Vec::<String>::new(), "{new}");
    }
}

#[test]
fn every_rule_that_matched_is_named() {
    let policies = rules(&[
        "id: first, priority: 1, tool: t, verdict: allow",
        "id: second, tool: t, verdict: deny",
        "id: third, tool: t, verdict: audit",
        "id: fourth, tool: t, verdict: deny, mode: shadow",
        "id: other, tool: u, verdict: deny",
    ]);
    let judgement = policies.ask(&call("t", "{}"));
    let mut named: Vec<&str> = judgement.rules.iter().map(|it| it.rule.as_str()).collect();
    named.sort_unstable();
    assert_eq!(named, ["first", "fourth", "second", "third"]);
}
