//! Where a wrapper has its calls, and which agents unpack it.

use callgate_call::{Arguments, ArgumentsForm, ToolCall, ToolName, spell};
use callgate_effects::{Script, ScriptArguments};
use callgate_json::{Value, equal_ignoring_case};
use callgate_scan::inspect::plain_name;

use super::{WrappedCall, WrappedCalls, write};

/// Where the calls are in the arguments of a wrapper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WrapperLayout {
    /// In a list, each with its name and arguments.
    List,
    /// The arguments are one call: the name of a server, of its tool, and the arguments for it.
    OnServer,
    /// The argument is a script that makes them.
    Script,
}

/// Names of wrappers, without separators.
const NAMES: [(&str, WrapperLayout); 7] = [
    // OpenAI's models
    ("parallel", WrapperLayout::List),
    ("multitooluseparallel", WrapperLayout::List),
    // opencode, Kilo
    ("batch", WrapperLayout::List),
    // Claude Code, earlier
    ("batchtool", WrapperLayout::List),
    // Cursor, Antigravity
    ("callmcptool", WrapperLayout::OnServer),
    // Cline, Roo Code
    ("usemcptool", WrapperLayout::OnServer),
    // Codex
    ("exec", WrapperLayout::Script),
];

const LISTS: [&str; 3] = ["tool_uses", "tool_calls", "invocations"];
const LISTED_NAMES: [&str; 4] = ["recipient_name", "tool", "tool_name", "toolName"];
const LISTED_ARGUMENTS: [&str; 3] = ["parameters", "input", "arguments"];
const SERVERS: [&str; 4] = ["server", "server_name", "serverName", "ServerName"];
const TOOLS: [&str; 4] = ["toolName", "tool_name", "ToolName", "tool"];
const ARGUMENTS: [&str; 5] = ["arguments", "Arguments", "args", "parameters", "params"];

/// The layout of a wrapper of this name; `None` if it is not a wrapper.
pub(super) fn of(name: &ToolName) -> Option<WrapperLayout> {
    let plain = plain_name(name.folded());
    let text = spell::without_namespaces(&plain);
    layout_of(text)
        .or_else(|| spell::without_mark(text).and_then(layout_of))
        .or_else(|| is_parallel_in_a_namespace(name).then_some(WrapperLayout::List))
}

fn layout_of(text: &str) -> Option<WrapperLayout> {
    let is_separator = |c: &char| matches!(c, '_' | '-' | '.' | '/' | ':' | ' ');
    let letters = || text.chars().filter(|c| !is_separator(c));
    let known = NAMES.iter().find(|(known, _)| letters().eq(known.chars()));
    known.map(|(_, layout)| *layout)
}

fn is_parallel_in_a_namespace(name: &ToolName) -> bool {
    let is_one = |server: &str| server == "multi_tool_use" || server.ends_with(".multi_tool_use");
    name.folded().ends_with("parallel")
        && name.readings().iter().any(|it| it.tool == "parallel" && is_one(it.server))
}

impl WrapperLayout {
    /// The calls in the arguments `root` of a wrapper.
    pub(super) fn calls_in(self, call: &ToolCall, root: &Value) -> Result<WrappedCalls, String> {
        let all = |calls| WrappedCalls { calls, hidden: None };
        match self {
            Self::Script => in_script(call, root),
            Self::OnServer => Ok(all(on_server(call, root)?.into_iter().collect())),
            Self::List => {
                let (key, list) = match member(root, &LISTS)? {
                    None => return Ok(WrappedCalls::default()),
                    Some((key, Value::Array(list))) => (key, list),
                    Some((key, _)) => return Err(format!("`{key}` is not a list")),
                };
                let each = list.iter().enumerate().map(|(at, item)| {
                    listed(call, item).map_err(|why| format!("`{key}[{at}]`: {why}"))
                });
                each.collect::<Result<_, _>>().map(all)
            }
        }
    }
}

/// Tools whose argument is a command. If a script puts that together, the script is opaque, as a
/// command is that does so itself; for any other tool, no condition on its arguments can be answered.
const SHELLS: [&str; 5] = ["exec_command", "shell_command", "shell", "local_shell", "write_stdin"];

/// Where the script is if a gateway in between has made the custom tool a function.
const SCRIPTS: [&str; 4] = ["code", "script", "input", "source"];

/// The calls that a script shows. Other tools of that name take a command, and no script.
fn in_script(call: &ToolCall, root: &Value) -> Result<WrappedCalls, String> {
    let is_text = matches!(call.arguments.form(), ArgumentsForm::Text(_));
    let script = match (call.arguments.form(), member(root, &SCRIPTS)?) {
        (ArgumentsForm::Text(text), _) => Script::read(text),
        (_, Some((_, Value::String(text)))) if text.contains("tools") => Script::read(text),
        _ => return Ok(WrappedCalls::default()),
    };
    let mut calls = Vec::new();
    for shown in script.calls {
        let name = ToolName::parse(&shown.name).map_err(|error| error.to_string())?;
        let arguments = match shown.arguments {
            ScriptArguments::Json(json) => Arguments::json(json),
            ScriptArguments::Text(text) => Arguments::text(text),
            // The effects of a free text are those of the whole script.
            ScriptArguments::Computed if is_text && SHELLS.contains(&shown.name.as_str()) => {
                Arguments::json("{}")
            }
            ScriptArguments::Computed => Arguments::json("(computed by the script)"),
        };
        let (id, origin) = (call.id.clone(), call.origin.clone());
        let inner = ToolCall { id, name, arguments, origin, caller: None };
        calls.push(WrappedCall { calls: vec![inner], others: Vec::new() });
    }
    let hidden = script.hidden.map(|why| format!("the script may call any tool: {why}"));
    if let Some(why) = hidden.clone().filter(|_| !is_text) {
        return Err(why);
    }
    Ok(WrappedCalls { calls, hidden })
}

fn listed(call: &ToolCall, item: &Value) -> Result<WrappedCall, String> {
    let name = text_of(item, &LISTED_NAMES)?.ok_or("it has no tool name")?;
    let arguments = arguments_of(item, &LISTED_ARGUMENTS)?;
    let parse = |name: &str| ToolName::parse(name).map_err(|error| error.to_string());
    let mut calls = vec![inside(call, parse(name)?, &arguments)];
    let prefix = "functions.";
    let stripped = name.trim().split_at_checked(prefix.len());
    if let Some((_, rest)) = stripped.filter(|(start, _)| start.eq_ignore_ascii_case(prefix)) {
        calls.push(inside(call, parse(rest)?, &arguments));
    }
    Ok(WrappedCall { calls, others: Vec::new() })
}

fn on_server(call: &ToolCall, root: &Value) -> Result<Option<WrappedCall>, String> {
    let (server, tool) = (text_of(root, &SERVERS)?, text_of(root, &TOOLS)?);
    let Some(tool) = tool else {
        return match server {
            Some(_) => Err("it has no tool name".to_owned()),
            None => Ok(None),
        };
    };
    let arguments = arguments_of(root, &ARGUMENTS)?;
    let as_text = |error: callgate_call::NameError| error.to_string();
    let Some(server) = server else {
        let name = ToolName::parse(tool).map_err(as_text)?;
        return Ok(Some(WrappedCall {
            calls: vec![inside(call, name, &arguments)],
            others: Vec::new(),
        }));
    };
    let on = |server: &str| ToolName::on(server, tool).map_err(as_text);
    let calls = vec![inside(call, on(server)?, &arguments)];
    let mut others = Vec::new();
    for server in without_origin(server) {
        others.push(inside(call, on(server)?, &arguments));
    }
    Ok(Some(WrappedCall { calls, others }))
}

/// The most words that are tried as the name of a project or plugin.
const MAX_WORDS: usize = 8;

/// Cursor puts the origin of a server before its name: `user-github`, `project-0-shop-github`. The
/// name does not show where the origin ends, so every possible rest is returned.
fn without_origin(server: &str) -> impl Iterator<Item = &str> {
    let words = match server {
        _ if server.starts_with("user-") => 1,
        _ if server.starts_with("project-") || server.starts_with("plugin-") => MAX_WORDS,
        _ => 0,
    };
    let ends = server.match_indices('-').take(words);
    ends.filter_map(|(at, _)| server.get(at + 1..).filter(|rest| !rest.is_empty()))
}

fn inside(call: &ToolCall, name: ToolName, arguments: &str) -> ToolCall {
    let (id, origin) = (call.id.clone(), call.origin.clone());
    ToolCall { id, name, arguments: Arguments::json(arguments), origin, caller: None }
}

fn text_of<'v>(value: &'v Value, keys: &[&str]) -> Result<Option<&'v str>, String> {
    match member(value, keys)? {
        None | Some((_, Value::Null)) => Ok(None),
        Some((_, Value::String(text))) => Ok(Some(text)),
        Some((key, _)) => Err(format!("`{key}` is not a string")),
    }
}

/// The arguments as JSON text. Some models already write them as a string.
fn arguments_of(value: &Value, keys: &[&str]) -> Result<String, String> {
    Ok(match member(value, keys)? {
        None | Some((_, Value::Null)) => String::new(),
        Some((_, Value::String(text))) => text.clone(),
        Some((_, value)) => {
            let mut text = String::new();
            write(value, &mut text);
            text
        }
    })
}

/// The single member with one of these keys; an error if programs could disagree about which it is.
fn member<'v>(value: &'v Value, keys: &[&str]) -> Result<Option<(&'v str, &'v Value)>, String> {
    let Value::Object(members) = value else { return Ok(None) };
    let mut found = None;
    for (name, member) in members {
        let Some(key) = keys.iter().find(|key| equal_ignoring_case(name, key)) else { continue };
        if !keys.contains(&name.as_str()) {
            return Err(format!("a key differs from `{key}` only in case"));
        }
        if let Some((other, _)) = found.replace((name.as_str(), member)) {
            return Err(format!("`{other}` is given in addition to `{name}`"));
        }
    }
    Ok(found)
}
