//! Agents that run other agents, and callgate itself.

use crate::effect::Change;
use crate::marks::Mark;
use crate::model::*;

const ESCALATES: Use = &[mark(Mark::Escalates)];
const CALLGATE_CONFIG: Use =
    &[Does::WritesFile("~/.config/callgate/callgate.yaml", Change::Content)];
const CALLGATE_STORE: Use =
    &[Does::WritesFile("~/.local/share/callgate/callgate.db", Change::Content)];

pub(crate) const MODELS: &[Model] = &[
    model(&["claude", "claude-code"])
        .flags(&[
            switch(
                &["--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"],
                ESCALATES,
            ),
            takes(
                &["--permission-mode"],
                &[Does::MarksIf(&["bypassPermissions", "acceptEdits", "dontAsk"], Mark::Escalates)],
            ),
            takes(&["--permission-prompt-tool"], ESCALATES),
            takes(
                &["--allowedTools", "--allowed-tools"],
                &[Does::MarksIf(&["*", "Bash", "Bash(*)"], Mark::Escalates)],
            ),
            takes(&["--settings", "--mcp-config"], &[LISTS, mark(Mark::Escalates)]),
            takes(&["--plugin-dir"], ESCALATES),
            takes(&["--add-dir"], &[LISTS]),
            takes(
                &[
                    "--model",
                    "--output-format",
                    "--input-format",
                    "--append-system-prompt",
                    "--system-prompt",
                    "--max-turns",
                    "--session-id",
                    "--fallback-model",
                    "--agents",
                    "--disallowedTools",
                ],
                &[],
            ),
            switch(
                &[
                    "--print",
                    "-p",
                    "--continue",
                    "-c",
                    "--resume",
                    "-r",
                    "--version",
                    "-v",
                    "--help",
                    "-h",
                ],
                &[],
            ),
        ])
        .subs(&[
            model(&["mcp"]).subs(&[
                model(&["add", "add-json", "add-from-claude-desktop"])
                    .style(Style::Posix)
                    .always(&[Does::WritesFile("~/.claude.json", Change::Content)]),
                model(&["remove", "reset-project-choices"])
                    .always(&[Does::WritesFile("~/.claude.json", Change::Content)]),
                model(&["list", "get"]),
                model(&["serve"]).always(&[mark(Mark::Tunnel)]),
            ]),
            model(&["config"]).subs(&[
                model(&["set", "add", "remove"])
                    .always(&[Does::WritesFile("~/.claude/settings.json", Change::Content)]),
                model(&["get", "list", "ls"]),
            ]),
            model(&["plugin"]).subs(&[
                model(&["install", "enable", "marketplace", "disable"])
                    .always(&[Does::WritesFile("~/.claude/settings.json", Change::Content)]),
                model(&["list", "validate"]),
            ]),
            model(&["doctor", "update", "setup-token", "install"]),
        ])
        .examples(&[
            ("claude --dangerously-skip-permissions -p x", &["marks escalates"]),
            ("claude --permission-mode bypassPermissions", &["marks escalates"]),
            ("claude --version", &[]),
            ("claude mcp list", &[]),
            ("claude mcp add x -- npx y", &["writes ~/.claude.json"]),
        ]),
    model(&["codex"])
        .flags(&[
            switch(
                &["--yolo", "--dangerously-bypass-approvals-and-sandbox", "--full-auto"],
                ESCALATES,
            ),
            takes(&["--sandbox", "-s"], &[Does::MarksIf(&["danger-full-access"], Mark::Escalates)]),
            takes(&["--ask-for-approval", "-a"], &[Does::MarksIf(&["never"], Mark::Escalates)]),
            takes(
                &["--config", "-c"],
                &[Does::MarksIf(
                    &[
                        "sandbox_mode=danger-full-access",
                        "sandbox_mode=\"danger-full-access\"",
                        "approval_policy=never",
                        "approval_policy=\"never\"",
                    ],
                    Mark::Escalates,
                )],
            ),
            takes(&["--cd", "-C"], &[FOLDER]),
            takes(
                &[
                    "--model",
                    "-m",
                    "--profile",
                    "-p",
                    "--image",
                    "-i",
                    "--output-last-message",
                    "-o",
                    "--add-dir",
                ],
                &[],
            ),
        ])
        .subs(&[
            model(&["mcp"]).subs(&[
                model(&["add", "remove", "login", "logout"])
                    .style(Style::Posix)
                    .always(&[Does::WritesFile("~/.codex/config.toml", Change::Content)]),
                model(&["list", "get"]),
            ]),
            model(&[
                "exec",
                "e",
                "review",
                "resume",
                "apply",
                "cloud",
                "completion",
                "login",
                "logout",
                "mcp-server",
                "features",
                "debug",
            ]),
            model(&["sandbox"])
                .subs(&[model(&["linux", "macos", "seatbelt", "landlock", "windows"])
                    .style(Style::Posix)
                    .operands(leading(&[&[COMMAND]], &[]))])
                .style(Style::Posix)
                .operands(leading(&[&[COMMAND]], &[])),
        ])
        .examples(&[
            ("codex sandbox linux cat a", &["runs cat a", "reads a"]),
            ("codex --yolo exec x", &["marks escalates"]),
            ("codex exec -s danger-full-access x", &["marks escalates"]),
            ("codex mcp add x -- npx y", &["writes ~/.codex/config.toml"]),
            ("codex --version", &[]),
        ]),
    model(&["gemini", "qwen", "iflow"])
        .flags(&[
            switch(&["--yolo", "-y"], ESCALATES),
            takes(&["--approval-mode"], &[Does::MarksIf(&["yolo", "auto_edit"], Mark::Escalates)]),
            takes(&["--allowed-tools", "--allowed-mcp-server-names", "--extensions", "-e"], &[]),
            takes(
                &[
                    "--model",
                    "-m",
                    "--prompt",
                    "-p",
                    "--prompt-interactive",
                    "-i",
                    "--include-directories",
                    "--output-format",
                    "-o",
                ],
                &[],
            ),
        ])
        .subs(&[
            model(&["mcp"]).subs(&[
                model(&["add", "remove"])
                    .style(Style::Posix)
                    .always(&[Does::WritesFile("~/.gemini/settings.json", Change::Content)]),
                model(&["list"]),
            ]),
            model(&["extensions"]).subs(&[
                model(&["install", "link"]).operands(each(&[Does::Package(Registry::Other)])),
                model(&["list", "update", "disable", "enable", "uninstall"]),
            ]),
        ])
        .examples(&[
            ("gemini --yolo -p x", &["marks escalates"]),
            ("gemini --approval-mode=yolo x", &["marks escalates"]),
            ("gemini mcp list", &[]),
        ]),
    model(&[
        "copilot",
        "cursor-agent",
        "agent",
        "opencode",
        "goose",
        "aider",
        "amp",
        "droid",
        "crush",
        "q",
        "kiro-cli",
        "auggie",
        "cline",
        "roo",
        "continue",
        "cn",
        "plandex",
        "openhands",
        "swe-agent",
        "mini",
        "gptme",
        "sgpt",
        "aichat",
        "llm",
        "interpreter",
        "open-interpreter",
        "devin",
        "codebuff",
        "forge",
        "kilocode",
        "qodo",
        "vibe",
        "warp",
        "jules",
    ])
    .flags(&[
        switch(
            &[
                "--allow-all-tools",
                "--allow-all",
                "--allow-all-paths",
                "--yolo",
                "--force",
                "-f",
                "--yes-always",
                "--yes",
                "-y",
                "--dangerously-allow-all",
                "--dangerously-skip-permissions",
                "--skip-permissions-unsafe",
                "--trust-all-tools",
                "-a",
                "--auto-approve",
                "--auto_run",
                "--always-approve",
                "--full-auto",
                "--approve-mcps",
                "--no-confirm",
                "--auto",
            ],
            ESCALATES,
        ),
        takes(&["--allow-tool"], &[Does::MarksIf(&["*", "shell"], Mark::Escalates)]),
        takes(&["--test-cmd", "--lint-cmd", "--notifications-command"], &[SHELL]),
        takes(&["--with-extension", "--additional-mcp-config"], ESCALATES),
        takes(&["--message-file", "--read", "--config", "-c", "--env-file"], &[READS]),
        takes(
            &[
                "--prompt",
                "-p",
                "--model",
                "-m",
                "--message",
                "--text",
                "-t",
                "--system",
                "--recipe",
                "--file",
                "--execute",
                "-x",
            ],
            &[],
        ),
    ])
    .subs(&[
        model(&["mcp"]).subs(&[
            model(&["add", "add-json", "install", "import"])
                .style(Style::Posix)
                .always(&[Does::WritesFile("~/.config/mcp/mcp.json", Change::Content)]),
            model(&["list", "get", "ls", "status", "remove", "login", "auth"]),
        ]),
        model(&[
            "run",
            "chat",
            "session",
            "exec",
            "acp",
            "configure",
            "info",
            "models",
            "login",
            "logout",
            "status",
            "ls",
            "update",
            "upgrade",
            "serve",
            "web",
            "stats",
            "export",
            "import",
            "auth",
        ]),
    ])
    .examples(&[
        ("copilot --allow-all-tools -p x", &["marks escalates"]),
        ("aider --yes-always -m x", &["marks escalates"]),
        ("cursor-agent -f -p x", &["marks escalates"]),
        ("amp --dangerously-allow-all -x x", &["marks escalates"]),
        ("opencode models", &[]),
        ("amp mcp add x -- npx y", &["writes ~/.config/mcp/mcp.json"]),
        ("amp mcp list", &[]),
    ]),
    model(&["callgate"])
        .flags(&[
            takes(&["--config"], &[LISTS]),
            takes(
                &[
                    "--format",
                    "--surface",
                    "--tool",
                    "--input",
                    "--user",
                    "--team",
                    "--key",
                    "--since",
                    "--limit",
                ],
                &[],
            ),
        ])
        .subs(&[
            model(&[
                "check",
                "doctor",
                "calls",
                "events",
                "sessions",
                "stats",
                "cost",
                "tail",
                "why",
                "watch",
                "completions",
                "man",
                "demo",
                "filter",
                "help",
            ]),
            model(&["policy"]).subs(&[
                model(&[
                    "check",
                    "detectors",
                    "test",
                    "explain",
                    "replay",
                    "diff",
                    "suggest",
                    "coverage",
                    "list",
                    "export",
                ]),
                model(&["sync", "import"]).always(CALLGATE_CONFIG),
            ]),
            model(&["config"]).subs(&[model(&["schema", "check", "show"])]),
            model(&["audit"]).subs(&[
                model(&["verify", "export"]),
                model(&["backup"]).operands(each(&[WRITES])),
                model(&["reindex"]).always(CALLGATE_STORE),
            ]),
            model(&["init"]).always(CALLGATE_CONFIG),
            model(&["serve", "run"]).always(ESCALATES),
            model(&["hooks"]).subs(&[
                model(&["status"]),
                model(&["install", "uninstall"]).always(&[
                    Does::WritesFile("~/.claude/settings.json", Change::Content),
                    mark(Mark::Escalates),
                ]),
            ]),
            model(&["keys"]).subs(&[
                model(&["list"]),
                model(&["add", "renew", "revoke"]).always(CALLGATE_STORE),
            ]),
            model(&["approvals"]).subs(&[
                model(&["list", "show", "grants"]),
                model(&["approve", "deny", "revoke"]).always(CALLGATE_STORE),
            ]),
            model(&["mcp"]).subs(&[
                model(&["servers", "tools", "calls", "events", "detections"]),
                model(&["pins"]).subs(&[
                    model(&["list", "diff", "review"]),
                    model(&["trust", "reset"]).always(CALLGATE_STORE),
                ]),
                model(&["serve", "import"]).always(ESCALATES),
                model(&["wrap"]).style(Style::Posix).operands(leading(&[&[COMMAND]], &[])),
            ]),
            model(&["login", "logout", "sync"]).always(CALLGATE_CONFIG),
            model(&["hook"]),
        ])
        .examples(&[
            ("callgate check 'rm -rf /'", &[]),
            ("callgate doctor", &[]),
            ("callgate hooks uninstall", &["writes ~/.claude/settings.json", "marks escalates"]),
            ("callgate approvals approve 1", &["writes ~/.local/share/callgate/callgate.db"]),
            ("callgate policy list", &[]),
            ("callgate serve", &["marks escalates"]),
        ]),
    model(&[
        "mcp-inspector",
        "fastmcp",
        "mcp-proxy",
        "mcp-remote",
        "supergateway",
        "mcpo",
        "smithery",
        "install-mcp",
        "add-mcp",
        "mcp-add",
        "mcpm",
        "mcp-get",
    ])
    .flags(&[takes(&["--header", "--transport", "--port"], &[]), takes(&["--stdio"], &[SHELL])])
    .subs(&[
        model(&["install"]).always(&[Does::WritesFile("~/.claude.json", Change::Content)]),
        model(&["run", "dev"]).operands(leading(&[&[Does::Script(Language::Python)]], &[])),
    ])
    .examples(&[("supergateway --stdio 'cat a'", &["runs cat a", "reads a"])]),
];
