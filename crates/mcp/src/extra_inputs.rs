//! The values in a client message in addition to those that its method is about. They go to the
//! server too, so rules that examine all input of a call examine them.
//!
//! Rules see each part as an object of its own. What they replace is spliced into the original
//! place.

use callgate_call::Arguments;
use callgate_decide::mcp::ExtraInput;
use callgate_json::{Edits, Member, Span, document, members};

use crate::message::AnswerContent;
use crate::params::{self, CAPABILITIES, CLIENT, REVISION};

/// The extra inputs of one message, with their positions.
#[derive(Debug, Default)]
pub(crate) struct ExtraInputs {
    parts: Vec<InputPart>,
}

/// Members of one object.
#[derive(Debug)]
struct InputPart {
    place: &'static str,
    /// Each from its key to the end of its value.
    members: Vec<Span>,
    /// Whether nothing in it can be replaced.
    is_fixed: bool,
}

impl ExtraInputs {
    /// The extra inputs in parameters: all members that their method is not about.
    pub(crate) fn of(
        method: &str,
        text: &str,
        params: Option<Span>,
        is_given: impl Fn(&str) -> bool,
    ) -> Self {
        let own = about(method);
        let all = params.map(|params| members(text, params)).unwrap_or_default();
        let others = all.iter().filter(|member| !own.iter().any(|key| member.key.is(key)));
        Self::of_members(text, others, is_given)
    }

    /// The extra inputs in these members. `is_given` recognizes a state that the server itself
    /// created.
    pub(crate) fn of_members<'m, 't: 'm>(
        text: &'t str,
        members: impl IntoIterator<Item = &'m Member<'t>>,
        is_given: impl Fn(&str) -> bool,
    ) -> Self {
        let mut extra_inputs = Self::default();
        for member in members {
            match () {
                () if member.key.is("_meta") => extra_inputs.add_meta(text, member),
                () if member.key.is("inputResponses") => extra_inputs.add("inputResponses", member),
                () if member.key.is("requestState") => {
                    // A state that the server created contains nothing new to it.
                    let state = params::string(text, member.value);
                    if !state.is_some_and(|state| is_given(&state)) {
                        extra_inputs.add_whole("requestState", member.span);
                    }
                }
                () => extra_inputs.add("params", member),
            }
        }
        extra_inputs
    }

    /// The extra inputs in an answer.
    pub(crate) fn of_answer(outcome: AnswerContent, text: &str) -> Self {
        let (place, span) = match outcome {
            AnswerContent::Result(span) => ("result", span),
            AnswerContent::Error(span) => ("error", span),
        };
        let mut extra_inputs = Self::default();
        match is_object(text, span) {
            true => members(text, span).iter().for_each(|member| extra_inputs.add(place, member)),
            // No server accepts that. It is unreadable here, which counts against it.
            false => extra_inputs.add_whole(place, span),
        }
        extra_inputs
    }

    /// The parts in the form that rules read.
    pub(crate) fn inputs(&self, text: &str, most: usize) -> Vec<ExtraInput> {
        self.parts.iter().map(|part| part.inputs(text, most)).collect()
    }

    /// Replaces parts in the message.
    pub(crate) fn replace(&self, changed: &[Option<String>], edits: &mut Edits) {
        for (part, changed) in self.parts.iter().zip(changed) {
            let Some(changed) = changed else { continue };
            let new = members(changed, document(changed));
            for (old, new) in part.members.iter().zip(new) {
                edits.replace(*old, new.span.of(changed));
            }
        }
    }

    fn add(&mut self, place: &'static str, member: &Member<'_>) {
        match self.parts.iter_mut().find(|part| part.place == place) {
            Some(part) => part.members.push(member.span),
            None => {
                let members = vec![member.span];
                self.parts.push(InputPart { place, members, is_fixed: false });
            }
        }
    }

    /// Adds the metadata, without the keys that the protocol defines.
    fn add_meta(&mut self, text: &str, meta: &Member<'_>) {
        if !is_object(text, meta.value) {
            return self.add_whole("_meta", meta.span);
        }
        for member in members(text, meta.value) {
            if !META.iter().any(|own| member.key.is(own)) {
                self.add("_meta", &member);
            }
        }
    }

    /// Adds a value in which nothing can be replaced.
    fn add_whole(&mut self, place: &'static str, span: Span) {
        self.parts.push(InputPart { place, members: vec![span], is_fixed: true });
    }
}

impl InputPart {
    fn inputs(&self, text: &str, most: usize) -> ExtraInput {
        let (place, is_fixed) = (self.place.to_owned(), self.is_fixed);
        let size: usize = self.members.iter().map(|span| span.of(text).len() + 1).sum();
        let shown = self.members.iter().map(|span| span.of(text));
        let input = match size > most {
            true => {
                let start: String = shown
                    .flat_map(|it| it.chars().take(OVERSIZE_PREFIX))
                    .take(OVERSIZE_PREFIX)
                    .collect();
                Arguments::oversize(start)
            }
            false => Arguments::json(object(shown, size)),
        };
        ExtraInput { place, input, is_fixed }
    }
}

/// Joins members into an object.
fn object<'t>(members: impl Iterator<Item = &'t str>, size: usize) -> String {
    let mut text = String::with_capacity(size + 1);
    text.push('{');
    for (at, member) in members.enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(member);
    }
    text.push('}');
    text
}

fn is_object(text: &str, span: Span) -> bool {
    span.of(text).starts_with('{')
}

/// How much of an oversized part is kept.
const OVERSIZE_PREFIX: usize = 4096;

/// The members of parameters that are judged separately, or whose meaning the protocol defines.
fn about(method: &str) -> &'static [&'static str] {
    match method {
        "tools/call" | "prompts/get" => &["name", "arguments"],
        "resources/read" => &["uri"],
        "initialize" => &["protocolVersion", "capabilities", "clientInfo"],
        "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel" => &["taskId"],
        "notifications/cancelled" => &["requestId"],
        "notifications/progress" => &["progressToken", "progress", "total"],
        method if method.ends_with("/list") => &["cursor"],
        _ => &[],
    }
}

/// Metadata keys that the protocol defines.
const META: [&str; 8] = [
    "progressToken",
    REVISION,
    CAPABILITIES,
    CLIENT,
    "io.modelcontextprotocol/related-task",
    "io.modelcontextprotocol/logLevel",
    "traceparent",
    "tracestate",
];
