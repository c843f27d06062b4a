//! Chunks of a Chat stream, and whole completions, to what the gate understands.

use callgate_call::json::{Kind, Reader as Json, Span, Value};

use super::view::{
    Choice, Choices, Content, Entry, Failure, Function, Page, Said, View, page, view, view_of_page,
};
use crate::event::{
    ArgumentsPiece, Carrier, Finish, Host, Lane, Order, Part, Piece, Reading, Slot, Unreadable,
    What,
};
use crate::json::{decode, document, inside, is_done, may_hold_a_call};
use crate::speaker::Read;
use crate::stray::{self, Quiet};
use crate::tally::{Tally, counts_within};

/// What the provider has run, and a call that it refused, are read in their own ways. LiteLLM lists the
/// tools of MCP servers that it has asked for.
const QUIET: Quiet = &[
    ("providerspecificfields", &["mcplisttools"]),
    ("delta", &["executedtools"]),
    ("message", &["executedtools"]),
    ("error", &["failedgeneration"]),
];

/// A completion that was stored repeats what its request offered.
const QUIET_IN_BODIES: Quiet = &[
    ("providerspecificfields", &["mcplisttools"]),
    ("delta", &["executedtools"]),
    ("message", &["executedtools"]),
    ("error", &["failedgeneration"]),
    ("", &["tools", "toolchoice", "functions", "metadata"]),
    ("data", &["tools", "toolchoice", "functions", "metadata"]),
];

/// Reads the chunks of one response.
#[derive(Debug)]
pub(super) struct Reader {
    calls: Vec<Call>,
    next: Slot,
    max_calls: usize,
    /// A chunk of the API was read.
    has_spoken: bool,
}

/// A call that has begun.
#[derive(Debug)]
struct Call {
    slot: Slot,
    lane: Lane,
    /// The index its pieces come under; `None` for a legacy `function_call`.
    index: Option<i64>,
    id: String,
    legacy: bool,
}

impl Reader {
    /// A reader at the start of a response. More than `max_calls` calls are refused.
    pub(super) fn new(max_calls: usize) -> Self {
        Self { calls: Vec::new(), next: 0, max_calls, has_spoken: false }
    }
}

impl Read for Reader {
    fn has_spoken(&self) -> bool {
        self.has_spoken
    }

    /// Reads one chunk.
    fn read(&mut self, event: Option<&[u8]>, data: &str) -> Result<Reading, Unreadable> {
        let start = data.trim_start();
        if is_done(start) {
            self.has_spoken = true;
            return Ok(Reading { order: Order::Stream, done: true, ..Reading::default() });
        }
        if start.is_empty() {
            return Ok(Reading::default());
        }
        if !start.starts_with('{') {
            return Err(Unreadable::Nothing);
        }
        let mut reading = Reading::default();
        let found = view(data, |choice| self.choice(&choice, data, Form::Chunk, &mut reading))?;
        let is_chunk = found.choices != Choices::Missing || found.error.is_some() || found.is_error;
        // The first event tells whether the stream is of this API. Later ones that it does not
        // know pass, but a call in them may be the beginning of one whose rest cannot be told.
        let may_pass = is_chunk || (self.has_spoken && !stray::holds_call(data)?);
        if !may_pass {
            return Err(Unreadable::Foreign);
        }
        self.has_spoken |= is_chunk;
        self.outside(&found, data, &mut reading)?;
        // Chunks have no names; some clients skip one that has.
        reading.uneven |= event.is_some();
        Ok(reading)
    }

    /// Reads a whole completion, an error, or a page of stored completions.
    fn read_body(&mut self, data: &str) -> Result<Reading, Unreadable> {
        if !data.trim_start().starts_with('{') {
            return Err(Unreadable::Ambiguous("not a completion"));
        }
        let mut reading = Reading::default();
        match page(data)? {
            Some(page) => self.page(&page, data, &mut reading)?,
            None => {
                let found = view(data, |choice| {
                    self.choice(&choice, data, Form::Completion, &mut reading)
                })?;
                let is_ours = found.choices == Choices::Listed;
                if !is_ours && found.error.is_none() && !found.is_error {
                    return Err(Unreadable::Foreign);
                }
                self.outside(&found, data, &mut reading)?;
            }
        }
        self.has_spoken = true;
        reading.order = Order::Stream;
        reading.uneven = false;
        Ok(reading)
    }

    fn quiet(&self, form: stray::Form) -> Option<Quiet> {
        Some(match form {
            stray::Form::Frame => QUIET,
            stray::Form::Body => QUIET_IN_BODIES,
        })
    }

    fn stray_slot(&mut self) -> Result<Slot, Unreadable> {
        Ok(self.take_slot())
    }

    /// What each choice says, and the parts of it where it says a list.
    fn texts(&self, data: &str) -> Vec<Span> {
        let mut texts = Vec::new();
        let mut collect = |choice: Choice<'_>| {
            for said in choice.said() {
                texts.extend(said.content.iter().flat_map(Content::texts).map(inside));
                texts.extend(said.refusal.map(|text| inside(&text)));
            }
            Ok(())
        };
        match page(data) {
            Ok(Some(page)) => {
                for completion in page.completions.into_iter().enumerate() {
                    view_of_page(data, completion, &mut collect).ok();
                }
            }
            _ => drop(view(data, collect)),
        }
        texts
    }
}

impl Reader {
    /// Reads a page of stored completions. Its tokens are of other responses.
    fn page(&mut self, page: &Page, data: &str, reading: &mut Reading) -> Result<(), Unreadable> {
        for completion in page.completions.iter().copied().enumerate() {
            let found = view_of_page(data, completion, |choice| {
                self.choice(&choice, data, Form::Completion, reading)
            })?;
            if found.choices != Choices::Listed {
                return Err(Unreadable::Foreign);
            }
            self.outside(&found, data, reading)?;
        }
        reading.tally = None;
        Ok(())
    }

    /// Reads what stands outside of the choices.
    fn outside(
        &mut self,
        found: &View<'_>,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        reading.model = reading.model.or(found.model.map(|text| inside(&text)));
        // Some clients look at the first choice only.
        reading.uneven |= found.uneven || found.count > 1;
        if let Some(failure) = &found.error {
            self.failure(failure, data, reading)?;
        }
        let several = found.count > 1 && !reading.parts.is_empty();
        if found.count == 0 || found.error.is_some() || several {
            reading.order = Order::Stream;
        }
        let mut tally = Tally::default();
        tally.stopped(found.finish);
        if let Some(usage) = found.usage {
            let keys = ["prompt_tokens", "completion_tokens", "prompt_cache_hit_tokens"];
            let within = [
                ("prompt_tokens_details", "cached_tokens"),
                ("completion_tokens_details", "reasoning_tokens"),
            ];
            let ([input, output, hit], [cached, reasoning]) =
                counts_within(data, usage, keys, within);
            (tally.input, tally.output, tally.reasoning) = (input, output, reasoning);
            // DeepSeek has a word of its own, and says it in the usual one too.
            tally.cached = cached.or(hit);
        }
        reading.tally = tally.boxed();
        Ok(())
    }

    fn choice(
        &mut self,
        choice: &Choice<'_>,
        data: &str,
        form: Form,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let lane = choice.lane;
        let parts_before = reading.parts.len();
        reading.uneven |= choice.uneven;
        if choice.bad_index && choice.said().any(Said::has_calls) {
            return Err(Unreadable::Ambiguous("calls in a choice that no client can count to"));
        }
        let mirrored = choice.message_is_a_copy(data);
        let message = choice.message.as_deref().filter(|_| !mirrored);
        let in_place = match form {
            Form::Chunk => message.is_none_or(|message| !message.has_calls()),
            Form::Completion => choice.delta.as_ref().is_none_or(|delta| !delta.has_calls()),
        };
        if !in_place {
            // Some clients read the other of the two as well. One that holds anything cannot be
            // merged with it.
            let right = match form {
                Form::Chunk => choice.delta.as_ref(),
                Form::Completion => choice.message.as_deref(),
            };
            if right.is_some_and(|said| said.span.end - said.span.start > 2) {
                return Err(Unreadable::Ambiguous("calls in both `delta` and `message`"));
            }
            reading.odd = true;
        }
        choice.said().for_each(|said| said.takes(reading));
        for said in choice.delta.iter().chain(message) {
            self.said(said, lane, data, form, reading)?;
        }
        if let Some((at, reason)) = choice.finish {
            let says_calls = reason.is("tool_calls") || reason.is("function_call");
            let what = What::Finish(Finish { says_calls });
            reading.parts.push(Part { lane, at, what });
        } else if form == Form::Completion {
            let what = What::Finish(Finish { says_calls: false });
            reading.parts.push(Part { lane, at: Span::default(), what });
        }
        // Text may overtake a held call; all else keeps its place in the choice.
        let mut added = reading.parts.iter().skip(parts_before);
        if added.any(|part| !matches!(part.what, What::Text)) {
            reading.order = Order::Lane(lane);
        }
        Ok(())
    }

    fn said(
        &mut self,
        said: &Said<'_>,
        lane: Lane,
        data: &str,
        form: Form,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        let texts = said.content.iter().flat_map(Content::texts);
        for text in texts.filter(|text| !text.is_empty()) {
            if reading.text.is_some() {
                reading.parts.push(Part { lane, at: inside(text), what: What::Text });
            } else {
                (reading.text, reading.text_lane) = (Some(inside(text)), lane);
            }
        }
        if let Some(Content::Other(span)) = &said.content {
            reading.parts.push(Part { lane, at: *span, what: What::Text });
        }
        for entry in &said.entries {
            let mut piece = self.listed(entry, lane, data)?;
            piece.ends = form == Form::Completion;
            reading.parts.push(Part { lane, at: entry.span, what: What::Piece(piece) });
        }
        if let Some(entry) = &said.function_call {
            let mut piece = self.legacy(entry, lane, data)?;
            piece.ends = form == Form::Completion;
            reading.parts.push(Part { lane, at: entry.span, what: What::Piece(piece) });
        }
        if let Some(span) = said.executed {
            self.executed(span, lane, data, reading)?;
        }
        Ok(())
    }

    fn listed(&mut self, entry: &Entry<'_>, lane: Lane, data: &str) -> Result<Piece, Unreadable> {
        let function = entry.function.as_ref().or(entry.custom.as_ref());
        let name = decode(function.and_then(|function| function.name))?;
        let id = decode(entry.id)?;
        let (slot, opens) = self.resolve(entry, id.as_deref(), name.as_deref(), lane)?;
        let mut piece = Piece { slot, opens, name, id, ..Piece::default() };
        if entry.function.is_some() && entry.custom.is_some() {
            piece.refuse = Some("it is a function and a custom tool at once");
        }
        fill(&mut piece, function, entry.custom.is_some(), data);
        piece.original = opens.then(|| entry.span.of(data).to_owned());
        Ok(piece)
    }

    fn legacy(&mut self, entry: &Entry<'_>, lane: Lane, data: &str) -> Result<Piece, Unreadable> {
        let known = self.calls.iter().find(|call| call.legacy && call.lane == lane);
        let (slot, opens) = match known {
            Some(call) => (call.slot, false),
            None => (self.begin(lane, None, None, true)?, true),
        };
        let name = decode(entry.function.as_ref().and_then(|function| function.name))?;
        let mut piece = Piece { slot, opens, name, anonymous: true, ..Piece::default() };
        fill(&mut piece, entry.function.as_ref(), false, data);
        piece.original = opens.then(|| entry.span.of(data).to_owned());
        Ok(piece)
    }

    /// The call a piece belongs to, and whether the piece begins it.
    ///
    /// By its index; but another id with a name on a known index is another call (a provider that
    /// numbers every parallel call 0). Without an index: by its id; a new id or a name begins a
    /// call; anything else goes to the last one.
    fn resolve(
        &mut self,
        entry: &Entry<'_>,
        id: Option<&str>,
        name: Option<&str>,
        lane: Lane,
    ) -> Result<(Slot, bool), Unreadable> {
        let id = id.filter(|id| !id.is_empty());
        let name = name.filter(|name| !name.is_empty());
        let index = entry.index.and_then(|(_, index)| index);
        let mut calls =
            self.calls.iter_mut().rev().filter(|call| call.lane == lane && !call.legacy);
        let known = match index {
            Some(index) if index >= 0 => calls.find(|call| call.index == Some(index)),
            Some(_) => calls.next(),
            None => match id {
                Some(id) => calls.find(|call| call.id == id),
                None if name.is_some() => None,
                None => calls.next(),
            },
        };
        if let Some(call) = known {
            let same = id.is_none_or(|id| call.id.is_empty() || call.id == id);
            if same || name.is_none() {
                if let Some(id) = id
                    && call.id.is_empty()
                {
                    id.clone_into(&mut call.id);
                }
                return Ok((call.slot, false));
            }
        }
        Ok((self.begin(lane, index, id, false)?, true))
    }

    fn begin(
        &mut self,
        lane: Lane,
        index: Option<i64>,
        id: Option<&str>,
        legacy: bool,
    ) -> Result<Slot, Unreadable> {
        if self.calls.len() >= self.max_calls {
            return Err(Unreadable::TooManyCalls);
        }
        let slot = self.take_slot();
        let id = id.unwrap_or_default().to_owned();
        self.calls.push(Call { slot, lane, index, id, legacy });
        Ok(slot)
    }

    fn take_slot(&mut self) -> Slot {
        let slot = self.next;
        self.next += 1;
        slot
    }

    /// Tools the provider has run itself: they are told, not held.
    fn executed(
        &mut self,
        list: Span,
        lane: Lane,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        for tool in crate::json::elements(data, list) {
            let text = |key| {
                let span = crate::json::member(data, tool, key)?;
                let text = Json::at(data, span).string().ok()?;
                text.decode().ok().map(|text| text.into_owned())
            };
            let Some(name) = text("name").or_else(|| text("type")) else { continue };
            let piece = Piece {
                slot: self.take_slot(),
                opens: true,
                ends: true,
                name: Some(name),
                arguments: text("arguments").map_or(ArgumentsPiece::None, ArgumentsPiece::Whole),
                host: Host::Provider,
                ..Piece::default()
            };
            reading.parts.push(Part { lane, at: tool, what: What::Piece(piece) });
        }
        Ok(())
    }

    fn stray_piece(&mut self, name: Option<String>, arguments: String) -> Piece {
        Piece {
            slot: self.take_slot(),
            opens: true,
            ends: true,
            name,
            arguments: ArgumentsPiece::Whole(arguments),
            carrier: Carrier::Stray,
            ..Piece::default()
        }
    }

    /// An error ends what is unfinished. The text of a refused call inside it is judged like a
    /// call: some clients take it for one.
    fn failure(
        &mut self,
        failure: &Failure,
        data: &str,
        reading: &mut Reading,
    ) -> Result<(), Unreadable> {
        reading.failure = true;
        let Some(at) = failure.failed_generation else { return Ok(()) };
        let text = match Json::at(data, at).string() {
            Ok(text) => text.decode()?.into_owned(),
            Err(_) => at.of(data).to_owned(),
        };
        if !may_hold_a_call(&text) {
            return Ok(());
        }
        // What cannot be read as a call has no name, and is refused.
        let call = Value::parse(&text).ok();
        let name = call.as_ref().and_then(|call| call.get("name")).and_then(Value::as_str);
        let mut piece = self.stray_piece(name.map(str::to_owned), text.clone());
        let arguments = ["arguments", "parameters"]
            .into_iter()
            .find_map(|key| crate::json::member(&text, document(&text), key));
        if let Some(span) = arguments {
            piece.arguments = ArgumentsPiece::Whole(span.of(&text).to_owned());
        }
        reading.parts.push(Part { lane: 0, at, what: What::Piece(piece) });
        Ok(())
    }
}

/// Whether a document is one chunk of a stream or a whole completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Chunk,
    Completion,
}

/// Fills in the arguments: a piece of text, or, from some servers, the object itself.
fn fill(piece: &mut Piece, function: Option<&Function<'_>>, custom: bool, data: &str) {
    let Some((span, kind)) = function.and_then(|function| function.arguments) else { return };
    let inside = || Span { start: span.start + 1, end: span.end - 1 }.of(data).to_owned();
    piece.arguments = match kind {
        Kind::String if custom => ArgumentsPiece::Free(inside()),
        Kind::String => ArgumentsPiece::Fragment(inside()),
        Kind::Null => ArgumentsPiece::None,
        _ => ArgumentsPiece::Whole(span.of(data).to_owned()),
    };
}

#[cfg(test)]
mod tests;
