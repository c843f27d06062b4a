//! Requests with other methods that look like a call: the name of a tool with arguments, anywhere
//! in the parameters.

use callgate_call::Arguments;
use callgate_json::{Kind, Reader, Span, elements, members};

use super::{OVERSIZE_PREFIX, RpcSession};

/// Keys that programs use for the name of a tool, and for its arguments, in lower case and without
/// separators.
const NAMES: [&str; 4] = ["name", "tool", "toolname", "function"];
const ARGUMENTS: [&str; 7] =
    ["arguments", "args", "input", "parameters", "params", "toolinput", "toolarguments"];

/// Maximum number of objects that are searched. Their depth is bounded for every message.
const MAX_OBJECTS: usize = 4096;

/// Separators between the parts of a method.
const SEPARATORS: [char; 4] = ['/', '.', ':', '#'];

/// A possible call.
struct Lookalike {
    tool: String,
    arguments: Option<Span>,
}

impl RpcSession {
    /// Why a request that looks like a call must not be forwarded.
    pub(super) fn against_lookalikes(
        &self,
        method: &str,
        text: &str,
        params: Option<Span>,
    ) -> Option<String> {
        let calls_something = ["call", "tool"].iter().any(|it| method.to_lowercase().contains(it));
        let (mut found, mut left) = (Vec::new(), MAX_OBJECTS);
        if let Some(params) = params {
            find(text, params, &mut left, &mut found);
        }
        if left == 0 {
            return Some("callgate: it contains too much to tell whether it is a call".to_owned());
        }
        // A name without arguments is a call only if the method says so.
        found.retain(|it| it.arguments.is_some() || calls_something);
        let of_method = names_in(method, |name| self.mcp_session.knows_tool(name));
        found.extend(of_method.map(|tool| Lookalike { tool, arguments: params }));
        let judge = |it: Lookalike| {
            let arguments = self.arguments_at(text, it.arguments);
            self.mcp_session.looks_like_call(method, &it.tool, arguments).err()
        };
        found.into_iter().find_map(judge).map(|denial| self.mcp_session.denial_text(&denial))
    }

    fn arguments_at(&self, text: &str, at: Option<Span>) -> Arguments {
        let Some(at) = at else { return Arguments::json("{}") };
        let raw = at.of(text);
        if raw.len() > self.mcp_session.max_arguments() {
            return Arguments::oversize(
                raw.get(..raw.floor_char_boundary(OVERSIZE_PREFIX)).unwrap_or(""),
            );
        }
        // Some programs put the arguments into a string as JSON.
        match string(text, at) {
            Some(inner) => Arguments::json(inner),
            None => Arguments::json(raw),
        }
    }
}

/// The tools that a method may name: the rest after a part that calls something, and every suffix
/// that is the name of a tool.
fn names_in(method: &str, is_known: impl Fn(&str) -> bool) -> impl Iterator<Item = String> {
    let ends = method.match_indices(SEPARATORS).map(|(at, _)| method.split_at(at));
    let ends = ends.map(|(before, end)| (before, end.get(1..).unwrap_or_default()));
    let calls = |before: &str| {
        let last = before.rsplit(SEPARATORS).next().unwrap_or(before);
        last.to_lowercase().contains("call")
    };
    let ends = std::iter::once(("", method)).chain(ends).filter(|(_, end)| !end.is_empty());
    let named = ends.filter(move |(before, end)| calls(before) || is_known(end));
    named.map(|(_, end)| end.to_owned())
}

fn find(text: &str, at: Span, left: &mut usize, found: &mut Vec<Lookalike>) {
    if *left == 0 {
        return;
    }
    match Reader::at(text, at).kind() {
        Ok(Kind::Array) => {
            for item in elements(text, at) {
                find(text, item, left, found);
            }
        }
        Ok(Kind::Object) => {
            *left -= 1;
            let (mut tools, mut arguments) = (Vec::new(), Vec::new());
            for member in members(text, at) {
                let key = plain(&member.key.decode().unwrap_or_default());
                match string(text, member.value) {
                    Some(name) if NAMES.contains(&key.as_str()) => tools.push(name),
                    Some(_) if !ARGUMENTS.contains(&key.as_str()) => continue,
                    _ if ARGUMENTS.contains(&key.as_str()) => arguments.push(Some(member.value)),
                    _ => {}
                }
                find(text, member.value, left, found);
            }
            if arguments.is_empty() {
                arguments.push(None);
            }
            // Programs differ in which of them they use.
            for tool in &tools {
                let with = |arguments: &Option<Span>| Lookalike {
                    tool: tool.clone(),
                    arguments: *arguments,
                };
                found.extend(arguments.iter().map(with));
            }
        }
        _ => {}
    }
}

/// A key in lower case and without separators.
fn plain(key: &str) -> String {
    let letters = key.chars().filter(|c| !matches!(c, '_' | '-'));
    letters.flat_map(char::to_lowercase).collect()
}

fn string(text: &str, at: Span) -> Option<String> {
    let mut reader = Reader::at(text, at);
    match reader.kind() {
        Ok(Kind::String) => reader.string().ok()?.decode().ok().map(std::borrow::Cow::into_owned),
        _ => None,
    }
}
