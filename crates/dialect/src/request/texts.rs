//! The texts of a request: those of users, tools and the model itself, and the agent's instructions
//! for the model.
//!
//! They are found by the names of members, which are few and the same for all APIs. In a block of
//! an unknown kind, every string counts. Never included: thinking and its signatures, encrypted
//! content, data of images and files, ids, calls and the definitions of tools. A provider may
//! reject a request in which one of those was changed.

use std::borrow::Cow;

use callgate_json::{Error, Kind, Problem, Reader, Span, decode_into, escape_into};

use crate::json::{Edits, Member, document, elements, inside, members};

/// A text of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestText {
    /// Its span: for a string or a key without the quotes.
    pub at: Span,
    /// Its kind.
    pub form: TextKind,
}

/// The kind of a text in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// A string, or a key of an object.
    Text,
    /// A number: its replacement is a string.
    Number,
}

impl RequestText {
    /// The text.
    pub fn text(self, body: &str) -> Cow<'_, str> {
        match self.form {
            TextKind::Text => decoded(self.at.of(body)),
            TextKind::Number => Cow::Borrowed(self.at.of(body)),
        }
    }

    /// The span to replace, and its replacement with another text.
    pub fn changed(self, text: &str) -> (Span, String) {
        match self.form {
            TextKind::Text => (self.at, encoded(text)),
            TextKind::Number => (self.at, format!("\"{}\"", encoded(text))),
        }
    }
}

/// The texts of a request, in order.
///
/// A request that is not one JSON document, or that contains another one encoded, is an error: its
/// content is unknown.
pub fn texts(body: &str) -> Result<Vec<RequestText>, Error> {
    found_by(body, Texts::conversation)
}

/// The texts of a request that is not a conversation: text to embed, to rank, to draw or to speak.
/// These are all strings except those that are only settings.
pub fn plain_texts(body: &str) -> Result<Vec<RequestText>, Error> {
    found_by(body, Texts::plain)
}

fn found_by<'b>(body: &'b str, find: fn(&mut Texts<'b>, Span)) -> Result<Vec<RequestText>, Error> {
    let mut json = Reader::new(body);
    json.skip()?;
    json.end()?;
    let mut found = Texts { body, list: Vec::new(), unreadable: None };
    find(&mut found, document(body));
    match found.unreadable {
        Some(at) => Err(Error::new(Problem::WrongType, at)),
        None => {
            found.list.sort_by_key(|said| said.at.start);
            found.list.dedup();
            Ok(found.list)
        }
    }
}

/// The decoded text of a raw string.
fn decoded(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    decode_into(raw, &mut None, &mut text);
    Cow::Owned(text)
}

/// The raw string for a text.
fn encoded(text: &str) -> String {
    let mut raw = String::with_capacity(text.len());
    escape_into(text, &mut raw);
    raw
}

/// The request with some texts replaced.
pub fn with_texts(body: &str, changes: Vec<(Span, String)>) -> String {
    let mut edits = Edits::default();
    changes.into_iter().for_each(|(span, raw)| edits.replace(span, raw));
    edits.apply(body)
}

/// The members of a request that contain the conversation, for all APIs.
pub(super) const CONVERSATION: [&str; 25] = [
    "system",
    "messages",
    "instructions",
    "input",
    "contents",
    "systeminstruction",
    "prompt",
    "suffix",
    "message",
    "chathistory",
    "preamble",
    "documents",
    "inputtext",
    "items",
    "inputs",
    "prediction",
    "stop",
    "stopsequences",
    // Models behind InvokeModel that embed, rank or draw.
    "texts",
    "query",
    "textprompts",
    "texttoimageparams",
    "negativeprompt",
    // Values for a prompt that Bedrock stores, and the template with which Ollama builds a prompt.
    "promptvariables",
    "template",
];

/// Members with settings, of which only the stop sequences are text.
const SETTINGS: [&str; 3] = ["generationconfig", "inferenceconfig", "options"];

/// Members that contain a request, or a part of one: Code Assist, counting tokens, and objects that
/// servers read as if their members were at the top level.
pub(super) const ENVELOPES: [&str; 4] =
    ["request", "generatecontentrequest", "converse", "extrabody"];

/// Members of a message, an item, a block or a part that are text, or contain some.
const TEXTS: [&str; 12] = [
    "text",
    "content",
    "parts",
    "refusal",
    "output",
    "stdout",
    "stderr",
    "toolresult",
    "toolresults",
    "outputs",
    "guardcontent",
    "message",
];

/// Members that are the result of a tool, all of it.
const RESULTS: [&str; 4] = ["functionresponse", "json", "data", "result"];

/// The author of a text. Only the model's thinking has to come back unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Author {
    Model,
    Others,
}

struct Texts<'a> {
    body: &'a str,
    list: Vec<RequestText>,
    /// The place of something unreadable that may contain texts.
    unreadable: Option<usize>,
}

impl Texts<'_> {
    fn conversation(&mut self, object: Span) {
        let all = members(self.body, object);
        // Amazon's models that embed and draw have separate members for each task.
        if all.iter().any(|member| folded(member) == "tasktype") {
            self.plain(object);
        }
        for member in all {
            let key = folded(&member);
            let is_object = self.kind(member.value) == Some(Kind::Object);
            match key.as_str() {
                "input" if is_object => {
                    self.said(member.value, Author::Others);
                    self.conversation(member.value);
                }
                // Models of TwelveLabs, which embed it. In other APIs it describes the format of an
                // answer.
                "text" if is_object => self.embedded(member.value),
                // A request in base64 whose tokens are counted.
                "invokemodel" => self.unreadable = Some(member.value.start),
                key if ENVELOPES.contains(&key) => self.conversation(member.value),
                key if SETTINGS.contains(&key) => self.settings(member.value),
                key if CONVERSATION.contains(&key) => self.said(member.value, Author::Others),
                _ => {}
            }
        }
    }

    fn embedded(&mut self, object: Span) {
        for member in members(self.body, object) {
            if folded(&member) == "inputtext" {
                self.said(member.value, Author::Others);
            }
        }
    }

    fn settings(&mut self, object: Span) {
        for member in members(self.body, object) {
            if matches!(folded(&member).as_str(), "stop" | "stopsequences") {
                self.said(member.value, Author::Others);
            }
        }
    }

    /// The texts of a value: a text, or a list of elements with texts.
    fn said(&mut self, value: Span, by: Author) {
        match self.kind(value) {
            Some(Kind::String) => self.text(value),
            Some(Kind::Number) => self.number(value),
            Some(Kind::Array) => {
                elements(self.body, value).into_iter().for_each(|it| self.said(it, by));
            }
            Some(Kind::Object) => self.thing(value, by, false),
            _ => {}
        }
    }

    /// A message, an item, a block or a part.
    fn thing(&mut self, object: Span, by: Author, is_document: bool) {
        let all = members(self.body, object);
        let kinds = self.words(&all, "type");
        let by = self.author(&all, by);
        let thoughts = all.iter().filter(|member| folded(member) == "thought");
        let thoughts: Vec<bool> = thoughts.map(|it| it.value.of(self.body) == "true").collect();
        let is_thought = !thoughts.is_empty() && thoughts.iter().all(|thought| *thought);
        // If it has two types, only one of them is right, and it is unknown which.
        let is = |test: fn(&str) -> bool| all_of(&kinds, test);
        if is(is_never_text) || (by == Author::Model && (is(comes_back) || is_thought)) {
            return;
        }
        // Only the model thinks: thinking by others is ordinary text. An item without a role is the
        // model's, and comes back unchanged.
        if is(is_thinking) {
            let has_role =
                by == Author::Others && !is(|kind| matches!(kind, "reasoning" | "thought"));
            return if has_role {
                self.result(object)
            };
        }
        let is_known = all_of(&kinds, |kind| KINDS.contains(&kind));
        let roles = self.words(&all, "role");
        let is_strange = !is_known && !kinds.is_empty();
        let has_name = all_of(&roles, |role| !matches!(role, "tool" | "function"));
        let described = is_document || kinds.iter().any(|it| DESCRIBED.contains(&it.as_str()));
        for member in &all {
            let key = folded(member);
            let is_object = self.kind(member.value) == Some(Kind::Object);
            match key.as_str() {
                // A document: its data is text, or encoded.
                "source" if described => self.source(member.value),
                "title" | "context" | "name" if described => self.text(member.value),
                "document" | "searchresult" if is_object => self.thing(member.value, by, true),
                "variables" => self.variables(member.value),
                "reasoningcontent" | "reasoning" | "thinking" if by == Author::Others => {
                    self.result(member.value);
                }
                key if TEXTS.contains(&key) => self.said(member.value, by),
                key if RESULTS.contains(&key) => self.result(member.value),
                // The author. In a result it is the name of the tool.
                "name" if has_name => self.text(member.value),
                "name" | "filename" if is_strange && by == Author::Others => {
                    self.text(member.value)
                }
                // A call that the model made.
                "input" | "arguments" if by == Author::Model => {}
                // A message with only a role has other members for calls and thinking.
                key if (is_strange || roles.is_empty()) && !is_known && !is_never_text_key(key) => {
                    self.strings(member.value);
                }
                _ => {}
            }
        }
    }

    /// A request that is not a conversation.
    fn plain(&mut self, object: Span) {
        if self.kind(object) != Some(Kind::Object) {
            return self.strings(object);
        }
        for member in members(self.body, object) {
            match folded(&member).as_str() {
                // Ranked documents may have any form.
                "documents" => self.result(member.value),
                key if HOW.contains(&key) || is_never_text_key(key) => {}
                _ => self.strings(member.value),
            }
        }
    }

    /// Every string in a value, except for members that are known not to be text.
    fn strings(&mut self, value: Span) {
        match self.kind(value) {
            Some(Kind::String) => self.text(value),
            Some(Kind::Array) => {
                elements(self.body, value).into_iter().for_each(|it| self.strings(it));
            }
            Some(Kind::Object) => {
                for member in members(self.body, value) {
                    if !is_never_text_key(&folded(&member)) {
                        self.strings(member.value);
                    }
                }
            }
            _ => {}
        }
    }

    /// The author of a message, if it states one.
    fn author(&self, all: &[Member<'_>], by: Author) -> Author {
        let roles = self.words(all, "role");
        let is_model = |role: &String| {
            matches!(role.to_ascii_lowercase().as_str(), "assistant" | "model" | "chatbot")
        };
        match roles.is_empty() {
            true => by,
            false if roles.iter().all(is_model) => Author::Model,
            false => Author::Others,
        }
    }

    /// The strings under a key, of which there may be two.
    fn words(&self, all: &[Member<'_>], key: &str) -> Vec<String> {
        let values = all.iter().filter(|member| folded(member) == key).map(|member| member.value);
        let text = |value| Reader::at(self.body, value).string().ok()?.decode().ok();
        values.map(|value| text(value).unwrap_or_default().into_owned()).collect()
    }

    /// The source of a document.
    fn source(&mut self, object: Span) {
        let all = members(self.body, object);
        let is_text = self.words(&all, "type").iter().any(|kind| kind == "text");
        for member in &all {
            match folded(member).as_str() {
                "data" if is_text => self.text(member.value),
                "content" | "text" => self.said(member.value, Author::Others),
                _ => {}
            }
        }
    }

    /// Values for a prompt that the provider stores: texts, and parts of messages.
    fn variables(&mut self, object: Span) {
        for member in members(self.body, object) {
            self.said(member.value, Author::Others);
        }
    }

    /// The whole content of a result, at any depth: its strings, its numbers, and its keys.
    fn result(&mut self, value: Span) {
        match self.kind(value) {
            Some(Kind::String) => self.text(value),
            Some(Kind::Number) => self.number(value),
            Some(Kind::Array) => {
                elements(self.body, value).into_iter().for_each(|it| self.result(it));
            }
            Some(Kind::Object) => {
                for member in members(self.body, value) {
                    if !NOT_TEXT.contains(&folded(&member).as_str()) {
                        self.push(inside(&member.key), TextKind::Text);
                        self.result(member.value);
                    }
                }
            }
            _ => {}
        }
    }

    fn kind(&self, value: Span) -> Option<Kind> {
        Reader::at(self.body, value).kind().ok()
    }

    fn text(&mut self, value: Span) {
        if let Ok(text) = Reader::at(self.body, value).string() {
            self.push(inside(&text), TextKind::Text);
        }
    }

    fn number(&mut self, value: Span) {
        self.push(value, TextKind::Number);
    }

    fn push(&mut self, at: Span, form: TextKind) {
        if at.end > at.start {
            self.list.push(RequestText { at, form });
        }
    }
}

/// Kinds that describe their source.
const DESCRIBED: [&str; 2] = ["document", "search_result"];

/// Members of results that are names, or contain a file.
const NOT_TEXT: [&str; 6] =
    ["id", "name", "inlinedata", "filedata", "signature", "thoughtsignature"];

/// Kinds of messages, items and blocks whose texts are in known members. For any other kind every
/// string is read.
const KINDS: [&str; 30] = [
    "message",
    "content",
    "text",
    "input_text",
    "output_text",
    "summary_text",
    "refusal",
    "document",
    "search_result",
    "tool_result",
    "function_result",
    "function_call_output",
    "custom_tool_call_output",
    "local_shell_call_output",
    "shell_call_output",
    "apply_patch_call_output",
    "computer_call_output",
    "tool_search_output",
    "tool_search_tool_result",
    "tool_reference",
    "tool_addition",
    "tool_removal",
    "additional_tools",
    "mcp_list_tools",
    "mcp_approval_request",
    "item_reference",
    "program",
    "file",
    "input_file",
    "container_upload",
];

/// Whether this kind is not text, or is a call.
fn is_never_text(kind: &str) -> bool {
    kind.ends_with("tool_use") || kind.ends_with("_call") || NO_TEXT.contains(&kind)
}

const NO_TEXT: [&str; 13] = [
    "image",
    "image_url",
    "input_image",
    "output_image",
    "computer_screenshot",
    "audio",
    "audio_url",
    "input_audio",
    "output_audio",
    "video_url",
    "redacted_thinking",
    "compaction",
    "encrypted_content",
];

/// Members that are names, or contain data or something that must come back unchanged: never text.
fn is_never_text_key(key: &str) -> bool {
    NO_TEXT_KEYS.contains(&key) || ENVELOPES.contains(&key)
}

const NO_TEXT_KEYS: [&str; 59] = [
    "id",
    "callid",
    "toolcallid",
    "tooluseid",
    "itemid",
    "fileid",
    "fileids",
    "containerid",
    "version",
    "type",
    "role",
    "model",
    "name",
    "status",
    "index",
    "cachecontrol",
    "cachepoint",
    "signature",
    "thoughtsignature",
    "thought",
    "encryptedcontent",
    "encryptedindex",
    "inlinedata",
    "filedata",
    "fileurl",
    "filename",
    "image",
    "images",
    "imageurl",
    "mask",
    "video",
    "videourl",
    "audio",
    "inputaudio",
    "url",
    "uri",
    "b64json",
    "bytes",
    "mediatype",
    "mimetype",
    "videometadata",
    "mediaresolution",
    "detail",
    "tasktype",
    "format",
    "functioncall",
    "tooluse",
    "toolcall",
    "toolcalls",
    "toolname",
    "executablecode",
    "codeexecutionresult",
    "reasoningcontent",
    "reasoningdetails",
    "reasoning",
    "thinking",
    "annotations",
    "logprobs",
    "qualifiers",
];

/// Members of a request that is not a conversation that are only settings.
const HOW: [&str; 20] = [
    "encodingformat",
    "embeddingtypes",
    "outputformat",
    "streamformat",
    "truncate",
    "size",
    "quality",
    "style",
    "background",
    "moderation",
    "voice",
    "keepalive",
    "files",
    "adapters",
    "from",
    "quantize",
    "source",
    "user",
    "responseformat",
    "inputtype",
];

/// Whether the list is not empty and all elements pass.
fn all_of(words: &[String], test: impl Fn(&str) -> bool) -> bool {
    !words.is_empty() && words.iter().all(|word| test(word))
}

/// Whether this kind must come back unchanged.
fn comes_back(kind: &str) -> bool {
    kind.ends_with("_tool_result") || is_thinking(kind)
}

fn is_thinking(kind: &str) -> bool {
    matches!(kind, "thinking" | "reasoning" | "thought")
}

/// A member's name without case and underscores: Gemini accepts two spellings, others are lenient.
pub(super) fn folded(member: &Member<'_>) -> String {
    let key = member.key.decode().unwrap_or_default();
    key.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests;
