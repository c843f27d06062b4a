//! Every spelling of every agent, and ambiguous names.

use crate::{KnownTool, NameLookup, NameMap};

fn known(server: &str, tool: &str) -> KnownTool {
    KnownTool { server: server.to_owned(), tool: tool.to_owned() }
}

fn map(tools: &[(&str, &str)]) -> NameMap {
    NameMap::new(tools.iter().map(|(server, tool)| known(server, tool)))
}

fn found(map: &NameMap, name: &str) -> Vec<(String, String)> {
    let found = map.find(name).all();
    found.into_iter().map(|it| (it.server.clone(), it.tool.clone())).collect()
}

#[test]
fn every_spelling_is_found() {
    let map = map(&[("github", "create_issue"), ("My Files", "read.file"), ("time", "now")]);
    for name in [
        "mcp__github__create_issue",
        "mcp_github_create_issue",
        "github-create_issue",
        "github_create_issue",
        "github__create_issue",
        "github.create_issue",
        "github/create_issue",
        "github:create_issue",
        "MCP__GitHub__Create_Issue",
        " mcp__github__create_issue\n",
    ] {
        assert_eq!(map.find(name), NameLookup::One(&known("github", "create_issue")), "{name}");
    }
    for name in [
        "mcp__My_Files__read_file",
        "mcp__My Files__read.file",
        "mcp_my_files_read.file",
        "My_Files-read_file",
        "my_files_read_file",
        "My_Files.read.file",
    ] {
        assert_eq!(map.find(name), NameLookup::One(&known("My Files", "read.file")), "{name}");
    }
    for name in ["now", "time", "mcp__time__later", "mcp__time__", "create_issue", "Bash", ""] {
        assert_eq!(map.find(name), NameLookup::Nothing, "{name}");
    }
}

#[test]
fn a_name_with_look_alike_letters_is_found_but_uncertain() {
    let map = map(&[("github", "delete_repo"), ("a-b", "x"), ("a_b", "x")]);
    for name in [
        "functions.mcp__github__delete_repo",
        "functions.github.delete_repo",
        "mcp__github__delete-repo",
        "mcp__g\u{456}thub__delete_repo",
        "functions.mcp__plugin_x_github__delete_repo",
    ] {
        assert_eq!(map.find(name), NameLookup::One(&known("github", "delete_repo")), "{name}");
        assert!(!map.is_spelled(name), "{name}");
    }
    // An exact spelling means that tool, and no tool with a similar name.
    assert_eq!(map.find("mcp__a-b__x"), NameLookup::One(&known("a-b", "x")));
    assert!(map.is_spelled("mcp__a-b__x") && map.is_spelled("mcp--github--delete_repo"));
    assert_eq!(map.find("functions.delete_repo"), NameLookup::Nothing);
    assert_eq!(map.find("github_delete_repo_notes"), NameLookup::Nothing);
}

#[test]
fn a_namespace_and_a_name_are_found() {
    let map = map(&[("github", "create_issue"), ("a", "b__c"), ("a__b", "c"), ("my srv", "x")]);
    for namespace in ["github", "mcp__github", "mcp__github__", "mcp_github", "GITHUB"] {
        let found = map.find_in(namespace, "create_issue");
        assert_eq!(found, NameLookup::One(&known("github", "create_issue")), "{namespace}");
    }
    // Server and tool are separate here, so nothing is ambiguous.
    assert_eq!(map.find_in("mcp__a", "b__c"), NameLookup::One(&known("a", "b__c")));
    assert_eq!(map.find_in("mcp__a__b", "c"), NameLookup::One(&known("a__b", "c")));
    assert_eq!(map.find_in("mcp__my_srv", "x"), NameLookup::One(&known("my srv", "x")));
    assert_eq!(map.find_in("git", "hub_create_issue"), NameLookup::Nothing);
    assert_eq!(map.find_in("", "create_issue"), NameLookup::Nothing);
    assert_eq!(map.find_in("other", "create_issue"), NameLookup::Nothing);
}

#[test]
fn a_name_that_two_tools_share_finds_both() {
    let pair = |server: &str, tool: &str| (server.to_owned(), tool.to_owned());
    for (one, two, name) in [
        (("a", "b__c"), ("a__b", "c"), "mcp__a__b__c"),
        (("git", "hub_push"), ("git_hub", "push"), "mcp_git_hub_push"),
        (("git", "hub_push"), ("git_hub", "push"), "git_hub_push"),
        (("my srv", "x"), ("my.srv", "x"), "mcp__my_srv__x"),
        (("s", "read.file"), ("s", "read_file"), "mcp__s__read_file"),
        (("s", "Read"), ("s", "read"), "mcp__s__read"),
        (("a-b", "c"), ("a", "b-c"), "a-b-c"),
    ] {
        let map = map(&[one, two]);
        let mut both = vec![pair(one.0, one.1), pair(two.0, two.1)];
        both.sort();
        assert!(matches!(map.find(name), NameLookup::Ambiguous(_)), "{name}");
        assert_eq!(found(&map, name), both, "{name}");
    }
    // An unambiguous spelling finds one of them.
    let map = map(&[("a", "b__c"), ("a__b", "c")]);
    assert_eq!(map.find("a.b__c"), NameLookup::One(&known("a", "b__c")));
}

#[test]
fn shortened_names_are_found() {
    let server = "internal-documentation-server";
    let tool = "search_across_all_of_the_pages_and_their_attachments";
    let map = map(&[(server, tool), ("other", "search")]);
    let one = NameLookup::One(&known(server, tool));
    let whole = format!("mcp__{server}__{tool}");
    assert_eq!(map.find(&whole), one);
    let hash = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!(map.find(&format!("{}{hash}", &whole[..24])), one, "as Codex does it");
    let gemini = format!("mcp_{server}_{tool}");
    let gapped = |mark: &str| format!("{}{mark}{}", &gemini[..28], &gemini[gemini.len() - 32..]);
    assert_eq!(map.find(&gapped("___")), one, "as Gemini CLI does it");
    assert_eq!(map.find(&gapped("...")), one);
    assert_eq!(map.find(&whole[..64]), one, "cut off");
    assert_eq!(map.find(&format!("{}_deadbeef", &whole[..55])), one);
    assert_eq!(map.find(&whole[..40]), NameLookup::Nothing, "no agent shortens that far");
    assert_eq!(map.find(&format!("{}{}", &whole[..24], "z".repeat(40))), NameLookup::Nothing);
    assert_eq!(map.find(&format!("{}___{}", &gemini[..28], "z".repeat(32))), NameLookup::Nothing);
}

#[test]
fn a_shortened_name_of_two_tools_finds_both() {
    let server = "internal-documentation-server";
    let tools: Vec<String> =
        ["a", "b"].iter().map(|end| format!("search_all_pages_and_attachments_{end}")).collect();
    let map = map(&[(server, &tools[0]), (server, &tools[1])]);
    let name =
        format!("mcp__{server}__search").chars().take(24).collect::<String>() + &"0".repeat(40);
    assert_eq!(found(&map, &name).len(), 2);
}

#[test]
fn astral_characters_count_twice_in_javascript() {
    let map = map(&[("s", "a\u{1f600}b")]);
    for name in ["mcp__s__a__b", "mcp__s__a_b", "mcp__s__a\u{1f600}b"] {
        assert_eq!(map.find(name), NameLookup::One(&known("s", "a\u{1f600}b")), "{name}");
    }
}

#[test]
fn the_server_of_a_plugin_is_found_after_the_plugin() {
    let map = map(&[("issues", "create"), ("my_issues", "create"), ("plugin_a_b", "create")]);
    for (name, servers) in [
        ("mcp__plugin_tracker_issues__create", vec!["issues"]),
        ("mcp__plugin_my-tracker_issues__create", vec!["issues"]),
        // It is not clear where the plugin's name ends.
        ("mcp__plugin_tracker_my_issues__create", vec!["issues", "my_issues"]),
        // A server of exactly that name takes precedence.
        ("mcp__plugin_a_b__create", vec!["plugin_a_b"]),
        ("mcp__plugin_issues__create", vec![]),
        ("mcp__plugin_tracker_issues__delete", vec![]),
        ("plugin_tracker_issues__create", vec![]),
    ] {
        let found: Vec<String> = found(&map, name).into_iter().map(|(server, _)| server).collect();
        assert_eq!(found, servers, "{name}");
    }
}
