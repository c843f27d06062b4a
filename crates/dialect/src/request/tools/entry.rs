//! One entry of a list of tools, in whatever words an API has for it.

use callgate_call::json::{Error, Kind, Reader, Span, Value};

use crate::event::Host;
use crate::json::{elements, member, members};

/// What one entry offers.
#[derive(Debug)]
pub(super) struct Entry {
    /// Every name under which a rule may speak of it. Empty: it offers nothing that can be named.
    pub(super) names: Vec<String>,
    pub(super) host: Host,
    /// A namespace: the list of its tools, and its name.
    pub(super) inner: Option<(Span, String)>,
}

/// Where a tool's name may stand, in the order of trust: inside first.
const INSIDE: [&str; 4] = ["function", "custom", "toolSpec", "systemTool"];

/// Types whose calls the client runs although it brought no definition.
const CLIENT: [&str; 12] = [
    "function",
    "custom",
    "local_shell",
    "shell",
    "apply_patch",
    "computer",
    "computer_use_preview",
    "bash_",
    "text_editor_",
    "computer_",
    "memory_",
    "browser_toolset_",
];

/// Reads an entry.
pub(super) fn read(data: &str, span: Span) -> Result<Entry, Error> {
    let mut reader = Reader::at(data, span);
    match reader.kind()? {
        // Some APIs allow the bare name.
        Kind::String => {
            let name = reader.string()?.decode()?.into_owned();
            return Ok(Entry { names: vec![name], host: Host::Client, inner: None });
        }
        // Providers differ in which of two equal keys they take.
        Kind::Object => drop(Value::parse(span.of(data))?),
        _ => return Ok(Entry { names: Vec::new(), host: Host::Client, inner: None }),
    }
    let kind = word(data, span, "type").unwrap_or_default();
    let name = name(data, span);
    if let (Some(tools), true) = (member(data, span, "tools"), kind == "namespace") {
        let inner = Some((tools, name.unwrap_or_default()));
        return Ok(Entry { names: Vec::new(), host: Host::Client, inner });
    }
    if let Some(server) = server(data, span, &kind) {
        return Ok(Entry {
            names: of_server(data, span, &server),
            host: Host::Provider,
            inner: None,
        });
    }
    let in_the_clients_hands = kind.is_empty()
        || CLIENT.iter().any(|known| match known.strip_suffix('_') {
            Some(_) => kind.starts_with(known),
            None => kind == *known,
        });
    let of_system = member(data, span, "systemTool").is_some();
    let host = if in_the_clients_hands && !of_system { Host::Client } else { Host::Provider };
    let name = name.or_else(|| Some(kind).filter(|kind| !kind.is_empty()));
    match (name, word(data, span, "id")) {
        (None, Some(plugin)) => {
            Ok(Entry { names: vec![plugin], host: Host::Provider, inner: None })
        }
        (name, _) => Ok(Entry { names: name.into_iter().collect(), host, inner: None }),
    }
}

fn name(data: &str, span: Span) -> Option<String> {
    let inside = INSIDE.iter().filter_map(|key| member(data, span, key));
    inside.chain([span]).find_map(|object| word(data, object, "name"))
}

/// The name of an MCP server that the provider is told to use.
fn server(data: &str, span: Span, kind: &str) -> Option<String> {
    let named = |keys: &[&str]| keys.iter().find_map(|key| word(data, span, key));
    match kind {
        "mcp" | "mcp_server" | "mcp_toolset" | "url" => {
            named(&["server_label", "mcp_server_name", "server_name", "name"])
        }
        _ => None,
    }
    .or_else(|| word(data, span, "server_label"))
}

/// The tools of a server that may be used: those that are listed, else all of them.
fn of_server(data: &str, span: Span, server: &str) -> Vec<String> {
    let allowed = member(data, span, "allowed_tools");
    let list = allowed.map(|allowed| member(data, allowed, "tool_names").unwrap_or(allowed));
    let mut names: Vec<String> = list
        .map(|list| elements(data, list))
        .unwrap_or_default()
        .into_iter()
        .filter_map(|span| Reader::at(data, span).string().ok()?.decode().ok())
        .map(|tool| format!("mcp__{server}__{tool}"))
        .collect();
    if names.is_empty() {
        names.push(format!("mcp__{server}__*"));
    }
    names
}

/// The string at `key`, the last of several: it is what clients and providers take.
pub(super) fn word(data: &str, object: Span, key: &str) -> Option<String> {
    if Reader::at(data, object).kind().ok()? != Kind::Object {
        return None;
    }
    let last = members(data, object).into_iter().rfind(|member| member.key.is(key))?;
    let text = Reader::at(data, last.value).string().ok()?.decode().ok()?;
    Some(text.into_owned())
}

/// `google_search` as `googleSearch`, the spelling of the documentation.
pub(super) fn camel(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    let mut raise = false;
    for letter in key.chars() {
        match letter {
            '_' => raise = true,
            letter if std::mem::take(&mut raise) => out.extend(letter.to_uppercase()),
            letter => out.push(letter),
        }
    }
    out
}
