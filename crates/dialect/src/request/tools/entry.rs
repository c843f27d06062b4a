//! One entry of a list of tools, in the format of any API.

use callgate_json::{Error, Kind, Problem, Reader, Span, Value};

use super::groups::folded;
use super::server;
use crate::event::Host;
use crate::json::{member, members};

/// What one entry offers.
#[derive(Debug)]
pub(super) struct Entry {
    /// Every name under which a rule may refer to it. Empty if it offers nothing that can be named.
    pub(super) names: Vec<String>,
    pub(super) host: Host,
    /// A namespace: the list of its tools, and its name.
    pub(super) inner: Option<(Span, String)>,
    /// The MCP server that the provider should use.
    pub(super) server: Option<String>,
    /// Of all tools of the server, those that may not be used.
    pub(super) except: Vec<String>,
}

impl Entry {
    fn new(names: Vec<String>, host: Host) -> Self {
        Self { names, host, inner: None, server: None, except: Vec::new() }
    }
}

/// Objects that may contain a tool's name.
const INSIDE: [&str; 4] = ["function", "custom", "toolSpec", "systemTool"];

/// Every key that is looked for. In another case it may mean the same to some programs.
const KEYS: [&str; 17] = [
    "type",
    "name",
    "id",
    "function",
    "custom",
    "toolSpec",
    "systemTool",
    "tools",
    "server_label",
    "mcp_server_name",
    "server_name",
    "allowed_tools",
    "tool_configuration",
    "configs",
    "default_config",
    "definition",
    "environment",
];

/// Types whose calls the client runs although it sent no definition.
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

/// Reads an entry. An ambiguous entry, or one without a name, is an error.
pub(super) fn read(data: &str, span: Span) -> Result<Entry, Error> {
    let mut reader = Reader::at(data, span);
    match reader.kind()? {
        // Some APIs accept the bare name of a tool that they run.
        Kind::String => {
            let name = reader.string()?.decode()?.into_owned();
            return Ok(Entry::new(vec![name], Host::Provider));
        }
        // Providers differ in which of two equal keys they use.
        Kind::Object => drop(Value::parse(span.of(data))?),
        _ => return Err(Error::new(Problem::Unexpected, span.start)),
    }
    check_keys(data, span)?;
    let kind = word(data, span, "type").unwrap_or_default();
    if let (Some(definition), "tool_definition") = (member(data, span, "definition"), &*kind) {
        return read(data, definition);
    }
    let mut names = names(data, span)?;
    if let (Some(tools), true) = (member(data, span, "tools"), kind == "namespace") {
        let inner = Some((tools, word(data, span, "name").unwrap_or_default()));
        names.retain(|name| Some(name) != word(data, span, "name").as_ref());
        return Ok(Entry { inner, ..Entry::new(names, Host::Client) });
    }
    if let Some(server) = server::named(data, span, &kind) {
        let (tools, except) = server::tools(data, span, &server)?;
        names.retain(|name| *name != server);
        names.extend(tools);
        let entry = Entry::new(names, Host::Provider);
        return Ok(Entry { server: Some(server), except, ..entry });
    }
    let plain = matches!(kind.as_str(), "" | "function" | "custom");
    if !plain {
        names.push(kind.clone());
    }
    if names.is_empty() {
        names.extend(word(data, span, "id"));
        return Ok(Entry::new(names, Host::Provider));
    }
    let known = CLIENT.iter().any(|known| match known.strip_suffix('_') {
        Some(_) => kind.starts_with(known),
        None => kind == *known,
    });
    let of_system = member(data, span, "systemTool").is_some() || is_hosted(data, span);
    let host = if (plain || known) && !of_system { Host::Client } else { Host::Provider };
    Ok(Entry::new(names, host))
}

/// Whether a tool runs in an environment of the provider.
fn is_hosted(data: &str, span: Span) -> bool {
    let environment = member(data, span, "environment");
    let kind = environment.and_then(|environment| word(data, environment, "type"));
    kind.is_some_and(|kind| kind != "local")
}

/// Checks that no key of an entry, or of an object in it that may name it, is another spelling of
/// one that is looked for.
fn check_keys(data: &str, span: Span) -> Result<(), Error> {
    let inside = INSIDE.iter().filter_map(|key| member(data, span, key));
    for object in inside.chain([span]) {
        if Reader::at(data, object).kind()? != Kind::Object {
            return Err(Error::new(Problem::Unexpected, object.start));
        }
        for member in members(data, object) {
            let key = member.key.decode()?;
            let key_folded = folded(&key);
            let is_variant = |known: &&str| {
                known.len() == key_folded.len() && **known != *key && folded(known) == key_folded
            };
            if KEYS.iter().any(is_variant) {
                return Err(Error::new(Problem::DuplicateKey, member.span.start));
            }
        }
    }
    Ok(())
}

/// All its names: programs differ in where they look.
fn names(data: &str, span: Span) -> Result<Vec<String>, Error> {
    let inside = INSIDE.iter().filter_map(|key| member(data, span, key));
    let mut names: Vec<String> =
        inside.chain([span]).filter_map(|object| word(data, object, "name")).collect();
    names.dedup();
    Ok(names)
}

/// The string at `key`, the last of several: clients and providers use that one.
pub(super) fn word(data: &str, object: Span, key: &str) -> Option<String> {
    if Reader::at(data, object).kind().ok()? != Kind::Object {
        return None;
    }
    let last = members(data, object).into_iter().rfind(|member| member.key.is(key))?;
    let text = Reader::at(data, last.value).string().ok()?.decode().ok()?;
    Some(text.into_owned())
}

/// `google_search` as `googleSearch`, the spelling in the documentation.
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

/// `googleSearch` as `google_search`.
pub(super) fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for letter in name.chars() {
        if letter.is_uppercase() {
            out.push('_');
        }
        out.extend(letter.to_lowercase());
    }
    out
}
