//! callgate as it is released, with a policy whose rules want to see the arguments of the call that
//! is streamed.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::proxy::{Kind, Start};

/// The name of its config file.
const CONFIG: &str = "callgate.yaml";

pub(crate) fn command(
    kind: Kind,
    start: &Start,
    address: SocketAddr,
    home: &Path,
) -> Result<Command> {
    std::fs::write(home.join("rules.yaml"), rules(kind, start.rules))?;
    // Apart from the policies, as by default: their folder is watched.
    std::fs::create_dir(home.join("state"))?;
    let file = home.join(CONFIG);
    std::fs::write(&file, config(kind, start.upstream, address, &home.display().to_string()))?;
    let mut command = Command::new(&start.callgate);
    command.arg("--config").arg(&file).arg("serve");
    Ok(command)
}

/// An error unless exactly this many calls were recorded as allowed, and no others. To be asked
/// when it has ended: by then everything is written.
pub(crate) fn expect_recorded(binary: &Path, home: &Path, calls: usize) -> Result<()> {
    let asked = Command::new(binary)
        .arg("--config")
        .arg(home.join(CONFIG))
        .args(["stats", "--json"])
        .output()
        .context("cannot start `callgate stats`")?;
    let errors = String::from_utf8_lossy(&asked.stderr);
    ensure!(asked.status.success(), "`callgate stats` failed: {errors}");
    let stats: Value = serde_json::from_slice(&asked.stdout).context("`callgate stats --json`")?;
    let verdicts = stats.get("verdicts").context("`callgate stats --json` has no verdicts")?;
    let expected = serde_json::json!({ "allow": calls });
    ensure!(*verdicts == expected, "{calls} calls were made, but recorded are {verdicts}");
    Ok(())
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

/// A policy of this many rules: names, globs, texts and regular expressions in arguments. None
/// denies the call of the benchmark; half of them must see its arguments to know.
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
