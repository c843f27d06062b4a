//! callgate as it is released, with a policy whose rules want to see the arguments of the call that
//! is streamed.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::proxy::{Kind, Start};

pub(crate) fn command(
    kind: Kind,
    start: &Start,
    address: SocketAddr,
    home: &Path,
) -> Result<Command> {
    std::fs::write(home.join("rules.yaml"), rules(kind, start.rules))?;
    // Apart from the policies, as by default: their folder is watched.
    std::fs::create_dir(home.join("state"))?;
    let file = home.join("callgate.yaml");
    std::fs::write(&file, config(kind, start.upstream, address, &home.display().to_string()))?;
    let mut command = Command::new(&start.callgate);
    command.arg("--config").arg(&file).arg("serve");
    Ok(command)
}

fn config(kind: Kind, upstream: SocketAddr, listen: SocketAddr, home: &str) -> String {
    let durability = if kind == Kind::CallgateDisk { "disk" } else { "process" };
    let mode = if kind == Kind::CallgateOff { "off" } else { "full" };
    format!(
        "listen: {listen}
store: sqlite:{home}/state/callgate.db
providers:
  anthropic: {{ base_url: \"http://{upstream}\", dialect: anthropic }}
  openai: {{ base_url: \"http://{upstream}/v1\", dialect: openai-chat }}
  gemini: {{ base_url: \"http://{upstream}\", dialect: gemini }}
  ollama: {{ base_url: \"http://{upstream}\", dialect: ollama }}
  aws: {{ base_url: \"http://{upstream}\", dialect: bedrock-converse }}
policies: [rules.yaml]
gateway: {{ mode: {mode}, workers: 1 }}
audit: {{ durability: {durability} }}
"
    )
}

/// A policy of so many rules: names, globs, texts and regular expressions in arguments. None denies
/// the call of the benchmark; half of them must see its arguments to know.
fn rules(kind: Kind, count: usize) -> String {
    let mut text = String::from("policy: bench\ndefault: allow\n");
    if kind == Kind::CallgateMasked {
        text += "text:\n  - { id: data, detect: [secret, personal], verdict: mask }\n";
    }
    text += "rules:\n";
    for at in 0..count {
        let condition = match at % 8 {
            0 => format!("tool: remove_record_{at}"),
            1 => format!("tool: \"drop_table_{at}_*\""),
            2 => format!("tool: \"*_export_{at}\""),
            3 => format!("tool: mcp__server{at}__delete_item"),
            4 => format!(
                "tool: Bash\n    when: {{ arg: command, matches: '\\bdd\\s+if=\\S+\\s+of=/dev/disk{at}\\b' }}"
            ),
            5 => format!(
                "tool: Bash\n    when: {{ arg: command, contains: 'https://upload{at}.example' }}"
            ),
            6 => format!(
                "tool: \"@shell\"\n    when: {{ arg: command, matches: '(?i)git\\s+push\\s+--force\\s+origin\\s+release-{at}' }}"
            ),
            _ => format!(
                "tool: [Bash, Write]\n    when: {{ any: [ {{ arg: file_path, starts_with: '/etc/bench{at}/' }}, {{ arg: command, matches: 'rm\\s+-rf\\s+/srv/data{at}' }} ] }}"
            ),
        };
        let _ = writeln!(
            text,
            "  - id: rule-{at}\n    {condition}\n    verdict: deny\n    reason: not in a benchmark"
        );
    }
    text
}
