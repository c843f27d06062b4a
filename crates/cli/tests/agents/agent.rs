//! The agents: how each is set up and started, and what it calls its tools.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::installed::Installed;

/// An agent that we did not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    ClaudeCode,
    Codex,
    /// The same with one of the newer models, which write programs that call tools.
    CodexPrograms,
    Gemini,
    OpenCode,
}

/// How an agent gets at its model and its two servers.
pub(crate) struct Surroundings<'a> {
    /// The gateway, used as every provider.
    pub(crate) gateway: &'a str,
    /// What it starts for the server `shim`.
    pub(crate) shim: &'a [String],
    /// Where it finds the server `web`.
    pub(crate) web: &'a str,
    /// Its home, with nothing else in it.
    pub(crate) home: &'a Path,
    /// The folder it works in.
    pub(crate) work: &'a Path,
}

/// A tool as an agent's model names it.
pub(crate) struct Spelled {
    /// The models of OpenAI name the server apart.
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
}

/// Whether a conversation begins or continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    First,
    Next,
}

impl Agent {
    /// A tool of a server.
    pub(crate) fn tool(self, server: &str, tool: &str) -> Spelled {
        let (namespace, name) = match self {
            Self::ClaudeCode => (None, format!("mcp__{server}__{tool}")),
            Self::Codex | Self::CodexPrograms => (Some(format!("mcp__{server}")), tool.to_owned()),
            Self::Gemini => (None, format!("mcp_{server}_{tool}")),
            Self::OpenCode => (None, format!("{server}_{tool}")),
        };
        Spelled { namespace, name }
    }

    /// Its own tool that runs a command, and what that is called with.
    pub(crate) fn shell(self, command: &str) -> (Spelled, Value) {
        let (name, input) = match self {
            Self::ClaudeCode => ("Bash", json!({ "command": command, "description": "A test" })),
            Self::Codex | Self::CodexPrograms => ("exec_command", json!({ "cmd": command })),
            Self::Gemini => ("run_shell_command", json!({ "command": command })),
            Self::OpenCode => ("bash", json!({ "command": command, "description": "A test" })),
        };
        (Spelled { namespace: None, name: name.to_owned() }, input)
    }

    /// Whether it tells a server the model's id of a call.
    pub(crate) fn tells_ids(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex | Self::CodexPrograms)
    }

    /// Writes what it reads at its start, again if that has changed. Nothing of it asks for an account or leaves the machine.
    pub(crate) fn set_up(self, at: &Surroundings<'_>) {
        match self {
            Self::ClaudeCode => {
                let servers = json!({ "mcpServers": {
                    "shim": { "command": at.shim[0], "args": at.shim[1..], "alwaysLoad": true },
                    "web": { "type": "http", "url": at.web, "alwaysLoad": true },
                } });
                fs::write(at.home.join("servers.json"), servers.to_string()).unwrap();
            }
            Self::Codex | Self::CodexPrograms => {
                let folder = at.home.join(".codex");
                fs::create_dir_all(&folder).unwrap();
                // Without this line it takes its newest model.
                let model = if self == Self::Codex { "model = \"gpt-5.5\"\n" } else { "" };
                let settings = format!("{model}{}", codex_settings(at));
                fs::write(folder.join("config.toml"), settings).unwrap();
            }
            Self::Gemini => {
                let folder = at.home.join(".gemini");
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join("settings.json"), gemini_settings(at).to_string()).unwrap();
            }
            Self::OpenCode => {
                let folder = at.home.join(".config/opencode");
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join("opencode.json"), opencode_settings(at).to_string()).unwrap();
            }
        }
    }

    /// What starts it with a question.
    pub(crate) fn command(
        self,
        installed: &Installed,
        at: &Surroundings<'_>,
        turn: Turn,
    ) -> Command {
        let program = Installed::program(self);
        let mut command = match self {
            // It is a program by itself.
            Self::OpenCode => Command::new(program),
            _ => {
                let mut node = Command::new(&installed.node);
                node.arg(program);
                node
            }
        };
        command.current_dir(at.work).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", at.home);
        // Whatever asks elsewhere gets nowhere, at once.
        for name in ["HTTP_PROXY", "HTTPS_PROXY"] {
            command.env(name, "http://127.0.0.1:9");
        }
        command.env("NO_PROXY", "127.0.0.1,localhost");
        match self {
            Self::ClaudeCode => claude_code(&mut command, at, turn),
            Self::Codex | Self::CodexPrograms => codex(&mut command, turn),
            Self::Gemini => gemini(&mut command, at, turn),
            Self::OpenCode => opencode(&mut command, turn),
        }
        command
    }
}

const QUESTION: &str = "Do what is to be done.";

fn claude_code(command: &mut Command, at: &Surroundings<'_>, turn: Turn) {
    command.env("ANTHROPIC_BASE_URL", at.gateway).env("ANTHROPIC_API_KEY", "sk-ant-none");
    // It does not skip its own questions for root, unless a variable says that this is a sandbox.
    command.env("IS_SANDBOX", "1");
    for name in [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
    ] {
        command.env(name, "1");
    }
    // It waits for its servers before it asks its model, however slowly they start.
    command.env("MCP_CONNECTION_NONBLOCKING", "0").env("MCP_TIMEOUT", "60000");
    command.args(["-p", QUESTION, "--output-format", "stream-json", "--verbose"]);
    command.args(["--dangerously-skip-permissions", "--strict-mcp-config", "--mcp-config"]);
    command.arg(at.home.join("servers.json"));
    if turn == Turn::Next {
        command.arg("--continue");
    }
}

fn codex(command: &mut Command, turn: Turn) {
    command.env("OPENAI_API_KEY", "sk-none").arg("exec");
    command.args(["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]);
    if turn == Turn::Next {
        command.args(["resume", "--last"]);
    }
    command.arg(QUESTION);
}

/// It asks its model without waiting for a server that is slow to start, unless that is required.
fn codex_settings(at: &Surroundings<'_>) -> String {
    let (gateway, shim, web) = (at.gateway, at.shim, at.web);
    let (program, args) = (&shim[0], &shim[1..]);
    format!(
        r#"
model_provider = "callgate"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false
apps = false
remote_plugin = false

[model_providers.callgate]
name = "callgate"
base_url = "{gateway}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = false

[mcp_servers.shim]
command = {program:?}
args = {args:?}
required = true
startup_timeout_sec = 60

[mcp_servers.web]
url = {web:?}
required = true
startup_timeout_sec = 60
"#
    )
}

fn gemini(command: &mut Command, at: &Surroundings<'_>, turn: Turn) {
    command.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", at.gateway);
    // With a model it does not ask another one which to take.
    command.args(["--model", "gemini-3-pro", "--yolo", "--skip-trust", "-o", "stream-json"]);
    if turn == Turn::Next {
        command.args(["--resume", "latest"]);
    }
    command.args(["-p", QUESTION]);
}

fn gemini_settings(at: &Surroundings<'_>) -> Value {
    json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "general": { "enableAutoUpdate": false },
        "mcpServers": {
            "shim": { "command": at.shim[0], "args": at.shim[1..] },
            "web": { "httpUrl": at.web },
        },
    })
}

fn opencode(command: &mut Command, turn: Turn) {
    for name in [
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    ] {
        command.env(name, "1");
    }
    // Without a title it would ask its model for one.
    command.args(["run", "--format", "json", "--auto", "--title", "A test"]);
    if turn == Turn::Next {
        command.arg("--continue");
    }
    command.arg(QUESTION);
}

fn opencode_settings(at: &Surroundings<'_>) -> Value {
    let options = json!({ "baseURL": format!("{}/v1", at.gateway), "apiKey": "none" });
    json!({
        "provider": { "callgate": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "callgate",
            "options": options,
            "models": { "scripted": { "name": "scripted", "tool_call": true } },
        } },
        "model": "callgate/scripted",
        "small_model": "callgate/scripted",
        "autoupdate": false,
        "share": "disabled",
        "permission": "allow",
        "mcp": {
            "shim": { "type": "local", "command": at.shim, "enabled": true, "timeout": 60000 },
            "web": { "type": "remote", "url": at.web, "enabled": true, "timeout": 60000 },
        },
    })
}
