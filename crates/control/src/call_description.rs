//! A call as it was described, and the `ToolCall` it stands for.

use std::env;
use std::sync::Arc;

use callgate_call::{
    Arguments, CallId, Conversation, Origin, OriginFields, PassageSource, Passages, Principal,
    Surface, ToolCall, ToolName, ValueOrigins,
};
use callgate_decide::login;
use callgate_json::{Error as JsonError, Kind, Reader};

use crate::hook_input;
use crate::problem::HintedError;

type Result<T> = std::result::Result<T, HintedError>;

/// Defaults for what the description of a call leaves out.
#[derive(Debug, Clone)]
pub struct CallDefaults {
    /// Where the call was seen; `None` for wherever such a call is seen.
    pub surface: Option<Surface>,
    /// The MCP server of its tool.
    pub server: Option<String>,
    /// The agent that makes it. The caller that sets this default has verified it.
    pub agent: Option<String>,
    /// The principal who runs the agent.
    pub who: Principal,
    /// The agent's session.
    pub session: Option<String>,
    /// The agent's working directory.
    pub cwd: Option<String>,
    /// The user's home directory.
    pub home: Option<String>,
    /// The provider of the model.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The conversation before the call.
    pub values: ValueOrigins,
}

impl CallDefaults {
    /// A call of which nothing is known but its description.
    pub fn unknown() -> Self {
        Self {
            surface: None,
            server: None,
            agent: None,
            who: Principal::default(),
            session: None,
            cwd: None,
            home: None,
            provider: None,
            model: None,
            values: ValueOrigins::Unknown,
        }
    }

    /// A call of which only this user's home directory is known.
    pub fn of_this_user() -> Self {
        Self { home: home_dir(), ..Self::unknown() }
    }

    /// The same, in the working directory of this process: for a process that runs where the agent
    /// does.
    pub fn here() -> Self {
        Self { cwd: current_dir(), ..Self::of_this_user() }
    }
}

/// A call as described by a JSON object. `None` means that the key is absent.
#[derive(Debug, Default)]
pub struct CallDescription {
    tool: Option<String>,
    input: Option<Arguments>,
    server: Option<String>,
    id: Option<String>,
    surface: Option<Surface>,
    agent: Option<String>,
    who: Principal,
    session: Option<String>,
    cwd: Option<String>,
    home: Option<String>,
    provider: Option<String>,
    model: Option<String>,
    conversation: Option<ValueOrigins>,
}

/// All keys except the tool and its arguments, which every call has.
const KEYS: [&str; 14] = [
    "server",
    "id",
    "surface",
    "agent",
    "org",
    "team",
    "user",
    "key",
    "session",
    "cwd",
    "home",
    "provider",
    "model",
    "conversation",
];

impl CallDescription {
    /// Reads a JSON object: a call, or what a coding agent gives its hook about one.
    pub fn parse_any(text: &str) -> Result<Self> {
        match hook_input::as_description(text)? {
            Some(of_hook) => Ok(of_hook),
            None => Self::parse(text),
        }
    }

    /// Reads a line of a data set. It may have other keys, such as a label or a note.
    pub fn parse_line(text: &str) -> Result<Self> {
        match hook_input::as_description(text)? {
            Some(of_hook) => Ok(of_hook),
            None => Self::read(text, "input", OtherKeys::Labels),
        }
    }

    /// Reads a JSON object. An unknown key is an error: a misspelt `input` must not become a call
    /// without arguments.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_with(text, "input")
    }

    /// The same with another key for the arguments.
    pub fn parse_with(text: &str, input: &str) -> Result<Self> {
        Self::read(text, input, OtherKeys::Refused)
    }

    fn read(text: &str, input: &str, other_keys: OtherKeys) -> Result<Self> {
        let not_a_call = |error: JsonError| {
            HintedError::new(format!("the call is not one JSON object: {error}"))
        };
        let mut given = Self::default();
        let mut reader = Reader::new(text);
        let mut members = reader.object().map_err(not_a_call)?;
        let mut label = None;
        while let Some(key) = members.next(&mut reader).map_err(not_a_call)? {
            let key = key.decode().map_err(not_a_call)?;
            if key != input && key != "tool" && !KEYS.contains(&key.as_ref()) {
                if other_keys == OtherKeys::Refused || is_misspelt(&key, input) {
                    return Err(unknown_key(&key, input));
                }
                reader.skip().map_err(not_a_call)?;
                label.get_or_insert(key);
                continue;
            }
            let kind = reader.kind().map_err(not_a_call)?;
            let mut value = reader.clone();
            let raw = reader.skip().map_err(not_a_call)?.of(text);
            if kind == Kind::Null {
                continue;
            }
            if key == input {
                set(&mut given.input, &key, arguments(raw)?)?;
                continue;
            }
            if key == CONVERSATION {
                set(&mut given.conversation, &key, conversation(raw)?)?;
                continue;
            }
            let value = match kind {
                Kind::String => value.string().and_then(|text| text.decode()),
                _ => return Err(HintedError::new(format!("`{key}` of the call is not a string"))),
            };
            given.set(&key, value.map_err(not_a_call)?.into_owned())?;
        }
        reader.end().map_err(not_a_call)?;
        match label {
            // It may be another word for the arguments.
            Some(key) if given.input.is_none() => Err(unknown_key(&key, input)),
            _ => Ok(given),
        }
    }

    fn set(&mut self, key: &str, value: String) -> Result<()> {
        let slot = match key {
            "tool" => &mut self.tool,
            "server" => &mut self.server,
            "id" => &mut self.id,
            "agent" => &mut self.agent,
            "org" => &mut self.who.org,
            "team" => &mut self.who.team,
            "user" => &mut self.who.user,
            "key" => &mut self.who.key,
            "session" => &mut self.session,
            "cwd" => &mut self.cwd,
            "home" => &mut self.home,
            "provider" => &mut self.provider,
            "model" => &mut self.model,
            "surface" => return set(&mut self.surface, key, surface(&value)?),
            _ => return Err(unknown_key(key, "input")),
        };
        set(slot, key, value)
    }

    /// The call of `--tool` and `--input`.
    pub fn from_flags(tool: &str, input: Option<&str>) -> Result<Self> {
        let input = input.map(arguments).transpose().map_err(|error| error.at("--input"))?;
        Ok(Self { tool: Some(tool.to_owned()), input, ..Self::default() })
    }

    /// Converts it to a call, with these defaults: one for each place where it would be seen. If none is
    /// stated, that is a response and, for the tool of a server, that server.
    pub fn into_calls(self, defaults: &CallDefaults) -> Result<Vec<ToolCall>> {
        let is_stated = self.surface.or(defaults.surface).is_some();
        let call = self.into_call(defaults)?;
        if is_stated || call.name.readings().is_empty() {
            return Ok(vec![call]);
        }
        let facts = OriginFields { surface: Surface::Mcp, ..(*call.origin).clone() };
        let at_server = ToolCall { origin: Origin::new(facts), ..call.clone() };
        Ok(vec![call, at_server])
    }

    /// Whether it contains arguments.
    pub fn has_input(&self) -> bool {
        self.input.is_some()
    }

    /// Converts it to a call, with these defaults.
    pub fn into_call(self, defaults: &CallDefaults) -> Result<ToolCall> {
        let tool = self.tool.ok_or_else(|| HintedError::new("the call has no `tool`"))?;
        let or = |stated: Option<String>, other: &Option<String>| stated.or_else(|| other.clone());
        let mut facts =
            OriginFields::at(self.surface.or(defaults.surface).unwrap_or(Surface::Response));
        // An agent named in the data is unverified.
        facts.agent_proven = self.agent.is_none() && defaults.agent.is_some();
        facts.agent = or(self.agent, &defaults.agent);
        facts.who = Principal {
            org: or(self.who.org, &defaults.who.org),
            team: or(self.who.team, &defaults.who.team),
            user: or(self.who.user, &defaults.who.user),
            key: or(self.who.key, &defaults.who.key),
        };
        if facts.who.identity().is_none() {
            // A hook would act for the user who runs it.
            facts.who.user = login::own();
        }
        facts.session = or(self.session, &defaults.session);
        facts.provider = or(self.provider, &defaults.provider);
        facts.model = or(self.model, &defaults.model);
        facts.cwd = or(self.cwd, &defaults.cwd);
        facts.home = or(self.home, &defaults.home);
        facts.values = self.conversation.unwrap_or_else(|| defaults.values.clone());
        let name = full_name(&tool, or(self.server, &defaults.server).as_deref());
        let parsed = ToolName::parse(&name);
        Ok(ToolCall {
            id: CallId(self.id.unwrap_or_default()),
            name: parsed
                .map_err(|why| HintedError::new(format!("cannot judge `{name}`: {why}")))?,
            arguments: self.input.unwrap_or_else(|| Arguments::json("{}")),
            origin: Origin::new(facts),
            caller: None,
        })
    }
}

/// A string is the free text of a custom tool. Ambiguous JSON stays unchanged, and the policies
/// count that against the call.
fn arguments(text: &str) -> Result<Arguments> {
    let not_json = |error: JsonError| {
        HintedError::hinted(format!("the input is not JSON: {error}"), INPUT_HINT)
    };
    let mut reader = Reader::new(text);
    let kind = reader.kind().map_err(not_json)?;
    let mut value = reader.clone();
    reader.skip().and_then(|_| reader.end()).map_err(not_json)?;
    match kind {
        Kind::String => {
            let text = value.string().and_then(|text| text.decode()).map_err(not_json)?;
            Ok(Arguments::text(text))
        }
        _ => Ok(Arguments::json(text)),
    }
}

const CONVERSATION: &str = "conversation";

/// `{"user": "…", "tool_result": ["…"]}`: the texts before the call.
fn conversation(text: &str) -> Result<ValueOrigins> {
    let wrong = |_: JsonError| {
        let hint = r#"write {"user": "text", "tool_result": ["text", "text"]}"#;
        HintedError::hinted("cannot read the `conversation` of the call".to_owned(), hint)
    };
    let mut passages = Passages::default();
    let mut reader = Reader::new(text);
    let mut members = reader.object().map_err(wrong)?;
    while let Some(key) = members.next(&mut reader).map_err(wrong)? {
        let source = match key.decode().map_err(wrong)?.as_ref() {
            "user" => PassageSource::Given,
            "tool_result" => PassageSource::ToolResult,
            other => {
                let known = "the keys of a conversation are user and tool_result";
                let message = format!("unknown key `{other}` in the conversation");
                return Err(HintedError::hinted(message, known));
            }
        };
        let mut add = |reader: &mut Reader<'_>| {
            let text = reader.string().and_then(|text| text.decode()).map_err(wrong)?;
            passages.add(source, &text).map_err(|why| HintedError::new(why.to_string()))
        };
        match reader.kind().map_err(wrong)? {
            Kind::Array => {
                let mut items = reader.array().map_err(wrong)?;
                while items.next(&mut reader).map_err(wrong)? {
                    add(&mut reader)?;
                }
            }
            _ => add(&mut reader)?,
        }
    }
    Ok(ValueOrigins::Conversation(Arc::new(Conversation::of(passages))))
}

/// What other keys than those of a call mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OtherKeys {
    Refused,
    /// They are notes about the call.
    Labels,
}

/// Whether a key is one of a call's in other case, or with one letter wrong, missing or too many, or
/// two swapped.
fn is_misspelt(key: &str, input: &str) -> bool {
    let key = key.to_lowercase();
    KEYS.into_iter().chain([input, "tool"]).any(|known| is_slip(known, &key))
}

fn is_slip(meant: &str, written: &str) -> bool {
    let same_start = meant.chars().zip(written.chars()).take_while(|(a, b)| a == b).count();
    let rest = |word: &str| word.chars().skip(same_start).collect::<Vec<char>>();
    let (mut meant, mut written) = (rest(meant), rest(written));
    while meant.last().is_some() && meant.last() == written.last() {
        meant.pop();
        written.pop();
    }
    match (meant.as_slice(), written.as_slice()) {
        ([] | [_], [] | [_]) => true,
        ([a, b], [c, d]) => (a, b) == (d, c),
        _ => false,
    }
}

fn unknown_key(key: &str, input: &str) -> HintedError {
    let known = format!("the keys of a call are tool, {input}, {}", KEYS.join(", "));
    HintedError::hinted(format!("unknown key `{key}` in the call"), known)
}

const INPUT_HINT: &str = r#"quote it for the shell, like '{"command":"ls"}'"#;

fn surface(word: &str) -> Result<Surface> {
    Surface::from_word(word).ok_or_else(|| {
        let known = Surface::ALL.map(Surface::as_str).join(", ");
        HintedError::hinted(
            format!("unknown surface `{word}`"),
            format!("the surfaces are {known}"),
        )
    })
}

/// The spelling that all parts of callgate read as a server's tool.
fn full_name(tool: &str, server: Option<&str>) -> String {
    match server {
        Some(server) => format!("mcp__{}__{}", server.trim(), tool.trim()),
        None => tool.to_owned(),
    }
}

fn set<T>(slot: &mut Option<T>, key: &str, value: T) -> Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(HintedError::new(format!("the call has `{key}` twice"))),
    }
}

/// The working directory of this process, if its name is valid text.
pub fn current_dir() -> Option<String> {
    env::current_dir().ok()?.into_os_string().into_string().ok()
}

/// The home directory of this user, if its name is valid text.
pub fn home_dir() -> Option<String> {
    env::home_dir()?.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        CallDescription::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn a_line_may_have_labels_but_no_misspelt_keys() {
        let line = |key: &str| {
            CallDescription::parse_line(&format!(r#"{{"{key}":1,"tool":"Bash","input":{{}}}}"#))
        };
        for label in ["class", "expect", "why", "note", "line", "held_out", "n"] {
            assert!(line(label).is_ok(), "{label}");
        }
        for slip in ["imput", "inputs", "inptu", "Input", "CWD", "hom", "homme", "sever", "tools"] {
            assert!(line(slip).is_err(), "{slip}");
        }
        let problem = |text| CallDescription::parse_line(text).unwrap_err().to_string();
        let other_word = r#"{"tool":"Bash","arguments":{"command":"x"}}"#;
        assert!(problem(other_word).contains("unknown key `arguments`"));
        assert!(problem(r#"{"class":"a","input":{},"input":{}}"#).contains("`input` twice"));
        assert!(CallDescription::parse(r#"{"class":"a","tool":"Bash","input":{}}"#).is_err());
    }

    #[test]
    fn ambiguous_descriptions_are_refused() {
        assert!(problem("[]").contains("not one JSON object"));
        assert!(problem(r#"{"tool":"Bash"} x"#).contains("not one JSON object"));
        assert!(problem(r#"{"tool":"Bash","imput":{}}"#).contains("unknown key `imput`"));
        assert!(problem(r#"{"tool":"Bash","Input":null}"#).contains("unknown key `Input`"));
        assert!(problem(r#"{"tool":"Bash","tool":"Read"}"#).contains("`tool` twice"));
        assert!(problem(r#"{"tool":"Bash","\u0074ool":"Read"}"#).contains("`tool` twice"));
        assert!(problem(r#"{"tool":1}"#).contains("`tool` of the call is not a string"));
        assert!(problem(r#"{"tool":"Bash","surface":"web"}"#).contains("unknown surface `web`"));
    }

    #[test]
    fn input_keeps_its_text() {
        let given =
            CallDescription::parse(r#"{"tool":"Bash","input":{"n":1e999,"a":1,"a":2}}"#).unwrap();
        let input = given.input.unwrap();
        assert_eq!(input.raw(), r#"{"n":1e999,"a":1,"a":2}"#);
        assert!(input.value().is_err(), "two readings are left to the policies");
    }

    #[test]
    fn a_string_is_free_text() {
        let given =
            CallDescription::parse(r#"{"tool":"apply_patch","input":"*** Begin\n"}"#).unwrap();
        assert_eq!(given.input, Some(Arguments::text("*** Begin\n")));
    }

    #[test]
    fn null_counts_as_absent() {
        let given = CallDescription::parse(r#"{"tool":"Bash","input":null,"cwd":null}"#).unwrap();
        assert!(given.input.is_none() && given.cwd.is_none());
    }
}
