//! The built-in policy: its examples are checked by loading it.

use super::support::*;
use crate::{Verdict, starter};

#[test]
fn the_starter_loads_without_a_warning() {
    let (policies, warnings) = compile(&[&starter().text]);
    assert_eq!(warnings, []);
    assert!(policies.rules().all(|rule| rule.verdict == Verdict::Deny));
}

#[test]
fn daily_work_passes() {
    let policies = policies(&starter().text);
    for command in [
        "ls -la",
        "cargo test --workspace",
        "npm install && npm run build",
        "git status",
        "git commit -am 'fix: remove rm -rf from script'",
        "git push -u origin feat/x",
        "git push --force-with-lease",
        "git rebase main",
        "git push -f origin my-branch",
        "rm -rf target/debug",
        "rm -rf .next dist",
        "rm -f /tmp/lock",
        "rm -rf ../old-build",
        "find . -name '*.pyc' -delete",
        "docker run --rm -it -v $PWD:/app node:22 npm test",
        "docker compose down -v",
        "curl -sSf https://example.com/health",
        "pip install -r requirements.txt",
        "cat package.json | jq .version",
        "tar xzf a.tgz -C /opt/tool",
        "chmod +x run.sh",
        "chmod -R u+w .",
        "sed -i 's/a/b/' file",
        "ssh host 'uptime'",
        "kubectl get pods",
        "psql -f schema.sql",
        "python -c 'print(1)'",
        "echo done > /dev/null",
        "make clean",
        "systemctl restart app",
        "ps aux | grep node",
        "kill %1",
        "env | sort",
        "df -h /",
        "du -sh /var/log",
        "ls -R /etc",
        "grep -r TODO src/",
        "cp -r a b",
        "mv a b",
        "sudo apt-get install -y jq",
        "git clone git@example.com:a/b.git",
        "cat ~/.gitconfig",
    ] {
        let input = format!("{{\"command\":{}}}", callgate_call::json::quote(command));
        let judgement = policies.ask(&call("Bash", &input));
        assert_eq!(judgement.verdict, Verdict::Allow, "{command}: {:?}", judgement.rule);
    }
}

/// The content of a JSON file is neither a path nor a command of the call that writes it.
#[test]
fn writing_json_passes() {
    let policies = policies(&starter().text);
    let text = r#""{\"key\":\"/home/me/.ssh/id_rsa\",\"mounts\":[\"/root/.bashrc\"]}""#;
    for (tool, input) in [
        ("Write", format!(r#"{{"file_path":"a.json","content":{text}}}"#)),
        ("write_file", format!(r#"{{"path":"a.json","content":{text}}}"#)),
        ("mcp__filesystem__write_file", format!(r#"{{"path":"a.json","content":{text}}}"#)),
        (
            "str_replace_based_edit_tool",
            format!(r#"{{"command":"create","path":"a.json","file_text":{text}}}"#),
        ),
        ("Edit", format!(r#"{{"file_path":"a.json","old_string":{text},"new_string":{text}}}"#)),
    ] {
        let judgement = policies.ask(&call(tool, &input));
        assert_eq!(judgement.verdict, Verdict::Allow, "{tool}: {:?}", judgement.rule);
    }
}

#[test]
fn other_tools_stream_by_name() {
    let policies = policies(&starter().text);
    assert_eq!(policies.by_name("TodoWrite"), "allow");
    assert_eq!(policies.by_name("mcp__github__create_issue"), "allow");
    assert_eq!(policies.by_name("Bash"), "open");
    assert_eq!(policies.by_name("Read"), "open");
}
