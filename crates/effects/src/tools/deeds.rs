//! What a name says: of a tool, of an operation in an argument, of a field of a mutation. A name is a
//! verb and a noun; which nouns matter depends on the server that they belong to.

use callgate_json::Value;

use crate::marks::{Mark, Marks};
use crate::tools::Call;
use crate::tools::naming::{DATA, DESTROYS, EVERYDAY, SHARED, has};
use crate::tools::services::words;

/// Names in arguments that are looked at.
const MAX_NAMES: usize = 32;

/// Things that are everyday ones elsewhere, and that these servers keep for others.
struct Kept {
    servers: &'static [&'static str],
    nouns: &'static [&'static str],
}

const KEPT: &[Kept] = &[
    Kept {
        servers: &["azure", "azmcp", "storage", "s3", "gcs", "blob", "minio", "aws", "gcp", "r2"],
        nouns: &[
            "container",
            "containers",
            "object",
            "objects",
            "blob",
            "share",
            "app",
            "job",
            "lock",
        ],
    },
    Kept {
        servers: &[
            "jenkins",
            "rundeck",
            "teamcity",
            "circleci",
            "buildkite",
            "harness",
            "octopus",
            "concourse",
            "airflow",
            "databricks",
            "argo",
            "spinnaker",
            "semaphore",
        ],
        nouns: &["job", "jobs", "context", "pipeline", "folder", "view", "project", "build", "dag"],
    },
    Kept {
        servers: &[
            "digitalocean",
            "heroku",
            "fly",
            "flyctl",
            "railway",
            "render",
            "vercel",
            "netlify",
            "cloudflare",
            "koyeb",
            "coolify",
            "dokku",
            "dokploy",
            "portainer",
            "firebase",
            "okta",
            "auth0",
            "keycloak",
            "entra",
            "clerk",
            "workos",
            "onelogin",
            "jumpcloud",
        ],
        nouns: &[
            "app",
            "apps",
            "application",
            "job",
            "page",
            "pages",
            "network",
            "policy",
            "variable",
        ],
    },
    Kept {
        servers: &[
            "harbor",
            "ecr",
            "gar",
            "acr",
            "registry",
            "dockerhub",
            "quay",
            "ghcr",
            "artifactory",
            "nexus",
            "artifact",
            "npm",
            "pypi",
            "rubygems",
            "gem",
            "cargo",
            "nuget",
            "maven",
            "packagist",
        ],
        nouns: &[
            "image", "images", "package", "packages", "tag", "tags", "artifact", "version",
            "versions", "release", "crate",
        ],
    },
    Kept {
        servers: &[
            "proxmox",
            "vmware",
            "vsphere",
            "esxi",
            "libvirt",
            "hyperv",
            "nutanix",
            "xen",
            "truenas",
            "unraid",
            "synology",
            "openstack",
        ],
        nouns: &[
            "container",
            "storage",
            "pool",
            "image",
            "network",
            "node",
            "folder",
            "disk",
            "domain",
            "share",
            "ct",
            "lxc",
            "dataset",
        ],
    },
    Kept {
        servers: &["algolia", "meilisearch", "typesense"],
        nouns: &["object", "objects", "index"],
    },
    Kept { servers: &["helm"], nouns: &["chart", "release"] },
    Kept {
        servers: &["snowflake", "oracle", "databricks", "bigquery", "redshift"],
        nouns: &["object", "objects", "column", "view", "share", "stage"],
    },
    Kept {
        servers: &["gitlab", "github", "gitea", "forgejo", "bitbucket", "actions"],
        nouns: &[
            "tag",
            "tags",
            "artifact",
            "artifacts",
            "job",
            "asset",
            "assets",
            "runner",
            "pipeline",
        ],
    },
    Kept {
        servers: &[
            "airtable",
            "baserow",
            "hubspot",
            "netsuite",
            "nocodb",
            "odoo",
            "pipedrive",
            "salesforce",
            "sap",
            "zoho",
        ],
        nouns: &["contacts", "deals", "leads", "material", "objects", "record", "records"],
    },
    Kept {
        servers: &["dropbox", "immich", "jellyfin", "onedrive", "photoprism", "plex", "sharepoint"],
        nouns: &["album", "albums", "asset", "assets", "item", "items", "library"],
    },
    Kept {
        servers: &["bear", "evernote", "joplin", "mem0", "notes", "reminders", "todoist", "zep"],
        nouns: &["all", "folder", "list", "notebook", "project", "vault"],
    },
    Kept {
        servers: &["wazuh", "crowdstrike", "falcon", "sentinelone", "defender", "osquery", "fleet"],
        nouns: &["agent", "agents", "host", "sensor", "query"],
    },
];

/// Servers that edit one document, scene or library of the user's own.
const EDITORS: &[&str] = &[
    "unity",
    "blender",
    "godot",
    "unreal",
    "figma",
    "photoshop",
    "illustrator",
    "excel",
    "xlsx",
    "word",
    "docx",
    "powerpoint",
    "pptx",
    "sheets",
    "spreadsheet",
    "slides",
    "ableton",
    "reaper",
    "excalidraw",
    "tldraw",
    "drawio",
    "mermaid",
    "autocad",
    "freecad",
    "sketchup",
    "canva",
    "miro",
    "obsidian",
    "anki",
    "zotero",
    "logseq",
    "spotify",
    "musescore",
    "premiere",
    "resolve",
    "minecraft",
    "roblox",
    "kicad",
    "comfyui",
    "latex",
    "onenote",
    "todoist",
    "ticktick",
    "raindrop",
    "xcodebuild",
    "simulator",
    "mobile",
    "android",
    "adb",
    "serena",
    "jetbrains",
    "vscode",
];

/// Those of them that keep a library of texts, which nobody else has.
const LIBRARY_SERVERS: &[&str] = &["anki", "logseq", "obsidian", "todoist", "zotero"];

/// What such a library consists of as a whole.
const LIBRARIES: &[&str] =
    &["collection", "deck", "graph", "library", "notebook", "project", "vault"];

/// A deed: one of the verbs and one of the nouns.
struct Deed {
    /// The servers it counts for; an empty list means every server.
    servers: &'static [&'static str],
    verbs: &'static [&'static str],
    nouns: &'static [&'static str],
    mark: Mark,
}

const fn deed(verbs: &'static [&'static str], nouns: &'static [&'static str], mark: Mark) -> Deed {
    Deed { servers: &[], verbs, nouns, mark }
}

const REMOVES: &[&str] = &["delete", "remove", "clear", "purge", "erase", "wipe", "drop", "del"];

const DEEDS: &[Deed] = &[
    // Traces of what happened.
    deed(REMOVES, &["audit", "auditlog", "evidence"], Mark::Guard),
    Deed {
        servers: &[
            "workflow",
            "run",
            "runs",
            "access",
            "security",
            "github",
            "gitlab",
            "cloudwatch",
            "trail",
            "siem",
            "splunk",
            "eventlog",
        ],
        verbs: REMOVES,
        nouns: &["logs", "log", "history", "alarms", "alarm", "detections"],
        mark: Mark::Guard,
    },
    Deed {
        servers: &[
            "pihole",
            "adguard",
            "nextdns",
            "defender",
            "crowdstrike",
            "falcon",
            "fail2ban",
            "crowdsec",
            "sentinelone",
            "wazuh",
            "splunk",
            "siem",
            "snyk",
            "semgrep",
            "vanta",
            "security",
            "guardduty",
            "falco",
            "suricata",
            "snort",
        ],
        verbs: &["disable", "pause", "suspend", "stop", "deactivate", "mute", "off", "bypass"],
        nouns: &[],
        mark: Mark::Guard,
    },
    // Who may come in.
    deed(
        &["make", "promote", "elevate"],
        &["admin", "owner", "superuser", "root", "superadmin", "administrator"],
        Mark::Accounts,
    ),
    deed(&["attach", "put"], &["rolepolicy", "userpolicy", "grouppolicy"], Mark::Accounts),
    Deed {
        servers: &["role", "user", "group", "iam"],
        verbs: &["attach", "put"],
        nouns: &["policy", "policies"],
        mark: Mark::Accounts,
    },
    deed(
        &["create", "generate", "issue", "mint", "register", "rotate", "regenerate"],
        &["token", "tokens", "credential", "credentials", "accesskey", "apikey"],
        Mark::Accounts,
    ),
    Deed {
        servers: &[
            "spaces",
            "service",
            "account",
            "storage",
            "iam",
            "auth",
            "tailscale",
            "deploy",
            "ssh",
        ],
        verbs: &["create", "generate", "issue", "add", "regenerate"],
        nouns: &["key", "keys"],
        mark: Mark::Accounts,
    },
    Deed {
        servers: &["team", "org", "organization", "workspace", "directory", "group", "enterprise"],
        verbs: &["remove", "delete", "revoke"],
        nouns: &["member", "members", "membership", "collaborator", "user", "users"],
        mark: Mark::Accounts,
    },
    deed(&["transfer", "change"], &["ownership", "owner"], Mark::Accounts),
    deed(
        &["update", "set", "change", "replace"],
        &["nameserver", "nameservers", "ns"],
        Mark::Network,
    ),
    Deed {
        servers: &["user", "group", "policy", "iam", "serviceaccount", "principal", "assignee"],
        verbs: &["add", "bind", "grant", "assign"],
        nouns: &["role", "roles", "clusterrole", "scc", "admin"],
        mark: Mark::Accounts,
    },
    Deed {
        servers: &["role", "iam"],
        verbs: &["create", "add"],
        nouns: &["assignment", "assignments", "binding"],
        mark: Mark::Accounts,
    },
    deed(&["generate"], &["root"], Mark::Accounts),
    Deed {
        servers: &["key", "keys"],
        verbs: &["add", "install", "create", "append"],
        nouns: &["authorized", "ssh", "deploy"],
        mark: Mark::Accounts,
    },
    deed(&["make", "set"], &["public"], Mark::Guard),
    deed(REMOVES, &["allowlist", "whitelist", "denylist", "blocklist"], Mark::Guard),
    deed(
        &["disable", "suppress", "ignore", "silence"],
        &[
            "alarm",
            "alarms",
            "finding",
            "findings",
            "vulnerability",
            "vulnerabilities",
            "detection",
            "detections",
        ],
        Mark::Guard,
    ),
    deed(&["schedule", "request"], &["deletion"], Mark::Infrastructure),
    deed(&["tear"], &["down"], Mark::Infrastructure),
    deed(&["expunge", "trash"], &["all", "note", "notes"], Mark::Infrastructure),
    deed(&["void"], &["invoice", "invoices", "payment", "transaction"], Mark::Infrastructure),
    Deed { servers: &["pulumi"], verbs: &["down"], nouns: &[], mark: Mark::Infrastructure },
    Deed { servers: &["odoo"], verbs: &["unlink"], nouns: &[], mark: Mark::Infrastructure },
    Deed {
        servers: &["hubspot", "intercom", "pipedrive", "salesforce"],
        verbs: &["archive"],
        nouns: &["batch", "bulk", "contact", "contacts", "objects"],
        mark: Mark::Infrastructure,
    },
    Deed {
        servers: &["proxmox", "vmware", "vsphere", "libvirt"],
        verbs: &["stop", "shutdown"],
        nouns: &["all"],
        mark: Mark::Infrastructure,
    },
    Deed {
        servers: &["okta", "auth0", "entra", "keycloak", "jumpcloud"],
        verbs: &["add", "assign"],
        nouns: &["group", "role", "roles"],
        mark: Mark::Accounts,
    },
    deed(&["factory"], &["reset"], Mark::Infrastructure),
    Deed {
        servers: &["k8s", "kubernetes", "kubectl", "node", "nodes"],
        verbs: &["drain"],
        nouns: &[],
        mark: Mark::Infrastructure,
    },
    // Data that is not called a table.
    deed(&["migrate", "migration", "migrations"], &["reset", "fresh", "refresh"], Mark::Database),
    Deed {
        servers: &["neon", "supabase", "planetscale", "turso", "xata"],
        verbs: &["reset", "restore"],
        nouns: &["parent", "branch", "database"],
        mark: Mark::Database,
    },
    deed(&["reset"], &["offset", "offsets", "master"], Mark::Database),
    deed(
        &["clear", "empty"],
        &["calendar", "mailbox", "inbox", "bucket", "queue"],
        Mark::Infrastructure,
    ),
];

/// Values that servers keep secret, by the words of the name.
const REVEALS: &[Deed] = &[
    deed(
        &["get", "show", "fetch", "read", "view", "list", "generate", "copy"],
        &["connectionstring", "connstring", "dsn_password", "kubeconfig", "databaseurl"],
        Mark::Credentials,
    ),
    Deed {
        servers: &["connection"],
        verbs: &["get", "show", "fetch", "read", "view"],
        nouns: &["string", "uri"],
        mark: Mark::Credentials,
    },
    Deed {
        servers: &["infisical", "doppler", "chamber", "akeyless"],
        verbs: &["list", "get", "download", "export"],
        nouns: &["secrets", "secret"],
        mark: Mark::Credentials,
    },
    Deed {
        servers: &["secret", "secrets"],
        verbs: &["access", "reveal", "decrypt", "show", "view", "get", "download"],
        nouns: &["value", "values", "version", "plaintext"],
        mark: Mark::Credentials,
    },
    deed(&["access", "reveal", "decrypt"], &["secret", "secrets"], Mark::Credentials),
    Deed {
        servers: &["kubernetes", "k8s", "kubectl"],
        verbs: &["view"],
        nouns: &["configuration"],
        mark: Mark::Credentials,
    },
];

/// What a call does by the name of its tool, and by the names of operations in its arguments.
pub(super) fn of_call(call: &Call<'_>) -> Marks {
    let own: Vec<&str> = call.words.iter().map(String::as_str).collect();
    let server: Vec<&str> = call.server.iter().map(String::as_str).collect();
    let mut marks = of_name(&own, &server);
    if has(&own, &["git"]) || has(&server, &["git"]) {
        return marks;
    }
    let around: Vec<&str> = server.iter().chain(&own).copied().collect();
    for name in operations(call.value) {
        let name: Vec<&str> = name.iter().map(String::as_str).collect();
        // A verb alone says little about a tool with a general name.
        if name.len() > 1 || has(&own, &["dml"]) {
            let name = if name.len() > 1 {
                name
            } else {
                name.into_iter().chain(own.iter().copied()).collect()
            };
            of_name(&name, &around).iter().for_each(|mark| marks.insert(mark));
        }
    }
    // A process of this machine.
    if call.text("pid").is_some() || call.value.get("pid").is_some() {
        marks.remove_all(&[Mark::Infrastructure]);
    }
    if is_for_good(call, &own) || deletes_folder(call, &own, &server) || bulk_deletes(call) {
        marks.insert(Mark::Infrastructure);
    }
    if let Some(mark) = of_home(call) {
        marks.insert(mark);
    }
    marks
}

/// `obsidian_delete_file {"filepath": "Journal"}`: a note has an ending, a folder has none.
fn deletes_folder(call: &Call<'_>, own: &[&str], server: &[&str]) -> bool {
    const NOTES: &[&str] = &["obsidian", "logseq", "vault", "notes", "nextcloud", "webdav"];
    let path = || ["filepath", "path", "folder", "file_path"].iter().find_map(|key| call.text(key));
    (has(own, NOTES) || has(server, NOTES))
        && has(own, REMOVES)
        && path().is_some_and(|path| {
            let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            path.ends_with('/') || !name.contains('.')
        })
}

/// `{"documents": [1, 2], "method": "delete"}`, `{"delete": [1, 2, 3]}`
fn bulk_deletes(call: &Call<'_>) -> bool {
    let Value::Object(members) = call.value else { return false };
    let is_many = |value: &Value| matches!(value, Value::Array(items) if items.len() > 1);
    let is_bulk = call.name_has(&["bulk", "batch"]);
    let is_verb =
        ["method", "action", "operation"].iter().any(|key| call.text(key) == Some("delete"));
    is_bulk
        && members
            .iter()
            .any(|(key, value)| is_many(value) && (is_verb || key.eq_ignore_ascii_case("delete")))
}

/// A service of a smart home: `{"domain": "recorder", "service": "purge"}`.
fn of_home(call: &Call<'_>) -> Option<Mark> {
    let (domain, service) = (call.text("domain")?, call.text("service")?);
    let keeps_nothing = || {
        let data = ["data", "service_data"].iter().find_map(|key| call.value.get(key));
        let days = data.and_then(|data| data.get("keep_days"));
        days.is_none_or(
            |days| matches!(days, Value::Number(text) | Value::String(text) if text == "0"),
        )
    };
    match (domain, service) {
        ("recorder", "purge" | "purge_entities") if keeps_nothing() => Some(Mark::Database),
        ("backup" | "hassio", "delete" | "backup_delete") => Some(Mark::Infrastructure),
        ("lock", "unlock" | "open") | ("alarm_control_panel", "alarm_disarm") => Some(Mark::Guard),
        ("hassio", "host_shutdown" | "host_reboot") | ("homeassistant", "stop") => {
            Some(Mark::Power)
        }
        _ => None,
    }
}

/// The words of one name.
pub(crate) fn split(name: &str) -> Vec<String> {
    words(name)
}

/// What one name says.
pub(crate) fn of_name(words: &[&str], server: &[&str]) -> Marks {
    let mut marks = Marks::NONE;
    let all: Vec<&str> = server.iter().chain(words).copied().collect();
    let fits = |deed: &Deed| {
        (deed.servers.is_empty() || has(&all, deed.servers))
            && has(words, deed.verbs)
            && (deed.nouns.is_empty() || has(words, deed.nouns))
    };
    let is_alert =
        has(words, &["alert", "alerts", "scanning", "scan", "metadata", "names", "policy"]);
    REVEALS
        .iter()
        .filter(|_| !is_alert)
        .filter(|deed| fits(deed))
        .for_each(|deed| marks.insert(deed.mark));
    if asks(words) || has(words, &["design"]) {
        return marks;
    }
    DEEDS.iter().filter(|deed| fits(deed)).for_each(|deed| marks.insert(deed.mark));
    destroys(words, &all).into_iter().for_each(|mark| marks.insert(mark));
    marks
}

/// `get_deleted_items`, `list_removed`: a question.
fn asks(words: &[&str]) -> bool {
    let first = words.first().copied().unwrap_or_default();
    matches!(
        first,
        "get"
            | "list"
            | "search"
            | "find"
            | "describe"
            | "count"
            | "check"
            | "validate"
            | "preview"
            | "explain"
            | "simulate"
            | "estimate"
            | "lint"
            | "suggest"
            | "recommend"
            | "can"
            | "is"
    )
}

fn destroys(words: &[&str], all: &[&str]) -> Option<Mark> {
    let verb = words.iter().position(|word| DESTROYS.contains(word))?;
    let is_library = !has(words, &["item", "items"]) && {
        has(all, LIBRARY_SERVERS) && head(words, verb).is_some_and(|it| LIBRARIES.contains(&it))
    };
    if is_library {
        return Some(Mark::Infrastructure);
    }
    if has(words, &["drag"]) || has(all, EDITORS) {
        return None;
    }
    let nouns: Vec<&str> =
        words.iter().enumerate().filter(|(at, _)| *at != verb).map(|(_, word)| *word).collect();
    let is_gentle = words
        .get(verb)
        .is_some_and(|verb| matches!(*verb, "reset" | "clear" | "remove" | "empty" | "uninstall"));
    let is_everyday = has(&nouns, EVERYDAY);
    let names_data =
        nouns.iter().any(|noun| DATA.contains(noun) && !(is_everyday && *noun == "all"));
    let is_data = names_data || matches!(words, ["flushall" | "flushdb"]);
    if is_data && !has(&nouns, &["file", "files"]) {
        return Some(Mark::Database);
    }
    let is_test = has(&nouns, &["test", "temp", "tmp", "mock", "sim"]);
    let is_kept = KEPT.iter().any(|kept| has(all, kept.servers) && has(&nouns, kept.nouns));
    let is_shared = !is_gentle && head(words, verb).is_some_and(|head| SHARED.contains(&head));
    if !(is_kept || is_shared) || is_test {
        if nouns.iter().all(|noun| noun.is_empty()) || has(&nouns, EVERYDAY) {
            return None;
        }
        if is_gentle && !has(&nouns, SHARED) {
            return None;
        }
    }
    Some(if has(&nouns, &["branch", "tag", "release", "ref", "tags", "branches", "package"]) {
        Mark::RemoteDelete
    } else {
        Mark::Infrastructure
    })
}

/// What the verb is about: the last noun before a preposition, `bucket` of `delete_storage_bucket`.
fn head<'w>(words: &[&'w str], verb: usize) -> Option<&'w str> {
    let after = words.get(verb + 1..).unwrap_or_default();
    let end = after.iter().position(|word| {
        matches!(*word, "from" | "in" | "by" | "of" | "for" | "to" | "with" | "on")
    });
    let phrase = after.get(..end.unwrap_or(after.len())).unwrap_or_default();
    phrase.last().or_else(|| words.get(..verb).and_then(<[&str]>::last)).copied()
}

/// `{"fileId": "x", "permanent": true}`: past the bin of a server.
fn is_for_good(call: &Call<'_>, own: &[&str]) -> bool {
    let Value::Object(members) = call.value else { return false };
    if asks(own) || !has(own, REMOVES) && !has(own, &["trash"]) {
        return false;
    }
    let key = |key: &str| -> String {
        key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    let is_by_id = members.iter().any(|(name, _)| {
        let name = key(name);
        name == "id" || name.len() > 2 && name.ends_with("id")
    });
    let is_final = has(own, &["permanently", "permanent"])
        || members.iter().any(|(name, value)| {
            let known =
                ["permanent", "permanently", "skiptrash", "bypasstrash", "harddelete", "purge"];
            let is_folder = has(own, &["folder", "directory"]) && key(name) == "recursive";
            (known.contains(&key(name).as_str()) || is_folder) && matches!(value, Value::Bool(true))
        });
    is_by_id && is_final
}

/// Names of what is to be done: `{"operation_name": "delete_bucket"}`, `mutation { deleteRef(…) }`.
fn operations(value: &Value) -> Vec<Vec<String>> {
    const KEYS: &[&str] = &[
        "action",
        "operation",
        "operationname",
        "op",
        "command",
        "subcommand",
        "verb",
        "mode",
        "method",
        "tool",
        "toolname",
        "function",
        "intent",
        "task",
        "runtype",
    ];
    let Value::Object(members) = value else { return Vec::new() };
    let mut names = Vec::new();
    for (key, value) in members.iter().take(256) {
        let Some(text) = value.as_str() else { continue };
        let key: String = key.chars().filter(char::is_ascii_alphanumeric).collect();
        let is_name =
            text.len() <= 64 && !text.contains(char::is_whitespace) && !text.contains('/');
        if KEYS.contains(&key.to_ascii_lowercase().as_str()) && is_name {
            names.push(words(text));
        } else if text.contains("mutation") {
            names.extend(mutations(text));
        }
    }
    names.truncate(MAX_NAMES);
    names
}

/// The fields of a mutation in GraphQL, with the verb first: `projectDelete` is `delete`, `project`.
fn mutations(text: &str) -> Vec<Vec<String>> {
    let mut names = Vec::new();
    let after = text.split_once("mutation").map_or("", |(_, after)| after);
    let body = after.split_once('{').map_or("", |(_, body)| body);
    for part in body.split('(').take(MAX_NAMES) {
        let name =
            part.rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next();
        let mut name = words(name.unwrap_or_default());
        if name.last().is_some_and(|last| DESTROYS.contains(&last.as_str())) {
            name.rotate_right(1);
        }
        names.push(name);
    }
    names.retain(|name| name.len() > 1);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(server: &str, name: &str) -> String {
        let (server, name) = (words(server), words(name));
        let server: Vec<&str> = server.iter().map(String::as_str).collect();
        let name: Vec<&str> = name.iter().map(String::as_str).collect();
        of_name(&name, &server).to_string()
    }

    #[test]
    fn the_server_says_which_nouns_matter() {
        for (server, name, expected) in [
            ("jenkins", "delete_job", "infrastructure"),
            ("kubernetes", "delete_job", ""),
            ("azure", "storage_container_delete", "infrastructure"),
            ("docker", "remove_container", ""),
            ("excel", "delete_rows", ""),
            ("postgres", "delete_rows", "database"),
            ("pypi", "yank_release", "remote-delete"),
            ("x", "delete_container_registry_repository", "infrastructure"),
            ("x", "delete_project_item", ""),
            ("x", "drag_and_drop", ""),
            ("pihole", "pihole_disable", "guard"),
            ("github", "delete_workflow_run_logs", "guard"),
            ("google-workspace", "make_admin", "accounts"),
            ("neon", "get_connection_string", "credentials"),
            ("infisical", "list-secrets", "credentials"),
            ("vault", "list_secrets", ""),
        ] {
            assert_eq!(marks(server, name), expected, "{server} {name}");
        }
    }

    #[test]
    fn mutations_are_names() {
        let found = mutations("mutation { projectDelete(input: {fullPath: \"a/b\"}) { errors } }");
        assert_eq!(found, [["delete", "project"]]);
        let found = mutations("mutation($id: ID!) { deleteRef(input: {refId: $id}) { x } }");
        assert_eq!(found, [["delete", "ref"]]);
    }
}
