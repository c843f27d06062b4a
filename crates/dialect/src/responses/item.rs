//! Items of the output: which of them are calls, and where a call has its arguments.

use std::borrow::Cow;

use callgate_json::{Error, Kind, Reader as Json, Span, Text, Value, quote};

use crate::event::{Canonical, Host};
use crate::json::{Edits, Fields, decode_or_empty, document, member, members, text_or_null};

/// The parts of an item that the gate acts on.
#[derive(Default)]
pub(super) struct Item<'a> {
    pub(super) span: Span,
    /// Its type, decoded; empty if it has none.
    pub(super) kind: Cow<'a, str>,
    pub(super) id: Option<Text<'a>>,
    pub(super) call_id: Option<Text<'a>>,
    pub(super) encrypted_content: Option<Text<'a>>,
    name: Option<Text<'a>>,
    namespace: Option<Text<'a>>,
    server_label: Option<Text<'a>>,
    execution: Option<Text<'a>>,
    arguments: Option<Field>,
    input: Option<Field>,
    action: Option<Field>,
    actions: Option<Field>,
    operation: Option<Field>,
    queries: Option<Field>,
    code: Option<Field>,
}

type Field = (Span, Kind);

/// What an item means for the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A call, and who runs it.
    Call(Host),
    /// Not a call.
    Other,
}

/// Where a call has its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentsPlace {
    /// JSON text in a string.
    Json(&'static str),
    /// Free text in a string.
    Free(&'static str),
    /// An object.
    Object(&'static str),
    /// A member that is not an object: the arguments are an object with this one member.
    Member(&'static str),
    /// All members except those that describe the item.
    Rest,
    /// Nowhere.
    Nothing,
}

const ITEM: [&str; 15] = [
    "type",
    "id",
    "call_id",
    "name",
    "namespace",
    "server_label",
    "execution",
    "arguments",
    "input",
    "action",
    "actions",
    "operation",
    "queries",
    "code",
    "encrypted_content",
];

/// Reads an item. Anything but an object only has a span.
pub(super) fn read_item<'a>(json: &mut Json<'a>) -> Result<Item<'a>, Error> {
    let mut item = Item::default();
    if json.kind()? != Kind::Object {
        item.span = json.skip()?;
        return Ok(item);
    }
    let mut object = Fields::new(&ITEM).enter(json)?;
    while let Some(place) = object.next(json)? {
        match place {
            0 => {
                item.kind = text_or_null(json)?.map(|t| t.decode()).transpose()?.unwrap_or_default()
            }
            1 => item.id = text_or_null(json)?,
            2 => item.call_id = text_or_null(json)?,
            3 => item.name = text_or_null(json)?,
            4 => item.namespace = text_or_null(json)?,
            5 => item.server_label = text_or_null(json)?,
            6 => item.execution = text_or_null(json)?,
            7 => item.arguments = field(json)?,
            8 => item.input = field(json)?,
            9 => item.action = field(json)?,
            10 => item.actions = field(json)?,
            11 => item.operation = field(json)?,
            12 => item.queries = field(json)?,
            13 => item.code = field(json)?,
            14 if json.kind()? == Kind::String => item.encrypted_content = Some(json.string()?),
            _ => json.ignore()?,
        }
    }
    item.span = object.span(json);
    Ok(item)
}

/// A value that is not `null`.
fn field(json: &mut Json<'_>) -> Result<Option<Field>, Error> {
    Ok(Some(json.value()?).filter(|(_, kind)| *kind != Kind::Null))
}

impl Item<'_> {
    /// The class of the item. Unknown types count as calls if anything about them looks like one.
    pub(super) fn class(&self) -> Class {
        match self.kind.as_ref() {
            "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            // The program that requested it decides where it runs: the environment in the item does
            // not prove that the provider has run it.
            | "shell_call"
            | "apply_patch_call"
            | "computer_call"
            | "mcp_approval_request" => Class::Call(Host::Client),
            "tool_search_call" if self.execution.is_some_and(|text| text.is("server")) => {
                Class::Call(Host::Provider)
            }
            "mcp_call"
            | "web_search_call"
            | "file_search_call"
            | "code_interpreter_call"
            | "image_generation_call"
            | "program" => Class::Call(Host::Provider),
            "message" | "reasoning" | "compaction" => Class::Other,
            kind if NOT_CALLS.contains(&kind) => Class::Other,
            kind if kind.ends_with("_call") || kind.ends_with("_request") => {
                Class::Call(Host::Client)
            }
            _ if self.call_id.is_some() => Class::Call(Host::Client),
            _ if self.name.is_some() && (self.arguments.is_some() || self.input.is_some()) => {
                Class::Call(Host::Client)
            }
            _ => Class::Other,
        }
    }

    /// The name, if it names the call.
    pub(super) fn called(&self) -> Option<Text<'_>> {
        let is_named_by_type = matches!(
            self.kind.as_ref(),
            "local_shell_call" | "shell_call" | "apply_patch_call" | "computer_call"
        );
        self.name.filter(|_| !is_named_by_type)
    }

    /// Its name, without a namespace.
    pub(super) fn bare_name(&self) -> Result<String, Error> {
        decode_or_empty(self.name)
    }

    /// The name of the call in policies.
    pub(super) fn tool(&self) -> Result<String, Error> {
        let name = self.bare_name()?;
        match self.kind.as_ref() {
            "function_call" | "custom_tool_call" => {
                Ok(spaced(&decode_or_empty(self.namespace)?, &name))
            }
            "mcp_approval_request" | "mcp_call" => {
                Ok(spaced(&decode_or_empty(self.server_label)?, &name))
            }
            kind @ ("local_shell_call" | "shell_call" | "apply_patch_call" | "computer_call"
            | "tool_search_call") => Ok(bare(kind).to_owned()),
            kind if name.is_empty() => Ok(bare(kind).to_owned()),
            _ => Ok(spaced(&decode_or_empty(self.namespace)?, &name)),
        }
    }

    /// The id that its result refers to.
    pub(super) fn result_id(&self) -> Result<String, Error> {
        match self.call_id {
            Some(id) if !id.is_empty() => decode_or_empty(Some(id)),
            _ if CALLED_BY_ID.contains(&self.kind.as_ref()) => Ok(String::new()),
            _ => decode_or_empty(self.id),
        }
    }

    pub(super) fn form(&self) -> ArgumentsPlace {
        match self.kind.as_ref() {
            "function_call" | "mcp_approval_request" | "mcp_call" | "tool_search_call" => {
                match self.arguments {
                    None | Some((_, Kind::String)) => ArgumentsPlace::Json("arguments"),
                    Some(_) => ArgumentsPlace::Object("arguments"),
                }
            }
            "custom_tool_call" => match self.input {
                None | Some((_, Kind::String)) => ArgumentsPlace::Free("input"),
                Some(_) => ArgumentsPlace::Object("input"),
            },
            "local_shell_call" | "shell_call" | "web_search_call" => {
                ArgumentsPlace::Object("action")
            }
            "apply_patch_call" => ArgumentsPlace::Object("operation"),
            "computer_call" => match (self.action, self.actions) {
                (_, None) => ArgumentsPlace::Object("action"),
                (None, Some(_)) => ArgumentsPlace::Member("actions"),
                (Some(_), Some(_)) => ArgumentsPlace::Rest,
            },
            "code_interpreter_call" | "program" => ArgumentsPlace::Free("code"),
            "file_search_call" => ArgumentsPlace::Member("queries"),
            "image_generation_call" => ArgumentsPlace::Nothing,
            _ => match (self.arguments, self.input) {
                (Some((_, Kind::String)), None) => ArgumentsPlace::Json("arguments"),
                (Some((_, Kind::Object)), None) => ArgumentsPlace::Object("arguments"),
                (None, Some((_, Kind::String))) => ArgumentsPlace::Free("input"),
                (None, Some((_, Kind::Object))) => ArgumentsPlace::Object("input"),
                _ => ArgumentsPlace::Rest,
            },
        }
    }

    /// Whether the item may contain less when it is added than when it is done.
    pub(super) fn begins_as_sketch(&self) -> bool {
        matches!(
            self.form(),
            ArgumentsPlace::Object(_) | ArgumentsPlace::Member(_) | ArgumentsPlace::Rest
        )
    }

    /// The arguments as text, as policies read them.
    pub(super) fn arguments(&self, data: &str) -> Result<String, Error> {
        let raw = |field: Option<Field>| field.map(|(span, _)| span.of(data)).unwrap_or_default();
        Ok(match self.form() {
            ArgumentsPlace::Json(key) | ArgumentsPlace::Free(key) => match self.field(key) {
                Some((span, Kind::String)) => Json::at(data, span).string()?.decode()?.into_owned(),
                other => raw(other).to_owned(),
            },
            ArgumentsPlace::Object(key) => raw(self.field(key)).to_owned(),
            ArgumentsPlace::Member(key) => match self.field(key) {
                Some((span, _)) => format!("{{\"{key}\":{}}}", span.of(data)),
                None => String::new(),
            },
            ArgumentsPlace::Rest => rest(data, self.span),
            ArgumentsPlace::Nothing => String::new(),
        })
    }

    /// The raw content of the string with free text.
    pub(super) fn free_text<'d>(&self, data: &'d str) -> Option<&'d str> {
        let ArgumentsPlace::Free(key) = self.form() else { return None };
        let (span, kind) = self.field(key)?;
        (kind == Kind::String).then(|| data.get(span.start + 1..span.end - 1)).flatten()
    }

    fn field(&self, key: &str) -> Option<Field> {
        match key {
            "arguments" => self.arguments,
            "input" => self.input,
            "action" => self.action,
            "actions" => self.actions,
            "operation" => self.operation,
            "queries" => self.queries,
            "code" => self.code,
            _ => None,
        }
    }

    /// The commands of a shell call.
    pub(super) fn commands(&self, data: &str) -> Vec<String> {
        let Some((span, _)) = self.action else { return Vec::new() };
        match Value::parse(span.of(data)).as_ref().map(|action| action.get("commands")) {
            Ok(Some(Value::Array(list))) => {
                list.iter().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The text of a patch.
    pub(super) fn diff(&self, data: &str) -> Option<String> {
        let (span, _) = self.operation?;
        let operation = Value::parse(span.of(data)).ok()?;
        operation.get("diff")?.as_str().map(str::to_owned)
    }
}

/// The item with other arguments, and everything else unchanged.
pub(super) fn with_arguments(item: &str, arguments: &str) -> String {
    let mut json = Json::new(item);
    let Ok(read) = read_item(&mut json) else { return item.to_owned() };
    let is_document = Value::parse(arguments).is_ok();
    let (key, value) = match read.form() {
        ArgumentsPlace::Json(key) | ArgumentsPlace::Free(key) => (key, quote(arguments)),
        // Anything but one strict document could add members.
        _ if !is_document => return item.to_owned(),
        ArgumentsPlace::Object(key) => (key, arguments.to_owned()),
        ArgumentsPlace::Member(key) => match member(arguments, document(arguments), key) {
            Some(span) => (key, span.of(arguments).to_owned()),
            None => return item.to_owned(),
        },
        ArgumentsPlace::Rest => return with_rest(item, read.span, arguments),
        ArgumentsPlace::Nothing => return item.to_owned(),
    };
    let mut edits = Edits::default();
    match member(item, read.span, key) {
        Some(span) => edits.replace(span, value),
        None => edits.insert(read.span.start + 1, format!("\"{key}\":{value},")),
    }
    edits.apply(item)
}

/// The item with this id for its result, if it has none.
pub(super) fn with_call_id(item: &str, id: &str) -> String {
    let Ok(read) = read_item(&mut Json::new(item)) else { return item.to_owned() };
    if id.is_empty() || read.result_id().is_ok_and(|known| !known.is_empty()) {
        return item.to_owned();
    }
    let mut edits = Edits::default();
    match member(item, document(item), "call_id") {
        Some(span) => edits.replace(span, quote(id)),
        None => edits.insert(document(item).start + 1, format!("\"call_id\":{},", quote(id))),
    }
    edits.apply(item)
}

/// A removed call as the provider has it: complete, and no longer in progress.
pub(super) fn original(item: &str, call: &Canonical) -> String {
    let item = with_arguments(item, &call.arguments);
    let mut edits = Edits::default();
    match member(&item, document(&item), "status") {
        Some(span) if span.of(&item) == "\"in_progress\"" => edits.replace(span, "\"completed\""),
        _ => {}
    }
    edits.apply(&item)
}

/// All members of an item except those that describe it, as an object.
fn rest(data: &str, item: Span) -> String {
    let members = members(data, item);
    let list = members.iter().filter(|member| !is_label(&member.key));
    let list: Vec<&str> = list.map(|member| member.span.of(data)).collect();
    format!("{{{}}}", list.join(","))
}

fn with_rest(item: &str, span: Span, arguments: &str) -> String {
    let members_of_item = members(item, span);
    let labels = members_of_item.iter().filter(|member| is_label(&member.key));
    let labels = labels.map(|member| member.span.of(item));
    let others = members(arguments, document(arguments));
    let list: Vec<&str> = labels.chain(others.iter().map(|m| m.span.of(arguments))).collect();
    format!("{{{}}}", list.join(","))
}

fn is_label(key: &Text<'_>) -> bool {
    ["type", "id", "call_id", "status", "name", "namespace", "caller"].iter().any(|k| key.is(k))
}

/// A tool of a server or in a namespace, spelled so that the two parts can be separated again.
fn spaced(space: &str, name: &str) -> String {
    let odd = |text: &str| text.contains("__") || text.contains(['/', '.', ':']);
    let space = space.strip_prefix("mcp__").unwrap_or(space).trim_end_matches("__");
    match space {
        "" => name.to_owned(),
        _ if odd(space) || odd(name) => format!("mcp__{space}__{name}"),
        _ => format!("{space}.{name}"),
    }
}

/// The tool for a type of item.
fn bare(kind: &str) -> &str {
    kind.strip_suffix("_call").or_else(|| kind.strip_suffix("_request")).unwrap_or(kind)
}

/// Calls that have a `call_id` for their results. Others are answered by the id of the item.
const CALLED_BY_ID: [&str; 6] = [
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
];

/// Items that contain tools or results.
const NOT_CALLS: [&str; 12] = [
    "function_call_output",
    "custom_tool_call_output",
    "local_shell_call_output",
    "shell_call_output",
    "apply_patch_call_output",
    "computer_call_output",
    "program_output",
    "tool_search_output",
    "mcp_list_tools",
    "mcp_approval_response",
    "additional_tools",
    "item_reference",
];
