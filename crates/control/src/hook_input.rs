//! The JSON that coding agents give their hooks, read as the call that it is about.
//!
//! This is for people who try a policy with what a hook was given. It takes what each agent sends
//! today, and ignores fields that it does not know.

use callgate_json::{Error as JsonError, Kind, Problem as JsonProblem, Reader, quote};

use crate::call_description::CallDescription;
use crate::problem::HintedError;

/// The keys of one object, each with its value as JSON.
struct HookFields<'t>(Vec<(String, &'t str)>);

/// The keys that only the input of a hook has: at the top level, a description of a call has none of
/// them.
const SIGNS: [&str; 5] =
    ["hook_event_name", "toolName", "agent_action_name", "tool_name", "matcher_context"];

/// The description of the call, in callgate's own words, if the text is the input of a hook.
pub(crate) fn as_description(text: &str) -> Result<Option<CallDescription>, HintedError> {
    // What is not an object is reported as a call.
    let Ok(fields) = HookFields::of(text) else { return Ok(None) };
    if fields.has("tool") || !SIGNS.iter().any(|sign| fields.has(sign)) {
        return Ok(None);
    }
    let call = HookCall::of(&fields)?;
    CallDescription::parse(&call.to_json(&fields)?).map(Some)
}

/// The call of a hook.
struct HookCall {
    agent: Option<&'static str>,
    tool: String,
    server: Option<String>,
    /// The arguments as JSON.
    input: String,
    /// The working directory, if it is not where all agents have it.
    cwd: Option<String>,
}

impl HookCall {
    fn of(fields: &HookFields<'_>) -> Result<Self, HintedError> {
        if let Some(action) = fields.text("agent_action_name")? {
            return Self::of_windsurf(&action, fields);
        }
        let event = match fields.text("hook_event_name")? {
            Some(event) => event,
            None => fields.text("event")?.unwrap_or_default(),
        };
        match event.as_str() {
            "beforeShellExecution" | "afterShellExecution" => Self::of_parts(
                "cursor",
                "run_terminal_cmd",
                &[("command", fields.json("command", &event)?)],
            ),
            "beforeReadFile" => Self::of_parts(
                "cursor",
                "read_file",
                &[("target_file", fields.json("file_path", &event)?)],
            ),
            _ => Self::of_tool(&event, fields),
        }
    }

    /// A hook that names the tool and its arguments, as those of most agents do.
    fn of_tool(event: &str, fields: &HookFields<'_>) -> Result<Self, HintedError> {
        let first = |keys: [&'static str; 2]| keys.into_iter().find(|key| fields.has(key));
        let Some(name) = first(["tool_name", "toolName"]) else {
            let what = if event.is_empty() { "this hook".to_owned() } else { format!("`{event}`") };
            return Err(not_a_call(&what));
        };
        let named = fields.text(name)?.unwrap_or_default();
        let given = first(["tool_input", "toolArgs"]).and_then(|key| fields.get(key));
        let input = given.map_or_else(|| Ok("{}".to_owned()), unwrapped)?;
        let (tool, server) = match fields.object("mcp_context")? {
            Some(mcp) => (mcp.text("tool_name")?.unwrap_or(named), mcp.text("server_name")?),
            None => (named, None),
        };
        Ok(Self { agent: agent(event, fields), tool, server, input, cwd: None })
    }

    /// Windsurf puts everything about the action into `tool_info`.
    fn of_windsurf(action: &str, fields: &HookFields<'_>) -> Result<Self, HintedError> {
        let info = fields.object("tool_info")?.unwrap_or(HookFields(Vec::new()));
        let parts = |tool, parts: &[(&str, String)]| Self::of_parts("windsurf", tool, parts);
        match action.trim_start_matches("pre_").trim_start_matches("post_") {
            "run_command" => {
                let call =
                    parts("run_command", &[("CommandLine", info.json("command_line", action)?)])?;
                Ok(Self { cwd: info.text("cwd")?, ..call })
            }
            "read_code" => parts("view_file", &[("AbsolutePath", info.json("file_path", action)?)]),
            "write_code" => {
                let path = ("file_path", info.json("file_path", action)?);
                match info.get("edits") {
                    Some(edits) => parts("edit", &[path, ("edits", edits.to_owned())]),
                    None => parts("edit", &[path]),
                }
            }
            "mcp_tool_use" => {
                let input = info.get("mcp_tool_arguments").map(unwrapped).transpose()?;
                Ok(Self {
                    agent: Some("windsurf"),
                    tool: info.text("mcp_tool_name")?.ok_or_else(|| not_a_call(action))?,
                    server: info.text("mcp_server_name")?,
                    input: input.unwrap_or_else(|| "{}".to_owned()),
                    cwd: None,
                })
            }
            _ => Err(not_a_call(&format!("`{action}`"))),
        }
    }

    fn of_parts(
        agent: &'static str,
        tool: &str,
        parts: &[(&str, String)],
    ) -> Result<Self, HintedError> {
        let members: Vec<String> =
            parts.iter().map(|(key, json)| format!("{}:{json}", quote(key))).collect();
        let input = format!("{{{}}}", members.join(","));
        Ok(Self { agent: Some(agent), tool: tool.to_owned(), server: None, input, cwd: None })
    }

    /// The same in callgate's own keys.
    fn to_json(&self, fields: &HookFields<'_>) -> Result<String, HintedError> {
        let any = |keys: &[&str]| -> Result<Option<String>, HintedError> {
            let found = keys.iter().find(|key| fields.has(key));
            found.map_or(Ok(None), |key| fields.text(key))
        };
        let cwd =
            self.cwd.clone().map_or_else(|| any(&["cwd", "working_dir"]), |cwd| Ok(Some(cwd)))?;
        let cwd = cwd.or_else(|| fields.first_text("workspace_roots"));
        let session = any(&["session_id", "sessionId", "conversation_id", "trajectory_id"])?;
        let members = [
            ("tool", Some(self.tool.clone())),
            ("server", self.server.clone()),
            ("id", any(&["tool_use_id", "tool_call_id", "toolCallId"])?),
            ("surface", Some("hook".to_owned())),
            ("agent", self.agent.map(str::to_owned)),
            ("session", session),
            ("cwd", cwd),
            ("model", any(&["model"])?),
        ];
        let mut text = format!("{{\"input\":{}", self.input);
        for (key, value) in members {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                text.push_str(&format!(",{}:{}", quote(key), quote(&value)));
            }
        }
        Ok(text + "}")
    }
}

/// The agent whose hook has these fields.
fn agent(event: &str, fields: &HookFields<'_>) -> Option<&'static str> {
    let table = [
        ("gemini-cli", event == "BeforeTool" || event == "AfterTool"),
        ("cursor", fields.has("cursor_version") || fields.has("conversation_id")),
        ("goose", fields.has("matcher_context")),
        ("copilot", fields.has("toolName")),
        ("codex", fields.has("turn_id")),
        ("claude-code", fields.has("permission_mode") || fields.has("transcript_path")),
    ];
    table.into_iter().find(|(_, is_it)| *is_it).map(|(name, _)| name)
}

/// Some agents send the arguments as a string that contains JSON.
fn unwrapped(json: &str) -> Result<String, HintedError> {
    if !json.starts_with('"') {
        return Ok(json.to_owned());
    }
    let text = decoded(json).map_err(unreadable)?;
    let mut reader = Reader::new(&text);
    let is_object =
        reader.kind() == Ok(Kind::Object) && reader.skip().is_ok() && reader.end().is_ok();
    Ok(if is_object { text } else { json.to_owned() })
}

fn decoded(json: &str) -> Result<String, JsonError> {
    let mut reader = Reader::new(json);
    Ok(reader.string()?.decode()?.into_owned())
}

fn unreadable(error: JsonError) -> HintedError {
    HintedError::new(format!("the input of the hook cannot be read: {error}"))
}

fn not_a_call(what: &str) -> HintedError {
    let hint = "hooks such as PreToolUse, BeforeTool, preToolUse and pre_run_command are";
    HintedError::hinted(format!("the input of {what} is not about a tool call"), hint)
}

impl<'t> HookFields<'t> {
    fn of(text: &'t str) -> Result<Self, JsonError> {
        let mut reader = Reader::new(text);
        let mut members = reader.object()?;
        let mut fields: Vec<(String, &str)> = Vec::new();
        while let Some(key) = members.next(&mut reader)? {
            let (at, key) = (key.span().start, key.decode()?.into_owned());
            if fields.iter().any(|(known, _)| *known == key) {
                return Err(JsonError::new(JsonProblem::DuplicateKey, at));
            }
            fields.push((key, reader.skip()?.of(text)));
        }
        reader.end()?;
        Ok(Self(fields))
    }

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(known, _)| known == key)
    }

    /// The value of a key, unless it is null.
    fn get(&self, key: &str) -> Option<&'t str> {
        let found = self.0.iter().find(|(known, _)| known == key);
        found.map(|(_, json)| *json).filter(|json| *json != "null")
    }

    /// The value of a key that this event must have.
    fn json(&self, key: &str, event: &str) -> Result<String, HintedError> {
        let found = self.get(key).map(str::to_owned);
        found.ok_or_else(|| HintedError::new(format!("the input of `{event}` has no `{key}`")))
    }

    fn text(&self, key: &str) -> Result<Option<String>, HintedError> {
        match self.get(key) {
            Some(json) => decoded(json).map(Some).map_err(|_| {
                HintedError::new(format!("`{key}` in the input of the hook is not a string"))
            }),
            None => Ok(None),
        }
    }

    fn object(&self, key: &str) -> Result<Option<Self>, HintedError> {
        self.get(key).map(Self::of).transpose().map_err(unreadable)
    }

    /// The first string of a list.
    fn first_text(&self, key: &str) -> Option<String> {
        let json = self.get(key)?;
        let mut reader = Reader::new(json);
        let mut list = reader.array().ok()?;
        let has_one = list.next(&mut reader).ok()?;
        let first = has_one.then(|| reader.string().ok()?.decode().ok().map(|it| it.into_owned()));
        first.flatten()
    }
}
