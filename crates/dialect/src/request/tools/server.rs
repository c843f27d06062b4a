//! MCP servers that a provider should use: their names, and which of their tools.

use std::collections::HashSet;

use callgate_json::{Error, Kind, Problem, Reader, Span};

use super::entry::word;
use crate::json::{elements, member, members};

/// The name of the server in an entry of this type.
pub(super) fn named(data: &str, span: Span, kind: &str) -> Option<String> {
    let named = |keys: &[&str]| keys.iter().find_map(|key| word(data, span, key));
    match kind {
        "mcp" | "mcp_server" | "mcp_toolset" | "url" => {
            named(&["server_label", "mcp_server_name", "server_name", "name"])
        }
        _ => None,
    }
    .or_else(|| word(data, span, "server_label"))
}

/// The name for all tools of a server.
pub(super) fn whole(server: &str) -> String {
    format!("mcp__{server}__*")
}

/// The tools of a server that may be used, and the excluded ones if all others may be.
pub(super) fn tools(
    data: &str,
    span: Span,
    server: &str,
) -> Result<(Vec<String>, Vec<String>), Error> {
    let of_server = |tool: &String| format!("mcp__{server}__{tool}");
    if let Some(listed) = listed(data, span) {
        return Ok((listed.iter().map(of_server).collect(), Vec::new()));
    }
    let Switches { rest, on, off } = Switches::read(data, span)?;
    if let Some(pinned) = pinned(data, span) {
        let is_used = |tool: &&String| if rest { !off.contains(*tool) } else { on.contains(*tool) };
        return Ok((pinned.iter().filter(is_used).map(of_server).collect(), Vec::new()));
    }
    Ok(match rest {
        true => (vec![whole(server)], off.into_iter().collect()),
        false => (on.iter().map(of_server).collect(), Vec::new()),
    })
}

/// The tools that the entry allows, if it lists any and the whole list can be read. In one API the
/// list is in an object, in another there are several of those.
fn listed(data: &str, span: Span) -> Option<Vec<String>> {
    let configured = member(data, span, "tool_configuration").unwrap_or(span);
    let allowed = member(data, configured, "allowed_tools")?;
    let mut names = Vec::new();
    match Reader::at(data, allowed).kind().ok()? {
        Kind::Object => add_names(data, member(data, allowed, "tool_names")?, &mut names)?,
        _ => {
            for element in elements(data, allowed) {
                match Reader::at(data, element).kind().ok()? {
                    Kind::Object => add_names(data, member(data, element, "tools")?, &mut names)?,
                    _ => names.push(text(data, element)?),
                }
            }
        }
    }
    // For some providers an empty list means all of them.
    (!names.is_empty()).then_some(names)
}

fn add_names(data: &str, list: Span, names: &mut Vec<String>) -> Option<()> {
    for element in elements(data, list) {
        names.push(text(data, element)?);
    }
    Some(())
}

/// The tools of a toolset that lists the tools of its server.
fn pinned(data: &str, span: Span) -> Option<Vec<String>> {
    let list = member(data, span, "tools")?;
    elements(data, list).into_iter().map(|tool| word(data, tool, "name")).collect()
}

/// The tools that the `configs` of a toolset switch on and off.
struct Switches {
    /// Whether all other tools are on.
    rest: bool,
    on: HashSet<String>,
    off: HashSet<String>,
}

impl Switches {
    fn read(data: &str, span: Span) -> Result<Self, Error> {
        let default = member(data, span, "default_config");
        let rest = default.map_or(Ok(None), |config| enabled(data, config))?.unwrap_or(true);
        let mut switches = Self { rest, on: HashSet::new(), off: HashSet::new() };
        let Some(configs) = member(data, span, "configs") else { return Ok(switches) };
        for config in members(data, configs) {
            let tool = config.key.decode()?.into_owned();
            match enabled(data, config.value)?.unwrap_or(rest) {
                true => switches.on.insert(tool),
                false => switches.off.insert(tool),
            };
        }
        Ok(switches)
    }
}

/// The `enabled` member of a config. Anything but true or false cannot be read.
fn enabled(data: &str, config: Span) -> Result<Option<bool>, Error> {
    let Some(value) = member(data, config, "enabled") else { return Ok(None) };
    match value.of(data) {
        "true" => Ok(Some(true)),
        "false" => Ok(Some(false)),
        "null" => Ok(None),
        _ => Err(Error::new(Problem::Unexpected, value.start)),
    }
}

fn text(data: &str, span: Span) -> Option<String> {
    Some(Reader::at(data, span).string().ok()?.decode().ok()?.into_owned())
}
