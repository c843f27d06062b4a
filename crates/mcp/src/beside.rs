//! What a message of the client holds beside what its method is about: it goes to the server all the
//! same, so rules that look at all of a call's input look at it.
//!
//! Each part is shown to them as an object of its own. What they replace in it is put where it stood.

use callgate_call::Arguments;
use callgate_call::json::{Edits, Member, Span, document, members};
use callgate_decide::mcp::ExtraInput;

use crate::message::Outcome;
use crate::params::{self, CAPABILITIES, CLIENT, REVISION};

/// The parts of one message, and where they stand.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    parts: Vec<Part>,
}

/// Members of one object.
#[derive(Debug)]
struct Part {
    place: &'static str,
    /// Each from its key to the end of its value.
    members: Vec<Span>,
    /// Nothing in it can be replaced.
    is_fixed: bool,
}

impl Beside {
    /// What parameters hold beside the members that their method is about.
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

    /// What these members hold. `is_given` tells a state that the server has made itself.
    pub(crate) fn of_members<'m, 't: 'm>(
        text: &'t str,
        members: impl IntoIterator<Item = &'m Member<'t>>,
        is_given: impl Fn(&str) -> bool,
    ) -> Self {
        let mut beside = Self::default();
        for member in members {
            match () {
                () if member.key.is("_meta") => beside.add_meta(text, member),
                () if member.key.is("inputResponses") => beside.add("inputResponses", member),
                () if member.key.is("requestState") => {
                    // What the server has made comes back to it: it holds nothing new to it.
                    let state = params::string(text, member.value);
                    if !state.is_some_and(|state| is_given(&state)) {
                        beside.add_whole("requestState", member.span);
                    }
                }
                () => beside.add("params", member),
            }
        }
        beside
    }

    /// What an answer brings.
    pub(crate) fn of_answer(outcome: Outcome, text: &str) -> Self {
        let (place, span) = match outcome {
            Outcome::Result(span) => ("result", span),
            Outcome::Error(span) => ("error", span),
        };
        let mut beside = Self::default();
        match is_object(text, span) {
            true => members(text, span).iter().for_each(|member| beside.add(place, member)),
            // No server takes that; it has no reading here, which counts against it.
            false => beside.add_whole(place, span),
        }
        beside
    }

    /// The parts as rules are shown them.
    pub(crate) fn along(&self, text: &str, most: usize) -> Vec<ExtraInput> {
        self.parts.iter().map(|part| part.along(text, most)).collect()
    }

    /// Puts what takes the place of parts where they stand.
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
                self.parts.push(Part { place, members, is_fixed: false });
            }
        }
    }

    /// What the protocol says of a request is the client's own, and no more than it must be.
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

    /// Something in which nothing can be replaced.
    fn add_whole(&mut self, place: &'static str, span: Span) {
        self.parts.push(Part { place, members: vec![span], is_fixed: true });
    }
}

impl Part {
    fn along(&self, text: &str, most: usize) -> ExtraInput {
        let (place, is_fixed) = (self.place.to_owned(), self.is_fixed);
        let size: usize = self.members.iter().map(|span| span.of(text).len() + 1).sum();
        let shown = self.members.iter().map(|span| span.of(text));
        let input = match size > most {
            true => {
                let start: String = shown.flat_map(|it| it.chars().take(KEPT)).take(KEPT).collect();
                Arguments::oversize(start)
            }
            false => Arguments::json(object(shown, size)),
        };
        ExtraInput { place, input, is_fixed }
    }
}

/// Members as an object.
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

/// What is kept of a part that is too large to judge.
const KEPT: usize = 4096;

/// The members of parameters that are judged by themselves, or that the protocol gives its meaning.
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

/// Keys of metadata that are the protocol's own.
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
