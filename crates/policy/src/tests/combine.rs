//! How rules and policies combine, what a name decides, and which claims are believed.

use callgate_call::{OriginFields, Principal, Surface, ToolCall, ToolName};

use super::support::*;
use crate::{LimitBy, SpentLimits, Verdict};

#[test]
fn the_strictest_of_one_priority_wins_in_any_order() {
    let allow = "id: a, tool: t, verdict: allow";
    let deny = "id: d, tool: t, verdict: deny";
    for order in [[allow, deny], [deny, allow]] {
        let judgement = rules(&order).ask(&call("t", ""));
        assert_eq!(judgement.verdict, Verdict::Deny);
        assert_eq!(judgement.rule.as_deref(), Some("d"));
        assert!(!judgement.uncovered);
    }
}

#[test]
fn the_lowest_number_decides() {
    let deny = "id: d, tool: '*', verdict: deny";
    let exception = "id: a, tool: t, verdict: allow, priority: 50";
    let policies = rules(&[deny, exception]);
    assert_eq!(policies.verdict("t", ""), Verdict::Allow);
    assert_eq!(policies.verdict("u", ""), Verdict::Deny);
    assert_eq!((policies.by_name("t"), policies.by_name("u")), ("allow", "deny"));
}

#[test]
fn every_rule_of_the_deciding_priority_is_named() {
    let policies = rules(&[
        "id: one, verdict: deny",
        "id: two, tool: t, verdict: deny",
        "id: later, verdict: deny, priority: 200",
    ]);
    let deciding = policies.ask(&call("t", "")).details.deciding;
    let ids: Vec<_> = deciding.iter().filter_map(|hit| hit.rule.as_deref()).collect();
    assert_eq!(ids, ["one", "two"]);
}

#[test]
fn audits_and_shadows_never_decide_and_are_all_reported() {
    let policies = rules(&[
        "id: seen, verdict: audit, priority: 1, reason: look",
        "id: seen-later, verdict: audit, priority: 900, when: { arg: a, exists: true }",
        "id: would, verdict: deny, mode: shadow, priority: 1, reason: too risky",
        "id: allowed, verdict: allow",
    ]);
    let judgement = policies.ask(&call("t", r#"{"a":1}"#));
    assert_eq!((judgement.verdict, judgement.rule.as_deref()), (Verdict::Allow, Some("allowed")));
    assert_eq!(judgement.audits.len(), 2);
    assert_eq!(judgement.shadows[0].reason, "[shadow] would deny: too risky");
    assert_eq!(policies.by_name("t"), "allow", "they never cause a hold");
}

#[test]
fn a_policy_in_shadow_mode_is_only_recorded() {
    let text = policy_text(
        "s",
        "mode: shadow\ndefault: deny",
        &["id: d, tool: t, verdict: deny", "id: a, tool: u, verdict: allow"],
    );
    let policies = policies(&text);
    let judgement = policies.ask(&call("t", ""));
    assert_eq!((judgement.verdict, judgement.policy.as_deref()), (Verdict::Allow, None));
    assert_eq!(judgement.shadows[0].rule.as_deref(), Some("d"));
    let judgement = policies.ask(&call("other", ""));
    assert_eq!(judgement.shadows[0].reason, "[shadow] would deny: no rule allows this call");
    assert_eq!(policies.ask(&call("u", "")).shadows, []);
    assert_eq!(policies.by_name("t"), "allow");
}

#[test]
fn defaults() {
    for (head, surface, expected) in [
        ("", Surface::Response, Verdict::Allow),
        ("default: deny", Surface::Response, Verdict::Deny),
        ("default: deny", Surface::Mcp, Verdict::Deny),
        ("default: deny", Surface::Hook, Verdict::Deny),
        ("default: deny", Surface::Inbound, Verdict::Allow),
        ("default: deny", Surface::Egress, Verdict::Allow),
        ("default: audit", Surface::Response, Verdict::Audit),
        ("defaults: { egress: deny }", Surface::Egress, Verdict::Deny),
        ("defaults: { egress: deny }", Surface::Response, Verdict::Allow),
        ("defaults: { inbound: deny }", Surface::Inbound, Verdict::Deny),
    ] {
        let policies = policies(&policy_text("p", head, &["id: r, tool: zzz, verdict: deny"]));
        let call = call_at(surface, "t", "");
        let judgement = policies.ask(&call);
        assert_eq!(judgement.verdict, expected, "{head} {surface}");
        assert!(judgement.uncovered && judgement.rule.is_none());
        let by_name = if expected == Verdict::Deny { "deny" } else { "allow" };
        assert_eq!(policies.by_name_of(&call), by_name);
    }
}

#[test]
fn no_policy_lets_everything_pass() {
    let judgement = crate::Policies::none().ask(&call("t", "["));
    assert!(judgement.uncovered && judgement.verdict == Verdict::Allow);
    assert_eq!(judgement.policy, None);
}

#[test]
fn several_policies_each_on_its_own() {
    let org = policy_text("org", "", &["id: no-t, tool: t, verdict: deny, priority: 900"]);
    let user = policy_text(
        "user",
        "default: audit",
        &["id: all, verdict: allow, priority: 1, tool: [t, u]"],
    );
    let (policies, _) = compile(&[&org, &user]);
    let judgement = policies.ask(&call("t", ""));
    assert_eq!(judgement.verdict, Verdict::Deny, "a narrower policy never relaxes");
    assert_eq!(judgement.policy.as_deref(), Some("org"));
    assert_eq!(judgement.deciding.len(), 2);
    assert_eq!(judgement.deciding[0].rule.as_deref(), Some("no-t"));
    let judgement = policies.ask(&call("u", ""));
    assert_eq!((judgement.verdict, judgement.rule.as_deref()), (Verdict::Allow, Some("all")));
    assert_eq!(policies.verdict("v", ""), Verdict::Audit);
    assert_eq!(policies.by_name("t"), "deny");
}

#[test]
fn a_file_may_hold_several_policies() {
    let text = r#"{"policies": [
        {"policy": "a", "rules": [{"id": "r", "tool": "t", "verdict": "deny"}]},
        {"policy": "b", "rules": [{"id": "r", "tool": "u", "verdict": "deny"}]}]}"#;
    let policies = policies(text);
    assert_eq!(policies.verdict("t", ""), Verdict::Deny);
    assert_eq!(policies.verdict("u", ""), Verdict::Deny);
    assert_eq!(policies.rules().count(), 2);
}

#[test]
fn what_a_name_decides() {
    let on_argument = "when: { arg: a, equals: x }";
    for (lines, expected) in [
        (vec!["id: d, tool: t, verdict: deny".to_owned()], "deny"),
        (vec![format!("id: d, tool: t, verdict: deny, {on_argument}")], "open"),
        (vec![format!("id: a, tool: t, verdict: allow, {on_argument}")], "allow"),
        (vec![format!("id: a, tool: t, verdict: audit, {on_argument}")], "allow"),
        (vec![format!("id: d, tool: t, verdict: deny, mode: shadow, {on_argument}")], "allow"),
        // A certain denial before and after a possible exception.
        (
            vec![
                "id: d, tool: t, verdict: deny, priority: 10".to_owned(),
                format!("id: a, tool: t, verdict: allow, {on_argument}"),
            ],
            "deny",
        ),
        (
            vec![
                "id: d, tool: t, verdict: deny".to_owned(),
                format!("id: a, tool: t, verdict: allow, priority: 10, {on_argument}"),
            ],
            "open",
        ),
        // With the same priority deny wins, so the exception has no effect.
        (
            vec![
                "id: d, tool: t, verdict: deny".to_owned(),
                format!("id: a, tool: t, verdict: allow, {on_argument}"),
            ],
            "deny",
        ),
        (
            vec![
                "id: a, tool: t, verdict: allow".to_owned(),
                format!("id: d, tool: t, verdict: deny, {on_argument}"),
            ],
            "open",
        ),
        (
            vec![
                "id: a, tool: t, verdict: allow, priority: 10".to_owned(),
                format!("id: d, tool: t, verdict: deny, {on_argument}"),
            ],
            "allow",
        ),
        (
            vec!["id: d, tool: t, verdict: deny, limit: { calls: 1, per: minute }".to_owned()],
            "open",
        ),
        // The context is known when the name is.
        (
            vec![
                "id: d, tool: t, verdict: deny, when: { all: [{ arg: context.hour, gt: 20 }, \
                 { arg: a, equals: x }] }"
                    .to_owned(),
            ],
            "allow",
        ),
        (
            vec![
                "id: d, tool: t, verdict: deny, when: { any: [{ arg: context.hour, lt: 20 }, \
                 { arg: a, equals: x }] }"
                    .to_owned(),
            ],
            "deny",
        ),
    ] {
        let borrowed: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(rules(&borrowed).by_name("t"), expected, "{lines:?}");
    }
}

#[test]
fn a_default_denial_is_open_only_where_an_exception_is_possible() {
    let text = policy_text(
        "p",
        "default: deny",
        &[
            "id: a, tool: t, verdict: allow, when: { arg: a, equals: x }",
            "id: b, tool: u, verdict: allow",
        ],
    );
    let policies = policies(&text);
    assert_eq!(policies.by_name("t"), "open");
    assert_eq!(policies.by_name("u"), "allow");
    assert_eq!(policies.by_name("v"), "deny");
}

#[test]
fn surfaces() {
    let policies = rules(&[
        "id: usual, tool: t, verdict: deny",
        "id: inbound, tool: u, verdict: deny, surface: inbound",
        "id: both, tool: v, verdict: deny, surface: [inbound, hook], when: { arg: a, exists: false }",
    ]);
    for (surface, tool, expected) in [
        (Surface::Response, "t", Verdict::Deny),
        (Surface::Mcp, "t", Verdict::Deny),
        (Surface::Hook, "t", Verdict::Deny),
        (Surface::Inbound, "t", Verdict::Allow),
        (Surface::Egress, "t", Verdict::Allow),
        (Surface::Inbound, "u", Verdict::Deny),
        (Surface::Response, "u", Verdict::Allow),
        (Surface::Inbound, "v", Verdict::Allow),
        (Surface::Hook, "v", Verdict::Deny),
    ] {
        let call = call_at(surface, tool, "");
        assert_eq!(policies.ask(&call).verdict, expected, "{surface} {tool}");
    }
}

#[test]
fn a_claim_satisfies_only_a_rule_that_restricts() {
    let deny = rules(&["id: d, agent: 'Claude*', verdict: deny"]);
    let allow =
        policies(&policy_text("p", "default: deny", &["id: a, agent: 'claude*', verdict: allow"]));
    let of = |agent: Option<&str>, proven| {
        let mut facts = OriginFields::at(Surface::Hook);
        facts.agent = agent.map(str::to_owned);
        facts.agent_proven = proven;
        call_of(facts, "t", "")
    };
    for (agent, proven, denied, allowed) in [
        (Some("claude-code"), true, true, true),
        (Some("claude-code"), false, true, false),
        (Some("codex"), true, false, false),
        (None, false, true, false),
    ] {
        let call = of(agent, proven);
        assert_eq!(deny.ask(&call).verdict == Verdict::Deny, denied, "{agent:?} {proven}");
        assert_eq!(allow.ask(&call).verdict == Verdict::Allow, allowed, "{agent:?} {proven}");
    }
    let claimed = allow.ask(&of(Some("claude-code"), false));
    assert_eq!(claimed.errors[0].why, "the agent's name is only claimed");
    assert_eq!(allow.by_name_of(&of(Some("claude-code"), false)), "deny");
    assert_eq!(allow.by_name_of(&of(Some("claude-code"), true)), "allow");

    let session = policies(&policy_text(
        "p",
        "default: deny",
        &["id: a, verdict: allow, when: { not: { arg: context.session, equals: other } }"],
    ));
    assert_eq!(session.ask(&of(None, false)).verdict, Verdict::Deny);
    assert_eq!(session.ask(&of(None, true)).verdict, Verdict::Allow);
}

/// Every spelling of a name takes tokens from the same bucket.
#[test]
fn a_limit_counts_every_spelling_in_one_bucket() {
    let bucket = |by: &str, name: ToolName| {
        let rule = format!("id: often, verdict: deny, limit: {{ calls: 1, per: day, by: [{by}] }}");
        let policies = rules(&[&rule]).with_servers(["github"]);
        let call = ToolCall { name, ..super::support::call("x", "") };
        policies.ask(&call).details.limits.into_iter().next().unwrap().bucket
    };
    let at_server = || ToolName::on("github", "delete_repo").unwrap();
    for by in ["tool", "server"] {
        for name in [
            "mcp__github__delete_repo",
            "MCP__GitHub__Delete-Repo",
            "mcp_github_delete_repo",
            "github_delete_repo",
            "github.delete_repo",
            "functions.github.delete_repo",
            "functions.mcp__github__delete_repo",
            "default_api:github_delete_repo",
            "mcp__g\u{456}thub__delete_repo",
            "mcp__plugin_x_github__delete_repo",
            "mcp__claude_ai_GitHub__delete_repo",
            "delete_repo_mcp_github",
            "github____delete_repo____mcp",
        ] {
            let name = ToolName::parse(name).unwrap();
            assert_eq!(bucket(by, name.clone()), bucket(by, at_server()), "{by} {name:?}");
        }
    }
    let parsed = |name: &str| ToolName::parse(name).unwrap();
    assert_eq!(bucket("tool", parsed("Bash")), bucket("tool", parsed("functions.bash")));
    for (a, b) in [("bash", "read"), ("github.push", "github.pull"), ("github.push", "push")] {
        assert_ne!(bucket("tool", parsed(a)), bucket("tool", parsed(b)), "{a} {b}");
    }
    assert_ne!(bucket("server", parsed("github.push")), bucket("server", parsed("gitlab.push")));
}

#[test]
fn limits_are_named_and_match_once_exceeded() {
    let policies = rules(&[
        "id: often, tool: 'git*', verdict: deny, limit: { calls: 10, per: minute, by: [server, session] }",
        "id: shadow, verdict: deny, mode: shadow, limit: { calls: 1, per: day }",
    ]);
    let mut facts = OriginFields::at(Surface::Response);
    facts.session = Some("s".into());
    let call = call_of(facts, "mcp__github__git_push", "");
    let first = policies.ask(&call);
    assert_eq!(first.verdict, Verdict::Allow);
    assert_eq!(first.limits.len(), 1, "shadow rules consume nothing");
    let key = &first.limits[0];
    assert_eq!(
        key.bucket,
        [(LimitBy::Server, "github".to_owned()), (LimitBy::Session, "s".to_owned())]
    );
    assert_eq!((key.rate.calls, key.rate.seconds, key.rate.burst), (10, 60, 10));
    let second = policies.judge(&call, &NOON, &SpentLimits::exceeded(first.limits.clone()));
    assert_eq!((second.verdict, second.rule.as_deref()), (Verdict::Deny, Some("often")));
    assert_eq!(policies.ask(&super::support::call("ls", "")).limits, []);
}

#[test]
fn a_bucket_belongs_to_one_principal() {
    let bucket = |by: &str, who: Principal| {
        let rule = format!("id: often, verdict: deny, limit: {{ calls: 1, per: day{by} }}");
        let facts =
            OriginFields { who, session: Some("s".into()), ..OriginFields::at(Surface::Response) };
        let judged = rules(&[&rule]).ask(&call_of(facts, "ls", ""));
        judged.details.limits.into_iter().next().unwrap().bucket
    };
    let text = |text: &str| Some(text.to_owned());
    let key = Principal { key: text("ci"), user: text("eve"), ..Principal::default() };
    let in_team = Principal { team: text("t"), ..key.clone() };
    let session = (LimitBy::Session, "s".to_owned());
    let ci = (LimitBy::Key, "ci".to_owned());
    let local = (LimitBy::User, "local".to_owned());
    let team = |name: &str| (LimitBy::Team, name.to_owned());
    for (by, who, expected) in [
        ("", key.clone(), vec![session.clone(), ci.clone()]),
        ("", Principal::user(text("local")), vec![session.clone(), local.clone()]),
        ("", Principal::default(), vec![session.clone()]),
        (", by: [tool]", key.clone(), vec![(LimitBy::Tool, "ls".to_owned()), ci.clone()]),
        (", by: [key]", key.clone(), vec![ci.clone()]),
        (", by: [user]", key.clone(), vec![(LimitBy::User, "eve".to_owned())]),
        // A team shares its bucket; keys without a team have one each.
        (", by: [team]", in_team.clone(), vec![team("t")]),
        (", by: [team, session]", in_team, vec![team("t"), session]),
        (", by: [team]", key, vec![team(""), ci]),
        (", by: [key]", Principal::user(text("local")), vec![(LimitBy::Key, String::new()), local]),
    ] {
        assert_eq!(bucket(by, who.clone()), expected, "{by} {who:?}");
    }
}

#[test]
fn rules_find_a_tool_on_a_known_server_whatever_its_name_holds() {
    for (server, tool) in [("fs", "read.file"), ("fs", "read__file"), ("a__b", "c/d:e")] {
        let name = ToolName::on(server, tool).unwrap();
        let call = ToolCall { name, ..call_at(Surface::Mcp, "t", "{}") };
        let rule = |verdict: &str, server: &str, tool: &str| {
            format!("id: r, server: '{server}', tool: '{tool}', verdict: {verdict}")
        };
        let judged = |lines: &[&str]| rules(lines).ask(&call).verdict;
        assert_eq!(judged(&[&rule("deny", server, tool)]), Verdict::Deny, "{server} {tool}");
        let all = "id: all, verdict: deny";
        let allow = rule("allow, priority: 50", server, tool);
        assert_eq!(judged(&[all, &allow]), Verdict::Allow, "{server} {tool}");
        let other = rule("allow, priority: 50", "other", tool);
        assert_eq!(judged(&[all, &other]), Verdict::Deny, "{server} {tool}");
        let other = rule("deny", "other", tool);
        assert_eq!(judged(&[&other]), Verdict::Allow, "{server} {tool}");
    }
}
