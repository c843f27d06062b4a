//! A rule by server and tool, and every spelling that agents have for that tool.

use std::fmt::Write as _;

use crate::support::Test;

const RULE: &str = "policy: p\nrules:\n  - { id: keep, server: github, tool: delete_repo, verdict: deny, reason: Repositories stay. }\n";

/// All of them mean `delete_repo` of `github`.
const SPELLINGS: [&str; 30] = [
    "mcp__github__delete_repo",
    "mcp__plugin_x_github__delete_repo",
    "mcp__plugin_my-plugin_github__delete_repo",
    "functions.mcp__github__delete_repo",
    "functions.github.delete_repo",
    "default_api:github_delete_repo",
    "github_delete_repo",
    "github-delete_repo",
    "github-delete-repo",
    "github__delete_repo",
    "github___delete_repo",
    "github.delete_repo",
    "github/delete_repo",
    "@github/delete_repo",
    "github:delete_repo",
    "mcp.github.delete_repo",
    "mcp_github_delete_repo",
    "mcp--github--delete_repo",
    "delete_repo_mcp_github",
    "mcp__github__delete-repo",
    "mcp__g\u{456}thub__delete_repo",
    "MCP__GitHub__Delete_R\u{435}po",
    "github____delete_repo____mcp",
    "github____delete_repo",
    "mcp__claude_ai_GitHub__delete_repo",
    "mcp__plugin_a_b_c_d_e_f_g_h_i_j_k_l_m_n_github__delete_repo",
    "mcp__github_delete_repo",
    "mcp_github__delete_repo",
    "github_-_delete_repo",
    "functions.mcp__claude_ai_GitHub__delete_repo",
];

/// None of them does.
const OTHERS: [&str; 18] = [
    "github_delete_repo_notes",
    "github_undelete_repo",
    "mcp__github__delete_repo_notes",
    "mcp__github__delete_repos",
    "mcp__my_github__delete_repo",
    "mcp__github_enterprise__delete_repo",
    "mcp__git__hub_delete_repo",
    "githubdelete_repo",
    "gitlab_delete_repo",
    "mygithub-delete_repo",
    "delete_repo",
    "delete_github_repo",
    "functions.delete_repo",
    "web_search",
    "github____delete_repo_notes____mcp",
    "mcp__claude_ai_GitHub_Enterprise__delete_repo",
    "mcp__claude_ai_github__undelete_repo",
    "mcp__my_github_delete_repo",
];

fn check(tool: &str, policy: &str) -> i32 {
    let test = Test::new(&["check", "--policy", "p.yaml", "--tool", tool, "--input", "{}"]);
    test.file("p.yaml", policy).run().code
}

/// The same with a config that declares the server.
fn check_declared(tool: &str, policy: &str) -> i32 {
    let mut config = "mcp: { servers: { github: { command: none } } }\npolicies:\n".to_owned();
    policy.lines().enumerate().for_each(|(at, line)| {
        let before = if at == 0 { "  - " } else { "    " };
        writeln!(config, "{before}{line}").unwrap();
    });
    let test = Test::new(&["check", "--tool", tool, "--input", "{}"]);
    let ran = test.file(".config/callgate/callgate.yaml", config).run();
    assert!(ran.code <= 1, "{}", ran.stderr);
    ran.code
}

#[test]
fn a_rule_by_server_finds_its_tool_in_every_spelling() {
    for name in SPELLINGS {
        assert_eq!(check(name, RULE), 1, "{name}");
    }
    for name in OTHERS {
        assert_eq!(check(name, RULE), 0, "{name}");
    }
    for name in ["mcp__plugin_x_github__delete_repo", "github_delete_repo", "web_search"] {
        assert_eq!(check_declared(name, RULE), i32::from(name != "web_search"), "{name}");
    }
}

#[test]
fn a_pair_under_tool_and_patterns_find_every_spelling_too() {
    let rule =
        |what: &str| format!("policy: p\nrules:\n  - {{ id: keep, {what}, verdict: deny }}\n");
    for (what, name, denied) in [
        ("tool: mcp__github__delete_repo", "github_delete_repo", true),
        ("tool: mcp.github.delete_repo", "functions.mcp__github__delete_repo", true),
        ("tool: 'github.delete_*'", "github-delete-branch", true),
        ("tool: 'github.delete_*'", "github_list", false),
        ("server: github", "github_anything", true),
        ("server: github", "githubby_anything", false),
        ("server: 'git*', tool: 'delete_*'", "github_delete_repo", true),
        ("server: 'git*', tool: 'delete_*'", "get_delete_repo", false),
        ("server: 'git*', tool: 'delete_*'", "github_list", false),
        ("server: '*-prod', tool: drop", "db-prod_drop", true),
        // This says too little about names that need not be those of a server.
        ("server: '*-prod'", "list_prod_users", false),
        ("server: '*'", "create_issue", false),
        // An agent's own tool, unless a rule names exactly that server and that tool.
        ("server: web", "web_search", false),
        ("server: web, tool: 'sea*'", "web_search", false),
        ("server: web, tool: search", "web_search", true),
        ("server: my.server, tool: read.file", "mcp__my_server__read_file", true),
        ("tool: read-file", "read_file", true),
        ("tool: bash", "b\u{430}sh", true),
    ] {
        assert_eq!(check(name, &rule(what)), i32::from(denied), "{what}: {name}");
    }
    let long =
        rule("server: internal-documentation-server, tool: search_all_pages_and_attachments");
    let name = "mcp__internal-documentat0123456789abcdef0123456789abcdef01234567";
    assert_eq!(check(name, &long), 1, "shortened");
}

#[test]
fn a_rule_that_allows_trusts_no_unclear_name() {
    let allow = |what: &str| {
        format!("policy: p\ndefault: deny\nrules:\n  - {{ id: ok, {what}, verdict: allow }}\n")
    };
    for (what, name, allowed) in [
        ("server: github, tool: delete_repo", "mcp__github__delete_repo", true),
        ("server: github, tool: delete_repo", "github_delete_repo", false),
        ("server: github, tool: delete_repo", "mcp__github__delete-repo", false),
        ("server: github, tool: delete_repo", "mcp__g\u{456}thub__delete_repo", false),
        ("server: github, tool: delete_repo", "mcp__plugin_x_github__delete_repo", false),
        ("tool: 'github_*'", "github_delete_repo", true),
    ] {
        assert_eq!(check(name, &allow(what)), i32::from(!allowed), "{what}: {name}");
    }
    // Where the server is declared, a name that may mean a tool of its own is not a tool without a
    // server.
    assert_eq!(check_declared("github_delete_repo", &allow("tool: '*'")), 1);
    assert_eq!(check_declared("github_delete_repo", &allow("tool: github_delete_repo")), 0);
    assert_eq!(check_declared("create_issue", &allow("tool: '*'")), 0);
}

#[test]
fn a_rule_without_a_server_knows_declared_servers() {
    let rule = "policy: p\nrules:\n  - { id: keep, tool: delete_repo, verdict: deny }\n";
    assert_eq!(check("github_delete_repo", rule), 0, "nobody names that server");
    assert_eq!(check_declared("github_delete_repo", rule), 1);
    assert_eq!(check_declared("github_delete_repo_notes", rule), 0);
}

#[test]
fn an_allowed_server_is_found_behind_two_underscores() {
    let policy =
        "policy: p\ndefault: deny\nrules:\n  - { id: github, server: github, verdict: allow }\n";
    for tool in ["github__create_issue", "mcp__github__create_issue", "github.create_issue"] {
        assert_eq!(check(tool, policy), 0, "{tool}");
    }
    for tool in ["github_create_issue", "create_issue"] {
        assert_eq!(check(tool, policy), 1, "{tool}");
    }
}

/// The same with arguments, by the policy that callgate starts with.
fn check_starter(tool: &str, input: &str) -> i32 {
    Test::new(&["check", "--policy", "builtin:starter", "--tool", tool, "--input", input])
        .run()
        .code
}

#[test]
fn a_mark_before_all_tools_hides_none() {
    let (harmful, harmless) = (r#"{"command":"rm -rf /"}"#, r#"{"command":"ls"}"#);
    for tool in ["mcp_bash", "mcp_Bash", "mcp__terminal", "sandbox____bash____mcp", "executeBash"] {
        assert_eq!(check_starter(tool, harmful), 1, "{tool}");
        assert_eq!(check_starter(tool, harmless), 0, "{tool}");
    }
    let batch = r#"{"tool_calls":[{"tool":"bash","parameters":{"command":"rm -rf /"}}]}"#;
    assert_eq!(check_starter("mcp_batch", batch), 1);
}

const HYPHENS: &str = "policy: p\nrules:\n  - { id: keep, server: acme.git-hub, tool: delete-repo, verdict: deny, reason: Repositories stay. }\n";

#[test]
fn hyphens_and_dots_as_agents_write_them() {
    for tool in [
        "mcp__acme_git-hub__delete-repo",
        "mcp--acmegit___hub--delete___repo",
        "mcp__acmegit___hub__delete___repo",
        "mcp_mcp__acme_git-hub__delete_repo",
    ] {
        assert_eq!(check(tool, HYPHENS), 1, "{tool}");
    }
    for tool in ["mcp--acmegit___lab--delete___repo", "mcp--acmegit___hub--delete___repos"] {
        assert_eq!(check(tool, HYPHENS), 0, "{tool}");
    }
}

const BARE: &str = "policy: p\nrules:\n  - { id: keep, tool: delete_repo, verdict: deny, reason: Repositories stay. }\n";

#[test]
fn names_that_say_their_kind_are_read_without_knowing_the_server() {
    for tool in ["any____delete_repo____mcp", "any____delete_repo____mcp____x"] {
        assert_eq!(check(tool, BARE), 1, "{tool}");
    }
    for tool in ["any____delete_repo_notes____mcp", "read_mcp_resource", "mcp_github_list"] {
        assert_eq!(check(tool, BARE), 0, "{tool}");
    }
}
