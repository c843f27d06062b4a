//! What the tools of services do, by the verbs and nouns of their names and by single arguments that
//! say more: `transfer_repository`, `{"decrypt": true}`, `{"pid_mode": "host"}`.

use callgate_json::Value;

use crate::marks::{Mark, Marks};

/// Arguments of one call that are looked at.
const MAX_PARTS: usize = 256;

/// A rule: some verb and some noun of the name, and what that means.
struct Rule {
    verbs: &'static [&'static str],
    nouns: &'static [&'static str],
    mark: Mark,
}

/// The name of a tool, in words, and its arguments.
pub(super) struct Service<'v> {
    /// The words of the server's name and of the tool's.
    words: Vec<String>,
    /// Keys in lower case, without `_` and `-`, and their values.
    parts: Vec<(String, &'v Value)>,
}

const CHANGES: &[&str] = &[
    "add",
    "change",
    "configure",
    "create",
    "edit",
    "enable",
    "insert",
    "modify",
    "patch",
    "put",
    "set",
    "toggle",
    "update",
    "upsert",
    "write",
    "apply",
];
const READS: &[&str] = &[
    "dump", "export", "fetch", "find", "get", "kv", "list", "lookup", "pull", "read", "resolve",
    "retrieve", "reveal", "show", "view", "download",
];
const CREATES: &[&str] =
    &["add", "create", "generate", "issue", "mint", "regenerate", "roll", "rotate"];
/// Services that keep the settings of deployed applications.
const HOSTING: &[&str] = &[
    "azure",
    "circleci",
    "ci",
    "cloudflare",
    "deployment",
    "fly",
    "gitlab",
    "heroku",
    "netlify",
    "pipeline",
    "railway",
    "render",
    "supabase",
    "vercel",
];
const PASSWORD_MANAGERS: &[&str] = &[
    "1password",
    "onepassword",
    "akeyless",
    "bitwarden",
    "conjur",
    "dashlane",
    "doppler",
    "infisical",
    "keepass",
    "keychain",
    "keyring",
    "lastpass",
    "op",
    "secretsmanager",
    "vault",
];

const RULES: &[Rule] = &[
    Rule {
        verbs: &["transfer", "archive", "pause", "suspend", "decommission"],
        nouns: &[
            "app",
            "apps",
            "channel",
            "conversations",
            "domain",
            "organization",
            "org",
            "ownership",
            "project",
            "repo",
            "repository",
            "site",
            "workspace",
            "database",
            "cluster",
        ],
        mark: Mark::Infrastructure,
    },
    Rule {
        verbs: &["disable", "pause", "suspend", "deactivate", "mute", "silence", "bypass", "skip"],
        nouns: &[
            "alert",
            "alerts",
            "alerting",
            "audit",
            "backup",
            "backups",
            "check",
            "checks",
            "detector",
            "firewall",
            "logging",
            "mfa",
            "monitor",
            "monitors",
            "monitoring",
            "policy",
            "protection",
            "rule",
            "rules",
            "sandbox",
            "scanning",
            "service",
            "trail",
            "waf",
            "workflow",
            "approval",
            "approvals",
            "guardduty",
            "cloudtrail",
        ],
        mark: Mark::Guard,
    },
    Rule {
        verbs: &["stop", "delete"],
        nouns: &["logging", "trail", "recorder", "detector", "cloudtrail"],
        mark: Mark::Guard,
    },
    Rule {
        verbs: &["remove", "delete", "clear", "drop"],
        nouns: &["required", "reviewers", "approvals", "codeowners"],
        mark: Mark::Guard,
    },
    Rule {
        verbs: &["exit", "leave", "escape", "disable", "bypass"],
        nouns: &["sandbox", "jail", "permissions"],
        mark: Mark::Guard,
    },
    Rule { verbs: &["unlock"], nouns: &["force", "state"], mark: Mark::Guard },
    Rule {
        verbs: &["create", "schedule", "add"],
        nouns: &["maintenance", "silence", "downtime"],
        mark: Mark::Guard,
    },
    Rule {
        verbs: &["deactivate", "suspend", "ban", "offboard"],
        nouns: &["user", "users", "account", "employee", "member"],
        mark: Mark::Infrastructure,
    },
    Rule {
        verbs: &["reset", "remove", "delete", "disable", "unenroll"],
        nouns: &["mfa", "2fa", "factor", "factors", "authenticator", "totp"],
        mark: Mark::Accounts,
    },
    Rule {
        verbs: &["add", "create", "enable", "set", "update"],
        nouns: &["delegate", "delegates", "forwarding", "autoforward"],
        mark: Mark::Accounts,
    },
    Rule {
        verbs: &["create", "add", "assign"],
        nouns: &["grant", "grants", "rolebinding", "superadmin"],
        mark: Mark::Accounts,
    },
    Rule { verbs: &["disable"], nouns: &["hooks", "hook", "integration"], mark: Mark::Guard },
    Rule {
        verbs: &["approve"],
        nouns: &["deployment", "deployments", "production"],
        mark: Mark::Guard,
    },
    Rule {
        verbs: &["load", "enable", "create", "start"],
        nouns: &["launchd", "launchagent", "systemd", "crontab"],
        mark: Mark::Schedules,
    },
    Rule {
        verbs: &["enable", "start", "create", "open", "add"],
        nouns: &["funnel", "tunnel", "tunnels", "ngrok"],
        mark: Mark::Tunnel,
    },
    Rule { verbs: &["set", "configure"], nouns: &["proxy", "resolver"], mark: Mark::Network },
    Rule {
        verbs: &["start", "take", "record", "capture", "read"],
        nouns: &["keylogger", "keystrokes", "camera", "webcam", "microphone"],
        mark: Mark::Spies,
    },
    Rule {
        verbs: &["print", "dump"],
        nouns: &["env", "environ", "environment"],
        mark: Mark::Credentials,
    },
    Rule { verbs: &["decrypt", "unseal"], nouns: &[], mark: Mark::Credentials },
    Rule { verbs: &["assume"], nouns: &["role"], mark: Mark::Credentials },
    Rule {
        verbs: READS,
        nouns: &["cookies", "kubeconfig", "keytab", "passkey", "passkeys", "mnemonic", "seed"],
        mark: Mark::Credentials,
    },
    Rule { verbs: &["storage"], nouns: &["state"], mark: Mark::Credentials },
    Rule {
        verbs: &["drain"],
        nouns: &["node", "nodes", "kubectl", "cluster"],
        mark: Mark::Infrastructure,
    },
    Rule { verbs: &["empty", "purge"], nouns: &["trash", "bin"], mark: Mark::Infrastructure },
    Rule {
        verbs: &["reset", "restore", "rollback", "promote"],
        nouns: &["pg", "postgres", "mysql", "mongo", "mongodb", "sandbox_db"],
        mark: Mark::Database,
    },
    Rule { verbs: &["create"], nouns: &["zap", "scenario", "automation"], mark: Mark::Schedules },
];

/// Flags with which a service shows what it hides otherwise.
const REVEALING: &[&str] = &[
    "decrypt",
    "includesecrets",
    "includesecretvalues",
    "includevalues",
    "plaintext",
    "rawvalues",
    "reveal",
    "showsecrets",
    "showsensitive",
    "showvalues",
    "unmask",
    "withdecryption",
];

/// What makes another agent do without its own guards.
const UNBOUND: &[&str] = &[
    "--dangerously-skip-permissions",
    "--dangerously-bypass-approvals-and-sandbox",
    "--yolo",
    "--allow-all-tools",
    "--skip-permissions-unsafe",
    "bypassPermissions",
    "danger-full-access",
];

/// Servers whose tools may have only a verb for a name, and that manage what others use.
const SERVICES: &[&str] = &[
    "argocd",
    "aws",
    "azure",
    "cloudflare",
    "docker",
    "elasticsearch",
    "gcp",
    "helm",
    "jenkins",
    "k8s",
    "kafka",
    "kubernetes",
    "mongodb",
    "neon",
    "nomad",
    "opensearch",
    "postgres",
    "supabase",
    "terraform",
    "vault",
    "vercel",
];

/// Kinds of a cluster that protect it, or give rights.
const CLUSTER_GUARDS: &[&str] = &[
    "networkpolicy",
    "networkpolicies",
    "netpol",
    "podsecuritypolicy",
    "clusterrolebinding",
    "clusterrolebindings",
    "rolebinding",
    "rolebindings",
    "clusterrole",
    "validatingwebhookconfiguration",
    "mutatingwebhookconfiguration",
    "peerauthentication",
    "authorizationpolicy",
];

impl<'v> Service<'v> {
    /// The whole name as it came, so that `deleteRepository` is two words.
    pub(super) fn new(whole_name: &str, arguments: &'v Value) -> Self {
        let mut parts = Vec::new();
        let mut open = vec![arguments];
        while let Some(value) = open.pop()
            && parts.len() < MAX_PARTS
        {
            match value {
                Value::Object(members) => {
                    for (key, value) in members {
                        let key = key.chars().filter(char::is_ascii_alphanumeric);
                        parts.push((key.collect::<String>().to_ascii_lowercase(), value));
                        open.push(value);
                    }
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        Self { words: words(whole_name), parts }
    }

    /// What the call does.
    pub(super) fn marks(&self) -> Marks {
        let mut marks = Marks::NONE;
        for rule in RULES {
            if self.has(rule.verbs) && (rule.nouns.is_empty() || self.has(rule.nouns)) {
                marks.insert(rule.mark);
            }
        }
        // Lights and blinds of a house.
        let is_home =
            self.has(&["hass", "homeassistant"]) || self.has(&["home"]) && self.has(&["assistant"]);
        let runs_code = self.text(&["service", "action"]).any(|name| {
            ["shell_command", "python_script", "pyscript", "rest_command", "hassio"]
                .iter()
                .any(|domain| name.starts_with(domain))
        });
        if is_home && !runs_code {
            marks.remove_all(&[Mark::Schedules]);
        }
        let looks = self.has(&["list", "get", "search", "describe", "status", "docs", "read"])
            && !self.has(&["set", "update", "delete", "disable", "create", "remove"]);
        if looks {
            marks.remove_all(&[Mark::Guard, Mark::Infrastructure, Mark::Accounts, Mark::Schedules]);
        }
        let more = [
            (self.shows_secrets(), Mark::Credentials),
            (self.gives_host(), Mark::HostAccess),
            (self.weakens(), Mark::Guard),
            (self.grants(), Mark::Accounts),
            (self.destroys(), Mark::Infrastructure),
            (self.empties_database(), Mark::Database),
            (self.listens(), Mark::Tunnel),
            (self.starts_later(), Mark::Schedules),
        ];
        more.into_iter().filter(|(is_so, _)| *is_so).for_each(|(_, mark)| marks.insert(mark));
        marks
    }

    fn has(&self, known: &[&str]) -> bool {
        self.words.iter().any(|word| known.contains(&word.as_str()))
    }

    fn is_true(&self, keys: &[&str]) -> bool {
        self.parts.iter().any(|(key, value)| {
            keys.contains(&key.as_str())
                && (matches!(value, Value::Bool(true)) || value.as_str() == Some("true"))
        })
    }

    fn text(&self, keys: &[&str]) -> impl Iterator<Item = &'v str> {
        let known = |key: &str| keys.contains(&key);
        self.parts.iter().filter(move |(key, _)| known(key)).filter_map(|(_, value)| value.as_str())
    }

    fn shows_secrets(&self) -> bool {
        let is_quiet = self.has(&[
            "names",
            "status",
            "health",
            "metadata",
            "policy",
            "policies",
            "policys",
            "version",
            "vaults",
            "anon",
            "publishable",
            "docs",
            "documentation",
            "search",
            "list",
            "create",
            "set",
            "put",
            "update",
            "delete",
        ]);
        let from_manager = self.has(PASSWORD_MANAGERS) && self.has(READS) && !is_quiet;
        let of_items = self.has(&["bitwarden", "lastpass"]) && self.has(&["items"]);
        let sets = self.has(&["set", "update", "create", "delete", "put", "add"]);
        let variables = self.has(&["variable", "variables", "vars", "dotenv"]);
        let of_hosting = variables && (self.has(HOSTING) || self.has(&["config"])) && !sets;
        let names = ["name", "key", "variable", "var", "varname", "envvar"];
        let asks = self.has(&["env", "environment", "getenv"])
            && self.text(&names).any(crate::shell::expand::names_secret);
        let of_users = self.text(&["collection"]).any(|it| it == "system.users");
        let is_revealed = self.is_true(REVEALING) && !sets;
        let prints = self.has(&["pod", "pods", "container", "docker", "kubernetes", "k8s", "dyno"])
            && self.parts.iter().any(|(key, value)| {
                key == "command" && matches!(only_text(value), Some("env" | "printenv" | "set"))
            });
        let gets = self.has(&["get", "generic", "describe", "export", "view"]);
        let kinds = self.text(&["kind", "resourcetype"]);
        let is_kind = { kinds }
            .any(|kind| matches!(kind.to_ascii_lowercase().as_str(), "secret" | "secrets"));
        let formats = self.text(&["o", "output", "format"]);
        let is_shown = { formats }.any(|it| !matches!(it, "name" | "wide" | "table" | ""));
        let of_cluster = is_kind
            && gets
            && !self.has(&["list", "describe"])
            && (is_shown
                || self.has(&["resources", "resource"]) && self.text(&["name"]).next().is_some());
        let of_graph = self.text(&["query"]).any(|query| {
            ["civariables", "variables {", "secrets {"]
                .iter()
                .any(|it| query.to_ascii_lowercase().contains(it))
                && query.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "value")
        });
        of_cluster
            || of_graph
            || from_manager
            || of_items
            || of_hosting
            || asks
            || of_users
            || is_revealed
            || prints
    }

    fn gives_host(&self) -> bool {
        let is_host = |value: &Value| value.as_str() == Some("host");
        let strong = ["SYS_ADMIN", "ALL", "SYS_PTRACE", "SYS_MODULE", "CAP_SYS_ADMIN"];
        self.parts.iter().any(|(key, value)| match key.as_str() {
            "pidmode" | "ipcmode" | "usernsmode" | "pid" | "ipc" => is_host(value),
            "hostpath" => match value {
                Value::Object(members) => {
                    members.iter().any(|(_, path)| path.as_str().is_some_and(is_host_bind))
                }
                _ => false,
            },
            "volumes" | "mounts" => mounts(value).any(is_host_bind),
            "hostpid" | "hostipc" => matches!(value, Value::Bool(true)),
            "privileged" => matches!(value, Value::Bool(true)),
            "capadd" => texts(value).any(|text| strong.contains(&text)),
            "binds" => texts(value).any(is_host_bind),
            "body" | "data" | "json" | "payload" => value.as_str().is_some_and(|text| {
                let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                text.contains("\"Privileged\":true")
                    || text.contains("\"PidMode\":\"host\"")
                    || text.split("\"Binds\":[\"").nth(1).is_some_and(is_host_bind)
            }),
            _ => false,
        })
    }

    fn weakens(&self) -> bool {
        let by_value = self.parts.iter().any(|(key, value)| {
            matches!(key.as_str(), "command" | "operation" | "action")
                && value.as_str().is_some_and(|it| {
                    !it.contains(' ')
                        && words(it).iter().any(|word| CHANGES.contains(&word.as_str()))
                })
        });
        let is_change = self.has(CHANGES) || by_value;
        let is_off = |value: &Value| {
            matches!(value, Value::Bool(false))
                || value.as_str().is_some_and(|text| {
                    matches!(
                        text.to_ascii_lowercase().as_str(),
                        "off"
                            | "false"
                            | "disabled"
                            | "none"
                            | "essentially_off"
                            | "essentially-off"
                            | "0"
                    )
                })
        };
        // `{"required_approving_review_count": 0}`
        let needs_nobody = is_change
            && self.parts.iter().any(|(key, value)| {
                key.contains("required")
                    && (key.contains("review") || key.contains("approv"))
                    && matches!(value, Value::Number(count) if count == "0")
            });
        let guards = [
            "firewall",
            "waf",
            "protection",
            "policy",
            "rule",
            "ruleset",
            "alert",
            "monitor",
            "ssl",
            "protections",
            "policies",
            "rules",
            "detector",
            "detection",
        ];
        let turns_off = is_change
            && (self.has(&guards)
                || self.text(&["setting", "name", "key", "id", "settingid"]).any(|it| {
                    let parts = [
                        "security", "firewall", "waf", "protect", "ssl", "tls", "https", "bot",
                        "alert", "audit", "mfa",
                    ];
                    guards.contains(&it) || parts.iter().any(|part| it.contains(part))
                }))
            && self.parts.iter().any(|(key, value)| {
                matches!(
                    key.as_str(),
                    "enabled"
                        | "isenabled"
                        | "value"
                        | "active"
                        | "status"
                        | "enforcement"
                        | "mode"
                ) && is_off(value)
            });
        let everywhere = (is_change || self.has(&["authorize", "allow", "open"]))
            && self.parts.iter().any(|(key, value)| {
                texts(value).any(|text| matches!(text, "0.0.0.0/0" | "::/0" | "*:*"))
                    || key.starts_with("end") && value.as_str() == Some("255.255.255.255")
                    || key.contains("acl")
                        && value.as_str().is_some_and(|it| it.contains("\"*:*\""))
            });
        let unblocks = is_change
            && self.parts.iter().any(|(key, value)| {
                let blocks = [
                    "blockpublic",
                    "ignorepublic",
                    "restrictpublic",
                    "twofactor",
                    "2fa",
                    "mfa",
                    "deletionprotection",
                ];
                blocks.iter().any(|it| key.contains(it)) && is_off(value)
            });
        let registry = self.has(&["registry", "regedit"])
            && self.text(&["path", "key", "keypath"]).any(|path| {
                let start = path.get(..4).unwrap_or_default();
                ["hklm", "hkcu", "hkey"].iter().any(|it| start.eq_ignore_ascii_case(it))
            })
            && (is_change
                || self
                    .text(&["mode", "action", "operation"])
                    .any(|it| !matches!(it, "get" | "read" | "list")));
        let unprotects = is_change
            && self.has(&["variable", "variables", "project", "branch", "repository", "secret"])
            && self.parts.iter().any(|(key, value)| {
                matches!(key.as_str(), "protected" | "masked" | "private")
                    && matches!(value, Value::Bool(false))
            });
        let opens = is_change && self.text(&["visibility"]).any(|it| it == "public")
            || self
                .text(&["query", "mutation"])
                .any(|it| it.contains("mutation") && it.contains("PUBLIC"));
        let is_cluster = self.has(&["kubectl", "kubernetes", "k8s", "resources"]);
        let of_cluster = is_cluster
            && self.has(&["patch", "delete", "edit", "replace", "create", "update"])
            && self
                .text(&["resourcetype", "resource", "kind", "type"])
                .any(|kind| CLUSTER_GUARDS.contains(&kind.to_ascii_lowercase().as_str()));
        let everybody = self.parts.iter().any(|(key, value)| {
            key == "principal" && value.as_str().is_some_and(|it| it == "*" || it.ends_with(":*"))
                || value.as_str().is_some_and(|text| {
                    text.contains("\"Principal\":\"*\"") || text.contains("\"Principal\": \"*\"")
                })
        });
        let settings = is_change
            && self.has(&["settings", "config", "preferences", "permissions", "permission"])
            && self.parts.iter().any(|(key, _)| {
                matches!(
                    key.as_str(),
                    "permissions" | "allowedtools" | "autoapprove" | "bypasspermissions" | "hooks"
                )
            });
        let skips = self.parts.iter().any(|(key, value)| {
            (key.starts_with("skip") || key.starts_with("bypass"))
                && ["approv", "check", "review", "verif", "hook", "rule", "protect", "guard"]
                    .iter()
                    .any(|part| key.contains(part))
                && (matches!(value, Value::Bool(true)) || value.as_str() == Some("true"))
        });
        let dangerous = self.is_true(&["allowdangerous", "disablesandbox", "disablewebsecurity"])
            || self.is_true(&["yolo"])
            || self.has(&["merge"]) && self.is_true(&["admin"]);
        let unbound = self.parts.iter().any(|(key, value)| {
            texts(value).any(|text| {
                UNBOUND.contains(&text)
                    || key.starts_with("approval") && text == "never"
                    || key.starts_with("sandbox") && matches!(text, "off" | "none" | "disabled")
            })
        });
        let limits = ["allow", "block", "deny", "permission", "sandbox", "approv", "trust"];
        let by_key = is_change
            && self.has(&["settings", "config", "preferences"])
            && self
                .text(&["key", "name", "setting", "option"])
                .any(|key| limits.iter().any(|part| key.to_ascii_lowercase().contains(part)));
        let of_vault = self.has(&["vault", "bao"])
            && self.has(&["write", "put", "delete"])
            && self.text(&["path"]).any(|path| path.starts_with("sys/"));
        let rules_all = self.has(&["policy"])
            && is_change
            && self.text(&["policy", "rules", "hcl", "document"]).any(|it| {
                let text: String = it.chars().filter(|c| !c.is_whitespace()).collect();
                text.contains("\"sudo\"")
                    || text.contains("path\"*\"")
                    || text.contains("\"Action\":\"*\"")
            });
        unbound
            || everywhere
            || unblocks
            || needs_nobody
            || registry
            || rules_all
            || by_key
            || of_vault
            || turns_off
            || unprotects
            || opens
            || of_cluster
            || everybody
            || settings
            || skips
            || dangerous
    }

    fn grants(&self) -> bool {
        let is_member = self.has(&["member", "members", "collaborator", "user", "access"]);
        let is_high = self.parts.iter().any(|(key, value)| {
            key == "accesslevel" && matches!(value, Value::Number(level) if matches!(level.as_str(), "40" | "50" | "60"))
        });
        let is_key = self.has(CREATES)
            && self.has(&["key", "keys", "token", "tokens"])
            && self.has(&["api", "access", "service", "deploy", "personal", "auth", "admin"]);
        let forwards = self.has(&["filter", "filters", "rule"])
            && self.has(CHANGES)
            && self.parts.iter().any(|(key, value)| {
                key.starts_with("forward") && value.as_str().is_some_and(|text| text.contains('@'))
            });
        let invites = self.has(&["invite", "add"])
            && self.has(&["org", "organization", "team", "member", "user"])
            && self.text(&["role"]).any(|role| matches!(role, "admin" | "owner"));
        let is_open_door = self.has(&[
            "user",
            "users",
            "role",
            "roles",
            "member",
            "membership",
            "claim",
            "claims",
            "assignment",
            "collaborator",
            "permission",
            "permissions",
            "group",
            "team",
            "grant",
            "token",
            "binding",
            "access",
        ]);
        let gives = self.has(CHANGES)
            || self.has(&["assign", "attach", "grant", "invite", "share", "make", "promote"]);
        let names_power = self.parts.iter().any(|(key, value)| {
            let is_level = [
                "role",
                "permission",
                "policy",
                "policies",
                "claim",
                "level",
                "groupaccess",
                "group",
                "privileges",
                "group",
                "type",
                "access",
            ]
            .iter()
            .any(|part| key.contains(part));
            is_level
                && (texts(value).any(is_power)
                    || key == "privileges" && texts(value).any(|it| it.starts_with("ALL"))
                    || key.ends_with("access") && matches!(scalar(value), Some("40" | "50" | "60")))
        });
        let assigns = gives
            && is_open_door
            && (names_power
                || self.is_true(&["admin", "isadmin", "superuser", "issuperuser", "owner"]));
        let deep = self.has(&["filter", "filters", "rule", "rules"])
            && self.has(CHANGES)
            && self.parts.iter().any(|(key, value)| {
                (key.starts_with("forward") || matches!(key.as_str(), "blindcopyto" | "redirectto"))
                    && matches!(value, Value::Array(items) if !items.is_empty())
            });
        let is_directory_role = gives && self.has(&["directory", "admin"]) && self.has(&["role"]);
        is_member && self.has(CHANGES) && is_high
            || is_key
            || forwards
            || invites
            || assigns
            || deep
            || is_directory_role
    }

    fn destroys(&self) -> bool {
        let is_ci = self.has(&["github", "gitlab", "circleci", "ci", "actions"]);
        let replaces_secret = is_ci
            && self.has(&["secret", "secrets"])
            && self.has(&["set", "put", "create", "update", "upsert", "add", "delete", "remove"]);
        let is_version = self.has(&["package", "packages"]) && self.has(&["version", "versions"]);
        let removes_version = is_version && self.has(&["delete", "remove", "unpublish"]);
        let is_terraform = self.has(&["terraform", "tofu", "terragrunt", "pulumi", "tfe"]);
        let by_flag = is_terraform && self.is_true(&["destroy", "isdestroy"])
            || is_terraform && self.has(&["state"]) && self.has(&["rm", "remove", "push", "mv"]);
        let prunes = self.has(&["prune"])
            && self
                .parts
                .iter()
                .any(|(_, value)| texts(value).any(|text| matches!(text, "volumes" | "volume")));
        let many = self.has(&["batch", "bulk", "mass"])
            && self.has(&["delete", "remove", "purge"])
            && self.has(&[
                "emails",
                "messages",
                "issues",
                "records",
                "rows",
                "users",
                "documents",
                "contacts",
                "tickets",
                "orders",
                "objects",
                "pages",
                "files",
            ]);
        let scales = self.has(&["scale"])
            && self.parts.iter().any(|(_, value)| texts(value).any(|text| text.ends_with("=0")));
        let stops = self.has(&["scale", "patch", "resize", "update"])
            && self.parts.iter().any(|(key, value)| {
                matches!(
                    key.as_str(),
                    "replicas" | "scale" | "desiredcount" | "desiredcapacity" | "maxsize"
                ) && scalar(value) == Some("0")
            });
        let by_type = self.has(&["run", "deployment", "plan", "job"])
            && self
                .text(&["runtype", "operation", "mode"])
                .any(|it| matches!(it, "destroy" | "PreviewDestroy" | "delete"));
        let removes_remote = self.has(&["push"]) && self.is_true(&["delete", "prune", "mirror"]);
        let verbs = ["command", "operation", "action", "subcommand"];
        let drains = self.has(&["kubernetes", "k8s", "kubectl", "node"])
            && self.text(&verbs).any(|verb| verb == "drain");
        let removes_users = self.has(&["users", "members"])
            && self.has(&["remove", "delete"])
            && self.has(&["admin", "org"]);
        let starts = self.has(&["workflow", "pipeline", "deployment"])
            && self.has(&["run", "trigger", "dispatch"])
            && self.parts.iter().any(|(_, value)| {
                value.as_str().is_some_and(|text| {
                    text.split(|c: char| !c.is_ascii_alphanumeric())
                        .any(|part| matches!(part, "prod" | "production" | "live"))
                })
            });
        let clicks = self.has(&["click", "press", "tap"])
            && self.text(&["element", "description", "label"]).any(destroys_by_hand);
        let verbs = ["delete", "uninstall", "destroy", "cleanup", "teardown", "purge", "prune"];
        let is_bare = self.words.len() == 2 && self.has(SERVICES) && self.has(&verbs);
        let by_path =
            self.text(&["path", "url", "endpoint"]).any(|it| it.contains("_delete_by_query"));
        let removes_names = self.has(&["dns"]) && self.has(&["delete", "remove", "purge"]);
        starts
            || stops
            || by_type
            || removes_remote
            || clicks
            || is_bare
            || by_path
            || removes_names
            || replaces_secret
            || removes_version
            || by_flag
            || prunes
            || many
            || scales
            || drains
            || removes_users
    }

    fn empties_database(&self) -> bool {
        let is_all = self.parts.iter().any(|(key, value)| {
            matches!(key.as_str(), "filter" | "query" | "where" | "selector")
                && fits_everything(value, 0)
        }) || self.is_true(&["deleteall", "droptarget"]);
        let changes_many = self.has(&["many", "bulk", "documents", "records", "rename"])
            && self.has(&["update", "delete", "remove", "rename"]);
        let keeps_nothing = self.has(CHANGES_OF_TOPICS)
            && self.parts.iter().any(|(key, value)| {
                key.contains("retention") && matches!(scalar(value), Some("0" | "1"))
            });
        let has_filter = self.parts.iter().any(|(key, _)| {
            matches!(
                key.as_str(),
                "filter" | "query" | "where" | "ids" | "documents" | "operations"
            )
        });
        let no_filter = self.has(&["many"]) && changes_many && !has_filter;
        let drops = self.has(&["mongo", "mongodb"])
            && self.parts.iter().any(|(key, value)| {
                key == "dropdatabase"
                    || value.as_str().is_some_and(|it| it.contains("dropDatabase"))
            });
        let writes = self.parts.iter().any(|(key, value)| key == "out" && value.as_str().is_some());
        let is_mongo = self.has(&["mongo", "mongodb", "aggregate"]);
        let cypher = self.has(&["cypher", "neo4j", "memgraph", "graph"])
            && self.text(&["query", "cypher", "statement"]).any(deletes_graph);
        let by_glob = self.has(&["redis", "cache", "valkey"])
            && self.has(&["delete", "del", "unlink"])
            && self.text(&["key", "pattern"]).any(|key| key == "*");
        let asserts = self
            .text(&["query", "cypher", "statement"])
            .any(|it| it.contains("apoc.schema.assert"));
        no_filter
            || keeps_nothing
            || asserts
            || drops
            || is_all && changes_many
            || writes && is_mongo
            || cypher
            || by_glob
    }

    fn listens(&self) -> bool {
        self.has(&["forward"]) && self.has(&["ssh"]) && self.is_true(&["remote", "reverse"])
            || self.has(&["forward", "proxy", "expose", "serve"])
                && self.text(&["address", "host", "bind"]).any(|it| matches!(it, "0.0.0.0" | "::"))
    }

    fn starts_later(&self) -> bool {
        let installs = self.has(&["install", "add", "register", "enable"]);
        let is_server = self.has(&["mcp", "server", "hook", "hooks", "connector"])
            && self.has(&["server", "hook", "hooks", "connector"])
            && self
                .parts
                .iter()
                .any(|(key, _)| matches!(key.as_str(), "command" | "package" | "url"));
        let workflows = self.has(&["workflow", "flow"])
            && self.has(&["create", "update", "activate"])
            && self.runs_by_itself();
        let is_ci = self.has(&[
            "jenkins",
            "buildkite",
            "circleci",
            "teamcity",
            "harness",
            "drone",
            "pipeline",
            "pipelines",
            "spinnaker",
            "concourse",
            "gocd",
            "bamboo",
        ]);
        let defines = is_ci
            && self.has(CHANGES)
            && self.parts.iter().any(|(key, value)| {
                matches!(
                    key.as_str(),
                    "configxml"
                        | "config"
                        | "configuration"
                        | "yaml"
                        | "definition"
                        | "steps"
                        | "jenkinsfile"
                        | "xml"
                ) && !matches!(value, Value::Null)
            });
        installs && is_server || workflows || defines
    }

    /// Whether a node of a workflow runs commands, or one runs code or sends something on a schedule.
    /// A reminder does neither.
    fn runs_by_itself(&self) -> bool {
        let has = |parts: &[&str]| {
            self.text(&["type"]).any(|kind| parts.iter().any(|part| kind.contains(part)))
        };
        let sends = || {
            self.text(&["method", "requestmethod"])
                .any(|method| !matches!(method, "GET" | "HEAD" | "get"))
        };
        has(&["executeCommand", ".ssh"])
            || has(&["cron", "schedule"])
                && (has(&[".code", ".function", "readWriteFile", "writeBinaryFile", ".ftp"])
                    || has(&["httpRequest"]) && sends())
    }

    /// Whether a database is one for tests.
    pub(super) fn is_scratch(&self) -> bool {
        self.text(&["database", "db", "databasename", "dbname"]).any(|name| {
            name.split(|letter: char| !letter.is_ascii_alphanumeric())
                .any(|part| matches!(part, "test" | "tests" | "tmp" | "temp" | "scratch"))
        })
    }
}

/// A role that may do nearly everything: `admin`, `SUPER_ADMIN`, `roles/owner`, `AdministratorAccess`.
fn is_power(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let name = lower.rsplit(['/', ':']).next().unwrap_or(&lower);
    let parts: Vec<String> = words(name.rsplit('/').next().unwrap_or(name));
    let has = |known: &[&str]| parts.iter().any(|part| known.contains(&part.as_str()));
    has(&[
        "admin",
        "owner",
        "superuser",
        "superadmin",
        "root",
        "maintainer",
        "administrator",
        "administrators",
    ]) || lower.contains("administratoraccess")
        || lower.contains("poweruseraccess")
        || lower.ends_with("admin")
        || name == "editor" && lower.starts_with("roles/")
}

/// A button of a page whose label says that something is gone afterwards.
pub(super) fn destroys_by_hand(label: &str) -> bool {
    let lower = label.to_ascii_lowercase();
    let verbs = ["delete", "destroy", "drop", "remove", "transfer", "disable", "make public"];
    let nouns = [
        "repositor",
        "organi",
        "permanently",
        "production",
        "database",
        "cluster",
        "bucket",
        "namespace",
        "protection",
        "danger zone",
        "account",
        "tenant",
    ];
    verbs.iter().any(|verb| lower.contains(verb)) && nouns.iter().any(|noun| lower.contains(noun))
}

/// `{}`, `{"_id": {"$exists": true}}`, `{"$or": [{}]}`: a filter that every document meets.
fn fits_everything(filter: &Value, depth: usize) -> bool {
    let Value::Object(members) = filter else { return false };
    let all = |items: &Value| match items {
        Value::Array(items) => items.iter().any(|item| fits_everything(item, depth + 1)),
        _ => false,
    };
    depth < 8
        && members.iter().all(|(key, value)| match key.as_str() {
            "$or" => all(value),
            "$and" => matches!(value, Value::Array(items) if items.iter().all(|it| fits_everything(it, depth + 1))),
            "match_all" => true,
            "$expr" | "$where" | "$comment" => !matches!(value, Value::Object(_)),
            _ => is_met_by_all(value),
        })
}

/// `{"$exists": true}`, `{"$ne": null}`, `{"$gte": 0}`, `{"$regex": ".*"}`
fn is_met_by_all(condition: &Value) -> bool {
    let Value::Object(members) = condition else { return false };
    !members.is_empty()
        && members.iter().all(|(operator, value)| match operator.as_str() {
            "$exists" => matches!(value, Value::Bool(true)),
            "$ne" | "$nin" | "$not" => match value {
                Value::Null => true,
                Value::Array(items) => items.is_empty(),
                value => {
                    value.as_str().is_some_and(|text| text.is_empty() || text.starts_with("__"))
                }
            },
            "$gte" | "$gt" => matches!(scalar(value), Some("0" | "-1" | "")),
            "$regex" => matches!(scalar(value), Some(".*" | "" | "." | "^" | ".+" | "^.*$")),
            _ => false,
        })
}

/// A number or a text.
fn scalar(value: &Value) -> Option<&str> {
    match value {
        Value::Number(number) => Some(number.as_str()),
        value => value.as_str(),
    }
}

/// Words of tools that set how long messages and rows are kept.
const CHANGES_OF_TOPICS: &[&str] =
    &["alter", "update", "set", "configure", "modify", "patch", "edit"];

/// `MATCH (n) DETACH DELETE n`, without a condition.
fn deletes_graph(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    // Files and programs of the server.
    if ["load csv", "apoc.load", "apoc.export", "apoc.cypher.runfile", "dbms.security"]
        .iter()
        .any(|call| lower.contains(call))
    {
        return true;
    }
    let deletes = lower.contains("detach delete") || lower.contains(") delete ");
    deletes && !lower.contains("where") && !lower.contains('{')
}

/// Folders of the host: `{"/": {"bind": "/h"}}`, `[{"source": "/", "target": "/h"}]`, `["/:/h"]`.
fn mounts(value: &Value) -> impl Iterator<Item = &str> {
    let keys = match value {
        Value::Object(members) => members.as_slice(),
        _ => &[],
    };
    let sources = match value {
        Value::Array(items) => items.as_slice(),
        _ => &[],
    };
    let source =
        |item| ["source", "Source", "hostPath"].iter().find_map(|key| Value::get(item, key));
    let sources = sources.iter().filter_map(move |item| source(item)?.as_str());
    let keys = keys.iter().map(|(key, _)| key.as_str());
    keys.chain(sources).chain(texts(value)).filter(|text| text.starts_with('/'))
}

/// `/:/host`
fn is_host_bind(text: &str) -> bool {
    let source = text.split([':', '"']).next().unwrap_or_default();
    matches!(source, "/" | "/etc" | "/root" | "/proc" | "/home" | "/var/run/docker.sock")
}

/// The text of a value, or of a list with one.
fn only_text(value: &Value) -> Option<&str> {
    match value {
        Value::Array(items) => match items.as_slice() {
            [only] => only.as_str(),
            _ => None,
        },
        value => value.as_str(),
    }
}

/// The texts of a value or of a list.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let items: &[Value] = match value {
        Value::Array(items) => items,
        value => std::slice::from_ref(value),
    };
    items.iter().filter_map(Value::as_str)
}

/// `mcp__github__deleteRepository` is `github`, `delete`, `repository`.
pub(super) fn words(name: &str) -> Vec<String> {
    let name = name.strip_prefix("mcp__").unwrap_or(name);
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for letter in name.chars().take(128) {
        let starts = letter.is_ascii_uppercase() && was_lower;
        if starts || !letter.is_ascii_alphanumeric() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_ascii_alphanumeric() {
            word.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase();
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use callgate_call::Arguments;

    use super::*;

    fn marks(tool: &str, arguments: &str) -> String {
        let arguments = Arguments::json(arguments);
        Service::new(tool, arguments.value().unwrap()).marks().to_string()
    }

    #[test]
    fn verbs_nouns_and_arguments_say_what_a_tool_does() {
        for (tool, arguments, expected) in [
            ("mcp__github__transferRepository", "{}", "infrastructure"),
            ("mcp__aws__cloudtrail_stop_logging", "{}", "guard"),
            ("mcp__okta__reset_mfa", "{}", "accounts"),
            ("mcp__vercel__list_env", r#"{"decrypt": true}"#, "credentials"),
            ("mcp__heroku__get_config_vars", "{}", "credentials"),
            ("mcp__bitwarden__get", r#"{"object": "password"}"#, "credentials"),
            ("mcp__docker__run", r#"{"pid_mode": "host"}"#, "host-access"),
            ("mcp__docker__run", r#"{"cap_add": ["SYS_ADMIN"]}"#, "host-access"),
            ("mcp__gitlab__update_project", r#"{"visibility": "public"}"#, "guard"),
            ("mcp__mongodb__update-many", r#"{"filter": {}}"#, "database"),
            ("mcp__neo4j__write", r#"{"query": "MATCH (n) DETACH DELETE n"}"#, "database"),
            ("mcp__terraform__create_run", r#"{"is_destroy": true}"#, "infrastructure"),
            ("mcp__k8s__port_forward", r#"{"address": "0.0.0.0"}"#, "tunnel"),
            ("add_mcp_server", r#"{"command": "npx"}"#, "schedules"),
            (
                "mcp__home-assistant__create_automation",
                r#"{"action": [{"service": "shell_command.x"}]}"#,
                "schedules",
            ),
            (
                "mcp__n8n__create_workflow",
                r#"{"nodes": [{"type": "base.cron"}, {"type": "n8n-nodes-base.code"}]}"#,
                "schedules",
            ),
        ] {
            assert_eq!(marks(tool, arguments), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn everyday_tools_have_no_mark() {
        for (tool, arguments) in [
            ("mcp__github__create_pull_request", "{}"),
            ("mcp__gmail__archive_email", "{}"),
            ("mcp__vault__list_secrets", "{}"),
            ("mcp__figma__get_variable_defs", "{}"),
            ("mcp__mongodb__update-many", r#"{"filter": {"a": 1}}"#),
            ("mcp__neo4j__write", r#"{"query": "MATCH (n {id: 1}) DETACH DELETE n"}"#),
            ("mcp__docker__run", r#"{"network_mode": "host"}"#),
            (
                "mcp__n8n__create_workflow",
                r#"{"nodes": [{"type": "base.scheduleTrigger"}, {"type": "base.telegram"}]}"#,
            ),
            (
                "mcp__home-assistant__create_automation",
                r#"{"alias": "x", "action": [{"service": "light.turn_on"}]}"#,
            ),
            ("mcp__grafana__list_alert_rules", "{}"),
            ("mcp__github__get_branch_protection", "{}"),
        ] {
            assert_eq!(marks(tool, arguments), "", "{tool} {arguments}");
        }
    }
}
