//! `sandbox.mcp` of agentsh, which becomes the section `mcp:` of a config.

use callgate_document::{Node, Yaml, parse};

use super::context::ImportContext;
use crate::draft::quoted;
use crate::read::{get, items, text};

pub(super) fn read(context: &mut ImportContext<'_>) -> Option<String> {
    let root = parse(context.source, &mut context.problems)?;
    let Some(mcp) = get(&root, "sandbox").and_then(|node| get(node, "mcp")) else {
        context.problem(root.span, "there is no `sandbox.mcp` in this file");
        return None;
    };
    let mut section = McpSection { context, lines: vec!["mcp:".to_owned()] };
    section.switch(mcp, "enforce_policy", "enforce");
    section.switch(mcp, "fail_closed", "fail_closed");
    section.servers(mcp);
    section.lists(mcp, EntryKind::Server);
    section.lists(mcp, EntryKind::Tool);
    section.pins(mcp);
    section.rates(mcp);
    let known = [
        "enforce_policy",
        "fail_closed",
        "servers",
        "server_policy",
        "allowed_servers",
        "denied_servers",
        "tool_policy",
        "allowed_tools",
        "denied_tools",
        "version_pinning",
        "rate_limits",
    ];
    section.context.other_keys(mcp, &known, "this setting has no counterpart");
    if section.lines.len() == 1 {
        section.lines = vec!["mcp: {}".to_owned()];
    }
    let about = format!("# Imported from {}: for callgate.yaml.\n", section.context.file_name());
    let lines = section.lines;
    Some(format!("{about}{}\n", lines.join("\n")))
}

struct McpSection<'c, 's> {
    context: &'c mut ImportContext<'s>,
    lines: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum EntryKind {
    Server,
    Tool,
}

impl McpSection<'_, '_> {
    fn line(&mut self, text: String) {
        self.lines.push(text);
    }

    fn switch(&mut self, mcp: &Node, theirs: &str, ours: &str) {
        let Some(node) = get(mcp, theirs) else { return };
        match node.value {
            Yaml::Bool(value) => self.line(format!("  {ours}: {value}")),
            _ => self.context.problem(node.span, format!("`{theirs}` must be true or false")),
        }
    }

    fn servers(&mut self, mcp: &Node) {
        let servers = get(mcp, "servers").map(items).unwrap_or_default();
        if servers.is_empty() {
            return;
        }
        self.line("  servers:".to_owned());
        for server in servers {
            let Some(id) = get(server, "id").and_then(text) else {
                self.context.problem(server.span, "this server has no `id`");
                continue;
            };
            self.line(format!("    {}:", quoted(id)));
            self.server(id, server);
        }
    }

    fn server(&mut self, id: &str, server: &Node) {
        for key in ["type", "command", "url"] {
            if let Some(value) = get(server, key).and_then(text) {
                self.line(format!("      {key}: {}", quoted(value)));
            }
        }
        let args: Vec<String> =
            get(server, "args").map(items).unwrap_or_default().iter().filter_map(scalar).collect();
        if !args.is_empty() {
            let args: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
            self.line(format!("      args: [{}]", args.join(", ")));
        }
        if let Some(node) = get(server, "tls_fingerprint") {
            let digits = text(node).unwrap_or_default();
            let digits = digits
                .strip_prefix("sha256:")
                .unwrap_or(digits)
                .replace(':', "")
                .to_ascii_lowercase();
            match digits.len() == 64 && digits.chars().all(|it| it.is_ascii_hexdigit()) {
                true => self.line(format!("      tls_fingerprint: '{digits}'")),
                false => self.context.problem(
                    node.span,
                    "`tls_fingerprint` must be `sha256:` and 64 hexadecimal digits",
                ),
            }
        }
        let known = ["id", "type", "command", "args", "url", "tls_fingerprint"];
        self.context.other_keys(
            server,
            &known,
            &format!("this setting of the server `{id}` has no counterpart"),
        );
    }

    /// The allowed and the denied servers or tools, as far as the mode of the lists uses them.
    fn lists(&mut self, mcp: &Node, kind: EntryKind) {
        let (mode_key, allowed, denied) = match kind {
            EntryKind::Server => ("server_policy", "allowed_servers", "denied_servers"),
            EntryKind::Tool => ("tool_policy", "allowed_tools", "denied_tools"),
        };
        let mode = get(mcp, mode_key).and_then(text).unwrap_or("none");
        match mode {
            "allowlist" => {
                let list = self.entries(mcp, allowed, kind, KeptEntries::Allowed);
                self.write(kind, "allow", &list, Empty::Written);
                // What is not on the list is denied anyway, and an explicit allow wins over `*`.
                let list = self.entries(mcp, denied, kind, KeptEntries::DeniedByName);
                self.write(kind, "deny", &list, Empty::LeftOut);
            }
            "denylist" => {
                let list = self.entries(mcp, denied, kind, KeptEntries::Denied);
                self.write(kind, "deny", &list, Empty::LeftOut);
            }
            "none" => {}
            _ => {
                let at = get(mcp, mode_key).map_or(mcp.span, |node| node.span);
                self.context
                    .problem(at, format!("`{mode_key}` must be `allowlist`, `denylist` or `none`"));
            }
        }
        let unused = match mode {
            "none" => [Some(allowed), Some(denied)],
            "denylist" => [Some(allowed), None],
            _ => [None, None],
        };
        for key in unused.into_iter().flatten() {
            if let Some(node) = get(mcp, key).filter(|node| !items(node).is_empty()) {
                let why = format!("the list is not used there: `{mode_key}` is `{mode}`");
                self.context.left_out(node.span, key, why);
            }
        }
    }

    fn entries(
        &mut self,
        mcp: &Node,
        key: &str,
        kind: EntryKind,
        keep: KeptEntries,
    ) -> Vec<(String, String)> {
        let mut list = Vec::new();
        for entry in get(mcp, key).map(items).unwrap_or_default() {
            let field = |name: &str| get(entry, name).and_then(text).unwrap_or("*").to_owned();
            let pair = match kind {
                EntryKind::Server => (field("id"), String::new()),
                EntryKind::Tool => (field("server"), field("tool")),
            };
            let is_all = pair.0 == "*" && matches!(pair.1.as_str(), "" | "*");
            if keep == KeptEntries::DeniedByName && is_all {
                continue;
            }
            let known = ["id", "server", "tool", "reason"];
            let Yaml::Map(fields) = &entry.value else {
                self.context.problem(entry.span, format!("an entry of `{key}` must be a mapping"));
                continue;
            };
            if let Some((other, _)) =
                fields.iter().find(|(name, _)| !known.contains(&name.name.as_str()))
            {
                let why = format!("`{}` is not compared", other.name);
                let written = entry.to_json();
                if keep == KeptEntries::Allowed {
                    self.context.left_out(entry.span, &written, why);
                    continue;
                }
                self.context.change(
                    entry.span,
                    &written,
                    None,
                    crate::DifferenceKind::Stricter,
                    why,
                );
            }
            list.push(pair);
        }
        list
    }

    fn write(&mut self, kind: EntryKind, verb: &str, entries: &[(String, String)], empty: Empty) {
        let noun = if kind == EntryKind::Server { "servers" } else { "tools" };
        if entries.is_empty() {
            if empty == Empty::Written {
                self.line(format!("  {verb}_{noun}: []"));
            }
            return;
        }
        self.line(format!("  {verb}_{noun}:"));
        for (server, tool) in entries {
            match kind {
                EntryKind::Server => self.line(format!("    - {}", quoted(server))),
                EntryKind::Tool => {
                    let entry = format!("server: {}, tool: {}", quoted(server), quoted(tool));
                    self.line(format!("    - {{ {entry} }}"));
                }
            }
        }
    }

    fn pins(&mut self, mcp: &Node) {
        let Some(node) = get(mcp, "version_pinning") else { return };
        if matches!(get(node, "enabled").map(|it| &it.value), Some(Yaml::Bool(false))) {
            let why = "definitions are always pinned: set `mcp.pins.on_change: allow` to let changed ones pass";
            self.context.change(
                node.span,
                "version_pinning",
                None,
                crate::DifferenceKind::Stricter,
                why,
            );
            return;
        }
        let mut fields = Vec::new();
        match get(node, "on_change").and_then(text) {
            Some(word @ ("block" | "alert")) => fields.push(format!("on_change: {word}")),
            Some(_) => self.context.problem(node.span, "`on_change` must be `block` or `alert`"),
            None => {}
        }
        if let Some(Yaml::Bool(value)) = get(node, "auto_trust_first").map(|it| &it.value) {
            fields.push(format!("auto_trust_first: {value}"));
        }
        if !fields.is_empty() {
            self.line(format!("  pins: {{ {} }}", fields.join(", ")));
        }
        let known = ["enabled", "on_change", "auto_trust_first"];
        self.context.other_keys(node, &known, "this setting of pins has no counterpart");
    }

    fn rates(&mut self, mcp: &Node) {
        let Some(node) = get(mcp, "rate_limits") else { return };
        if matches!(get(node, "enabled").map(|it| &it.value), Some(Yaml::Bool(false))) {
            self.context.left_out(node.span, "rate_limits", "the rates are not enabled");
            return;
        }
        if let Some(wrong) = get(node, "default_rpm").filter(|it| whole(it).is_none()) {
            self.context.problem(wrong.span, "`default_rpm` must be a whole number from 1");
        }
        if let Some(calls) = get(node, "default_rpm").and_then(whole) {
            let burst = get(node, "default_burst").and_then(whole);
            let burst = burst.map_or(String::new(), |burst| format!(", burst: {burst}"));
            self.line(format!("  rate: {{ calls: {calls}, per: minute{burst} }}"));
        }
        if let Some(Yaml::Map(servers)) = get(node, "per_server").map(|it| &it.value) {
            self.line("  rates:".to_owned());
            for (key, rate) in servers {
                let Some(calls) = get(rate, "calls_per_minute").and_then(whole) else {
                    self.context.problem(rate.span, "a rate needs `calls_per_minute`");
                    continue;
                };
                let burst = get(rate, "burst").and_then(whole);
                let burst = burst.map_or(String::new(), |burst| format!(", burst: {burst}"));
                self.line(format!(
                    "    {}: {{ calls: {calls}, per: minute{burst} }}",
                    quoted(&key.name)
                ));
            }
        }
        let known = ["enabled", "default_rpm", "default_burst", "per_server"];
        self.context.other_keys(node, &known, "this setting of rates has no counterpart");
    }
}

/// Which entries of a list are kept.
#[derive(Clone, Copy, PartialEq)]
enum KeptEntries {
    Allowed,
    Denied,
    /// All but those that deny everything.
    DeniedByName,
}

/// What an empty list is.
#[derive(Clone, Copy, PartialEq)]
enum Empty {
    /// A list that allows nothing.
    Written,
    LeftOut,
}

fn whole(node: &Node) -> Option<u64> {
    match &node.value {
        Yaml::Number { json, .. } => json.parse().ok().filter(|value| *value > 0),
        _ => None,
    }
}

fn scalar(node: &Node) -> Option<String> {
    match &node.value {
        Yaml::String(text) => Some(text.clone()),
        Yaml::Number { written, .. } => Some(written.clone()),
        Yaml::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
